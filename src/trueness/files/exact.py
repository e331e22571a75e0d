"""Exact bins of equal mass for rows that do not fit in memory: a first pass that keeps one number a row, on disk.

The ⌈kN/M⌉-th smallest values are found digit by digit (radix selection on the 64 bits of a float from 0 up, which sort
as integers do), so that neither many rows nor many equal values need memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueness.bins import Edges, EqualMass
from trueness.files._bad_rows import refusal
from trueness.files.batches import Batch
from trueness.refusals import InvalidValueError
from trueness.tabulation import variations_of
from trueness.variation import Variation

DIGIT_BITS = 16
READ_VALUES = 2**20


def exact_edges(
    batches: Iterator[Batch],
    measures: Sequence[Variation],
    n_classes: int,
    bins: EqualMass,
    engine: str = "portable",
) -> list[Edges]:
    """For each measure the edges that `tabulate` would find for all rows at once, to the last bit.

    With the portable engine these are those of `EqualMass.fit`; the fused one's V may differ in its last bits.
    """
    with tempfile.TemporaryFile() as first, tempfile.TemporaryFile() as second:
        files = [first, second][: len(measures)]
        n_rows = sum(keep_variations(batch, measures, files, engine) for batch in batches if len(batch))
        if n_rows == 0:
            raise InvalidValueError(
                "no-rows", "the files hold no rows", "check {row_filters} and how the files were written"
            )
        ends = [order_statistics(file, bins.nth(n_rows)) for file in files]
    return [
        bins.edges_at(end, *measure.range_for(n_classes)) for end, measure in zip(ends, measures, strict=True)
    ]


def keep_variations(
    batch: Batch, measures: Sequence[Variation], files: Sequence[IO[bytes]], engine: str = "portable"
) -> int:
    """Write V of each row, by each measure, and say how many rows they are."""
    try:
        variations = variations_of(batch.rows(), measures, engine)
    except (ValueError, TypeError) as error:
        raise refusal(batch, error) from error
    for values, file in zip(variations, files, strict=True):
        # Adding 0 makes a negative zero positive, whose bits sort last.
        file.write((values + 0.0).tobytes())
    return len(batch)


def order_statistics(file: IO[bytes], nth: NDArray[Any]) -> NDArray[np.float64]:
    """The nth smallest (from 0, ascending) of the float64 numbers from 0 up in a file."""
    ranks, prefixes = nth.astype(np.int64).copy(), np.zeros(len(nth), np.uint64)
    for level in range(64 // DIGIT_BITS):
        shift = np.uint64(64 - DIGIT_BITS * (level + 1))
        wanted = np.unique(prefixes)
        counts = {int(prefix): np.zeros(2**DIGIT_BITS, np.int64) for prefix in wanted}
        for values in _read(file):
            digits = values >> shift
            for prefix in wanted:
                inside = digits if level == 0 else digits[digits >> np.uint64(DIGIT_BITS) == prefix]
                low = (inside & np.uint64(2**DIGIT_BITS - 1)).astype(np.int64)
                counts[int(prefix)] += np.bincount(low, minlength=2**DIGIT_BITS)
        for k, prefix in enumerate(prefixes):
            below = np.cumsum(counts[int(prefix)])
            digit = int(np.searchsorted(below, ranks[k], side="right"))
            ranks[k] -= below[digit - 1] if digit else 0
            prefixes[k] = (prefix << np.uint64(DIGIT_BITS)) | np.uint64(digit)
    return prefixes.view(np.float64)


def _read(file: IO[bytes]) -> Iterator[NDArray[np.uint64]]:
    file.seek(0)
    while data := file.read(8 * READ_VALUES):
        yield np.frombuffer(data, np.uint64)

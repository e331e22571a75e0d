"""Exact bins of equal mass for rows that do not fit in memory: a first pass stores one number per row on disk."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import IO

import numpy as np

from trueness._arrays import IntArray
from trueness.bins import Edges, EqualMass
from trueness.bins.selection import Keys, Prefixes, count_digits, order_statistics, sort_keys
from trueness.files._bad_rows import no_rows_left, refusal
from trueness.files.batches import Batch
from trueness.refusals import Refusal
from trueness.tabulation import variations_of
from trueness.variation import Variation

DIGIT_BITS = 16
READ_VALUES = 2**20


def exact_edges(
    batches: Iterator[Batch],
    measures: Sequence[Variation],
    ranges: Sequence[tuple[float, float]],
    bins: EqualMass,
    engine: str = "auto",
) -> list[Edges]:
    """For each measure, which has this range, the edges that `tabulate` would find for all rows at once, to the bit."""
    with tempfile.TemporaryFile() as first, tempfile.TemporaryFile() as second:
        files = [first, second][: len(measures)]
        n_rows, skipped = 0, Counter[str]()
        for batch in batches:
            skipped += batch.skipped
            n_rows += write_sort_keys(batch, measures, files, engine) if len(batch) else 0
        if n_rows == 0:
            raise no_rows_left(skipped, filtered=False)
        nth = bins.nth(n_rows)
        ends = [order_statistics(nth, 1, partial(_count_digits, file), DIGIT_BITS)[0] for file in files]
    return [bins.edges_at(end, *range) for end, range in zip(ends, ranges, strict=True)]


def write_sort_keys(
    batch: Batch, measures: Sequence[Variation], files: Sequence[IO[bytes]], engine: str = "auto"
) -> int:
    """Write the sort key of V of each row, by each measure; the number of rows."""
    try:
        variations = variations_of(batch.rows(), measures, engine)
    except Refusal as error:
        raise refusal(batch, error) from error
    for values, file in zip(variations, files, strict=True):
        file.write(sort_keys(values).tobytes())
    return len(batch)


def _count_digits(file: IO[bytes], prefixes: Prefixes) -> IntArray:
    """`DigitCounts` for the keys in a file."""
    return count_digits(_read(file), prefixes)


def _read(file: IO[bytes]) -> Iterator[Keys]:
    file.seek(0)
    while data := file.read(8 * READ_VALUES):
        yield np.frombuffer(data, np.uint64)

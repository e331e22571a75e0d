"""The variation of every row, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from trueness._arrays import FloatArray
from trueness._scratch import Scratch
from trueness.ranking import ordered_rows
from trueness.rows import Rows
from trueness.variation import Variation


def ordered_blocks(rows: Rows) -> Iterator[tuple[int, int, FloatArray]]:
    """Start and stop of each block, and its rows sorted downwards, (classes, rows); refuses the first bad row.

    The sorted rows are valid until the next block.
    """
    scratch = Scratch()
    for start, stop in rows.spans():
        with np.errstate(all="ignore"):
            ordered = ordered_rows(rows.block(start, stop), scratch)
        rows.sums_of_distributions(ordered, start)
        yield start, stop, ordered


def measure_rows(rows: Rows, measures: Sequence[Variation]) -> list[FloatArray]:
    """V of each row by each measure, as the portable engine computes it."""
    values = [np.empty(rows.n_rows) for _ in measures]
    for start, stop, ordered in ordered_blocks(rows):
        for measure, of_measure in zip(measures, values, strict=True):
            of_measure[start:stop] = measure.of_rows(ordered.T, rows.sum_tolerance)[: stop - start]
    return values

"""The variation of every row, block by block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trueness._arrays import FloatArray
from trueness._scratch import Scratch
from trueness.ranking import ordered_blocks
from trueness.rows import Rows
from trueness.variation import Variation


def measure_rows(rows: Rows, measures: Sequence[Variation]) -> list[FloatArray]:
    """V of each row by each measure, as the portable engine computes it."""
    values = [np.empty(rows.n_rows) for _ in measures]
    scratch = Scratch()
    for start, stop, ordered in ordered_blocks(rows, scratch):
        for measure, of_measure in zip(measures, values, strict=True):
            of_measure[start:stop] = measure.of_rows(ordered.T, rows.sum_tolerance, scratch)
    return values

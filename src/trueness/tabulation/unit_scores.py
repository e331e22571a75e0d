"""Brier score and log-loss of two classes, summed for each unit of rows, for the comparison of models row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness.rows import Rows
from trueness.tabulation.clusters import UnitsOfRows

BITS = 32
"""Scores are summed as multiples of 2⁻³²: order and batches do not matter, and 2 million of the largest fit."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitScores:
    """The sums of each unit; those of further rows add."""

    sums: NDArray[Any]
    """ΣΣ_c(p_c - y_c)² and -Σ ln p_y over rows with p_y > 0, (units, 2): in steps of 2⁻³² unless weighted."""

    @property
    def values(self) -> FloatArray:
        """The sums as numbers, (units, 2)."""
        return np.asarray(self.sums / 2.0**BITS if self.sums.dtype.kind == "i" else self.sums, np.float64)

    def with_units(self, places: IntArray, n_units: int) -> UnitScores:
        """The same sums in other units, of which `places` has the number for each of these."""
        moved = np.zeros((n_units, 2), self.sums.dtype)
        np.add.at(moved, places, self.sums)
        return UnitScores(moved)

    def __add__(self, other: UnitScores) -> UnitScores:
        return UnitScores(self.sums + other.sums)


def unit_scores(some: UnitsOfRows) -> UnitScores:
    """The scores of rows that have been checked before."""
    dtype = np.int64 if some.rows.sample_weight is None else np.float64
    sums = np.zeros((some.n_units, 2), dtype)
    for start, stop in some.chunks():
        rows, unit_of = some.chunk(start, stop)
        assert isinstance(rows, Rows)  # options of rows have no classes
        assert rows.labels is not None
        p = rows.block(0, rows.n_rows).astype(np.float64, copy=False)
        of_truth = p[np.arange(len(p)), rows.labels.block(0, len(p))]
        brier = np.einsum("ij,ij->i", p, p) - 2 * of_truth + 1
        scores = np.stack([brier, -np.log(np.where(of_truth > 0, of_truth, 1.0))], axis=1)
        if rows.sample_weight is None:
            np.add.at(sums, unit_of, np.rint(scores * 2.0**BITS).astype(np.int64))
        else:
            np.add.at(sums, unit_of, scores * rows.sample_weight[:, None])
    return UnitScores(sums)

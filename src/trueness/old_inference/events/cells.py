"""The cells of one event that hold rows, as arrays: what all metrics of an event are computed from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.bins import EqualMass


@dataclass(frozen=True, slots=True)
class EventCells:
    """Sums of one event over cells of its probability, in increasing order; every cell holds rows, (F,) each.

    A cell is an interval of the probability. If the event is calibrated, the observed number of a cell of n rows is
    Binomial(n, p̄) with p̄ = Σp/n: rows of one cell differ, and Σp(1 - p) ≤ n·p̄(1 - p̄), so the noise is never
    understated.
    """

    count: FloatArray
    """Rows, or the sum of their weights."""
    predicted: FloatArray
    """Σp: the expected number."""
    observed: FloatArray
    """Σy: the observed number."""
    weight_square: FloatArray
    """Σw²; the number of rows if they have no weights."""
    weighted: bool = False

    def merge_runs(self, starts: IntArray) -> EventCells:
        """These cells merged into coarser ones, of which the k-th begins at cell starts[k]."""
        lines = (self.count, self.predicted, self.observed, self.weight_square)
        count, predicted, observed, square = (np.asarray(np.add.reduceat(line, starts)) for line in lines)
        return EventCells(count, predicted, observed, square, self.weighted)

    def in_equal_mass(self, n_bins: int) -> EventCells:
        """These cells merged into at most so many that hold nearly the same number of rows.

        >>> n = np.array([1.0, 1.0, 2.0, 5.0, 1.0])
        >>> EventCells(n, n / 2, n / 2, n).in_equal_mass(2).count.tolist()
        [9.0, 1.0]
        """
        return self.merge_runs(EqualMass(n_bins).cell_starts(self.count))

    @property
    def total(self) -> float:
        """The number of all rows, or their weight."""
        return float(self.count.sum())

    @property
    def mean_predicted(self) -> FloatArray:
        """p̄ of each cell, from 0 to 1."""
        return np.clip(self.predicted / self.count, 0.0, 1.0)

    @property
    def mean_observed(self) -> FloatArray:
        """ȳ of each cell, from 0 to 1."""
        return np.clip(self.observed / self.count, 0.0, 1.0)

    @property
    def effective_count(self) -> FloatArray:
        """(Σw)²/Σw² of each cell: the number of equally weighted rows with the same information."""
        return np.asarray(self.count**2 / self.weight_square)

    @property
    def variance(self) -> FloatArray:
        """Σw²·p̄(1 - p̄): the variance of the observed number of each cell if the event is calibrated."""
        p = self.mean_predicted
        return np.asarray(self.weight_square * p * (1 - p))

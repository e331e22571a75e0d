"""Bins that hold the same number of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arguments import whole_number
from trueness._arrays import FloatArray, IntArray
from trueness.bins.edges import EQUAL_MASS_SNAP, MOST_BINS, Edges
from trueness.bins.row_variation import measure_rows
from trueness.rows import Rows
from trueness.variation import Variation, as_variation


@dataclass(frozen=True, slots=True)
class EqualMass:
    """Bins that hold the same number of rows each, as far as equal values of V allow.

    The right edge of bin k is the ⌈kN/M⌉-th smallest V. Rows with equal V always share a bin, so with many equal
    values there are fewer bins than requested; the table has the bins that were made.
    """

    n_bins: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", whole_number("the number of bins", self.n_bins, 1, MOST_BINS))

    def fit(
        self,
        y_prob: Any,
        *,
        variation: str | Variation = "entropy",
        sample_weight: Any = None,
        from_logits: bool = False,
        normalize: bool = False,
    ) -> Edges:
        """The edges for these predictions, to be reused so that later tables can be added.

        >>> EqualMass(2).fit([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.5, 0.5]], variation="confidence").edges
        (0.5, 0.7, 1.0)
        """
        rows = Rows.of_predictions(y_prob, sample_weight, from_logits=from_logits, normalize=normalize)
        return self.fit_rows(rows, as_variation(variation))

    def fit_rows(self, rows: Rows, variation: Variation) -> Edges:
        """`fit` for validated rows."""
        (values,) = measure_rows(rows, [variation])
        ends = self.right_ends(values, rows.sample_weight)
        return self.edges_at(ends, *variation.range_for(rows.n_classes))

    def nth(self, n_rows: int) -> IntArray:
        """Which of the sorted values (from 0) are the right ends of the bins, ⌈kN/M⌉ - 1 for k = 1 to M."""
        return np.asarray(-(-np.arange(1, self.n_bins + 1) * n_rows // self.n_bins) - 1)

    def edges_at(self, ends: FloatArray, low: float, high: float) -> Edges:
        """The edges, given the right ends of all bins."""
        return Edges(_without_repeats(low, ends, high), EQUAL_MASS_SNAP)

    def right_ends(self, values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """The right ends of all bins for values in memory, the largest last; may reorder the values."""
        if weights is None:
            nth = self.nth(len(values))
            values.partition(nth)  # in place: this may be the largest array there is
            return values[nth]
        kept = weights > 0
        order = np.argsort(values[kept])
        nth = first_to_reach(weights[kept][order], np.arange(1, self.n_bins + 1), self.n_bins)
        return np.asarray(values[kept][order][np.minimum(nth, len(order) - 1)])

    def cell_starts(self, count: NDArray[Any]) -> IntArray:
        """The first cell of each bin when the cells of a fine grid, with these counts, are merged."""
        nth = first_to_reach(count, np.arange(1, self.n_bins), self.n_bins)
        last = len(count) - 1 - int(np.argmax(count[::-1] > 0))
        return np.concatenate([[0], np.unique(nth[nth < last]) + 1]).astype(np.int64)


def _without_repeats(low: float, ends: FloatArray, high: float) -> list[float]:
    """Edges from ascending right ends, without those that equal the previous or the last one within rounding."""
    equal = 4 * EQUAL_MASS_SNAP
    interior: list[float] = []
    for end in ends[ends < ends[-1] - equal]:
        if not interior or end > interior[-1] + equal:
            # Rows at the very bottom, such as one-hot ones, get the bin [low, low].
            interior.append(float(end) if end > low + equal else low)
    return [low, *interior, high]


def first_to_reach(count: NDArray[np.number], shares: IntArray, n_shares: int) -> IntArray:
    """Where the cumulated count first reaches k/n of its total, for each k of `shares`."""
    mass = np.cumsum(count)
    # A weight that sums to exactly k/n counts as having reached it, whatever the rounding.
    return np.asarray(np.searchsorted(mass * n_shares, shares * mass[-1] * (1 - 1e-13)))

"""The counts of looks as arrays: what every bet is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_table import CalibrationTable, EventTable

LEAST_PROBABILITY = 1e-9
"""f = max(q̄, 10⁻⁹): a bet on an outcome that was called impossible stays finite."""


@dataclass(frozen=True)
class Cells:
    """Outcomes of L looks in M bins: counts of each of C outcomes, and their mean prediction.

    The outcomes are the ranks of the true class, or an event and its opposite.
    """

    observed: FloatArray
    """R: how often each outcome was observed, (L, M, C)."""
    q: FloatArray
    """q̄: the mean prediction, in proportion to its sum, (L, M, C); uniform in empty bins."""
    share: FloatArray
    """n_b/N, (L, M); 0 in all bins of a look without rows."""

    @classmethod
    def of(cls, predicted: FloatArray, observed: FloatArray, count: FloatArray) -> Cells:
        """The cells of Σq (L, M, C), R (L, M, C) and the rows or weight of each bin (L, M)."""
        total = predicted.sum(axis=-1, keepdims=True)
        uniform = np.full(predicted.shape, 1 / predicted.shape[-1])
        mean = np.divide(predicted, total, out=uniform, where=total > 0)
        whole = count.sum(axis=-1, keepdims=True)
        share = np.divide(count, whole, out=np.zeros(count.shape), where=whole > 0)
        return cls(observed, mean, share)

    @classmethod
    def of_tables(cls, tables: Sequence[CalibrationTable]) -> Cells:
        """The cells of rank tables in the same bins."""
        columns = ((table.ordered_sum, table.rank_count, table.count) for table in tables)
        predicted, observed, count = (
            np.stack(column).astype(np.float64) for column in zip(*columns, strict=True)
        )
        return cls.of(predicted, observed, count)

    @classmethod
    def of_events(cls, tables: Sequence[EventTable]) -> Cells:
        """The cells of event tables on one grid; each event of each table is a look of its own, (L·K, G, 2)."""
        columns = ((table.predicted_sum, table.observed_count, table.count) for table in tables)
        expected, observed, count = (
            np.concatenate(column).astype(np.float64) for column in zip(*columns, strict=True)
        )
        return cls.of(
            np.stack([expected, np.maximum(count - expected, 0.0)], axis=-1),
            np.stack([observed, np.maximum(count - observed, 0.0)], axis=-1),
            count,
        )

    @cached_property
    def f(self) -> FloatArray:
        """max(q̄, 10⁻⁹), (L, M, C)."""
        return np.maximum(self.q, LEAST_PROBABILITY)

    @cached_property
    def p(self) -> FloatArray:
        """f/Σf, (L, M, C)."""
        return np.asarray(self.f / self.f.sum(axis=-1, keepdims=True))

    def part(self, looks: slice) -> Cells:
        """Some of the looks."""
        return Cells(self.observed[looks], self.q[looks], self.share[looks])

    @property
    def n_looks(self) -> int:
        """The number of looks L."""
        return len(self.share)

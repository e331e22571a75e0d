"""Bins of a table as predicted and observed frequencies: of ranks, or of the two outcomes of an event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.bins import Bins
from trueness.old_inference.events.of_table import event_bins, totals_of
from trueness.old_inference.null import NullBins
from trueness.old_table import CalibrationTable, EventTable
from trueness.refusals import InvalidValueError

_BATCH_VALUES = 2**20
"""Drawn frequencies in memory at a time, eight megabytes."""


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    """The bins that hold rows, F of them, with C frequencies each."""

    count: FloatArray
    """Rows, or the effective number (Σw)²/Σw² of them, (F,)."""
    weight: FloatArray
    """The share of each bin, (F,)."""
    predicted: FloatArray
    """q̄, (F, C)."""
    observed: FloatArray
    """r̄, (F, C)."""
    scale: float = 1.0
    """½ for an event, whose score counts one of its two outcomes."""

    @classmethod
    def of_table(cls, table: CalibrationTable) -> Frequencies:
        """The bins of a table by variation."""
        bins = NullBins.of(table)
        count = table.effective_count[bins.index]
        ordered = table.mean_ordered[bins.index]
        return cls(count, bins.weight, ordered, bins.observed)

    @classmethod
    def of_event(cls, table: EventTable, bins: int | Bins) -> Frequencies:
        """Bins of the probability of the only event of a table."""
        if len(table.events) != 1 or not table.n_rows:
            cause = (
                "log_reliability needs a table of one event with rows, this one has "
                f"{len(table.events)} events and {table.n_rows} rows"
            )
            remedy = "select one with table.select(event)"
            raise InvalidValueError("several-events", cause, remedy, argument="table")
        (cells,) = event_bins(table, bins)
        return cls(
            cells.effective_count,
            cells.count / cells.total,
            _outcomes(cells.mean_predicted),
            _outcomes(cells.mean_observed),
            0.5,
        )

    @property
    def mean_observed(self) -> FloatArray:
        """r̄ over all rows, (C,)."""
        return np.asarray(self.weight @ self.observed)

    def with_neighbours(self) -> Frequencies:
        """These bins with those of a single row merged into the next one, the last into the one before."""
        starts = _starts_of_two(self.count)
        weight = np.add.reduceat(self.weight, starts)
        # (Σw)²/Σw² of a union, from those of its parts.
        squares = np.add.reduceat(self.weight**2 / self.count, starts)

        def mean(vectors: FloatArray) -> FloatArray:
            return np.add.reduceat(self.weight[:, None] * vectors, starts) / weight[:, None]

        return replace(
            self,
            count=weight**2 / squares,
            weight=weight,
            predicted=mean(self.predicted),
            observed=mean(self.observed),
        )

    def draws(self, seed: int, resamples: int) -> Iterator[FloatArray]:
        """Observed frequencies of a calibrated model, (k, F, C) at a time, R in all: Multinomial(n, q̄)/n."""
        stream = np.random.default_rng([seed, 12])
        n = np.maximum(np.rint(self.count), 1.0).astype(np.int64)
        q = self.predicted / self.predicted.sum(axis=1, keepdims=True)
        batch = max(1, _BATCH_VALUES // q.size)
        for start in range(0, resamples, batch):
            size = min(batch, resamples - start)
            yield stream.multinomial(n, q, (size, len(n))) / n[:, None]


class Totals(NamedTuple):
    """Means over all rows."""

    true_probability: float
    """Of p_y."""
    square: float
    """Of ‖p‖²."""

    @classmethod
    def of_table(cls, table: CalibrationTable) -> Totals:
        """Of a table with scores."""
        true, square, n = table.sums.true_probability, table.sums.square, float(table.count.sum())
        assert true is not None
        assert square is not None
        return cls(float(true.value) / n, float(square.value) / n)

    @classmethod
    def of_event(cls, table: EventTable) -> Totals:
        """Of the two outcomes of an event on the event grid."""
        t = totals_of(table)
        true = 2 * t.product + t.count - t.predicted - t.observed
        return cls(true / t.count, (2 * t.square - 2 * t.predicted + t.count) / t.count)


def _outcomes(frequency: FloatArray) -> FloatArray:
    """How often an event does not occur and occurs, (F, 2)."""
    return np.stack([1 - frequency, frequency], axis=1)


def _starts_of_two(count: FloatArray) -> IntArray:
    """The first bin of each run of neighbours that hold more than one row together."""
    starts, held = [0], 0.0
    for k, rows in enumerate(count.tolist()):
        if held > 1:
            starts.append(k)
            held = 0.0
        held += rows
    if held <= 1 and len(starts) > 1:
        starts.pop()
    return np.array(starts, np.int64)

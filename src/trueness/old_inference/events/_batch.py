"""The cells of several events end to end, so that one array operation serves all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.old_inference.events.cells import EventCells


@dataclass(frozen=True, slots=True, eq=False)
class CellBatch:
    """The cells of K events, each of which has some: P cells in all."""

    count: FloatArray
    """Rows of each cell, or their weight, (P,)."""
    predicted: FloatArray
    observed: FloatArray
    weight_square: FloatArray
    starts: IntArray
    """The first cell of each event, (K,)."""
    owner: IntArray
    """The event of each cell, (P,)."""

    @classmethod
    def of(cls, events: Sequence[EventCells]) -> CellBatch:
        """The cells of the events, in their order."""
        sizes = np.array([len(cells.count) for cells in events])
        return cls(
            count=np.concatenate([cells.count for cells in events], dtype=np.float64),
            predicted=np.concatenate([cells.predicted for cells in events], dtype=np.float64),
            observed=np.concatenate([cells.observed for cells in events], dtype=np.float64),
            weight_square=np.concatenate([cells.weight_square for cells in events], dtype=np.float64),
            starts=np.cumsum(sizes) - sizes,
            owner=np.repeat(np.arange(len(events)), sizes),
        )

    @property
    def mean_predicted(self) -> FloatArray:
        """p̄ of each cell, (P,)."""
        return np.clip(self.predicted / self.count, 0.0, 1.0)

    @property
    def variance(self) -> FloatArray:
        """Σw²·p̄(1 - p̄) of each cell, (P,)."""
        p = self.mean_predicted
        return np.asarray(self.weight_square * p * (1 - p))

    def total(self, by_cell: FloatArray) -> FloatArray:
        """The sum over the cells of each event, (K,) or (K, …)."""
        return np.asarray(np.add.reduceat(by_cell, self.starts, axis=0))


def where_cells(events: Sequence[EventCells]) -> list[int]:
    """The indices of the events that have rows."""
    return [k for k, cells in enumerate(events) if len(cells.count)]

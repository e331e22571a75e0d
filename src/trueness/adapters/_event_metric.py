"""The base class of the metrics that are computed from an `EventTable`, and what they have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueness.adapters._metric_input import MetricInput
from trueness.adapters._table_metric import TableMetric
from trueness.bins import Bins, EqualMass, as_bins
from trueness.old_table import AnyTable, EventTable


class EventMetric(TableMetric):
    """A number computed from an `EventTable`; its bins are chosen when it is computed, from the cells of the table."""

    def __init__(
        self, input: MetricInput, n_bins: int | Bins, *, task: str, norm: str, **kwargs: Any
    ) -> None:
        super().__init__(input, task=task, norm=norm, **kwargs)
        self.n_bins = as_bins(n_bins)
        if not isinstance(self.n_bins, EqualMass):  # bins that the cells do not merge into are refused now
            assert input.event_spec is not None
            grid = input.event_spec.grid
            grid.merge(np.zeros(grid.n_cells, np.int64), self.n_bins)

    @property
    def table(self) -> EventTable:
        """The event table of the rows that `compute` covers: those of all processes, if there are several.

        Reading it never communicates. With several processes it is the table that the last `compute` made, so every
        process must have called `compute` since its last update; inside `sync_context` it is that of all processes too.
        """
        return _event_table(self._tables())

    def _value(self, tables: list[AnyTable]) -> float:
        return self._number_of(_event_table(tables))

    def _number_of(self, table: EventTable) -> float:
        raise NotImplementedError


def _event_table(tables: list[AnyTable]) -> EventTable:
    (table,) = tables
    assert isinstance(table, EventTable)
    return table

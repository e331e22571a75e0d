"""From event tables to the cells and bins of single events."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import IntArray
from trueness.bins import Bins, Edges, EqualMass, ProbabilityGrid, as_bins
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.event_statistics import EventTotals
from trueness.old_table import EventTable
from trueness.old_table.label_worth import event_row_worth


def event_cells(table: EventTable) -> list[EventCells]:
    """The cells of each event that hold rows."""
    arrays = _Arrays.of(table)
    return [arrays.cells(k) for k in range(len(table.events))]


def event_bins(table: EventTable, bins: int | Bins) -> list[EventCells]:
    """The bins of each event that hold rows; bins of equal mass are made of the event's own cells."""
    chosen = as_bins(bins)
    if isinstance(chosen, Edges):
        return [merge_cells(cells, chosen) for cells in event_cells(table)]
    if not isinstance(chosen, EqualMass):
        return event_cells(table.coarsen(chosen))
    arrays = _Arrays.of(table)
    return [arrays.cells(k, chosen.cell_starts(arrays.mass[k])) for k in range(len(table.events))]


def merge_cells(cells: EventCells, bins: Bins) -> EventCells:
    """The cells merged into bins; a cell that an edge of the bins cuts counts where its mean probability is."""
    if isinstance(bins, EqualMass):
        return cells.in_equal_mass(bins.n_bins)
    grid = ProbabilityGrid(bins.resolve(0.0, 1.0).edges)
    at = grid.index(cells.mean_predicted, float(np.finfo(np.float64).eps))
    return cells.merge_runs(np.flatnonzero(np.diff(at, prepend=-1)))


def totals_of(table: EventTable) -> EventTotals:
    """The sums over all rows of the only event of a table on the event grid."""
    sums = table.sums

    def total(value: Any) -> float:
        return float(value.value[0])

    assert sums.impossible_rows is not None
    return EventTotals(
        count=float(table.count[0].sum()),
        predicted=float(table.expected_total[0]),
        observed=float(table.observed_total[0]),
        square=total(sums.square),
        cube=total(sums.cube),
        fourth=total(sums.fourth),
        product=total(sums.product),
        log_likelihood=total(sums.log_likelihood),
        impossible_rows=float(sums.impossible_rows[0]),
        weight_square=float(table.weight_square_sum[0].sum()) if table.spec.weighted else None,
    )


class _Arrays(NamedTuple):
    """The sums of all events, (K, G) each."""

    rows: NDArray[Any]
    mass: NDArray[Any]
    predicted: NDArray[Any]
    observed: NDArray[Any]
    weight_square: NDArray[Any]
    weighted: bool

    @classmethod
    def of(cls, table: EventTable) -> _Arrays:
        sums = table.sums
        return cls(
            table.row_count,
            table.count,
            sums.predicted.value,
            sums.observed.value,
            table.weight_square_sum / event_row_worth(sums)[:, None],
            # Rows that are worth more or less than one have normal tails, as weighted ones.
            table.spec.weighted or sums.label_spread is not None,
        )

    def cells(self, k: int, starts: IntArray | None = None) -> EventCells:
        """The cells of one event, merged into runs that begin at `starts`, that hold rows."""
        lines = [values[k] for values in self[:5]]
        if starts is not None:
            lines = [np.add.reduceat(line, starts) for line in lines]
        filled = lines[0] > 0
        count, predicted, observed, square = (np.asarray(line[filled], np.float64) for line in lines[1:])
        return EventCells(count, predicted, observed, square, self.weighted)

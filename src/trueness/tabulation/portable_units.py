"""The sums of units of rows (clusters, or blocks of them) by the portable engine: the bins of each unit in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from trueness._arrays import IntArray
from trueness.old_table import EventSpec, SingleSpec, TableSpec
from trueness.old_table.cluster_sums import event_bin_starts, spec_of_units
from trueness.rows import Rows
from trueness.tabulation.event_totals import EventDescriber, ExactEventTotals, WeightedEventTotals
from trueness.tabulation.portable import Pass
from trueness.tabulation.unit_sums import UnitSums


class UnitPass:
    """Sums of units that blocks of rows are added to, in one thread."""

    def __init__(self, rows: Rows, specs: Sequence[SingleSpec], n_units: int) -> None:
        self.specs, self._pass = (
            specs,
            Pass(rows, [spec for spec in specs if isinstance(spec, TableSpec)], n_units),
        )
        eps = rows.y_prob.eps
        self._events = [UnitEventTotals(spec, eps, n_units) for spec in specs if isinstance(spec, EventSpec)]

    def add(self, rows: Rows, unit_of: IntArray, n_threads: int = 1) -> None:
        """Add all of these rows, with the unit of each; steps are short and wait for the interpreter's lock."""
        del n_threads
        for start, stop in rows.spans():
            self._pass.add(rows, start, stop, unit_of[start:stop])
            for events in self._events:
                events.add(rows, start, stop, unit_of[start:stop])

    def sums(self) -> list[UnitSums]:
        """The sums so far, one for each spec."""
        tables, events = iter(self._pass.sums()), iter(self._events)
        return [
            next(events).sums() if isinstance(spec, EventSpec) else UnitSums.of_bins(spec, next(tables))
            for spec in self.specs
        ]


class UnitEventTotals:
    """Running sums of events: of all rows in the cells of the table, and of each unit in the bins of clusters."""

    def __init__(self, spec: EventSpec, eps: float, n_units: int) -> None:
        coarse = spec_of_units(spec)
        assert isinstance(coarse, EventSpec)
        totals: Any = WeightedEventTotals if spec.weighted else ExactEventTotals
        self.describer = EventDescriber(spec, eps)
        self.of_all, self.of_units = totals(spec), totals(coarse, n_units)
        self.n_of_unit = len(spec.events) * coarse.grid.n_cells
        starts = event_bin_starts(spec.grid)
        self.bin_of = np.searchsorted(starts, np.arange(spec.grid.n_cells), side="right") - 1

    def add(self, rows: Rows, start: int, stop: int, unit_of: IntArray) -> None:
        """Add the rows from start to stop, with the unit of each of these."""
        weight = rows.sample_weight
        units = unit_of if weight is None else unit_of[weight[start:stop] > 0]
        with np.errstate(all="ignore"):
            block = self.describer.describe(rows, start, stop)
            self.of_all.add(block)
            self.of_units.add(block._replace(cell=self.bin_of[block.cell] + units * self.n_of_unit))

    def sums(self) -> UnitSums:
        """The sums so far."""
        return UnitSums(self.of_all.sums(), UnitSums.flat_events(self.of_units.sums()))

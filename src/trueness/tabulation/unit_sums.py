"""The sums of units of rows (clusters, or blocks of them) in dense form, and of all rows, as an engine leaves them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trueness.old_table import EventSums, Sums, TableSpec
from trueness.old_table.cluster_sums import AnyCellSums, CellSums, EventCellSums
from trueness.old_table.exact_sums import ExactSum, FloatSum


@dataclass(frozen=True, slots=True)
class UnitSums:
    """The sums of all rows, and those of each bin of each unit; they add."""

    table: Sums | EventSums
    cells: AnyCellSums
    """unit by unit, (units·M,) or (units·M, C)."""

    def __add__(self, other: UnitSums) -> UnitSums:
        table: Any = self.table
        cells: Any = self.cells
        return UnitSums(table + other.table, cells + other.cells)

    @classmethod
    def of_bins(cls, spec: TableSpec, of_units: Sums) -> UnitSums:
        """From sums whose bins are those of the first unit, then those of the second, …"""
        return cls(_total(spec.bins.n_bins, of_units), CellSums.of(of_units))

    @staticmethod
    def flat_events(of_units: EventSums) -> EventCellSums:
        """The sums of the events of the first unit, then those of the second, …, from (units·K, G) as one axis."""

        def flat(value: Any) -> Any:
            if isinstance(value, ExactSum):
                return ExactSum(value.whole.ravel(), value.fraction.ravel(), value.bits)
            return FloatSum(value.value.ravel()) if isinstance(value, FloatSum) else value.ravel()

        kept = {
            name: flat(value)
            for name, value in of_units.items()
            if name not in ("weight_square", "label_spread")
        }
        return EventCellSums(**kept)


def _total(n_bins: int, of_units: Sums) -> Sums:
    """The sums over all units of each bin."""
    n_units = len(of_units.rows) // n_bins
    order = np.arange(n_units * n_bins).reshape(n_units, n_bins).T.ravel()

    def taken(name: str, value: Any) -> Any:
        if name.startswith("predicted_"):
            return value
        if isinstance(value, ExactSum) and value.whole.ndim:
            return ExactSum(value.whole[order], value.fraction[order], value.bits)
        if isinstance(value, FloatSum) and value.value.ndim:
            return FloatSum(value.value[order])
        return value[order] if isinstance(value, np.ndarray) and value.ndim else value

    by_bin = Sums(**{name: taken(name, value) for name, value in of_units.items()})
    return by_bin.merge_runs(np.arange(n_bins) * n_units)

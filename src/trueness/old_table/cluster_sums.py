"""The sums of each cluster of rows: of its rows in each bin of a table, without the bins that it does not fill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness.bins import EqualWidth, ProbabilityGrid, class_grid
from trueness.old_table.content import Sums, TableSpec
from trueness.old_table.event_content import EventSpec, EventSums
from trueness.old_table.exact_sums import (
    LOG_SCORE_BITS,
    PROBABILITY_BITS,
    ExactSum,
    FloatSum,
    NamedSums,
    Sum,
    concatenate_sums,
    make_read_only,
    reduce_to_fields,
)

EVENT_BINS = 10
"""Bins of equal width over [0, 1] in which the clusters of events are summed."""

MAX_EVENTS = 64
"""Events that clusters are summed for: more would take gigabytes."""


@dataclass(frozen=True, slots=True, eq=False)
class CellSums(NamedSums):
    """Sums over the rows of a cluster in a bin, one entry for each pair of the two that holds rows, (E,) or (E, C)."""

    rows: IntArray
    ordered: Sum
    """Σq, (E, C)."""
    rank: Sum
    """Σr, (E, C)."""
    log_score: Sum
    """Σ(ln p_y + H) over rows with p_y > 0."""
    log_score_variance: Sum
    weight: FloatSum | None = None
    """Σw of weighted rows."""

    def __post_init__(self) -> None:
        make_read_only(self.rows)

    __reduce__ = reduce_to_fields

    @classmethod
    def of(cls, sums: Sums) -> CellSums:
        """What is kept of the sums of a table."""
        return cls(**{field.name: getattr(sums, field.name) for field in fields(cls)})


@dataclass(frozen=True, slots=True, eq=False)
class EventCellSums(NamedSums):
    """Sums over the rows of a cluster of an event in a bin of its probability, (E,) each."""

    rows: IntArray
    predicted: Sum
    """Σp."""
    observed: Sum
    """Σy."""
    weight: FloatSum | None = None

    def __post_init__(self) -> None:
        make_read_only(self.rows)

    __reduce__ = reduce_to_fields


AnyCellSums: TypeAlias = CellSums | EventCellSums


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSums:
    """The sums of one table for each unit, which is a cluster or a block of clusters."""

    spec: TableSpec | EventSpec
    cells: IntArray
    """unit·M + bin of each entry, increasing, (E,)."""
    sums: AnyCellSums

    def __post_init__(self) -> None:
        make_read_only(self.cells)

    __reduce__ = reduce_to_fields

    @classmethod
    def of_dense(cls, spec: TableSpec | EventSpec, sums: AnyCellSums) -> ClusterSums:
        """From the sums of all cells of all units, of which many may hold no rows."""
        filled = np.flatnonzero(sums.rows)
        kept = sums if len(filled) == len(sums.rows) else _each(sums, lambda values: values[filled])
        return cls(spec, filled, kept)

    @classmethod
    def empty(cls, spec: TableSpec | EventSpec) -> ClusterSums:
        """Those of no rows."""
        return cls(spec, np.empty(0, np.int64), zero_cells(spec, 0))

    @property
    def n_bins(self) -> int:
        """M: the bins of a unit; for events those of all of them."""
        return n_bins_of(self.spec)

    @property
    def units(self) -> IntArray:
        """The unit of each entry, (E,)."""
        return self.cells // self.n_bins

    @property
    def bins(self) -> IntArray:
        """The bin of each entry, (E,)."""
        return self.cells % self.n_bins

    @property
    def mass(self) -> FloatArray:
        """Rows of each entry, or the sum of their weights, (E,)."""
        weight = self.sums.weight
        return self.sums.rows.astype(np.float64) if weight is None else weight.value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClusterSums):
            return NotImplemented
        same = self.spec == other.spec and np.array_equal(self.cells, other.cells)
        return same and self.sums.same(other.sums)  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]

    def with_units(self, places: IntArray) -> ClusterSums:
        """The same sums with other numbers of the units: `places` of each old one, several of which may be one."""
        return self._regrouped(places[self.units] * self.n_bins + self.bins, self.spec)

    def merge_bins(self, starts: IntArray, spec: TableSpec) -> ClusterSums:
        """The same sums in coarser bins of this spec, each a run of bins that begins at one of `starts`."""
        bins = np.searchsorted(starts, self.bins, side="right") - 1
        return self._regrouped(self.units * len(starts) + bins, spec)

    def merge(self, other: ClusterSums) -> ClusterSums:
        """The sums of both, with the same numbers of units."""
        cells = np.concatenate([self.cells, other.cells])
        return ClusterSums(self.spec, *_merged(cells, _joined([self.sums, other.sums])))

    def _regrouped(self, cells: IntArray, spec: TableSpec | EventSpec) -> ClusterSums:
        return ClusterSums(spec, *_merged(cells, self.sums))

    def total(self) -> AnyCellSums:
        """The sums over all units of each bin, (M,) or (M, C): those of the table, to the last bit if unweighted."""
        sums = self._regrouped(self.bins, self.spec)
        return _each(sums.sums, lambda values: _spread(values, sums.cells, self.n_bins))

    def adds_up_to(self, sums: Sums | EventSums) -> bool:
        """Whether these are the sums of all units of a table with these sums, of the same spec."""
        total = self.total()
        if not np.array_equal(total.rows, sums.rows.ravel()):
            return False
        if self.spec.weighted:  # rounded in another order
            return True
        if isinstance(sums, EventSums):
            return all(
                np.array_equal(getattr(total, name).value, getattr(sums, name).value.ravel())
                for name in ("predicted", "observed")
            )
        assert isinstance(total, CellSums)
        return total.same(CellSums.of(sums))

    def unit_totals(self, n_units: int) -> AnyCellSums:
        """The sums over all bins of each unit, (units,) or (units, C)."""
        cells, sums = _merged(self.units, self.sums)
        return _each(sums, lambda values: _spread(values, cells, n_units))


def has_units(spec: TableSpec | EventSpec) -> bool:
    """Whether the sums of clusters are kept for a table: not for those of very many events."""
    return not isinstance(spec, EventSpec) or len(spec.events) <= MAX_EVENTS


def spec_of_units(spec: TableSpec | EventSpec) -> TableSpec | EventSpec:
    """The spec of the sums of clusters: as the table's, but events have ten bins of equal width."""
    return replace(spec, grid=event_bins_grid()) if isinstance(spec, EventSpec) else spec


@cache
def event_bins_grid() -> ProbabilityGrid:
    """Ten bins of equal width over [0, 1]."""
    fine = class_grid()
    return fine.merge(np.zeros(fine.n_cells), EqualWidth(EVENT_BINS))[1]


def event_bin_starts(grid: ProbabilityGrid) -> IntArray:
    """The first cell of a grid in each of the ten bins."""
    return grid.merge(np.zeros(grid.n_cells), EqualWidth(EVENT_BINS))[0]


def n_bins_of(spec: TableSpec | EventSpec) -> int:
    """The bins of a unit; for events those of all of them."""
    return spec.grid.n_cells * len(spec.events) if isinstance(spec, EventSpec) else spec.bins.n_bins


def bytes_of_unit(spec: TableSpec | EventSpec) -> int:
    """The memory that the sums of one unit take, if it fills all bins."""
    words = 6 if isinstance(spec, EventSpec) else 4 * spec.n_cells + 12
    return 8 * words * n_bins_of(spec)


def zero_cells(spec: TableSpec | EventSpec, n: int) -> AnyCellSums:
    """Sums of n entries, all zero."""

    def zero(bits: int, *more: int) -> Sum:
        return FloatSum(np.zeros((n, *more))) if spec.weighted else ExactSum.zeros((n, *more), bits)

    rows, weight = np.zeros(n, np.int64), FloatSum(np.zeros(n)) if spec.weighted else None
    if isinstance(spec, EventSpec):
        return EventCellSums(rows, zero(PROBABILITY_BITS), zero(PROBABILITY_BITS), weight)
    c = spec.n_cells
    return CellSums(
        rows,
        zero(PROBABILITY_BITS, c),
        zero(PROBABILITY_BITS, c),
        zero(LOG_SCORE_BITS),
        zero(LOG_SCORE_BITS),
        weight,
    )


def _merged(cells: IntArray, sums: AnyCellSums) -> tuple[IntArray, AnyCellSums]:
    """Entries in the order of their cells, with those of one cell added up."""
    if len(cells) == 0:
        return cells, sums
    order = np.argsort(cells, kind="stable")
    together = cells[order]
    starts = np.flatnonzero(np.concatenate([[True], together[1:] != together[:-1]]))
    if len(starts) == len(cells) and np.array_equal(order, np.arange(len(cells))):
        return cells, sums
    sums = _each(sums, lambda values: values[order])
    return together[starts], _reduced(sums, starts)


def _reduced(sums: AnyCellSums, starts: IntArray) -> AnyCellSums:
    """The entries of each run that begins at one of `starts` added up."""

    def reduced(value: Any) -> Any:
        return np.add.reduceat(value, starts) if isinstance(value, np.ndarray) else value.merge_runs(starts)

    return type(sums)(**{name: reduced(value) for name, value in sums.items()})


def _each(sums: AnyCellSums, change: Callable[[NDArray[Any]], NDArray[Any]]) -> AnyCellSums:
    """The sums with every array changed by a function of its first axis."""

    def changed(value: Any) -> Any:
        if isinstance(value, ExactSum):
            return ExactSum(change(value.whole), change(value.fraction), value.bits)
        return FloatSum(change(value.value)) if isinstance(value, FloatSum) else change(value)

    return type(sums)(**{name: changed(value) for name, value in sums.items()})


def _joined(parts: Sequence[AnyCellSums]) -> AnyCellSums:
    """The entries of several sums one after the other."""
    named = [dict(part.items()) for part in parts]
    return type(parts[0])(**{name: concatenate_sums([part[name] for part in named]) for name in named[0]})


def _spread(values: NDArray[Any], at: IntArray, n: int) -> NDArray[Any]:
    """The entries at their places among n, zero elsewhere."""
    everywhere = np.zeros((n, *values.shape[1:]), values.dtype)
    everywhere[at] = values
    return everywhere

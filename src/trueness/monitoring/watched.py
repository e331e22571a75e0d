"""What a look consists of: a rank table, an event table of the classes, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueness.bins import Bins, Edges, EqualWidth, ProbabilityGrid
from trueness.old_table import (
    AnyRankTable,
    CalibrationTable,
    EventTable,
    GroupedTables,
    OptionTables,
    Tables,
    spec_difference,
)
from trueness.old_table.label_worth import has_soft_labels
from trueness.refusals import InvalidTypeError, InvalidValueError, Refusal

MOST_BINS = 40
"""With more bins, bets on single bins would have no weight left: tables are coarsened first."""

COARSE_BINS = 10

_TAIL = (2.0**-10, 2.0**-7, 1 / 30)
EVENT_EDGES = (0.0, *_TAIL, *(k / 10 for k in range(1, 10)), *(1 - edge for edge in reversed(_TAIL)), 1.0)
"""The 16 cells in which events are watched; all are edges of the grids that tables are made on."""


@dataclass(frozen=True, slots=True)
class Watched:
    """The tables of the rows of one look, of one group."""

    ranks: AnyRankTable | None
    by_class: EventTable | None = None

    @property
    def tables(self) -> tuple[AnyRankTable | EventTable, ...]:
        """The tables that there are."""
        return tuple(table for table in (self.ranks, self.by_class) if table is not None)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.tables[0].n_rows

    @property
    def weight(self) -> float:
        """The number of rows, or the sum of their weights."""
        table = self.tables[0]
        return float((table.count[0] if isinstance(table, EventTable) else table.count).sum())

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.tables[0].spec.weighted

    def adds_to(self, other: Watched) -> bool:
        """Whether the tables have equal specs."""
        pairs = ((self.ranks, other.ranks), (self.by_class, other.by_class))
        return all(
            mine is theirs is None
            if mine is None or theirs is None
            else spec_difference(mine.spec, theirs.spec) is None
            for mine, theirs in pairs
        )

    def __add__(self, other: Watched) -> Watched:
        """The sum; refused in the words of the tables."""
        if (self.ranks is None, self.by_class is None) != (other.ranks is None, other.by_class is None):
            cause = f"one look has {_kinds(self)}, another {_kinds(other)}"
            remedy = "watch the same tables in every look"
            raise InvalidValueError("different-tables", cause, remedy)
        ranks = None if self.ranks is None or other.ranks is None else _sum_of(self.ranks, other.ranks)
        events = None if self.by_class is None or other.by_class is None else self.by_class + other.by_class
        return Watched(ranks, events)


def _sum_of(mine: AnyRankTable, theirs: AnyRankTable) -> AnyRankTable:
    difference = None if type(mine) is type(theirs) else spec_difference(mine.spec, theirs.spec)
    if difference is not None:
        cause = f"these tables cannot be added: {difference}"
        raise InvalidValueError("different-tables", cause, "watch the same tables in every look")
    together: Any = mine + theirs
    ranks: AnyRankTable = together
    return ranks


def _kinds(watched: Watched) -> str:
    names = {
        CalibrationTable: "a table of ranks",
        OptionTables: "tables of different numbers of options",
        EventTable: "a table of events",
    }
    return " and ".join(names[type(table)] for table in watched.tables)


def as_watched(value: Any) -> dict[str | None, Watched]:
    """The tables of each group; those of all rows under None. A refusal says what is accepted."""
    if isinstance(value, GroupedTables):
        value = value.groups if value.by is not None else value.whole
    if isinstance(value, Mapping) and not isinstance(value, OptionTables):
        if not value:
            raise InvalidValueError("no-tables", "table names no groups", argument="table")
        return {_group_name(name): _of_tables(tables) for name, tables in value.items()}
    return {None: _of_tables(value)}


def _group_name(name: Any) -> str:
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        cause = f"groups must have names, got {name!r}"
        raise InvalidTypeError("wrong-type", cause, argument="table", value=name)
    return str(name)


def _of_tables(value: Any) -> Watched:
    if isinstance(value, Tables):
        return _joined([value.by_variation], [] if value.by_class is None else [value.by_class])
    tables = list(value) if isinstance(value, (list, tuple)) and value else [value]
    ranks = [table for table in tables if isinstance(table, (CalibrationTable, OptionTables))]
    events = [table for table in tables if isinstance(table, EventTable)]
    if len(ranks) + len(events) < len(tables) or not tables:
        unlike = next(
            (each for each in tables if not isinstance(each, (CalibrationTable, OptionTables, EventTable))),
            value,
        )
        cause = (
            "table must be a CalibrationTable, such as tabulate returns, an EventTable, both, "
            f"or a mapping of groups to these, got {type(unlike).__name__}"
        )
        raise InvalidTypeError("wrong-type", cause, argument="table")
    return _joined(ranks, events)


def _joined(ranks: Sequence[AnyRankTable], events: Sequence[EventTable]) -> Watched:
    """The first table of each kind; both must be of the same rows."""
    if any(map(has_soft_labels, [*ranks, *events])):
        cause = "table has soft labels, for which the evidence of a monitor is not proved"
        remedy = "make tables of single labels"
        raise InvalidValueError("soft-labels", cause, remedy, argument="table")
    first = ranks[0] if ranks else None
    of_events = event_cells(events[0]) if events else None
    if first is not None and of_events is not None:
        Tables(first, events=(of_events,))  # refuses unlike numbers of rows
    return Watched(first, of_events)


def event_cells(table: EventTable) -> EventTable:
    """An event table in the cells in which events are watched; a table in fewer cells stays as it is."""
    have = set(table.grid.edges)
    edges = tuple(edge for edge in EVENT_EDGES if edge in have)
    if table.grid.edges == edges or table.grid.n_cells < len(edges):
        return table
    return table.coarsen(ProbabilityGrid(edges))


def rank_bins(table: AnyRankTable, bins: Bins | None) -> Bins | None:
    """The coarser bins in which a rank table is watched; None if they are its own."""
    if bins is None:
        return EqualWidth(COARSE_BINS) if table.n_bins > MOST_BINS else None
    return None if isinstance(bins, Edges) and bins.edges == table.bins.edges else bins


def in_bins(table: AnyRankTable, bins: Bins | None) -> AnyRankTable:
    """The table in coarser bins; one without rows has no rows in them."""
    if bins is None or table.n_rows == 0:
        return table
    try:
        return table.coarsen(bins)
    except Refusal as error:
        if bins == EqualWidth(COARSE_BINS):
            raise error.with_facts(
                remedy=f"a table of more than {MOST_BINS} bins is watched in coarser ones: pass bins=, such as "
                "EqualMass(10)"
            ) from error
        raise


def is_contained(earlier: Watched, later: Watched) -> bool:
    """Whether every count of a look is at most that of another, as if its rows were counted again."""
    mine, theirs = earlier.tables[0], later.tables[0]
    if type(mine) is not type(theirs) or earlier.n_rows == 0 or later.n_rows <= earlier.n_rows:
        return False
    if not isinstance(mine, EventTable) and not isinstance(theirs, EventTable):
        pairs = ((mine.ordered_sum, theirs.ordered_sum), (mine.rank_count, theirs.rank_count))
    else:
        assert isinstance(mine, EventTable)
        assert isinstance(theirs, EventTable)
        pairs = ((mine.predicted_sum, theirs.predicted_sum), (mine.observed_count, theirs.observed_count))
    return all(a.shape == b.shape and bool(np.all(a <= b)) for a, b in pairs)

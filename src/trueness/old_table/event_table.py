"""The table of events: sums of each event over cells of its probability."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness.bins import Bins, ProbabilityGrid, as_bins
from trueness.old_table import event_file
from trueness.old_table.event_content import Event, EventSpec, EventSums
from trueness.old_table.exact_sums import ExactSum
from trueness.refusals import InvalidTypeError, InvalidValueError


@dataclass(frozen=True, slots=True, eq=False)
class EventTable:
    """For each event, over cells of its probability: rows, expected number and observed number.

    Made by `tabulate_events`, merged by `+` or `sum`; classwise metrics and those of an event are computed from it.

    >>> import trueness as tn
    >>> monday = tn.tabulate_events([0, 1, 2], [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.3, 0.3, 0.4]])
    >>> tuesday = tn.tabulate_events([1], [[0.2, 0.8, 0.0]])
    >>> (monday + tuesday).observed_total.tolist()
    [1.0, 2.0, 1.0]
    >>> monday + tuesday == sum([tuesday, monday])
    True
    """

    spec: EventSpec
    sums: EventSums

    @classmethod
    def empty(cls, spec: EventSpec) -> Self:
        """The table of no rows: adding it changes nothing."""
        return cls(spec, EventSums.zeros(spec))

    @property
    def n_rows(self) -> int:
        """Number of rows (with a positive weight, if weighted)."""
        return int(self.sums.rows[0].sum())

    @property
    def n_classes(self) -> int | None:
        """Number of classes C; None if the events are not classes of one prediction."""
        return self.spec.n_classes

    @property
    def events(self) -> tuple[Event, ...]:
        """The events: class indices, "top" for the top label, or names."""
        return self.spec.events

    @property
    def grid(self) -> ProbabilityGrid:
        """The cells of the probability."""
        return self.spec.grid

    @property
    def edges(self) -> FloatArray:
        """Edges of the cells, (G + 1,)."""
        return np.array(self.spec.grid.edges)

    @property
    def row_count(self) -> IntArray:
        """Number of rows in each cell, regardless of weights, (K, G)."""
        return self.sums.rows

    @property
    def count(self) -> NDArray[Any]:
        """Number of rows in each cell, or the sum of their weights, (K, G)."""
        return self.sums.rows if self.sums.weight is None else self.sums.weight.value

    @property
    def predicted_sum(self) -> FloatArray:
        """Σp over each cell, the expected number, (K, G)."""
        return self.sums.predicted.value

    @property
    def observed_count(self) -> NDArray[Any]:
        """Σy over each cell, the observed number, (K, G); integers unless ties are split or rows are weighted."""
        observed = self.sums.observed
        whole = isinstance(observed, ExactSum) and not observed.fraction.any()
        return observed.whole if whole and isinstance(observed, ExactSum) else observed.value

    @property
    def weight_square_sum(self) -> FloatArray:
        """Σw² over each cell, (K, G); the count if rows are unweighted."""
        square = self.sums.weight_square
        return self.count.astype(np.float64) if square is None else square.value

    @property
    def expected_total(self) -> FloatArray:
        """The expected number of each event, (K,)."""
        return self._total(self.sums.predicted)

    @property
    def observed_total(self) -> FloatArray:
        """The observed number of each event, (K,)."""
        return self._total(self.sums.observed)

    @staticmethod
    def _total(sums: Any) -> FloatArray:
        if not isinstance(sums, ExactSum):
            return np.asarray(sums.value.sum(axis=1))
        return ExactSum(sums.whole.T, sums.fraction.T, sums.bits).total().value

    # Adding, comparing, coarsening and selecting

    def __add__(self, other: object) -> EventTable:
        if not isinstance(other, EventTable):
            return NotImplemented
        difference = self.spec.difference(other.spec)
        if difference is not None:
            cause = f"these event tables cannot be added: {difference}"
            raise InvalidValueError("different-tables", cause, "make both with the same options")
        spec = other.spec if self.spec.class_names is None else self.spec
        return EventTable(spec, self.sums + other.sums)

    def __radd__(self, other: object) -> EventTable:
        """`sum` begins with 0, which counts as the empty table."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EventTable):
            return NotImplemented
        return self.spec == other.spec and self.sums.same(other.sums)

    __hash__ = None  # type: ignore[assignment]

    def coarsen(self, bins: int | Bins | ProbabilityGrid) -> EventTable:
        """The same rows in coarser cells, whose edges are among those of this table.

        A number means bins of equal width over [0, 1]. EqualMass is for a table of one event: each event has its own
        distribution. What only the event grid has (sums of powers and logarithms) is left out.

        >>> import trueness as tn
        >>> y_true, y_prob = tn.simulate.calibrated(1000, [1, 1, 1], rng=0)
        >>> tn.tabulate_events(y_true, y_prob).coarsen(15).count.shape
        (3, 15)
        """
        if isinstance(bins, ProbabilityGrid):
            if bins == self.grid:
                return self
            bins = as_bins_of(bins)
        chosen = as_bins(bins)
        if len(self.events) > 1 and not hasattr(chosen, "resolve"):
            cause = f"{chosen!r} depends on the event, and this table has {len(self.events)} events"
            remedy = "select one event first"
            raise InvalidValueError("bad-argument", cause, remedy, argument="bins")
        starts, grid = self.grid.merge(self.count[0], chosen)
        return EventTable(replace(self.spec, grid=grid), self.sums.merge_runs(starts))

    def select(self, events: Event | Sequence[Event]) -> EventTable:
        """The table of some of the events."""
        wanted = [events] if isinstance(events, (int, str)) else list(events)
        missing = [event for event in wanted if event not in self.events]
        if missing or not wanted:
            unknown = missing[0] if missing else None
            known = ", ".join(map(str, self.events[:20])) + (", …" if len(self.events) > 20 else "")
            cause = f"this table has no event {unknown!r}"
            remedy = f"its events are {known}"
            raise InvalidValueError("unknown-event", cause, remedy, argument="events")
        at = [self.events.index(event) for event in wanted]
        return EventTable(replace(self.spec, events=tuple(wanted)), self.sums.select(at))

    def __repr__(self) -> str:
        kind = "weighted rows" if self.spec.weighted else "rows"
        head = f"EventTable: {self.n_rows} {kind}, {len(self.events)} events, {self.grid.n_cells} cells"
        lines = [
            f"  {self.spec.name_of(event):>12}{expected:14.6g}{observed:14.6g}"
            for event, expected, observed in zip(
                self.events[:10], self.expected_total, self.observed_total, strict=False
            )
        ]
        more = ["  …"] if len(self.events) > 10 else []
        return "\n".join([head, f"  {'event':>12}{'expected':>14}{'observed':>14}", *lines, *more])

    # Files

    def to_dict(self) -> dict[str, Any]:
        """Everything in the table as plain numbers, lists and strings, exact; cells without rows are left out."""
        return event_file.encode(self.spec, self.sums)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """The table of `to_dict`."""
        return cls(*event_file.decode(content))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table as versioned JSON, atomically."""
        from trueness.old_table import file as table_file

        table_file.write([self.to_dict()], path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> EventTable:
        """The (first) event table of a file."""
        from trueness.old_table.tables import load_tables

        for table in load_tables(path):
            if isinstance(table, EventTable):
                return table
        raise InvalidValueError("no-tables", f"{os.fsdecode(path)} holds no event table")


def require_table_by_class(argument: str, value: Any) -> None:
    """Refuse what is not an event table of all classes."""
    if not isinstance(value, EventTable) or not value.spec.is_by_class:
        events = f" of {len(value.events)} events" if isinstance(value, EventTable) else ""
        raise InvalidTypeError(
            "wrong-type",
            f"`{argument}` must be an EventTable of all classes, such as tabulate_events "
            f"returns, got {type(value).__name__}{events}",
            argument=argument,
        )


def as_bins_of(grid: ProbabilityGrid) -> Bins:
    """The cells of a grid as bins to merge into."""
    from trueness.bins import Edges

    return Edges(grid.edges)


def stack_events(tables: Iterable[EventTable], names: Sequence[Event]) -> EventTable:
    """The events of several tables of one event each as one table, under other names.

    For multi-label predictions, where each label is an event of its own: not classes that exclude one another.
    """
    parts = list(tables)
    spec = replace(parts[0].spec, n_classes=None, events=tuple(names))
    return EventTable(spec, EventSums.stack([part.sums for part in parts]))

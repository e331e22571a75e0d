"""The content of an event table: the spec, which says which events were summed in which cells, and the sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.bins import ProbabilityGrid, class_grid, event_grid
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
from trueness.refusals import InvalidValueError

Event: TypeAlias = int | str
"""A class by its index, `TOP_LABEL`, or the name of a probability that is not that of a class."""

TOP_LABEL = "top"
"""The event that the class of the largest probability is the true one."""


@dataclass(frozen=True, slots=True)
class EventSpec:
    """What the sums of an event table are sums of. Only tables of equal specs add."""

    n_classes: int | None
    """None if the events are not classes of one prediction, as in multi-label classification."""
    events: tuple[Event, ...]
    grid: ProbabilityGrid
    ties: str = "first"
    weighted: bool = False
    class_names: tuple[str, ...] | None = field(default=None, compare=False)
    """The names of all classes, if they have some. Unnamed tables add to named ones."""

    @classmethod
    def by_class(
        cls,
        n_classes: int,
        ties: str = "first",
        *,
        weighted: bool = False,
        class_names: tuple[str, ...] | None = None,
    ) -> EventSpec:
        """All classes on the class grid; of two classes only the second, on the event grid.

        The first of two is its mirror image, and counting both would count every row twice.
        """
        events, grid = classes_as_events(n_classes), event_grid() if n_classes == 2 else class_grid()
        return cls(n_classes, events, grid, ties, weighted, class_names)

    @property
    def is_by_class(self) -> bool:
        """Whether the events are all classes, as classwise metrics need."""
        return self.n_classes is not None and self.events == classes_as_events(self.n_classes)

    def name_of(self, event: Event) -> str:
        """The name of an event: that of its class, if classes have names."""
        if isinstance(event, str) or self.class_names is None:
            return str(event)
        return self.class_names[event]

    @property
    def has_moments(self) -> bool:
        """Whether sums of powers and logarithms are kept, from which scores are computed: on the event grid only."""
        return self.grid == event_grid()

    @property
    def shape(self) -> tuple[int, int]:
        """The number of events and of cells, (K, G)."""
        return len(self.events), self.grid.n_cells

    @property
    def n_bytes(self) -> int:
        """The memory of the sums: four words for each cell."""
        return 32 * len(self.events) * self.grid.n_cells

    def difference(self, other: EventSpec) -> str | None:
        """The first field in which two specs differ, with both values; None if they are equal."""
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            if each.compare and mine != theirs:
                return f"{each.name} differs: {_brief(mine)} and {_brief(theirs)}"
        named = self.class_names is not None and other.class_names is not None
        if named and self.class_names != other.class_names:
            return f"class names differ: {self.class_names} and {other.class_names}"
        return None


def classes_as_events(n_classes: int) -> tuple[int, ...]:
    """All classes; of two only the second."""
    return (1,) if n_classes == 2 else tuple(range(n_classes))


def event_index(event: Any, n_classes: int, names: Sequence[str] | None, argument: str = "events") -> Event:
    """A class by its name or index, as an index; "top" as it is."""
    if names is not None and str(event) in names:
        return list(names).index(str(event))
    if isinstance(event, str) and event == TOP_LABEL:
        return TOP_LABEL
    if hasattr(event, "__index__") and not isinstance(event, bool) and 0 <= int(event) < n_classes:
        return int(event)
    known = f"0 to {n_classes - 1}" if names is None else ", ".join(names[:20])
    cause = f"`{argument}` names {event!r}, which is not a class"
    remedy = f"the classes are {known}; 'top' is the top label"
    raise InvalidValueError("unknown-event", cause, remedy, argument=argument, value=event)


def event_from_text(text: str, n_classes: int, names: Sequence[str] | None, argument: str = "event") -> Event:
    """An event that was written as text: the name of a class, its index, or "top".

    >>> names = ("dog", "cat")
    >>> event_from_text("cat", 2, names), event_from_text("0", 2, names), event_from_text("top", 3, None)
    (1, 0, 'top')
    """
    is_index = text.isdecimal() and (names is None or text not in names)
    return event_index(int(text) if is_index else text, n_classes, names, argument)


def _brief(value: Any) -> str:
    if isinstance(value, ProbabilityGrid):
        return f"{value.n_cells} cells"
    return f"{len(value)} events" if isinstance(value, tuple) and len(value) > 6 else repr(value)


@dataclass(frozen=True, slots=True, eq=False)
class EventSums(NamedSums):
    """Everything an event table adds up, as exact integers (or as floats, if rows are weighted)."""

    rows: IntArray
    """Number of rows of each event in each cell, (K, G)."""
    predicted: Sum
    """Σp over each cell, (K, G)."""
    observed: Sum
    """Σy over each cell: how often the event came about, (K, G)."""
    square: Sum | None = None
    """Σp², (K,); like all that follow but the weights, on the event grid only."""
    cube: Sum | None = None
    """Σp³, (K,)."""
    fourth: Sum | None = None
    """Σp⁴, (K,)."""
    product: Sum | None = None
    """Σpy, (K,)."""
    log_likelihood: Sum | None = None
    """Σ[y ln p + (1 - y) ln(1 - p)] over the rows where it is finite, in nats, (K,)."""
    impossible_rows: IntArray | None = None
    """The other rows: probability 0 came about, or probability 1 did not, (K,)."""
    label_spread: Sum | None = None
    """Σy(1 - y), (K,), of soft labels; left out if no row has one."""
    weight: FloatSum | None = None
    """Σw over each cell of a weighted table, (K, G)."""
    weight_square: FloatSum | None = None
    """Σw² over each cell of a weighted table, (K, G)."""

    def __post_init__(self) -> None:
        make_read_only(self.rows)
        if self.impossible_rows is not None:
            make_read_only(self.impossible_rows)

    __reduce__ = reduce_to_fields

    @classmethod
    def zeros(cls, spec: EventSpec) -> EventSums:
        """The identity of `+`."""

        def zero(shape: tuple[int, ...], bits: int = PROBABILITY_BITS) -> Sum:
            return FloatSum(np.zeros(shape)) if spec.weighted else ExactSum.zeros(shape, bits)

        cells, events = spec.shape, spec.shape[:1]
        moments: dict[str, Any] = {}
        if spec.has_moments:
            moments = {name: zero(events) for name in ("square", "cube", "fourth", "product")}
            moments["log_likelihood"] = zero(events, LOG_SCORE_BITS)
            moments["impossible_rows"] = np.zeros(events, np.int64)
        if spec.weighted:
            moments |= {name: FloatSum(np.zeros(cells)) for name in ("weight", "weight_square")}
        return cls(rows=np.zeros(cells, np.int64), predicted=zero(cells), observed=zero(cells), **moments)

    @property
    def mass(self) -> FloatArray:
        """Number of rows in each cell, or the sum of their weights, (K, G)."""
        return self.rows.astype(np.float64) if self.weight is None else self.weight.value

    def merge_runs(self, starts: IntArray) -> EventSums:
        """Sums in which each run of cells that begins at one of `starts` is one cell, without the moments."""

        def merge(value: Any) -> Any:
            if isinstance(value, np.ndarray):
                return np.add.reduceat(value, starts, axis=1)
            if isinstance(value, FloatSum):
                return FloatSum(np.add.reduceat(value.value, starts, axis=1))
            turned = ExactSum(value.whole.T, value.fraction.T, value.bits).merge_runs(starts)
            return ExactSum(turned.whole.T.copy(), turned.fraction.T.copy(), value.bits)

        merged = {name: merge(value) for name, value in self.items() if name in _BY_CELL}
        return EventSums(**merged, label_spread=self.label_spread)

    def select(self, at: list[int]) -> EventSums:
        """The sums of some of the events."""

        def take(value: Any) -> Any:
            if isinstance(value, ExactSum):
                return ExactSum(value.whole[at], value.fraction[at], value.bits)
            return FloatSum(value.value[at]) if isinstance(value, FloatSum) else value[at]

        return EventSums(**{name: take(value) for name, value in self.items()})

    @classmethod
    def stack(cls, parts: list[EventSums]) -> EventSums:
        """The sums of several tables of the same rows as one, with the events of all."""
        named = [dict(part.items()) for part in parts]
        if any("label_spread" in part for part in named):
            named = [part | {"label_spread": part.get("label_spread", _no_spread(part))} for part in named]
        return cls(**{name: concatenate_sums([part[name] for part in named]) for name in named[0]})


def _no_spread(part: dict[str, Any]) -> Sum:
    shape = part["rows"].shape[:1]
    weighted = "weight" in part
    return FloatSum(np.zeros(shape)) if weighted else ExactSum.zeros(shape, PROBABILITY_BITS)


_BY_CELL = frozenset({"rows", "predicted", "observed", "weight", "weight_square"})

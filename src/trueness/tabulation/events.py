"""`tabulate_events`: the event table of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trueness._arguments import require_choice
from trueness.bins import ProbabilityGrid, class_grid, event_grid
from trueness.old_table import AnySpec, Event, EventSpec, EventTable, event_index
from trueness.ranking import TIES
from trueness.refusals import InvalidValueError
from trueness.rows import Rows
from trueness.tabulation.passes import tabulate_rows

MOST_ON_EVENT_GRID = 64
"""Events on the event grid: 161 kB each."""

MOST_EVENT_BYTES = 2**28
"""The most memory that the event tables of all groups may take."""


def tabulate_events(
    y_true: Any,
    y_prob: Any,
    *,
    events: Any = None,
    grid: str | None = None,
    ties: str = "first",
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    soft_labels: bool = False,
    engine: str = "auto",
    n_threads: int | None = None,
) -> EventTable:
    """Sum the rows into a table of events: for each class, rows, expected and observed number by its probability.

    Rows, labels, weights, classes and engine are as in `tabulate`.

    Parameters
    ----------
    events : None, a class, "top", or a list of these
        By default all classes; of two classes only the second, since the first is its mirror image. A class is given
        by its name or its index. "top" is the event that the class of the largest probability is the true one.
    grid : None, "class" or "event"
        The cells of the probability: 72 for all classes, or 5026, from which metrics of single events are computed. By
        default "class" for all of more than two classes, otherwise "event".

    Examples
    --------
    >>> table = tabulate_events([0, 1, 2, 1], [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6], [0.5, 0.4, 0.1]])
    >>> table.expected_total.round(3).tolist(), table.observed_total.tolist()
    ([1.5, 1.5, 1.0], [1.0, 2.0, 1.0])
    """
    rows = Rows.of(
        y_true,
        y_prob,
        sample_weight,
        from_logits=from_logits,
        normalize=normalize,
        classes=classes,
        soft_labels=soft_labels,
    )
    require_choice("ties", ties, TIES)
    spec = event_spec(rows, events, grid, ties)
    (table,) = tabulate_rows(rows, [spec], engine, n_threads)
    assert isinstance(table, EventTable)
    return table


def refuse_many_groups(specs: Sequence[AnySpec], n_groups: int) -> None:
    """Refuse event tables of so many groups and events that they would exhaust the memory."""
    of_events = sum(spec.n_bytes for spec in specs if isinstance(spec, EventSpec))
    if of_events * n_groups > MOST_EVENT_BYTES:
        cause = f"the tables of all classes of {n_groups} groups would take {of_events * n_groups >> 20} MB"
        remedy = "use `by_class=False`, or fewer groups"
        raise InvalidValueError("too-many-groups", cause, remedy, argument="groups")


def event_spec(rows: Rows, events: Any, grid: str | None, ties: str) -> EventSpec:
    """The spec for these arguments; a refusal names the argument."""
    weighted, names = rows.sample_weight is not None, rows.class_names
    whole = EventSpec.by_class(rows.n_classes, ties, weighted=weighted, class_names=names)
    chosen = whole.events if events is None else _events_of(events, rows.n_classes, names)
    cells = _grid(grid, default=whole.grid if events is None else event_grid())
    if cells == event_grid() and len(chosen) > MOST_ON_EVENT_GRID:
        n_bytes = len(chosen) * event_grid().n_cells * 32 >> 20
        cause = f"{len(chosen)} events on the event grid take {n_bytes} MB"
        remedy = f"choose at most {MOST_ON_EVENT_GRID} events, or grid='class'"
        raise InvalidValueError("too-many-events", cause, remedy, argument="events")
    return EventSpec(rows.n_classes, chosen, cells, ties, weighted, names)


def _grid(grid: str | None, default: ProbabilityGrid) -> ProbabilityGrid:
    if grid is None:
        return default
    require_choice("grid", grid, ("class", "event"))
    return class_grid() if grid == "class" else event_grid()


def _events_of(events: Any, n_classes: int, names: Sequence[str] | None) -> tuple[Event, ...]:
    listed = list(events) if isinstance(events, (list, tuple)) else [events]
    found = tuple(event_index(event, n_classes, names) for event in listed)
    if not found or len(set(found)) < len(found):
        cause = f"events must name at least one event, and each only once, got {events!r}"
        raise InvalidValueError("bad-argument", cause, argument="events", value=events)
    return found

"""One event instead of all classes: which tables it needs, its assessment, and its gate."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trueness.cli._images import INDEPENDENT, are_images
from trueness.cli._inference import resamples_of
from trueness.cli._outputs import print_note
from trueness.refusals import InvalidValueError, Refusal

if TYPE_CHECKING:
    from trueness.assessment import EventAssessment
    from trueness.table import Event, EventTable

_OTHERS = {
    "compare_groups": "leave it out",
    "groups": "choose a group with --where",
    "fail_above": "use --fail-below-p, or leave out --event: the limits gap and cwece are of all classes",
    "tolerance": "leave out one of them",
}
"""Options of an assessment of all classes, with what to do instead."""

MOST_RESAMPLES = 10**6


def refuse_options(arguments: argparse.Namespace) -> None:
    """Refuse options that have no meaning for a single event."""
    _refuse_clusters(arguments)
    for name, remedy in _OTHERS.items():
        if getattr(arguments, name):
            raise InvalidValueError(
                "conflicting-arguments",
                "{argument} is not supported with --event",
                remedy,
                argument=f"--{name.replace('_', '-')}",
            )


def _refuse_clusters(arguments: argparse.Namespace) -> None:
    """Refuse clusters, and images unless their pixels are declared independent: the noise would be underestimated."""
    images = are_images(arguments)
    if (arguments.clusters is None and not images) or (images and arguments.clusters == INDEPENDENT):
        return
    raise InvalidValueError(
        "conflicting-arguments",
        "{argument} is not supported with --event"
        + (", and the pixels of an image are one cluster" if images else ""),
        "leave out --event: an assessment of all classes counts clusters, class by class"
        + ("; or pass --clusters none if pixels are independent" if images else ""),
        argument="--clusters",
    )


def saved_events(arguments: argparse.Namespace, paths: Sequence[str]) -> tuple[EventTable, ...]:
    """The event tables of files of tables, or of one report."""
    from trueness.cli._saved_tables import are_reports, refuse_row_options
    from trueness.report import event_tables_in

    refuse_row_options(arguments)
    if arguments.table_out is not None:
        raise InvalidValueError(
            "conflicting-arguments",
            "{argument} with --event applies to rows, and {file} holds tables",
            "leave it out, or use trueness merge",
            argument="--table-out",
            file=arguments.files[0],
        )
    if not are_reports(paths):
        return _merged(paths)
    if len(paths) > 1:
        raise InvalidValueError(
            "mixed-inputs",
            "a report cannot be merged with other files",
            "name one report, or tables saved with --table-out",
            argument=paths[0],
        )
    return tuple(event_tables_in(paths[0]))


def _merged(paths: Sequence[str]) -> tuple[EventTable, ...]:
    """The sums of the event tables of files; a file may hold nothing else."""
    from functools import reduce
    from operator import add

    from trueness.cli._saved_tables import merge_saved
    from trueness.table import EventTable

    try:
        tables = merge_saved(paths, None).whole
        if tables.clusters is not None:
            print_note(
                "the clusters of these tables are not used: the rows of an event are taken as independent"
            )
        return tables.events
    except Refusal as error:
        if error.code != "no-tables":
            raise
    return (reduce(add, [EventTable.load(path) for path in paths]),)


def assess(arguments: argparse.Namespace, events: Sequence[EventTable]) -> EventAssessment:
    """The assessment of the event of --event."""
    from trueness.assessment import assess_event_table

    table = _table_of(arguments.event, events)
    return assess_event_table(
        table,
        bins=arguments.class_bins,
        level=arguments.level,
        resamples=resamples_for_gate(arguments),
        rng=arguments.rng_seed,
    )


def resamples_for_gate(arguments: argparse.Namespace) -> int:
    """The number of resamples: enough for the limit of the gate, unless it was given."""
    limit: float | None = arguments.fail_below_p
    if limit is None or arguments.resamples is not None:
        return resamples_of(arguments)
    return min(max(resamples_of(arguments), math.ceil(4 / limit)), MOST_RESAMPLES)


def _table_of(text: str, events: Sequence[EventTable]) -> EventTable:
    """The table of one event on the event grid."""
    from trueness.bins import event_grid
    from trueness.table import event_from_text

    for table in events:
        event: Event = text  # of tables that are not of classes
        if table.n_classes is not None:
            event = event_from_text(text, table.n_classes, table.spec.class_names, "--event")
        if event in table.events and table.grid == event_grid():
            return table.select(event)
    raise InvalidValueError(
        "no-tables",
        "{argument} {value}: the saved tables have no table of this event on the event grid",
        "make them with trueness tabulate --event {value}, or name the files of predictions",
        argument="--event",
        value=text,
    )


def failures_of(result: EventAssessment, arguments: argparse.Namespace) -> list[str]:
    """The reasons why the gate fails; empty if it passes."""
    below, p = arguments.fail_below_p, result.p_value
    if below is None or p >= below:
        return []
    name = "top label" if result.table.events == ("top",) else f"class {result.name!r}"
    return [f"{name}: p = {p:.6g} is below {below:g}"]

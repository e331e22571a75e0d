"""One event instead of all classes: which tables it needs, its assessment, and its gate."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trueness.cli._images import INDEPENDENT, are_images
from trueness.cli._inference import fail_above_of, resamples_of
from trueness.cli._outputs import print_note
from trueness.refusals import InvalidValueError, Refusal

if TYPE_CHECKING:
    from trueness.old_assessment import EventAssessment
    from trueness.old_table import Event, EventTable, GroupedTables

_OTHERS = {
    "compare_groups": "leave it out",
    "tolerance": "leave out one of them",
}
"""Options of an assessment of all classes, with what to do instead."""

LIMITS = {"gap": "gap in the large", "ece": "debiased ECE", "cwece": "debiased ECE"}
"""What --fail-above may name, with the number that it limits: of one event, classwise ECE is its ECE."""

STATED_LIMITS = {"ece": "debiased ECE", "net": "net gap"}
"""The same for the stated confidence of answers."""

MOST_RESAMPLES = 10**6


def refuse_options(arguments: argparse.Namespace) -> None:
    """Refuse options that have no meaning for a single event."""
    _refuse_clusters(arguments)
    for name, remedy in _OTHERS.items():
        if getattr(arguments, name):
            argument = f"--{name.replace('_', '-')}"
            cause = f"{argument} is not supported with --event"
            raise InvalidValueError("conflicting-arguments", cause, remedy, argument=argument)
    _limits(arguments)


def _refuse_clusters(arguments: argparse.Namespace) -> None:
    """Refuse clusters, and images unless their pixels are declared independent: the noise would be underestimated."""
    images = are_images(arguments)
    if arguments.clusters == INDEPENDENT if images else arguments.clusters is None:
        return
    raise InvalidValueError(
        "conflicting-arguments",
        "--clusters is not supported with --event"
        + (", and the pixels of an image are one cluster" if images else ""),
        "leave out --event: an assessment of all classes counts clusters, class by class"
        + ("; or pass --clusters none if pixels are independent" if images else ""),
        argument="--clusters",
    )


class EventTables(NamedTuple):
    """The event tables of all rows, and those of each group."""

    whole: Sequence[EventTable]
    groups: Mapping[str, Sequence[EventTable]]

    @classmethod
    def of(cls, tables: GroupedTables) -> EventTables:
        """Those of the tables of rows, or of saved ones."""
        groups = {} if tables.by is None else {str(name): it.events for name, it in tables.groups.items()}
        return cls(tables.whole.events, groups)


def saved_events(arguments: argparse.Namespace, paths: Sequence[str]) -> EventTables:
    """The event tables of files of tables, or of one report."""
    from trueness.cli._saved_tables import are_reports, refuse_row_options
    from trueness.old_report import event_tables_in

    refuse_row_options(arguments)
    if arguments.table_out is not None:
        cause = f"--table-out with --event applies to rows, and {arguments.files[0]} holds tables"
        remedy = "leave it out, or use trueness merge"
        raise InvalidValueError("conflicting-arguments", cause, remedy, argument="--table-out")
    if not are_reports(paths):
        return _merged(arguments, paths)
    if len(paths) > 1:
        cause = "a report cannot be merged with other files"
        remedy = "name one report, or tables saved with --table-out"
        raise InvalidValueError("mixed-inputs", cause, remedy, argument=paths[0])
    return EventTables(event_tables_in(paths[0]), {})


def _merged(arguments: argparse.Namespace, paths: Sequence[str]) -> EventTables:
    """The sums of the event tables of files; a file may hold nothing else."""
    from functools import reduce
    from operator import add

    from trueness.cli._saved_tables import merge_saved, refuse_other_groups
    from trueness.old_table import EventTable

    try:
        tables = merge_saved(paths, None)
    except Refusal as error:
        if error.code != "no-tables":
            raise
        return EventTables([reduce(add, [EventTable.load(path) for path in paths])], {})
    refuse_other_groups(arguments.groups, tables)
    if tables.whole.clusters is not None:
        print_note("the clusters of these tables are not used: the rows of an event are taken as independent")
    return EventTables.of(tables)


def assess(arguments: argparse.Namespace, events: EventTables) -> EventAssessment:
    """The assessment of the event of --event."""
    from trueness.old_assessment import assess_event_table

    return assess_event_table(
        table_of_event(arguments.event, events.whole),
        bins=arguments.class_bins,
        level=arguments.level,
        resamples=resamples_for_gate(arguments),
        rng=arguments.rng_seed,
        groups={name: table_of_event(arguments.event, of_group) for name, of_group in events.groups.items()},
    )


def resamples_for_gate(arguments: argparse.Namespace) -> int:
    """The number of resamples: enough for the limit of the gate, unless it was given."""
    limit: float | None = arguments.fail_below_p
    if limit is None or arguments.resamples is not None:
        return resamples_of(arguments)
    return min(max(resamples_of(arguments), math.ceil(4 / limit)), MOST_RESAMPLES)


def table_of_event(text: str, events: Sequence[EventTable]) -> EventTable:
    """The table of one event on the event grid."""
    from trueness.bins import event_grid
    from trueness.old_table import event_from_text

    for table in events:
        event: Event = text  # of tables that are not of classes
        if table.n_classes is not None:
            event = event_from_text(text, table.n_classes, table.spec.class_names, "--event")
        if event in table.events and table.grid == event_grid():
            return table.select(event)
    cause = f"--event {text}: the saved tables have no table of this event on the event grid"
    remedy = f"make them with trueness tabulate --event {text}, or name the files of predictions"
    raise InvalidValueError("no-tables", cause, remedy, argument="--event", value=text)


def failures_of(result: EventAssessment, arguments: argparse.Namespace) -> list[str]:
    """The reasons why the gate fails, for all rows and for each group; empty if it passes."""
    limits = _limits(arguments, LIMITS if result.what is None else STATED_LIMITS)
    named = result.what is None and result.table.events != ("top",)
    name = f"class {result.name!r}" if named else result.label
    parts = [(name, result, result.p_value)]
    parts += [
        (f"{name}, group {group.name!r}", group.assessment, group.adjusted_p_value)
        for group in result.groups
        if group.assessment is not None
    ]
    return [failure for part in parts for failure in _failures(*part, limits, arguments)]


def _limits(arguments: argparse.Namespace, known: Mapping[str, str] = LIMITS) -> dict[str, float]:
    """The limits of --fail-above; a number alone is for ECE."""
    limits = fail_above_of(arguments, bare="ece")
    unknown = [key for key in limits if key not in known]
    of = "with --event" if known is LIMITS else "for stated confidences"
    if unknown:
        cause = f"--fail-above {unknown[0]}: {of} there is no such number"
        remedy = "use " + " or ".join(known)
        raise InvalidValueError("unknown-metric", cause, remedy, argument="--fail-above", value=unknown[0])
    return limits


def _failures(
    name: str,
    result: EventAssessment,
    p_value: float,
    limits: Mapping[str, float],
    arguments: argparse.Namespace,
) -> list[str]:
    failures, below = [], arguments.fail_below_p
    for key, limit in limits.items():
        value = _limited_value(result, key, lower_end=arguments.lower_end)
        if not value <= limit:  # so that NaN fails
            end = "lower end of " if arguments.lower_end else ""
            failures.append(f"{name}: {end}{(LIMITS | STATED_LIMITS)[key]} {value:.6g} is above {limit:g}")
    if below is not None and not p_value >= below:
        failures.append(f"{name}: p = {p_value:.6g} is below {below:g}")
    return failures


def _limited_value(result: EventAssessment, key: str, *, lower_end: bool) -> float:
    """The size of the gap, or the debiased ECE; or the lower end of its interval."""
    if key not in ("gap", "net"):
        return result.ece.interval.low if lower_end else result.ece.debiased
    gap = result.in_the_large
    if not lower_end:
        return abs(gap.value)
    return math.nan if gap.interval is None else max(0.0, gap.interval.low, -gap.interval.high)

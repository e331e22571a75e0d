"""What a forest plot shows: estimates with their intervals, one line for each group of rows or pair of models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from trueness._arguments import require_choice
from trueness._printing import shorten
from trueness.old_assessment.reported import REPORTED
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.old_assessment import EventAssessment, EventAssessments, GroupAssessment

BETWEEN = " − "
"""Between the two names of a pair."""

MOST_LINES = 40
"""More lines are hard to read: those with the smallest p-values are shown, and the number of the others is stated."""


@dataclass(frozen=True, slots=True)
class Line:
    """An estimate with its interval."""

    name: str
    n_rows: int
    value: float
    low: float
    high: float
    p_value: float
    """Corrected for the number of groups or pairs."""


def short_name(name: str, most: int) -> str:
    """A name of at most so many characters; of a pair, both names are shortened.

    >>> short_name("the first hospital − the second hospital", 20)
    'the fir… − the sec…'
    """
    if len(name) <= most or BETWEEN not in name:
        return shorten(name, most)
    first, _, second = name.partition(BETWEEN)
    room = most - len(BETWEEN)
    each = max(room // 2, room - min(len(first), len(second)))
    return f"{shorten(first, each)}{BETWEEN}{shorten(second, each)}"


@dataclass(frozen=True, slots=True)
class Forest:
    """Lines of a forest plot, and the same metric for all rows if there is one."""

    metric: str
    x_label: str
    lines: tuple[Line, ...]
    whole: Line | None
    n_left_out: int
    level: float
    what: str = "groups"
    """What a line is, in the plural."""

    @property
    def all_lines(self) -> list[Line]:
        """The lines from top to bottom; that of all rows is the last."""
        return [*self.lines, *([self.whole] if self.whole else [])]


def forest_of_groups(result: Any, metric: str = "net", most: int = MOST_LINES) -> Forest:
    """The debiased metric of each group of an `Assessment`."""
    require_choice("metric", metric, tuple(REPORTED))
    if not result.groups:
        raise InvalidValueError(
            "no-groups", "this assessment has no groups", "pass groups= to assess", argument="groups"
        )
    reported = REPORTED[metric]
    lines = [
        _line(group.name, group.n_rows, estimate, group.adjusted_p_value)
        for group in result.groups
        if group.assessment is not None and (estimate := reported.of(group.assessment)) is not None
    ]
    if not lines:
        raise InvalidValueError(
            "no-groups", "no group has enough rows to be assessed", "lower min_group_size", argument="groups"
        )
    whole = _line("all rows", result.n_rows, reported.of(result), result.p_value)
    shown = most_striking(lines, whole.value, most)
    x_label = f"{reported.label}, debiased" + (" (above 0: over-confident)" if reported.signed else "")
    return Forest(metric, x_label, tuple(shown), whole, len(lines) - len(shown), result.level)


def groups_of(
    result: EventAssessment | EventAssessments,
) -> tuple[tuple[GroupAssessment[EventAssessment], ...], str]:
    """The groups of an event, or the events of a multi-label model; and the word for one of them."""
    events = getattr(result, "as_groups", None)
    return (getattr(result, "groups", ()), "group") if events is None else (events, "event")


def forest_of_event_groups(result: EventAssessment | EventAssessments, most: int = MOST_LINES) -> Forest:
    """The net gap of each group of an event, or of each of several events: mean probability less frequency."""
    groups, of = groups_of(result)
    lines = [
        _gap_line(group.name, group.assessment, group.adjusted_p_value)
        for group in groups
        if group.assessment is not None
    ]
    if not lines:
        cause = "no group of this event was assessed"
        remedy = "pass groups= to assess_event, or lower min_group_size"
        raise InvalidValueError("no-groups", cause, remedy, argument="groups")
    whole = _gap_line("all rows", result, result.p_value) if of == "group" else None
    shown = most_striking(lines, whole.value if whole else 0.0, most)
    above = "stated too high" if getattr(result, "what", None) == "right" else "forecast too often"
    left_out = len(lines) - len(shown)
    label = f"net gap (above 0: {above})"
    return Forest("net", label, tuple(shown), whole, left_out, result.level, f"{of}s")


def _gap_line(name: str, event: Any, p_value: float) -> Line:
    gap = event.in_the_large
    low, high = (gap.value, gap.value) if gap.interval is None else (gap.interval.low, gap.interval.high)
    return Line(name, event.n_rows, gap.value, low, high, p_value)


def _line(name: str, n_rows: int, estimate: Any, p_value: float) -> Line:
    return Line(name, n_rows, estimate.debiased, estimate.interval.low, estimate.interval.high, p_value)


def most_striking(lines: Sequence[Line], centre: float, most: int) -> list[Line]:
    """At most so many lines, in their order: those with the smallest p-values, then the furthest from the centre."""
    if len(lines) <= most:
        return list(lines)
    ordered = sorted(
        range(len(lines)),
        key=lambda k: (
            1.0 if math.isnan(lines[k].p_value) else lines[k].p_value,
            -abs(lines[k].value - centre),
        ),
    )
    return [lines[k] for k in sorted(ordered[:most])]


def forest_of_pairs(comparison: Any, metric: str = "vce", most: int = MOST_LINES) -> Forest:
    """The pairs of a `Comparison`: the debiased metric of the first model minus that of the second.

    If the two have different rows, the number of rows is the smaller one.
    """
    require_choice("metric", metric, tuple(comparison.metrics))
    reported = comparison.metrics[metric]
    n_rows = {name: result.n_rows for name, result in comparison.assessments.items()}
    lines = [
        Line(
            f"{pair.first}{BETWEEN}{pair.second}",
            min(n_rows[pair.first], n_rows[pair.second]),
            contrast.difference,
            contrast.interval.low,
            contrast.interval.high,
            contrast.adjusted_p_value,
        )
        for pair in comparison.pairs
        if (contrast := pair.contrasts.get(metric)) is not None
    ]
    if not lines:
        cause = f"no pair of this comparison has {reported.label}"
        remedy = "choose one of the metrics of pairs[0].contrasts"
        raise InvalidValueError("missing-metric", cause, remedy, argument="metric")
    shown = most_striking(lines, 0.0, most)
    x_label = f"difference in {reported.label}{', debiased' if metric in REPORTED else ''}"
    return Forest(metric, x_label, tuple(shown), None, len(lines) - len(shown), comparison.level, "pairs")


def forest_of_metrics(comparison: Any, most: int = MOST_LINES) -> Forest:
    """The metrics of calibration of the first pair of a `Comparison`, one line each: first model minus second."""
    pair, numbers = comparison.pairs[0], comparison.metrics
    n_rows = min(comparison.assessments[name].n_rows for name in (pair.first, pair.second))
    lines = [
        Line(
            numbers[key].label,
            n_rows,
            contrast.difference,
            contrast.interval.low,
            contrast.interval.high,
            contrast.adjusted_p_value,
        )
        for key, contrast in pair.contrasts.items()
        if key in REPORTED or numbers[key].is_calibration
    ]
    shown = most_striking(lines, 0.0, most)
    x_label = f"{shorten(pair.first, 30)}{BETWEEN}{shorten(pair.second, 30)}, debiased"
    return Forest("all", x_label, tuple(shown), None, len(lines) - len(shown), comparison.level, "metrics")


def forest_of_compared_groups(result: Any, metric: str = "net", most: int = MOST_LINES) -> Forest:
    """The differences between groups of an `Assessment` that has them: see `Assessment.with_compared_groups`."""
    compared = result.compared_groups
    if compared is None:
        cause = "this assessment has no compared groups"
        raise InvalidValueError("no-groups", cause, "call with_compared_groups", argument="groups")
    forest = forest_of_pairs(compared.comparison, metric, most)
    if compared.against == "each":
        return forest
    of_group = {f"{pair.first}{BETWEEN}{pair.second}": pair.first for pair in compared.comparison.pairs}
    lines = tuple(replace(line, name=of_group[line.name]) for line in forest.lines)
    x_label = f"{forest.x_label}: group minus the rest"
    return replace(forest, lines=lines, x_label=x_label, what="groups")

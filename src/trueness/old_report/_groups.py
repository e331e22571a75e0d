"""The tables of groups, and of the rows with each number of options."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trueness._markup import Markup, name_of, tag
from trueness._printing import count_text
from trueness.old_assessment.reported import ReportedMetric, headline_metrics
from trueness.old_assessment.verdict import significance_limit
from trueness.old_inference.results import Estimate
from trueness.old_report._html_table import html_table
from trueness.old_report._numbers import html_p_text, number

if TYPE_CHECKING:
    from trueness.old_assessment import Assessment, GroupAssessment


def around_groups(result: Assessment) -> tuple[list[Markup], Markup]:
    """The text above the picture of the groups, and the table of all groups below it."""
    ordered = sorted(result.groups, key=lambda group: _last_if_nan(group.adjusted_p_value))
    table = html_table(
        "Groups, smallest p-value first", *_lines(result, ordered, "group"), tall=True, id="groups"
    )
    return _sentences(result, result.groups, "groups"), table


def options_section(result: Assessment) -> Markup | None:
    """The rows with each number of options by themselves; None unless several numbers occur."""
    if not result.by_options:
        return None
    note = (
        "Gaps are averaged with their sign over the numbers of options in a bin, so that errors of opposite sign "
        "cancel there. Each number of options by itself does not hide them."
    )
    return tag(
        "section",
        tag("h2", "Numbers of options"),
        _sentences(result, result.by_options, "numbers of options"),
        html_table("Rows by number of options", *_lines(result, result.by_options, "options"), tall=True),
        tag("p", note, class_="detail"),
    )


def _sentences(result: Assessment, groups: Sequence[GroupAssessment[Assessment]], what: str) -> list[Markup]:
    """How many were assessed, and how many of these are miscalibrated."""
    assessed = [group for group in groups if group.assessment is not None]
    parts = []
    if assessed:
        limit = significance_limit(result.level)
        found = sum(group.adjusted_p_value <= limit for group in assessed)
        parts.append(
            tag(
                "p",
                f"{found} of {len(assessed)} {what} are miscalibrated at significance level {limit:.2g}; the p-values "
                f"are adjusted for the number of {what if what == 'groups' else 'tests'} (Benjamini and Hochberg).",
            )
        )
    left_out = len(groups) - len(assessed)
    if left_out:
        parts.append(
            tag(
                "p",
                f"{left_out} of {len(groups)} {what} were not assessed; the last column gives the reason.",
            )
        )
    return parts


def _lines(
    result: Assessment, groups: Sequence[GroupAssessment[Assessment]], first: str
) -> tuple[list[str], list[list[Any]]]:
    """The heads and the lines of the table."""
    metrics = [metric for metric in headline_metrics() if result.options is None or not metric.by_class]
    heads = [
        first,
        "rows",
        *(head for metric in metrics for head in _heads(metric)),
        "p",
        "adjusted p",
        "verdict",
    ]
    return heads, [_line(group, metrics) for group in groups]


def _last_if_nan(p: float) -> float:
    return math.inf if math.isnan(p) else p


def _heads(metric: ReportedMetric) -> list[str]:
    """The columns of a metric: its debiased value; for a signed metric also its interval."""
    return [f"debiased {metric.label}", *(["interval"] if metric.signed else [])]


def _cells(metric: ReportedMetric, estimate: Estimate | None) -> list[str]:
    if estimate is None:
        return ["–"] * len(_heads(metric))
    low, high = (number(end, sign=True) for end in (estimate.interval.low, estimate.interval.high))
    return [number(estimate.debiased, sign=metric.signed), *([f"[{low}, {high}]"] if metric.signed else [])]


def _line(group: GroupAssessment[Assessment], metrics: Sequence[ReportedMetric]) -> list[Any]:
    it = group.assessment
    if it is None:
        return [
            name_of(group.name),
            count_text(group.n_rows),
            *[""] * (2 + sum(len(_heads(metric)) for metric in metrics)),
            f"not assessed: {group.reason}",
        ]
    return [
        name_of(group.name),
        count_text(group.n_rows),
        *(cell for metric in metrics for cell in _cells(metric, metric.of(it))),
        html_p_text(group.p_value),
        html_p_text(group.adjusted_p_value),
        it.verdict.headline if group.flagged else "No evidence of miscalibration after correction",
    ]

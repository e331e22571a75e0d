"""Several events, or one event in groups of the rows, as a picture and a table; and the report of several events."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trueness._markup import Markup, name_of, tag
from trueness._printing import about_text, count_text, plural, rows_text
from trueness.assessment.verdict import significance_limit
from trueness.plots.forest import Forest, forest_chart
from trueness.plots.forest.data import Line, most_striking
from trueness.report._document import HEADING, citation, document, verdict_section
from trueness.report._embedded import embed_events
from trueness.report._event import event_section
from trueness.report._html_table import html_table
from trueness.report._numbers import html_p_text, number

if TYPE_CHECKING:
    from trueness.assessment import EventAssessment, EventAssessments, GroupAssessment

MOST_DRAWN = 30
"""Groups or events in the picture; the table has all."""

MOST_SECTIONS = 6
"""Events of a multi-label model that have a section of their own: those that are called miscalibrated."""


def page_of_events(
    results: EventAssessments,
    *,
    title: str | None = None,
    made_by: str | None = None,
    file_name: str = "report.html",
) -> str:
    """The entire file."""
    some = next(iter(results.events.values()))
    facts = [
        plural(len(results), "event"),
        rows_text(results.n_rows),
        f"{some.resamples} resamples",
        f"seed {some.seed}",
    ]
    header = tag("header", tag("h1", name_of(title or HEADING)), tag("p", " · ".join(facts), class_="facts"))
    main = tag(
        "main",
        verdict_section(results.verdict),
        group_section(results.as_groups, "event", results.level),
        [event_section(event) for event in results.flagged[:MOST_SECTIONS]],
        _provenance(some, made_by, file_name),
    )
    return document(title, header, main, embed_events(list(results.events.values())))


def group_section(groups: Sequence[GroupAssessment[EventAssessment]], what: str, level: float) -> Markup:
    """How many are called, the gaps in the large with their intervals, and a table of all."""
    assessed = [group for group in groups if group.assessment is not None]
    limit = significance_limit(level)
    found = sum(group.flagged for group in assessed)
    words = (
        f"{found} of {plural(len(assessed), what)} {'is' if found == 1 else 'are'} miscalibrated at significance level "
        f"{limit:.2g}; the p-values are adjusted for the number of {what}s (Benjamini and Hochberg)."
    )
    left_out = len(groups) - len(assessed)
    note = f" {plural(left_out, what)} not assessed: the last column gives the reason." if left_out else ""
    return tag(
        "section",
        tag("h2", f"{what.capitalize()}s"),
        tag("p", words + note),
        _picture(assessed, what, level) if assessed else None,
        _table(groups, what, level),
    )


def _picture(groups: Sequence[GroupAssessment[EventAssessment]], what: str, level: float) -> Markup:
    lines = []
    for group in groups:
        assert group.assessment is not None
        gap = group.assessment.in_the_large
        low, high = (gap.value, gap.value) if gap.interval is None else (gap.interval.low, gap.interval.high)
        lines.append(Line(group.name, group.n_rows, gap.value, low, high, group.adjusted_p_value))
    shown = most_striking(lines, 0.0, MOST_DRAWN)
    label = "gap in the large (above 0: forecast too often)"
    forest = Forest("gap", label, tuple(shown), None, len(lines) - len(shown), level)
    caption = f"Expected less observed frequency of each {what}, with its {100 * level:g} % interval."
    chart = tag("figure", forest_chart(forest), tag("figcaption", caption), class_="wide")
    return tag("div", chart, class_="figures")


def _table(groups: Sequence[GroupAssessment[EventAssessment]], what: str, level: float) -> Markup:
    heads = [
        what,
        "rows",
        "expected",
        "observed",
        "gap",
        f"{100 * level:g} % interval",
        "slope",
        "debiased ECE",
    ]
    heads += ["p", "adjusted p", "verdict"]
    ordered = sorted(
        groups, key=lambda it: math.inf if math.isnan(it.adjusted_p_value) else it.adjusted_p_value
    )
    caption = f"{what.capitalize()}s, smallest p-value first"
    return html_table(caption, heads, [_line(group) for group in ordered], tall=True, id=f"{what}s")


def _line(group: GroupAssessment[EventAssessment]) -> list[Any]:
    start = [name_of(group.name), count_text(group.n_rows)]
    event = group.assessment
    if event is None:
        return [*start, *[""] * 8, group.reason]
    gap = event.in_the_large
    ends = (
        ""
        if gap.interval is None
        else f"[{number(gap.interval.low, True)}, {number(gap.interval.high, True)}]"
    )
    return [
        *start,
        about_text(gap.expected),
        count_text(gap.observed),
        number(gap.value, sign=True),
        ends,
        number(event.cox.slope.value, digits=2),
        number(event.ece.debiased),
        html_p_text(group.p_value),
        html_p_text(group.adjusted_p_value),
        group.kind,
    ]


def _provenance(some: EventAssessment, made_by: str | None, file_name: str) -> Markup:
    call = (
        f"trueness.assess_event(y_true, y_prob, multilabel=True, level={some.level:g}, resamples={some.resamples}, "
        f"rng={some.seed})"
    )
    intro = "This report was made by" if made_by else "This call gives the same numbers for the same rows"
    code = (
        "from trueness.report import event_tables_in\n"
        f"tables = event_tables_in({file_name!r})  # one for each event\n"
    )
    return tag(
        "section",
        tag("h2", "How this was made"),
        tag("p", f"{intro}:"),
        tag("pre", tag("code", made_by or call), tabindex="0"),
        tag("p", "The tables are in this file, exact to the last bit:"),
        tag("pre", tag("code", code), tabindex="0"),
        citation(),
    )

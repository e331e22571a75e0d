"""Several events, or one event in groups of the rows, as a picture and a table; and the report of several events."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from trueness._markup import Markup, name_of, tag
from trueness._printing import count_text, plural, rows_text
from trueness.old_assessment.event_numbers import frequencies, frequency_heads, has_slope
from trueness.old_assessment.verdict import significance_limit
from trueness.old_report._document import HEADING, citation, document, verdict_section
from trueness.old_report._embedded import embed_events
from trueness.old_report._event import event_section
from trueness.old_report._figures import figure
from trueness.old_report._html_table import html_table
from trueness.old_report._numbers import html_p_text, number
from trueness.plots.forest import OF_EVENT
from trueness.plots.forest.data import groups_of

if TYPE_CHECKING:
    from trueness.old_assessment import EventAssessment, EventAssessments, GroupAssessment

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
        group_section(results),
        [event_section(event) for event in results.flagged[:MOST_SECTIONS]],
        _provenance(some, made_by, file_name),
    )
    return document(title, header, main, embed_events(list(results.events.values())))


def group_section(result: EventAssessment | EventAssessments) -> Markup:
    """The groups of an event, or several events: how many are miscalibrated, their gaps, and a table of all."""
    groups, of = groups_of(result)
    assessed = [group for group in groups if group.assessment is not None]
    limit = significance_limit(result.level)
    found = sum(group.flagged for group in assessed)
    words = (
        f"{found} of {plural(len(assessed), of)} {'is' if found == 1 else 'are'} miscalibrated at significance level "
        f"{limit:.2g}; the p-values are adjusted for the number of {of}s (Benjamini and Hochberg)."
    )
    left_out = len(groups) - len(assessed)
    note = f" {plural(left_out, of)} not assessed: the last column gives the reason." if left_out else ""
    return tag(
        "section",
        tag("h2", f"{of.capitalize()}s"),
        tag("p", words + note),
        tag("div", figure(OF_EVENT, result), class_="figures") if OF_EVENT.applies(result) else None,
        html_table(
            f"{of.capitalize()}s, smallest p-value first", *event_table(result), tall=True, id=f"{of}s"
        ),
    )


def event_table(result: EventAssessment | EventAssessments) -> tuple[list[str], list[list[Any]]]:
    """The heads and lines of the table of groups or events, smallest p-value first."""
    (groups, of), what = groups_of(result), getattr(result, "what", None)
    heads = [of, "rows", *frequency_heads(what), f"{100 * result.level:g} % interval"]
    heads += [*(["slope"] if has_slope(what) else []), "debiased ECE", "p", "adjusted p", "verdict"]
    ordered = sorted(
        groups, key=lambda it: math.inf if math.isnan(it.adjusted_p_value) else it.adjusted_p_value
    )
    return heads, [_line(group, len(heads)) for group in ordered]


def _line(group: GroupAssessment[EventAssessment], n_columns: int) -> list[Any]:
    start = [name_of(group.name), count_text(group.n_rows)]
    event = group.assessment
    if event is None:
        return [*start, *[""] * (n_columns - 3), group.reason]
    gap = event.in_the_large
    ends = (
        ""
        if gap.interval is None
        else f"[{number(gap.interval.low, True)}, {number(gap.interval.high, True)}]"
    )
    return [
        *start,
        *frequencies(event),
        number(gap.value, sign=True),
        ends,
        *([number(event.cox.slope.value, digits=2)] if has_slope(event.what) else []),
        number(event.ece.debiased),
        html_p_text(group.p_value),
        html_p_text(group.adjusted_p_value),
        group.kind.replace("-", " ") if group.kind else "",
    ]


def _provenance(some: EventAssessment, made_by: str | None, file_name: str) -> Markup:
    call = (
        f"trueness.assess_event(y_true, y_prob, multilabel=True, level={some.level:g}, resamples={some.resamples}, "
        f"rng={some.seed})"
    )
    intro = "This report was made by" if made_by else "This call gives the same numbers for the same rows"
    code = (
        "from trueness.old_report import event_tables_in\n"
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

"""The report of an event: its numbers, its pictures, and what they do not show."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from trueness._markup import Markup, name_of, tag
from trueness._printing import about_text, capitalise, count_text, rows_text
from trueness.old_assessment.event_numbers import EventNumber, event_numbers
from trueness.old_assessment.verdict import significance_limit
from trueness.old_report._document import HEADING, citation, document, verdict_section, warning_section
from trueness.old_report._embedded import embed_events
from trueness.old_report._figures import figure
from trueness.old_report._html_table import html_table
from trueness.old_report._interval_line import strip
from trueness.old_report._numbers import html_p_sentence, html_p_text, number
from trueness.old_report._provenance import assess_event_call, event_code_from_report
from trueness.plots import event_pictures

if TYPE_CHECKING:
    from trueness.old_assessment import EventAssessment

_BLIND = (
    "All of this compares the frequency of the event with its probability, at each probability: two groups of rows "
    "that err against each other at the same probability are not seen (assess them as groups). In the cumulative "
    "differences, errors in opposite directions cancel."
)
_SHIFTED = " The slope itself is compatible with 1: the test also responds to a large gap."


def page_of_event(
    event: EventAssessment,
    *,
    title: str | None = None,
    made_by: str | None = None,
    file_name: str = "report.html",
    further: Markup | None = None,
) -> str:
    """The entire file; `further` is a section after that of the event."""
    main = tag(
        "main",
        verdict_section(event.verdict),
        event_section(event),
        further,
        warning_section(event.warnings),
        _provenance(event, made_by, file_name),
    )
    return document(title, _header(event, title or HEADING), main, embed_events([event]))


def _header(event: EventAssessment, heading: str) -> Markup:
    facts = [
        event.label,
        rows_text(event.n_rows),
        f"{event.resamples} resamples",
        f"seed {event.seed}",
    ]
    return tag("header", tag("h1", name_of(heading)), tag("p", name_of(" · ".join(facts)), class_="facts"))


def event_section(event: EventAssessment) -> Markup:
    """Cards of the main numbers, the pictures, all numbers in a table, and the blind spots."""
    figures = [figure(picture, event) for picture in event_pictures()]
    table = html_table(f"Numbers of {event.label}", *event_number_table(event))
    return tag(
        "section",
        tag("h2", _question(event)),
        tag("ul", _gap_card(event), _second_card(event), _error_card(event), class_="cards"),
        tag("div", figures, class_="figures"),
        tag("details", tag("summary", f"All numbers of {event.label}"), table),
        tag("p", _BLIND, class_="detail"),
    )


def _question(event: EventAssessment) -> str:
    if event.what == "right":
        return "How often are the answers right?"
    return f"How often is {event.label_in_sentence} observed?"


def _card(
    heads: tuple[str, str],
    value: tuple[str, str],
    detail: list[Any],
    words: str,
    picture: Markup | None = None,
) -> Markup:
    """A card: name, value with its interval, the line with both, the test, and the meaning."""
    return tag(
        "li",
        tag("h3", heads[0], " ", tag("small", heads[1])),
        tag("p", tag("strong", value[0], class_="big"), f" {value[1]}"),
        picture,
        tag("p", detail, class_="detail"),
        tag("p", words),
    )


def _chip(p: float, level: float) -> Markup:
    significant = p <= significance_limit(level)
    words = "significant" if significant else "not significant"
    return tag("span", words, class_="chip yes" if significant else "chip")


def _gap_card(event: EventAssessment) -> Markup:
    gap = event.in_the_large
    ends, picture = "", None
    if gap.interval is not None:
        low, high = gap.interval.low, gap.interval.high
        ends = f"[{number(low, sign=True)}, {number(high, sign=True)}]"
        picture = strip(gap.value, low, high, 0.0, 1.08 * max(abs(low), abs(high), 1e-3))
    ratio = "" if math.isnan(gap.ratio) else f", ratio {gap.ratio:.3g}"
    words = f" {about_text(gap.expected)} expected, {count_text(gap.observed)} observed{ratio}; exact "
    return _card(
        ("Gap in the large", "predicted less observed frequency, all rows"),
        (number(gap.value, sign=True), ends),
        [_chip(gap.p_value, event.level), words, html_p_sentence(gap.p_value)],
        "Above 0 the event is forecast too often, below 0 too seldom.",
        picture,
    )


def _second_card(event: EventAssessment) -> Markup:
    """The slope; of a stated confidence, where 0 and 100 % are common, the test of the Brier score."""
    return _spread_card(event) if event.what is None else _brier_card(event)


def _brier_card(event: EventAssessment) -> Markup:
    z, parts = event.spiegelhalter, event.brier_parts
    detail: list[Any] = [z.reason or ""]
    if not math.isnan(z.p_value):
        detail = [
            _chip(z.p_value, event.level),
            " test of the Brier score, ",
            html_p_sentence(z.p_value),
            ".",
        ]
    detail.append(
        f" Brier score {number(event.brier_score)}: reliability {number(parts.reliability)}, resolution "
        f"{number(parts.resolution)}, uncertainty {number(parts.uncertainty)}."
    )
    return _card(
        ("Brier Z", "needs no bins"),
        ("–" if math.isnan(z.value) else number(z.value, sign=True, digits=2), ""),
        detail,
        "Above 0 the confidences are too extreme, below 0 too timid.",
    )


def _spread_card(event: EventAssessment) -> Markup:
    spread, slope = event.spread, event.cox.slope
    known = slope.reason is None
    value = slope.value if known else spread.slope
    ends = (
        f"[{number(slope.interval.low, digits=2)}, {number(slope.interval.high, digits=2)}]" if known else ""
    )
    detail: list[Any] = [spread.reason or ""]
    if not math.isnan(spread.p_value):
        detail = [
            _chip(spread.p_value, event.level),
            " test of the spread, ",
            html_p_sentence(spread.p_value),
            ".",
        ]
        significant = spread.p_value <= significance_limit(event.level)
        if significant and known and slope.interval.low <= 1 <= slope.interval.high:
            detail.append(_SHIFTED)
    return _card(
        ("Slope", "of a logistic recalibration (Cox)"),
        (number(value, digits=2), ends),
        detail,
        "Below 1 the probabilities are too extreme: high ones are too high and low ones too low. Above 1 they are too "
        "timid.",
    )


def _error_card(event: EventAssessment) -> Markup:
    ece = event.ece
    low, high = ece.interval.low, ece.interval.high
    return _card(
        ("ECE", f"calibration error over {len(event.bins.count)} bins"),
        (number(ece.debiased), f"[{number(low)}, {number(high)}]"),
        [
            _chip(ece.p_value, event.level),
            f" debiased value; plug-in value {number(ece.value)}, noise floor {number(ece.noise_floor)}, ",
            html_p_sentence(ece.p_value),
        ],
        "The mean distance between the probability of the event and how often it is observed.",
        strip(ece.debiased, low, high, ece.noise_floor, 1.08 * max(high, ece.noise_floor, 1e-3)),
    )


def event_number_table(event: EventAssessment) -> tuple[list[str], list[list[Any]]]:
    """All numbers of an event, as heads and lines of a table."""
    heads = ["number", "value", "calibrated model", "p", f"{100 * event.level:g} % interval"]
    return heads, [_line(it) for it in event_numbers(event)]


def _line(it: EventNumber) -> list[Any]:
    if math.isnan(it.value):
        return [capitalise(it.label), "–", "", "", it.reason or "not defined for these rows"]
    interval = it.interval
    ends = ""
    if interval is not None and not math.isnan(interval.low):
        ends = f"[{number(interval.low, it.signed)}, {number(interval.high, it.signed)}]"
    expected = "" if math.isnan(it.calibrated) else number(it.calibrated)
    return [capitalise(it.label), number(it.value, it.signed), expected, html_p_text(it.p_value), ends]


def _provenance(event: EventAssessment, made_by: str | None, file_name: str) -> Markup:
    intro = "This report was made by" if made_by else "This call gives the same numbers for the same rows"
    return tag(
        "section",
        tag("h2", "How this was made"),
        tag("p", f"{intro}:"),
        tag("pre", tag("code", made_by or assess_event_call(event)), tabindex="0"),
        tag(
            "p", "The table is in this file, exact to the last bit. This code reproduces the numbers from it:"
        ),
        tag("pre", tag("code", event_code_from_report(event, file_name)), tabindex="0"),
        citation(),
    )

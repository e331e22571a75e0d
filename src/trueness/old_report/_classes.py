"""The sections of the classes and of the predicted classes: what stands around their pictures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from trueness._markup import Markup, name_of, tag
from trueness._printing import about_text, count_text, plural
from trueness.old_assessment.verdict import significance_limit
from trueness.old_report._html_table import html_table
from trueness.old_report._numbers import html_p_sentence, html_p_text, number
from trueness.plots.classes.data import short_words

if TYPE_CHECKING:
    from trueness.old_assessment import Assessment
    from trueness.old_inference.classwise.results import ClassAssessment, PooledClasses
    from trueness.old_inference.results import Interval

MOST_CLASSES = 40
"""Classes that are listed at once; the others are folded."""

_BLIND = (
    "Classes share each row: if one is predicted too often, others are predicted too seldom, in sum as much. The list "
    "shows where the error is seen, not which class causes it. Gap and slope are two directions for each class; an "
    "error that changes sign more than once along the probability of a class shows in its ECE only."
)
_PREDICTED_BLIND = (
    "The rows that predict a class are compared with their own probabilities. A class that is hardly ever predicted is "
    "not seen here; the section on classes above compares its probability in all rows."
)


def around_classes(result: Assessment) -> tuple[list[Markup], Any]:
    """The sentence above the pictures of the classes, and the table below them."""
    classes = result.classes
    assert classes is not None
    limit = significance_limit(result.level)
    found, total = sum(it.adjusted_p_value <= limit for it in classes.classes), len(classes.classes)
    what = f"{found} of {total} classes {'is' if found == 1 else 'are'} significantly wrong" if found else ""
    before = tag(
        "p",
        f"{what or f'No class of {total} is significantly wrong'} at significance level {limit:.2g}. Every class has "
        "two tests, of its frequency (exact) and of its spread; all p-values are adjusted for the number of tests "
        "(Benjamini and Hochberg).",
    )
    after = [
        *_tables(classes.by_adjusted_p_value, result),
        *_pooled(classes.pooled),
        tag("p", _BLIND, class_="detail"),
    ]
    return [before], after


def _tables(ordered: list[ClassAssessment], result: Assessment) -> list[Markup]:
    interval = f"[{100 * result.level:g} %]"
    heads = ["class", "expected", "observed", f"O/E {interval}", "gap", "slope", f"debiased ECE {interval}"]
    heads += ["adjusted p", "in words"]
    mass = float(result.table.count.sum())
    lines = [_line(it, mass, significance_limit(result.level)) for it in ordered]
    first = html_table(
        "Classes, smallest p-value first", heads, lines[:MOST_CLASSES], tall=True, id="classes"
    )
    if len(lines) <= MOST_CLASSES:
        return [first]
    rest = html_table("Further classes", heads, lines[MOST_CLASSES:], tall=True, id="further-classes")
    folded = plural(len(lines) - MOST_CLASSES, "more class", "more classes")
    return [first, tag("details", tag("summary", folded), rest)]


def _line(it: ClassAssessment, mass: float, limit: float) -> list[Any]:
    gap = it.gap
    return [
        name_of(it.name),
        about_text(gap.expected),
        count_text(gap.observed),
        _ratio(it, mass),
        number(gap.value, sign=True),
        number(it.spread.slope, digits=2),
        _with_interval(it.ece.debiased, it.ece.interval),
        html_p_text(it.adjusted_p_value),
        short_words(it, limit),
    ]


def _ratio(it: ClassAssessment, mass: float) -> str:
    """O/E, with the interval of the gap in units of E."""
    gap = it.gap
    if math.isnan(gap.ratio):
        return "–"
    if gap.interval is None or not it.measured:
        return f"{gap.ratio:.3g}"
    low, high = (max(0.0, 1 - mass * end / gap.expected) for end in (gap.interval.high, gap.interval.low))
    return f"{gap.ratio:.3g} [{low:.3g}, {high:.3g}]"


def _with_interval(value: float, interval: Interval | None) -> str:
    if math.isnan(value) or interval is None:
        return "–"
    return f"{number(value)} [{number(interval.low)}, {number(interval.high)}]"


def _pooled(pooled: PooledClasses | None) -> list[Markup]:
    """One line for the classes that are too rare to be measured."""
    if pooled is None:
        return []
    words = (
        f"{plural(len(pooled.names), 'class', 'classes')} with fewer than 10 expected rows have no ECE of their own; "
        f"together: {about_text(pooled.expected)} expected, {count_text(pooled.observed)} observed, "
        f"{html_p_sentence(pooled.p_value)}."
    )
    return [tag("p", words)]


def around_predicted_classes(result: Assessment) -> tuple[list[Markup], Any]:
    """The sentence above the picture of the predicted classes, and what it does not show below it."""
    test = result.by_predicted_class
    assert test is not None
    words = (
        f"All predicted classes together: Q = {test.value:.1f} with {test.degrees} degrees of freedom, "
        f"{html_p_sentence(test.safe_p_value)}. Classes that fewer than 50 rows predict are pooled."
    )
    reason = "" if test.reason is None else f" {test.reason[0].upper()}{test.reason[1:]}."
    return [tag("p", words + reason)], tag("p", _PREDICTED_BLIND, class_="detail")

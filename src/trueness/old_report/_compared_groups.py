"""The section of the report about the differences between groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trueness._markup import Markup, name_of, tag
from trueness.old_assessment.reported import REPORTED
from trueness.old_report._html_table import html_table
from trueness.old_report._numbers import html_p_text, number

if TYPE_CHECKING:
    from trueness.old_assessment import Assessment

MOST_PAIRS = 500
"""As many pairs are in the table: those with the smallest p-values."""


def around_compared_groups(result: Assessment) -> tuple[list[Markup], Markup]:
    """The sentences above the picture of the differences, and the table of all of them below it."""
    compared = result.compared_groups
    assert compared is not None
    above = [tag("p", f"{compared.sentence}. Differences are between debiased values.")]
    shown = compared.pairs[:MOST_PAIRS]
    first = "group, minus the rest" if compared.against == "rest" else "pair"
    heads = [first, "calibration", "adjusted p", "p"]
    heads += [head for key in compared.metrics for head in (REPORTED[key].label, "interval")]
    lines = [
        [
            name_of(compared.name_of(pair)),
            name_of(compared.verdict_of(pair)),
            html_p_text(pair.adjusted_p_value),
            html_p_text(pair.p_value),
            *(cell for key in compared.metrics for cell in _cells(pair.contrasts[key])),
        ]
        for pair in shown
    ]
    name = "Differences, smallest p-value first"
    if len(shown) < len(compared.pairs):
        name = f"The {len(shown)} of {len(compared.pairs)} differences with the smallest p-values"
    table = html_table(name, heads, lines, tall=True, id="compared-groups")
    return above, table


def _cells(contrast: Any) -> list[str]:
    low, high = (number(end, sign=True) for end in (contrast.interval.low, contrast.interval.high))
    return [number(contrast.difference, sign=True), f"[{low}, {high}]"]

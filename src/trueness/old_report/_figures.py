"""The figures of the page: every picture that applies, with its caption and its numbers, under its heading."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from trueness._markup import Markup, tag
from trueness.bins import EqualMass
from trueness.old_assessment import assess_table
from trueness.old_report._html_table import html_table
from trueness.plots.picture import Picture

if TYPE_CHECKING:
    from trueness.old_assessment import Assessment, Comparison, EventAssessment, EventAssessments

MOST_BINS = 40
"""More bins cannot be distinguished in a picture: they are merged into this many of equal mass."""


def drawable(result: Assessment) -> tuple[Assessment, str | None]:
    """The assessment in at most MOST_BINS bins, and a note if bins were merged for it."""
    if np.count_nonzero(result.table.row_count) <= MOST_BINS:
        return result, None
    settings: dict[str, Any] = {"level": result.level, "resamples": result.resamples, "rng": result.seed}
    bins = EqualMass(MOST_BINS)
    tables = result.tables.coarsen(bins, bins)
    it = assess_table(tables.without_events(), **settings)  # those of classes do not depend on these bins
    known = {key: estimate for key, estimate in it.estimates.items() if estimate is not None}
    merged = replace(
        result,
        estimates={**result.estimates, **known},
        uce=it.uce,
        tables=tables,
        cumulative_log_score=it.cumulative_log_score,
    )
    independent = " They treat the rows as independent, not as clusters." if result.n_clusters else ""
    note = (
        f"Pictures and the table of bins merge the {result.table.n_bins} bins into {MOST_BINS} of equal mass; the "
        f"numbers above use all bins.{independent}"
    )
    return merged, note


def figures_by_section(result: Assessment, pictures: Iterable[Picture[Any]]) -> dict[str, list[Markup]]:
    """The figures of the pictures that apply, by the heading of their section, in the order of the pictures."""
    sections: dict[str, list[Markup]] = {}
    for picture in pictures:
        if picture.applies(result):
            sections.setdefault(picture.section, []).append(figure(picture, result))
    return sections


def figure(
    picture: Picture[Any], result: Assessment | EventAssessment | EventAssessments | Comparison
) -> Markup:
    """A picture with its caption and its numbers; a wide one scrolls by itself where the screen is narrow."""
    data = picture.data(result)
    drawn = picture.svg(data)
    if picture.wide:
        drawn = tag("div", drawn, class_="scroll", tabindex="0", role="region", aria_label=picture.title)
    caption = tag("figcaption", tag("strong", f"{picture.title}. "), picture.caption_for(data))
    numbers = None
    if picture.numbers is not None:
        table = html_table(*picture.numbers(data))
        numbers = tag("details", tag("summary", "The numbers of this picture"), table)
    return tag("figure", drawn, caption, numbers, class_="wide" if picture.wide else None)

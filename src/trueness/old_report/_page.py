"""The page: the verdict, the metrics, their limitations, the pictures, and the tables to look things up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from trueness._markup import Markup, name_of, tag
from trueness._printing import count_text, rows_text
from trueness.old_assessment.cluster_text import MOST_CLUSTERS, spread_sentence
from trueness.old_assessment.text import bins_of, classes_of
from trueness.old_report._classes import around_classes, around_predicted_classes
from trueness.old_report._compared_groups import around_compared_groups
from trueness.old_report._document import HEADING, citation, document, verdict_section, warning_section
from trueness.old_report._embedded import Embedded, embed_tables
from trueness.old_report._event import event_section
from trueness.old_report._figures import drawable, figures_by_section
from trueness.old_report._groups import around_groups, options_section
from trueness.old_report._html_table import html_table
from trueness.old_report._numbers import (
    UCE_NOTE,
    cards,
    html_p_sentence,
    number,
    number_table,
)
from trueness.old_report._provenance import assess_call, code_from_report
from trueness.plots import pictures
from trueness.plots.picture import BINS, CLASSES, COMPARED_GROUPS, GROUPS, PREDICTED_CLASSES

if TYPE_CHECKING:
    from trueness.old_assessment import Assessment


def page(
    result: Assessment,
    *,
    title: str | None = None,
    made_by: str | None = None,
    file_name: str = "report.html",
) -> str:
    """The entire file."""
    embedded = embed_tables(result)
    shown, note = drawable(result)
    event = result.event
    main = tag(
        "main",
        verdict_section(result.verdict),
        None if event is None else event_section(event),
        tag("section", tag("h2", "The numbers"), cards(result), _key()),
        warning_section(result.warnings),
        options_section(result),
        _pictures(shown, note),
        _bins(shown),
        _clusters(result),
        _all_numbers(result),
        _provenance(result, made_by, file_name, embedded),
    )
    return document(title, _header(result, title or HEADING), main, embedded.script)


def _header(result: Assessment, heading: str) -> Markup:
    facts = [
        rows_text(result.n_rows),
        classes_of(result),
        bins_of(result),
        f"{result.resamples} resamples",
        f"seed {result.seed}",
    ]
    if result.n_clusters is not None:
        facts.insert(1, f"{result.n_clusters} clusters")
    return tag("header", tag("h1", name_of(heading)), tag("p", " · ".join(facts), class_="facts"))


def _key() -> Markup:
    """How to read the cards."""
    return tag(
        "p",
        "The large number of a card with a line is the debiased value, followed by its interval. In the line, the dot "
        "is the debiased value, the bar its interval, the solid mark the noise floor and the dashed mark 0. "
        "“Significant” refers to the test of this metric alone, not adjusted for the number of metrics; the verdict "
        "combines all tests.",
        class_="detail",
    )


def _pictures(result: Assessment, note: str | None) -> list[Markup]:
    """A section for each heading of the pictures, in their order; that of the groups always, for its table."""
    figures = figures_by_section(result, pictures())
    sections = []
    for heading in _headings(result, figures):
        before, after = _around_figures(result, heading, note)
        grid = tag("div", figures[heading], class_="figures") if heading in figures else None
        sections.append(tag("section", tag("h2", heading), before, grid, after))
    return sections


def _headings(result: Assessment, figures: Mapping[str, Any]) -> list[str]:
    """The headings of the sections; that of the groups, without a picture too, stands before their comparison."""
    found = [heading for heading in figures if heading != COMPARED_GROUPS]
    found += [GROUPS] if result.groups and GROUPS not in found else []
    return [*found, *([COMPARED_GROUPS] if COMPARED_GROUPS in figures else [])]


def _around_figures(result: Assessment, heading: str, note: str | None) -> tuple[list[Markup], Any]:
    """What stands before and after the figures of a section."""
    if heading == GROUPS:
        return around_groups(result)
    if heading == COMPARED_GROUPS:
        return around_compared_groups(result)
    if heading == CLASSES:
        return around_classes(result)
    if heading == PREDICTED_CLASSES:
        return around_predicted_classes(result)
    return ([tag("p", note, class_="detail")] if heading == BINS and note else []), None


def _bins(result: Assessment) -> Markup:
    table, noise = result.table, result.vce.bins
    lines: list[list[Any]] = []
    for m in np.flatnonzero(table.row_count):
        gap = float(result.net.centred_gap[m])
        outside = not noise.low[m] - 1e-12 <= noise.observed[m] <= noise.high[m] + 1e-12
        lines.append(
            [
                str(m + 1),
                f"{table.edges[m]:.4g} to {table.edges[m + 1]:.4g}",
                count_text(float(table.count[m])),
                number(float(table.predicted_variation[m])),
                number(float(table.observed_variation[m])),
                f"{number(float(noise.low[m]))} to {number(float(noise.high[m]))}",
                number(gap, sign=True),
                ("over-confident" if gap > 0 else "under-confident") if outside else "",
            ]
        )
    measure = table.spec.variation.display_name
    heads = [
        "bin",
        measure,
        "rows",
        "predicted",
        "observed",
        "observed if calibrated",
        "centred gap",
        "outside noise",
    ]
    empty = table.n_bins - len(lines)
    note = (
        tag("p", f"{empty} of {table.n_bins} bins have no rows and are not listed.", class_="detail")
        if empty
        else None
    )
    return tag("section", tag("h2", "All bins"), html_table(f"Bins of {measure}", heads, lines), note)


def _all_numbers(result: Assessment) -> Markup:
    star = UCE_NOTE if result.uce is not None else ""
    words = (
        "Plug-in: the value by its definition. Noise floor: its mean for a calibrated model at this sample size. p "
        "compares the two; centred p compares them bin by bin, which also detects over-confidence with many classes. "
        "Debiased: the value expected with unlimited data. The verdict combines all tests (Cauchy combination): "
        f"{html_p_sentence(result.p_value)}. {star}"
    )
    return tag(
        "section",
        tag("h2", "All numbers"),
        html_table("Numbers of this assessment", *number_table(result)),
        tag("p", words, class_="detail"),
    )


def _clusters(result: Assessment) -> Markup | None:
    """The spread of the net gap between clusters, and those that are furthest off."""
    spread = result.cluster_spread
    if spread is None:
        return None
    if spread.reason is not None:
        return tag("section", tag("h2", "Clusters"), tag("p", f"Not shown by cluster: {spread.reason}."))
    words = spread_sentence(spread)
    parts: list[Any] = [tag("h2", "Clusters"), tag("p", f"{words[0].upper()}{words[1:]}.")]
    if spread.sd > 0:
        lines = [
            [
                it.name,
                str(it.n_rows),
                f"{it.gap:+.4f}",
                f"{it.shrunk:+.4f}",
                f"[{it.interval.low:+.4f}, {it.interval.high:+.4f}]",
            ]
            for it in spread.clusters[:MOST_CLUSTERS]
        ]
        heads = ["cluster", "rows", "net gap", "shrunk", f"{100 * result.level:g} % interval"]
        parts.append(html_table("Clusters that are furthest off", heads, lines))
        parts.append(
            tag(
                "p",
                "The net gap of a single cluster is mostly noise. Shrunk: drawn towards the mean over all clusters, "
                "the more the fewer rows it has.",
                class_="detail",
            )
        )
    return tag("section", parts)


def _provenance(result: Assessment, made_by: str | None, file_name: str, embedded: Embedded) -> Markup:
    intro = "This report was made by" if made_by else "This call gives the same numbers for the same rows"
    parts: list[Any] = [
        tag("h2", "How this was made"),
        tag("p", f"{intro}:"),
        tag("pre", tag("code", made_by or assess_call(result)), tabindex="0"),
    ]
    if embedded.clusters:
        what = "The table is" if result.n_clusters is None else "The table and the sums of its clusters are"
        parts += [
            tag(
                "p",
                f"{what} in this file, exact to the last bit. This code reproduces the numbers from it:",
            ),
            tag("pre", tag("code", code_from_report(result, file_name, embedded.groups)), tabindex="0"),
        ]
    else:
        parts.append(
            tag(
                "p",
                "The table is in this file, but the sums of its clusters are not: they would make it too large. An "
                "assessment of the table alone underestimates the noise.",
            )
        )
    if result.groups and not embedded.group_events:
        missing = "tables by class of the groups" if embedded.groups else "tables of the groups"
        parts.append(tag("p", f"The {missing} are not in this file: they would make it too large."))
    return tag("section", parts, citation())

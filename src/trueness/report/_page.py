"""The page: the verdict first, then the numbers, what limits them, the pictures, and everything else to look up."""

from __future__ import annotations

import base64
import hashlib
import math
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from trueness._version import __version__
from trueness.assessment.text import bins_of
from trueness.assessment.verdict import limit_of
from trueness.plots.forest import of_groups
from trueness.plots.readings import count_text, in_words, rows_text
from trueness.report._embedded import embedded
from trueness.report._forest_figure import forest_chart
from trueness.report._made import again, call_of
from trueness.report._markup import Markup, name_of, tag
from trueness.report._numbers import (
    UCE_NOTE,
    cards,
    colour,
    number,
    number_table,
    p_is,
    p_text,
    sentence_of,
)
from trueness.report._pictures import Drawn, figure, pictures, rank_pictures
from trueness.report._tables import table_of

if TYPE_CHECKING:
    from trueness.assessment import Assessment

MOST_GROUPS_DRAWN = 30


def page(
    result: Assessment,
    *,
    title: str | None = None,
    made_by: str | None = None,
    file_name: str = "report.html",
) -> str:
    """The whole file."""
    data, with_groups = embedded(result)
    heading = title or "Calibration report"
    style, script = read_part("chart.css") + read_part("page.css"), read_part("page.js")
    drawn = Drawn.of(result)
    body = [
        _header(result, heading),
        tag(
            "main",
            _verdict(result),
            tag("section", tag("h2", "The numbers"), cards(result), _key()),
            _limits(result),
            pictures(drawn),
            rank_pictures(drawn),
            _groups(result),
            _bins(drawn),
            _all_numbers(result),
            _making(result, made_by, file_name, with_groups),
        ),
        tag(
            "footer", tag("p", f"Written by trueness {__version__}. This file is complete: it loads nothing.")
        ),
    ]
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"trueness {__version__}"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", heading if title is None else f"{title} – calibration report"),
        tag("style", Markup(style)),
    ]
    whole = tag(
        "html",
        tag("head", head),
        "\n",
        tag("body", body, data, "\n", tag("script", Markup(script)), class_="trueness"),
        lang="en",
    )
    return f"<!doctype html>\n{whole}\n"


def read_part(name: str) -> str:
    """A style sheet or script of the package."""
    return files("trueness.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded or sent, and nothing run but the script of this file, known by its hash."""

    def hashed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; style-src {hashed(style)}; script-src {hashed(script)}; base-uri 'none'; "
        "form-action 'none'"
    )


def _header(result: Assessment, heading: str) -> Markup:
    table = result.table
    facts = [
        rows_text(result.n_rows),
        f"{table.n_classes} classes",
        bins_of(result),
        f"{result.resamples} draws",
        f"seed {result.seed}",
    ]
    if result.n_clusters is not None:
        facts.insert(1, f"{result.n_clusters} clusters")
    return tag("header", tag("h1", name_of(heading)), tag("p", " · ".join(facts), class_="facts"))


def _verdict(result: Assessment) -> Markup:
    verdict = result.verdict
    return tag(
        "section",
        tag("h2", verdict.headline),
        tag("p", sentence_of(verdict)),
        tag("p", verdict.advice),
        class_=f"verdict {colour(verdict)}",
        aria_label="Verdict",
    )


def _key() -> Markup:
    """What the strips on the cards show."""
    return tag(
        "p",
        "Large figures with an interval are debiased values. On the line below each, the dot is the value, the bar its "
        "interval, the upright stroke the noise floor, and the dashed one 0.",
        class_="detail",
    )


def _limits(result: Assessment) -> Markup | None:
    if not result.warnings:
        return None
    items = [
        tag("li", tag("strong", _sentence(it.message)), " ", _sentence(it.remedy)) for it in result.warnings
    ]
    return tag("section", tag("h2", "What limits this"), tag("ul", items, class_="limits"))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _bins(drawn: Drawn) -> Markup:
    it = drawn.by_variation
    table, noise = it.table, it.vce.bins
    lines: list[list[Any]] = []
    for m in np.flatnonzero(table.row_count):
        gap = float(it.net.centred_gap[m])
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
                ("over" if gap > 0 else "under") if outside else "",
            ]
        )
    heads = [
        "bin",
        "V",
        "rows",
        "predicted",
        "observed",
        "observed if calibrated",
        "centred gap",
        "beyond noise",
    ]
    empty = table.n_bins - len(lines)
    note = (
        tag("p", f"{empty} of {table.n_bins} bins hold no rows and are not listed.", class_="detail")
        if empty
        else None
    )
    name = f"Bins of {in_words(table.spec.variation.name)}"
    return tag("section", tag("h2", "All bins"), table_of(name, heads, lines), note)


def _groups(result: Assessment) -> Markup | None:
    if not result.groups:
        return None
    assessed = [group for group in result.groups if group.assessment is not None]
    parts: list[Any] = [tag("h2", "Groups")]
    if assessed:
        limit = limit_of(result.level)
        found = sum(group.adjusted_p_value <= limit for group in assessed)
        forest = of_groups(result, "net", MOST_GROUPS_DRAWN)
        few = f" The {len(forest.lines)} that stand out most of {len(assessed)}." if forest.n_left_out else ""
        parts.append(
            tag(
                "p",
                f"{found} of {len(assessed)} groups are miscalibrated at the level {limit:.2g}, p-values corrected for "
                "their number (Benjamini and Hochberg).",
            )
        )
        caption = [tag("strong", "Net gap of the groups. "), f"Above 0 over-confident; grey: all rows.{few}"]
        parts.append(figure(forest_chart(forest), caption, wide="Picture of the groups"))
    left_out = len(result.groups) - len(assessed)
    if left_out:
        parts.append(
            tag(
                "p", f"{left_out} of {len(result.groups)} groups were not assessed: the last column says why."
            )
        )
    ordered = sorted(result.groups, key=lambda group: _last_if_nan(group.adjusted_p_value))
    heads = [
        "group",
        "rows",
        "debiased VCE",
        "debiased net gap",
        "interval",
        "p",
        "corrected p",
        "verdict",
    ]
    table = table_of(
        "Groups, smallest p-value first", heads, [_group(group) for group in ordered], tall=True, id="groups"
    )
    return tag("section", parts, table)


def _last_if_nan(p: float) -> float:
    return math.inf if math.isnan(p) else p


def _group(group: Any) -> list[Any]:
    it = group.assessment
    if it is None:
        return [
            name_of(group.name),
            count_text(group.n_rows),
            "",
            "",
            "",
            "",
            "",
            f"not assessed: {group.reason}",
        ]
    span = it.net.interval
    return [
        name_of(group.name),
        count_text(group.n_rows),
        number(it.vce.debiased),
        number(it.net.debiased, sign=True),
        f"[{number(span.low, sign=True)}, {number(span.high, sign=True)}]",
        p_text(group.p_value),
        p_text(group.adjusted_p_value),
        it.verdict.headline if group.flagged else "No evidence after the correction",
    ]


def _all_numbers(result: Assessment) -> Markup:
    star = UCE_NOTE if result.uce is not None else ""
    words = (
        "Plug-in is the value as defined, the noise floor its mean if the model were calibrated. p compares the two; "
        "centred p does so bin by bin and reveals over-confidence with many classes too. Debiased is an estimate of "
        "the value with unlimited data. The verdict rests on all tests together (Cauchy combination): "
        f"{p_is(result.p_value)}. {star}"
    )
    return tag(
        "section",
        tag("h2", "All numbers"),
        table_of("Numbers of this assessment", *number_table(result)),
        tag("p", words, class_="detail"),
    )


def _making(result: Assessment, made_by: str | None, file_name: str, with_groups: bool) -> Markup:
    told = "This report was made by" if made_by else "The call that gives these numbers for the same rows"
    parts: list[Any] = [
        tag("h2", "How this was made"),
        tag("p", f"{told}:"),
        tag("pre", tag("code", made_by or call_of(result)), tabindex="0"),
    ]
    if result.n_clusters is None:
        parts += [
            tag("p", "The table is in this file, exact to the last bit. The same numbers from it alone:"),
            tag("pre", tag("code", again(result, file_name, with_groups)), tabindex="0"),
        ]
    else:
        parts.append(
            tag(
                "p",
                "The table is in this file, but not how its rows come in clusters: from it alone noise reads smaller.",
            )
        )
    if result.groups and not with_groups:
        parts.append(
            tag("p", "The tables of the groups would have made this file too large and are not in it.")
        )
    parts += [
        tag("h2", "How to cite"),
        tag(
            "p",
            "The metric: A. Thompson and V. Desai, ",
            tag("cite", "Extending confidence calibration to generalised measures of variation"),
            ", National Physical Laboratory, 2026, arXiv 2602.12975. "
            f"The software: The trueness authors, trueness {__version__}.",
        ),
    ]
    return tag("section", parts)

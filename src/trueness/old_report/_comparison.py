"""The report of a comparison: which model is better calibrated, the differences, and each model bin by bin."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from trueness._markup import Markup, name_of, tag
from trueness._printing import capitalise, count_text, plural, rows_text
from trueness.old_assessment.reported import headline_metrics
from trueness.old_assessment.text import bins_of, classes_of, what_is_compared
from trueness.old_report._document import citation, document
from trueness.old_report._embedded import embed_models
from trueness.old_report._figures import drawable, figure
from trueness.old_report._html_table import html_table
from trueness.old_report._numbers import html_p_sentence, html_p_text, number
from trueness.old_report._provenance import compare_call, models_from_report
from trueness.plots.forest import forest_chart, forest_of_metrics, forest_of_pairs
from trueness.plots.picture import Picture
from trueness.plots.reliability import ECE, VCE

if TYPE_CHECKING:
    from trueness.old_assessment import Assessment, Comparison, PairVerdict

HEADING = "Calibration comparison"

MOST_SENTENCES = 15
MOST_MODELS = 8
"""Models whose diagrams are drawn; the tables list all."""

MOST_ALL_DIAGRAMS = 3
"""Up to so many models have the diagram of ECE too."""

MOST_LINES = 30
MOST_TABLE = 1000
"""Differences in the table: those of the pairs with the smallest p-values."""

_DRAWN = ("vce", "net", "ece")
"""Metrics whose differences are drawn for each pair, if there are several pairs."""


def page_of_comparison(
    comparison: Comparison,
    *,
    title: str | None = None,
    made_by: str | None = None,
    file_name: str = "report.html",
) -> str:
    """The entire file."""
    embedded, complete = embed_models(comparison)
    main = tag(
        "main",
        _verdict(comparison),
        _models(comparison),
        _differences(comparison),
        _diagrams(comparison),
        _groups(comparison),
        _warnings(comparison),
        _provenance(comparison, made_by, file_name, complete=complete),
    )
    return document(title, _header(comparison, title or HEADING), main, embedded)


def _header(comparison: Comparison, heading: str) -> Markup:
    some = next(iter(comparison.assessments.values()))
    facts = [
        plural(len(comparison.assessments), what_is_compared(comparison)),
        rows_text(some.n_rows) if comparison.paired else "different rows",
        classes_of(some),
        bins_of(some),
        f"{comparison.resamples} resamples",
        f"seed {comparison.seed}",
    ]
    if some.n_clusters is not None and comparison.paired:
        facts.insert(2, f"{some.n_clusters} clusters")
    return tag("header", tag("h1", name_of(heading)), tag("p", " · ".join(facts), class_="facts"))


def headline_of(comparison: Comparison) -> str:
    """The conclusion in a few words: the model that is better than all others, if there is one."""
    verdicts = comparison.verdicts
    if all(verdict.kind == "none" for verdict in verdicts):
        return f"No evidence that the {what_is_compared(comparison)}s differ in calibration"
    for name in comparison.assessments:
        of_model = [
            verdict
            for verdict, pair in zip(verdicts, comparison.pairs, strict=True)
            if name in (pair.first, pair.second)
        ]
        if of_model and all(verdict.better == name for verdict in of_model):
            best = "better" if len(comparison.assessments) == 2 else "best"
            return f"{name} is {best} calibrated"
    return f"The {what_is_compared(comparison)}s differ, but none is better calibrated than all others"


ADVICE = (
    "A better calibrated model may discriminate worse: compare accuracy, Brier score and log-loss below before you "
    "choose."
)

_ADVICE_ON_TABLES = (
    "Better calibration on some rows does not mean better predictions: compare accuracy, Brier score and log-loss "
    "below too."
)


def _verdict(comparison: Comparison) -> Markup:
    clear = any(verdict.kind != "none" for verdict in comparison.verdicts)
    if comparison.paired:
        advice = ADVICE if clear else "Compare on more rows, or choose by accuracy, Brier score and log-loss."
    else:
        advice = _ADVICE_ON_TABLES if clear else "Compare more rows."
    return tag(
        "section",
        tag("h2", name_of(headline_of(comparison))),
        sentences_of(comparison),
        tag("p", advice),
        class_=f"verdict {'mixed' if clear else 'none'}",
        aria_label="Verdict",
    )


def sentences_of(comparison: Comparison) -> Markup | list[Markup]:
    """The sentence of each pair, those that differ first; with a note if some are left out."""
    ordered = sorted(comparison.verdicts, key=lambda verdict: (verdict.kind == "none", verdict.p_value))
    shown = [_sentence(verdict) for verdict in ordered[:MOST_SENTENCES]]
    if len(ordered) == 1:
        return tag("p", shown[0])
    left_out = len(ordered) - len(shown)
    note = tag("p", f"{left_out} more pairs are in the table of differences.") if left_out else None
    return [tag("ul", [tag("li", words) for words in shown]), *([note] if note else [])]


def _sentence(verdict: PairVerdict) -> Markup:
    """The sentence of a verdict with a full stop; a capital would change the name of a model that begins it."""
    words = str(verdict)
    return name_of(f"{capitalise(words) if verdict.kind == 'none' else words}.")


def model_table(comparison: Comparison) -> tuple[list[Markup | str], list[list[Any]]]:
    """The heads and lines of the table of models: one column for each, one line for each number."""
    results = comparison.assessments
    lines: list[list[Any]] = [["rows", *(count_text(it.n_rows) for it in results.values())]]
    lines += [
        [
            f"debiased {metric.label}",
            *(_with_interval(metric.of(it), signed=metric.signed) for it in results.values()),
        ]
        for metric in headline_metrics()
        if any(metric.of(it) is not None for it in results.values())
    ]
    lines.append(["p of all evidence", *(html_p_text(it.p_value) for it in results.values())])
    for name, label in (("accuracy", "accuracy"), ("brier_score", "Brier score"), ("log_loss", "log-loss")):
        lines.append([label, *(number(getattr(it, name)) for it in results.values())])
    lines.append(["verdict", *(it.verdict.headline for it in results.values())])
    return ["number", *(name_of(name) for name in results)], lines


def _with_interval(estimate: Any, *, signed: bool) -> str:
    if estimate is None:
        return "–"
    value, low, high = (
        number(it, sign=signed) for it in (estimate.debiased, estimate.interval.low, estimate.interval.high)
    )
    return f"{value} [{low}, {high}]"


def _models(comparison: Comparison) -> Markup:
    which = "this model is miscalibrated" if comparison.paired else "the model is miscalibrated on these rows"
    words = (
        "Debiased: the value expected with unlimited data, with its interval. p: of all the evidence that "
        f"{which}, by itself."
    )
    return tag(
        "section",
        tag("h2", f"The {what_is_compared(comparison)}s"),
        html_table(f"{capitalise(what_is_compared(comparison))}s", *model_table(comparison), id="models"),
        tag("p", words, class_="detail"),
    )


def _pictures(comparison: Comparison) -> list[Picture[Any]]:
    """All metrics of the only pair, or the main metrics of all pairs."""
    caption = (
        "Differences are between debiased values, with their intervals; at 0 the "
        f"{what_is_compared(comparison)}s do not differ."
    )
    if len(comparison.pairs) == 1:
        title = "Differences of all metrics"
        return [Picture("metrics", title, caption, "", forest_of_metrics, forest_chart, wide=True)]
    drawn = [key for key in _DRAWN if any(key in pair.contrasts for pair in comparison.pairs)]
    return [
        Picture(
            key,
            f"Differences in {comparison.metrics[key].label}",
            caption,
            "",
            partial(forest_of_pairs, metric=key, most=MOST_LINES),
            forest_chart,
            wide=True,
        )
        for key in drawn
    ]


def difference_table(comparison: Comparison) -> tuple[list[str], list[list[Any]]]:
    """The heads and lines of the table of differences, those of the smallest p-values first."""
    heads = ["pair", "number", "difference", f"{100 * comparison.level:g} % interval", "p", "adjusted p"]
    lines = [
        [
            name_of(f"{pair.first} − {pair.second}"),
            comparison.metrics[key].label,
            number(contrast.difference, sign=True),
            f"[{number(contrast.interval.low, sign=True)}, {number(contrast.interval.high, sign=True)}]",
            html_p_text(contrast.p_value),
            html_p_text(contrast.adjusted_p_value),
        ]
        for pair in sorted(comparison.pairs, key=lambda pair: pair.adjusted_p_value)
        for key, contrast in pair.contrasts.items()
    ]
    return heads, lines


def _differences(comparison: Comparison) -> Markup:
    heads, lines = difference_table(comparison)
    how = (
        "All models have the same rows, and noise that they share cancels."
        if comparison.paired
        else "The tables have different rows, which are independent of each other."
    )
    name = "Differences, smallest p-value first"
    if len(lines) > MOST_TABLE:
        name = f"The first {MOST_TABLE} of {len(lines)} differences, smallest p-value first"
    words = f"{how} Adjusted p-values are corrected for the number of pairs of {what_is_compared(comparison)}s (Holm)."
    return tag(
        "section",
        tag("h2", "Differences"),
        tag("p", words),
        tag("div", [figure(picture, comparison) for picture in _pictures(comparison)], class_="figures"),
        html_table(name, heads, lines[:MOST_TABLE], tall=True, id="differences"),
    )


def _diagrams(comparison: Comparison) -> Markup:
    """The reliability diagrams of each model, side by side."""
    shown = [*comparison.assessments.items()][:MOST_MODELS]
    kinds = [VCE, ECE] if len(shown) <= MOST_ALL_DIAGRAMS else [VCE]
    figures = [
        _diagram(name, drawable(result)[0], kind)
        for kind in kinds
        for name, result in shown
        if kind.applies(result)
    ]
    left_out = len(comparison.assessments) - len(shown)
    note = (
        tag("p", f"{plural(left_out, f'more {what_is_compared(comparison)}')} not drawn.", class_="detail")
        if left_out
        else None
    )
    return tag("section", tag("h2", "Bin by bin"), tag("div", figures, class_="figures"), note)


def _diagram(name: str, result: Assessment, kind: Picture[Any]) -> Markup:
    data = kind.data(result)
    caption = [tag("strong", name_of(f"{name}: "), kind.title, ". "), kind.caption_for(data)]
    return tag("figure", kind.svg(data), tag("figcaption", caption))


def _warnings(comparison: Comparison) -> Markup | None:
    items = [
        tag("li", tag("strong", name_of(f"{name}: {it.message}.")), f" {capitalise(it.remedy)}.")
        for name, result in comparison.assessments.items()
        for it in result.warnings
    ]
    return tag("section", tag("h2", "Warnings"), tag("ul", items, class_="limits")) if items else None


def _groups(comparison: Comparison) -> Markup | None:
    """The verdicts within each group of the rows."""
    if not comparison.groups:
        return None
    lines: list[list[Any]] = []
    for group in sorted(comparison.groups, key=lambda it: min(it.adjusted_p_values, default=math.inf)):
        start = [name_of(group.name), count_text(group.n_rows)]
        if group.comparison is None:
            lines.append([*start, "", f"not compared: {group.reason}"])
            continue
        for verdict, p in zip(group.comparison.verdicts, group.adjusted_p_values, strict=True):
            lines.append([*start, html_p_text(p), _sentence(verdict)])
    words = (
        "The same comparison in groups of the rows; p-values are adjusted for the number of groups (Benjamini and "
        "Hochberg), and the sentences have those of the group alone."
    )
    heads = ["group", "rows", "adjusted p", "verdict in this group"]
    table = html_table("Groups, smallest p-value first", heads, lines, tall=True, id="groups")
    return tag("section", tag("h2", "Groups"), tag("p", words), table)


def _provenance(comparison: Comparison, made_by: str | None, file_name: str, *, complete: bool) -> Markup:
    intro = "This report was made by" if made_by else "This call gives the same numbers for the same rows"
    parts: list[Any] = [
        tag("h2", "How this was made"),
        tag("p", f"{intro}:"),
        tag("pre", tag("code", made_by or compare_call(comparison)), tabindex="0"),
    ]
    if complete:
        what = (
            "The differences need the rows, because they are paired; the tables of the models are"
            if comparison.paired
            else "The tables are"
        )
        parts += [
            tag("p", f"{what} in this file, exact to the last bit:"),
            tag("pre", tag("code", models_from_report(comparison, file_name)), tabindex="0"),
        ]
    else:
        of_models = " of the models" if comparison.paired else ""
        parts.append(tag("p", f"The tables{of_models} are not in this file: they would make it too large."))
    p = min((pair.adjusted_p_value for pair in comparison.pairs), default=math.nan)
    parts.append(tag("p", f"Smallest adjusted p-value of a pair: {html_p_sentence(p)}.", class_="detail"))
    return tag("section", parts, citation())

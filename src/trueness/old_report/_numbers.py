"""The metrics of an assessment as cards and as a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from trueness import _printing
from trueness._markup import Markup, tag
from trueness.old_assessment.reported import ReportedMetric, estimates_of
from trueness.old_assessment.verdict import Verdict, significance_limit
from trueness.old_inference.results import Estimate
from trueness.old_report._interval_line import strip

if TYPE_CHECKING:
    from trueness.old_assessment import Assessment


def colour(verdict: Verdict) -> str:
    """The CSS class that goes with a verdict."""
    if verdict.size == "negligible" or verdict.kind == "none":
        return "none"
    return "few" if verdict.kind == "too-few-rows" else verdict.direction or "mixed"


def sentence_of(verdict: Verdict) -> str:
    """The sentence of a verdict, with a capital and a full stop."""
    return f"{_printing.capitalise(verdict.sentence)}."


def number(value: float, sign: bool = False, digits: int = 4) -> str:
    """A number in text, with a typographic minus sign."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    return f"{value:{'+' if sign else ''}.{digits}f}".replace("-", "−")


def html_p_text(p: float) -> str:
    """A p-value in a column, with narrow no-break spaces."""
    if math.isnan(p):
        return "–"
    return _printing.p_text(p).replace("<", "<\u202f").replace(">", ">\u202f")


def html_p_sentence(p: float) -> str:
    """A p-value in a sentence, with no-break spaces."""
    words = html_p_text(p)
    return f"p\u00a0{words}" if words[0] in "<>" else f"p\u00a0=\u00a0{words}"


def cards(result: Assessment) -> Markup:
    """A card for each metric: the debiased value, its interval, the noise floor, and its meaning."""
    measure = result.table.spec.variation.display_name
    made = [
        _card(metric, estimate, measure, result)
        for metric, estimate in estimates_of(result)
        if metric.is_headline  # the others are in the table of all numbers
    ]
    if result.uce is not None:
        made.append(_uce_card(result))
    made += [_log_score_card(result), _scores_card(result)]
    return tag("ul", made, class_="cards")


def _card(metric: ReportedMetric, e: Estimate, measure: str, result: Assessment) -> Markup:
    p, signed = metric.p_value(e), metric.signed
    significant = p <= significance_limit(result.level)
    end = 1.08 * max(abs(x) for x in (e.interval.low, e.interval.high, e.noise_floor, e.debiased, 1e-3))
    return tag(
        "li",
        tag("h3", _printing.capitalise(metric.label), " ", tag("small", metric.long_name)),
        tag(
            "p",
            tag("strong", number(e.debiased, signed), class_="big"),
            f" [{number(e.interval.low, signed)}, {number(e.interval.high, signed)}]",
        ),
        strip(e.debiased, e.interval.low, e.interval.high, e.noise_floor, end),
        tag(
            "p",
            tag(
                "span",
                "significant" if significant else "not significant",
                class_="chip yes" if significant else "chip",
            ),
            f" debiased value; plug-in value {number(e.value, signed)}, noise floor {number(e.noise_floor, signed)}, "
            f"{'centred ' if metric.centred else ''}{html_p_sentence(p)} (not adjusted)",
            class_="detail",
        ),
        tag("p", metric.meaning.format(measure=measure)),
        _bounded(metric, result),
    )


def _bounded(metric: ReportedMetric, result: Assessment) -> Markup | None:
    """The metrics without a card that this one bounds, in small print."""
    words = [
        f"{other.label} {number(e.debiased, other.signed)} [{number(e.interval.low)}, {number(e.interval.high)}]"
        for other, e in estimates_of(result)
        if other.bounded_by == metric.key and not other.is_headline
    ]
    return tag("p", f"{_printing.capitalise('; '.join(words))}.", class_="detail") if words else None


def _uce_card(result: Assessment) -> Markup:
    uce = result.uce
    assert uce is not None
    return tag(
        "li",
        tag("h3", "UCE ", tag("small", "uncertainty calibration error")),
        tag("p", tag("strong", number(uce.value), class_="big")),
        tag(
            "p",
            f"plug-in; {number(uce.calibrated_value)} for a calibrated model, {html_p_sentence(uce.p_value)}",
            class_="detail",
        ),
        tag(
            "p",
            "The distance between error rate and entropy. It is not 0 for a calibrated model, so compare it with the "
            "value above, never with 0. For comparison with published figures only.",
        ),
    )


def _log_score_card(result: Assessment) -> Markup:
    z = result.log_score_z
    details = [html_p_sentence(z.p_value)] if not math.isnan(z.value) else []
    if z.drawn_p_value > max(z.p_value, 0.001):
        details.append(f"by resampling {html_p_sentence(z.drawn_p_value)}")
    return tag(
        "li",
        tag("h3", "Log-score Z ", tag("small", "needs no bins")),
        tag("p", tag("strong", number(z.value, sign=True, digits=2), class_="big")),
        tag("p", "; ".join([*details, *([z.reason] if z.reason else [])]), class_="detail"),
        tag(
            "p",
            "How many standard deviations the logarithmic score is from its mean under the model's own probabilities. "
            "Below 0 over-confident, above 0 under-confident.",
        ),
    )


def _scores_card(result: Assessment) -> Markup:
    return tag(
        "li",
        tag("h3", "Accuracy ", tag("small", "with Brier score and log-loss")),
        tag("p", tag("strong", number(result.accuracy), class_="big")),
        tag(
            "p",
            f"Brier score {number(result.brier_score)}, log-loss {number(result.log_loss)}",
            class_="detail",
        ),
        tag(
            "p",
            "They measure calibration and discrimination together: compare them before and after a recalibration to "
            "see what it costs. The Brier score is summed over classes (0 to 2).",
        ),
    )


UCE_NOTE = "* The value of a calibrated model: UCE does not fall to 0."


HEADS = ("metric", "plug-in", "noise floor", "p", "centred p", "debiased")


def number_table(result: Assessment) -> tuple[list[str], list[list[Any]]]:
    """All numbers, as heads and lines of a table."""
    heads = [*HEADS, f"{100 * result.level:g} % interval"]
    lines = [_metric_line(metric, e) for metric, e in estimates_of(result)]
    if (uce := result.uce) is not None:
        lines.append(
            ["UCE", number(uce.value), f"{number(uce.calibrated_value)} *", html_p_text(uce.p_value)]
        )
    z = result.log_score_z
    lines += [
        ["Log-score Z", number(z.value, sign=True, digits=2), "", html_p_text(z.p_value)],
        ["Accuracy", number(result.accuracy)],
        ["Brier score", number(result.brier_score)],
        ["Log-loss", number(result.log_loss)],
    ]
    return heads, [line + [""] * (len(heads) - len(line)) for line in lines]


def _metric_line(metric: ReportedMetric, e: Estimate) -> list[Any]:
    return [
        _printing.capitalise(metric.label),
        number(e.value, metric.signed),
        number(e.noise_floor, metric.signed),
        html_p_text(e.p_value),
        html_p_text(e.centred_p_value),
        number(e.debiased, metric.signed),
        f"[{number(e.interval.low, metric.signed)}, {number(e.interval.high, metric.signed)}]",
    ]

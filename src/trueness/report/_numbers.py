"""The numbers of an assessment with what they mean."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from trueness.inference._estimates import Estimate
from trueness.plots.readings import in_words
from trueness.report._figures import strip
from trueness.report._markup import Markup, tag

if TYPE_CHECKING:
    from trueness.assessment import Assessment

HEADLINES = (
    ("over-confident", "over", "Over-confident"),
    ("under-confident", "under", "Under-confident"),
    ("miscalibrated in both", "mixed", "Wrong in both directions"),
    ("the variation of the outcomes is as predicted", "mixed", "The wrong ranks come true"),
    ("VCE finds nothing", "mixed", "The log-score disagrees"),
    ("too few rows", "few", "Too few rows to tell"),
    ("no evidence", "none", "No evidence of miscalibration"),
)
"""How a verdict begins, the colour of its panel, and its headline."""


def headline(verdict: str) -> tuple[str, str]:
    """The colour and the headline that go with a verdict.

    >>> headline("under-confident: observed outcomes are less varied than predicted, ...")
    ('under', 'Under-confident')
    """
    return next((kind, words) for start, kind, words in HEADLINES if verdict.startswith(start))


def sentence_of(verdict: str) -> str:
    """What a verdict says beyond its headline, with a capital, a full stop and real minus signs.

    >>> sentence_of("under-confident: observed outcomes are less varied, net gap -0.3")
    'Observed outcomes are less varied, net gap −0.3.'
    """
    rest = verdict.removeprefix(f"{headline(verdict)[1].lower()}: ")
    return re.sub(r"(?<![\w.])-(?=\d)", "−", f"{rest[0].upper()}{rest[1:]}.")


def number(value: float, sign: bool = False, digits: int = 4) -> str:
    """A number in text, with a real minus."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    return f"{value:{'+' if sign else ''}.{digits}f}".replace("-", "−")


def p_text(p: float) -> str:
    """A p-value in a column."""
    return "–" if math.isnan(p) else f"{p:.3f}" if p >= 0.0005 else "<\u20090.001"


def p_is(p: float) -> str:
    """A p-value in a sentence, in one piece."""
    words = p_text(p)
    return f"p\u00a0{words}" if words.startswith("<") else f"p\u00a0=\u00a0{words}"


class Shown(NamedTuple):
    """An estimate with its words."""

    name: str
    long_name: str
    estimate: Estimate
    signed: bool
    meaning: str


def shown(result: Assessment) -> list[Shown]:
    """The estimates of an assessment, in the order of their weight for the verdict."""
    measure = in_words(result.table.spec.variation.name)
    found = [
        Shown(
            "Net gap",
            "signed variation gap",
            result.net,
            True,
            "Above 0 the outcomes vary more than the model says: it is too sure. Below 0 it is not sure enough.",
        ),
        Shown(
            "VCE",
            "variation calibration error",
            result.vce,
            False,
            f"How far the {measure} that the model predicts is from that of the ranks that came true, on average over "
            "the bins. 0 is calibrated. It does not see which rank came true.",
        ),
        Shown(
            "RCE",
            "ranked calibration error, total variation",
            result.rce,
            False,
            "How much probability stands at the wrong rank. It sees which rank came true: read it beside VCE.",
        ),
    ]
    if result.ece is not None:
        found.append(
            Shown(
                "ECE",
                "expected calibration error",
                result.ece,
                False,
                "How far confidence is from accuracy. It judges the top label alone.",
            )
        )
    return found


def cards(result: Assessment) -> Markup:
    """A card for each number: the debiased value, its interval, what noise alone would give, and its meaning."""
    made = [_card(it, result.level) for it in shown(result)]
    if result.uce is not None:
        made.append(_uce_card(result))
    made.append(_score_card(result))
    return tag("ul", made, class_="cards")


def _card(it: Shown, level: float) -> Markup:
    e = it.estimate
    beyond = e.centred_p_value <= 1 - level
    end = 1.08 * max(abs(x) for x in (e.interval.low, e.interval.high, e.noise_floor, e.debiased, 1e-3))
    return tag(
        "li",
        tag("h3", it.name, " ", tag("small", it.long_name)),
        tag(
            "p",
            tag("strong", number(e.debiased, it.signed, 3), class_="big"),
            f" [{number(e.interval.low, it.signed, 3)}, {number(e.interval.high, it.signed, 3)}]",
        ),
        strip(e.debiased, e.interval.low, e.interval.high, e.noise_floor, end),
        tag(
            "p",
            tag(
                "span", "beyond noise" if beyond else "within noise", class_="chip yes" if beyond else "chip"
            ),
            f" plug-in {number(e.value, it.signed)}, noise alone {number(e.noise_floor, it.signed)}, "
            f"centred {p_is(e.centred_p_value)}",
            class_="detail",
        ),
        tag("p", it.meaning),
    )


def _uce_card(result: Assessment) -> Markup:
    uce = result.uce
    assert uce is not None
    return tag(
        "li",
        tag("h3", "UCE ", tag("small", "uncertainty calibration error")),
        tag("p", tag("strong", number(uce.value, digits=3), class_="big")),
        tag(
            "p",
            f"a calibrated model would get {number(uce.calibrated_value)}, {p_is(uce.p_value)}",
            class_="detail",
        ),
        tag(
            "p",
            "How far the error rate is from the entropy. It is not 0 for a calibrated model, so compare it with the "
            "value above, never with 0. For published figures only.",
        ),
    )


def _score_card(result: Assessment) -> Markup:
    z = result.log_score_z
    return tag(
        "li",
        tag("h3", "Log-score Z ", tag("small", "needs no bins")),
        tag("p", tag("strong", number(z.value, sign=True, digits=2), class_="big")),
        tag("p", f"{p_is(z.p_value)}" if not z.reason else z.reason, class_="detail"),
        tag(
            "p",
            "How many standard deviations the logarithmic score is from what the model's own probabilities promise. "
            "Below 0 over-confident, above 0 under-confident.",
        ),
    )


UCE_NOTE = "* What a calibrated model would get: UCE does not fall to 0."


def number_table(result: Assessment) -> tuple[list[str], list[list[Any]]]:
    """Everything, as heads and lines of a table."""
    heads = [
        "number",
        "plug-in",
        "noise alone",
        "p",
        "centred p",
        "debiased",
        f"{100 * result.level:g} % interval",
    ]
    estimates = [(it.name, it.estimate, it.signed) for it in shown(result)]
    estimates.append(("RCE W1", result.rce_w1, False))
    lines: list[list[Any]] = [
        [
            name,
            number(e.value, signed),
            number(e.noise_floor, signed),
            p_text(e.p_value),
            p_text(e.centred_p_value),
            number(e.debiased, signed),
            f"[{number(e.interval.low, signed)}, {number(e.interval.high, signed)}]",
        ]
        for name, e, signed in estimates
    ]
    if result.uce is not None:
        uce = result.uce
        lines.append(
            ["UCE", number(uce.value), f"{number(uce.calibrated_value)} *", p_text(uce.p_value), "", "", ""]
        )
    z = result.log_score_z
    lines.append(["Log-score Z", number(z.value, sign=True, digits=2), "", p_text(z.p_value), "", "", ""])
    return heads, lines

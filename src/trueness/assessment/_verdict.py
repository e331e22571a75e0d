"""The verdict: whether a model is miscalibrated, how, by how much, how sure that is, and what to do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trueness._printing import p_is, plural
from trueness.assessment._reported import BOUNDING, BY_KEY, ReportedMetric, estimates_of
from trueness.inference._combination import combined_p_value
from trueness.inference._corrections import holm
from trueness.inference._estimates import Estimate
from trueness.inference._folded import normal_quantile

if TYPE_CHECKING:
    from trueness.assessment._answer import Assessment

SMALL = 0.01
"""Where all metrics are at most this, a verdict without a tolerance says that the error is small."""

MIXED = 1.5
"""A VCE so many times the net gap means that gaps of both signs cancel in it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One test among the evidence."""

    key: str
    """Of the metric, or "log_score"."""
    p_value: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is concluded from all the evidence; `str(verdict)` is one sentence."""

    kind: str
    """"over-confident", "under-confident", "mixed" (both, in different bins), "ranks" (the true class stands at other
    ranks than predicted), "top-class", "none" (no evidence of miscalibration) or "too-few-rows"."""
    direction: str | None
    """"over" or "under", where the error has one direction."""
    p_value: float
    """Of all the evidence together, `Assessment.p_value`."""
    size: str | None
    """With a tolerance "negligible", "beyond" or "undecided"; without one "small" or None."""
    headline: str
    sentence: str
    advice: str
    """What to do about it."""

    def __str__(self) -> str:
        return f"{self.headline[0].lower()}{self.headline[1:]}: {self.sentence}"


def findings_of(result: Assessment) -> list[Finding]:
    """The evidence for or against calibration: every test that the verdict rests on."""
    found = [
        Finding(metric.key, metric.p_value(estimate))
        for metric, estimate in estimates_of(result)
        # A table binned by confidence has one number under both names.
        if not (metric.key == "ece" and result.confidence_table is result.table)
    ]
    if not math.isnan(result.log_score_z.value):
        found.append(Finding("log_score", result.log_score_z.safe_p_value))
    return found


def evidence_p_value(findings: list[Finding]) -> float:
    """The one p-value of all the evidence: verdict, gate and groups use it."""
    return combined_p_value([finding.p_value for finding in findings])


def limit_of(level: float) -> float:
    """The largest p-value that counts as evidence; 1 - 0.9 is a hair below 0.1, which p-values can equal."""
    return 1 - level + 1e-12


def verdict_of(result: Assessment) -> Verdict:
    """What the evidence says, and whether it matters in practice."""
    p = result.p_value
    if p <= limit_of(result.level):
        case = _miscalibrated(result)
    elif math.isinf(result.detectable_net_gap):
        case = _too_few(result)
    else:
        case = _nothing_found(result)
    size, headline, remark = _practical_size(result, case)
    remarks = [case.sentence, *([remark] if remark else []), *_impossible(result)]
    advice = "No recalibration is needed for this tolerance." if size == "negligible" else case.advice
    return Verdict(case.kind, case.direction, p, size, headline, "; ".join(remarks), advice)


@dataclass(frozen=True, slots=True)
class _Case:
    kind: str
    direction: str | None
    headline: str
    sentence: str
    advice: str


_RECALIBRATE = (
    "Recalibrate before relying on the probabilities, for example with a temperature fitted on other rows."
)
_BY_BINS = "One temperature cannot correct both directions; recalibrate by isotonic regression or by bins."
_CHECK_CLASSES = "A temperature cannot correct this. Check that the columns of probabilities are in the order of the labels."


def _nothing_found(result: Assessment) -> _Case:
    sentence = p_is(result.p_value)
    if result.detectable_net_gap > 0:  # 0 for certain predictions, of which the first wrong one is seen
        sentence += (
            f"; smallest net gap that {plural(result.n_rows, 'row')} would reveal with 80 % power: "
            f"{result.detectable_net_gap:.3g}"
        )
    return _Case(
        "none",
        None,
        "No evidence of miscalibration at this sample size",
        sentence,
        "Collect more rows if a smaller error would matter.",
    )


def _too_few(result: Assessment) -> _Case:
    return _Case(
        "too-few-rows",
        None,
        "Too few rows to tell",
        f"{plural(result.n_rows, 'row')} would not reveal a net gap of any size",
        "Collect more rows, or use fewer bins.",
    )


def _miscalibrated(result: Assessment) -> _Case:
    clear = _clear_keys(result)
    stated, right, surely = _first_choice(result)
    over = stated > right
    p = p_is(result.p_value)
    choice = f"its first choice is right in {100 * right:.1f} % of rows and stated at {100 * stated:.1f} %"
    net_over = result.net.debiased > 0
    opposed = "net" in clear and surely and over != net_over and bool(clear & {"rce", "rce_w1", "ece"})
    if "net" in clear and not opposed:
        direction = "over" if net_over else "under"
        vary = f"outcomes vary {'more' if net_over else 'less'} than predicted, {shown(result, 'net')}, {p}"
        sentence = f"{vary}; {choice}" + _other_way(result)
        return _Case(
            f"{direction}-confident", direction, f"{direction.title()}-confident", sentence, _RECALIBRATE
        )
    if clear & {"rce", "rce_w1"} and (opposed or "vce" not in clear):
        return _ranks(result, clear, choice, p, surely)
    if "vce" in clear:
        sentence = (
            f"over-confident in some bins, under-confident in others, {shown(result, 'vce')}, "
            f"{shown(result, 'net', span=False)}, {p}; {choice}"
        )
        return _Case("mixed", None, "Miscalibrated in both directions", sentence, _BY_BINS)
    if "ece" in clear:
        return _top_class(result, choice, p, surely)
    direction = "over" if result.log_score_z.value < 0 else "under"
    sentence = f"the log-score finds it and VCE does not, Z = {result.log_score_z.value:+.1f}, {p}; {choice}"
    return _Case(
        f"{direction}-confident", direction, f"{direction.title()}-confident", sentence, _RECALIBRATE
    )


def _ranks(result: Assessment, clear: set[str], choice: str, p: str, surely: bool) -> _Case:
    key = "rce" if "rce" in clear else "rce_w1"
    vary = "" if clear & {"vce", "net"} else ", although outcomes vary as much as predicted"
    where = choice if surely else "the true class stands at other ranks than predicted"
    return _Case(
        "ranks",
        None,
        "Miscalibrated in the ranks",
        f"{where}{vary}; {shown(result, key)}, {p}",
        _CHECK_CLASSES,
    )


def _top_class(result: Assessment, choice: str, p: str, surely: bool) -> _Case:
    stated, right, _ = _first_choice(result)
    direction = ("over" if stated > right else "under") if surely else None
    headline = "Miscalibrated" if direction is None else f"{direction.title()}-confident"
    sentence = f"{choice}, {shown(result, 'ece')}, {p}"
    return _Case("top-class", direction, f"{headline} in the top class", sentence, _RECALIBRATE)


def _clear_keys(result: Assessment) -> set[str]:
    """The tests that are clear by themselves after Holm's correction; the clearest one if none is."""
    findings = result.evidence
    corrected = holm([finding.p_value for finding in findings])
    clear = {f.key for f, p in zip(findings, corrected, strict=True) if p <= limit_of(result.level)}
    return clear or {min(findings, key=lambda finding: finding.p_value).key}


def _first_choice(result: Assessment) -> tuple[float, float, bool]:
    """Mean confidence, accuracy, and whether they differ by more than noise."""
    table = result.table
    filled = table.row_count > 0
    share = table.count[filled] / table.count.sum()
    stated, right = table.mean_ordered[filled, 0], table.rank_frequency[filled, 0]
    variance = share**2 @ (stated * (1 - stated) / table.effective_count[filled])
    apart = abs(float(share @ (stated - right)))
    surely = apart > normal_quantile(result.level) * math.sqrt(float(variance)) + 1e-12
    return float(share @ stated), float(share @ right), surely


def _other_way(result: Assessment) -> str:
    if result.vce.debiased <= MIXED * abs(result.net.debiased):
        return ""
    return f"; some bins err the other way ({shown(result, 'vce', span=False)})"


def shown(result: Assessment, key: str, span: bool = True) -> str:
    """A metric in a sentence: its debiased value, with its interval."""
    metric = BY_KEY[key]
    estimate = metric.of(result)
    assert estimate is not None
    sign = "+" if metric.signed else ""
    return f"{metric.label} {estimate.debiased:{sign}.4f}" + (f" {span_of(estimate, sign)}" if span else "")


def span_of(estimate: Estimate, sign: str = "") -> str:
    """An interval in a sentence."""
    return f"[{estimate.interval.low:{sign}.4f}, {estimate.interval.high:{sign}.4f}]"


def _impossible(result: Assessment) -> list[str]:
    count = result.table.impossible_rows
    if not count:
        return []
    return [f"besides, {plural(count, 'row')} had a true class of stated probability 0"]


# Practical size: is the error large enough to matter?


def _practical_size(result: Assessment, case: _Case) -> tuple[str | None, str, str | None]:
    """The size in one word, the headline that goes with it, and what is to be added to the sentence."""
    if result.tolerance is not None:
        return _against_tolerance(result, case, result.tolerance)
    found = case.kind not in ("none", "too-few-rows")
    if found and all(metric.magnitude(e)[1] <= SMALL for metric, e in _bounding(result)):
        return "small", f"{case.headline}, by little", "small, but more than noise"
    return None, case.headline, None


def _bounding(result: Assessment) -> list[tuple[ReportedMetric, Estimate]]:
    return [(metric, e) for metric in BOUNDING if (e := metric.of(result)) is not None]


def _against_tolerance(
    result: Assessment, case: _Case, tolerance: Mapping[str, float]
) -> tuple[str, str, str]:
    known = [(BY_KEY[key], limit) for key, limit in tolerance.items()]
    judged = [
        (metric, limit, metric.magnitude(e))
        for metric, limit in known
        if (e := metric.of(result)) is not None
    ]
    beyond = [_beside(metric.label, limit, at) for metric, limit, at in judged if at[0] > limit]
    open_ones = [_beside(metric.label, limit, at) for metric, limit, at in judged if at[2] > limit]
    if beyond:
        return "beyond", f"{_noun(case)} beyond the tolerance", f"beyond the tolerance: {', '.join(beyond)}"
    if not judged or open_ones:
        return (
            "undecided",
            f"{case.headline}; too few rows to tell whether beyond the tolerance",
            f"{plural(result.n_rows, 'row')} cannot tell whether it is within the tolerance: {', '.join(open_ones)}",
        )
    within = ", ".join(_beside(metric.label, limit, at) for metric, limit, at in judged)
    return "negligible", "Negligible, within the tolerance", f"within the tolerance: {within}"


def _noun(case: _Case) -> str:
    return "Miscalibrated" if case.kind in ("none", "too-few-rows") else case.headline


def _beside(label: str, limit: float, at: tuple[float, float, float]) -> str:
    return f"{label} in [{at[0]:.4f}, {at[2]:.4f}], tolerance {limit:g}"

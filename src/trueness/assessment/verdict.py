"""The verdict: whether a model is miscalibrated, how, by how much, how sure that is, and what to do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trueness._printing import p_sentence, plural
from trueness.assessment.reported import REPORTED, ReportedMetric, bounding_metrics, estimates_of
from trueness.inference.combination import combined_p_value
from trueness.inference.corrections import holm
from trueness.inference.normal import normal_quantile
from trueness.inference.results import Estimate

if TYPE_CHECKING:
    from trueness.assessment._result import Assessment

SMALL = 0.01
"""Without a tolerance, an error is small if all metrics are at most this, and their intervals at most twice this."""

MIXED = 1.5
"""If VCE is more than this many times the net gap, gaps of both signs cancel in the net gap."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One test among the evidence."""

    key: str
    """The key of the metric, or "log_score"."""
    p_value: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """The conclusion from all the evidence; `str(verdict)` is one sentence."""

    kind: str
    """"over-confident", "under-confident", "mixed" (both, in different bins), "ranks" (the ranks of the true class
    are not as frequent as predicted), "top-class" (only the top class is miscalibrated), "none" (no evidence of
    miscalibration) or "too-few-rows"."""
    direction: str | None
    """"over" or "under"; None if the error has no single direction."""
    p_value: float
    """Of all the evidence together, as `Assessment.p_value`."""
    size: str | None
    """With a tolerance "negligible", "beyond" or "undecided"; without one "small" or None."""
    headline: str
    sentence: str
    advice: str
    """What to do about it."""

    def __str__(self) -> str:
        return f"{self.headline[0].lower()}{self.headline[1:]}: {self.sentence}"


def findings_of(result: Assessment) -> list[Finding]:
    """The tests on which the verdict rests; a metric that repeats another one is left out."""
    found = [
        Finding(metric.key, metric.p_value(estimate))
        for metric, estimate in estimates_of(result)
        if not metric.repeats(result.tables)
    ]
    if not math.isnan(result.log_score_z.value):
        found.append(Finding("log_score", result.log_score_z.safe_p_value))
    return found


def evidence_p_value(findings: list[Finding]) -> float:
    """The p-value of all the evidence together; verdict, gate and groups use it."""
    return combined_p_value([finding.p_value for finding in findings])


def significance_limit(level: float) -> float:
    """The largest p-value that counts as evidence; 1 - 0.9 is rounded to below 0.1, which p-values can equal."""
    return 1 - level + 1e-12


def verdict_of(result: Assessment) -> Verdict:
    """The conclusion from the evidence, and whether the error matters in practice."""
    p = result.p_value
    if p <= significance_limit(result.level):
        case = _miscalibration(result)
    elif math.isinf(result.detectable_net_gap):
        case = _too_few(result)
    else:
        case = _no_evidence(result)
    size, headline, remark = _practical_size(result, case)
    remarks = [case.sentence, *([remark] if remark else []), *_impossible(result)]
    advice = "No recalibration is needed for this tolerance." if size == "negligible" else case.advice
    return Verdict(case.kind, case.direction, p, size, headline, "; ".join(remarks), advice)


@dataclass(frozen=True, slots=True)
class _Case:
    """A verdict before the size of the error is considered."""

    kind: str
    direction: str | None
    headline: str
    sentence: str
    advice: str


_RECALIBRATE = (
    "Recalibrate before relying on the probabilities, for example with a temperature fitted on other rows."
)
_BY_BINS = "One temperature cannot correct both directions; recalibrate with isotonic regression or histogram binning."
_CHECK_CLASSES = "A temperature cannot correct this. Check that the columns are in the order of the labels."


def _no_evidence(result: Assessment) -> _Case:
    sentence = p_sentence(result.p_value)
    if result.detectable_net_gap > 0:  # 0 for predictions of probability 1, where one error is evidence
        sentence += (
            f"; a net gap of {result.detectable_net_gap:.3g} or more would be detected with 80 % power"
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
        "Too few rows for a conclusion",
        f"with {plural(result.n_rows, 'row')} no net gap can be detected",
        "Collect more rows, or use fewer bins.",
    )


def _miscalibration(result: Assessment) -> _Case:
    clear = _clear_keys(result)
    revealed = {REPORTED[key].reveals for key in clear if key in REPORTED}
    stated, right, is_sure = _confidence_and_accuracy(result)
    p, net_over = p_sentence(result.p_value), result.net.debiased > 0
    choice = f"its top class is correct in {100 * right:.1f} % of rows, with a mean confidence of {100 * stated:.1f} %"
    opposed = "direction" in revealed and is_sure and (stated > right) != net_over
    if revealed & {"ranks", "top-class"} and _order_is_wrong(result):
        return _ranks(result, clear, choice, p, is_sure)
    if "direction" in revealed and not opposed:
        vary = f"outcomes vary {'more' if net_over else 'less'} than predicted, {metric_text(result, 'net')}, {p}"
        parts = [choice, vary] if is_sure else [vary, choice]
        return _one_direction(net_over, "; ".join(parts) + _other_way(result))
    if opposed or "bins" in revealed:
        return _by_bins(result, choice, p, opposed)
    if "ranks" in revealed:
        return _ranks(result, clear, choice, p, is_sure)
    if "top-class" in revealed:
        return _top_class(result, clear, choice, p, is_sure)
    z = result.log_score_z.value
    return _one_direction(z < 0, f"shown by the log-score and not by VCE, Z = {z:+.1f}, {p}; {choice}")


def _first_clear(clear: set[str], reveals: str) -> str | None:
    """The first metric of the list, among those that are clear, that reveals this kind of miscalibration."""
    return next((key for key, metric in REPORTED.items() if key in clear and metric.reveals == reveals), None)


def _by_bins(result: Assessment, choice: str, p: str, opposed: bool) -> _Case:
    """Errors of both directions, between the top class and lower ranks or between bins, cancel in the net gap."""
    if opposed:
        vary = f"yet outcomes vary {'more' if result.net.debiased > 0 else 'less'} than predicted"
        sentence = f"{choice}, {vary}, {metric_text(result, 'net')}, {p}"
        return _Case("mixed", None, "Miscalibrated in both directions", sentence, _BY_BINS)
    noise, gap = result.vce.bins, result.net.centred_gap
    beyond = (noise.observed < noise.low - 1e-12) | (noise.observed > noise.high + 1e-12)
    numbers = f"{metric_text(result, 'vce')}, {metric_text(result, 'net', interval=False)}, {p}; {choice}"
    if (beyond & (gap > 0)).any() and (beyond & (gap < 0)).any():
        sentence = f"over-confident in some bins, under-confident in others, {numbers}"
        return _Case("mixed", None, "Miscalibrated in both directions", sentence, _BY_BINS)
    return _Case(
        "mixed",
        None,
        "Miscalibrated in some bins",
        f"the gaps of some bins exceed noise, {numbers}",
        _BY_BINS,
    )


def _one_direction(over: bool, sentence: str) -> _Case:
    direction = "over" if over else "under"
    headline = f"{direction.title()}-confident"
    return _Case(f"{direction}-confident", direction, headline, sentence, _RECALIBRATE)


def _order_is_wrong(result: Assessment) -> bool:
    """Whether a rank other than the first is more frequent for the true class, by more than noise."""
    table = result.table
    frequency = np.asarray(table.rank_count, dtype=np.float64).sum(axis=0) / table.count.sum()
    first, best = float(frequency[0]), float(frequency[1:].max())
    noise = math.sqrt((first + best) / float(np.nansum(result.vce.bins.independent_rows)))
    return best - first > normal_quantile(result.level) * noise


def _ranks(result: Assessment, clear: set[str], choice: str, p: str, is_sure: bool) -> _Case:
    key = _first_clear(clear, "ranks") or "rce"
    varies = any(REPORTED[other].reveals in ("bins", "direction") for other in clear if other in REPORTED)
    vary = "" if varies else ", although outcomes vary as much as predicted"
    top = f"; {choice}" if is_sure else ""
    return _Case(
        "ranks",
        None,
        "Miscalibrated in the ranks",
        f"the ranks of the true class are not as predicted{vary}{top}; {metric_text(result, key)}, {p}",
        _CHECK_CLASSES,
    )


def _top_class(result: Assessment, clear: set[str], choice: str, p: str, is_sure: bool) -> _Case:
    stated, right, _ = _confidence_and_accuracy(result)
    direction = ("over" if stated > right else "under") if is_sure else None
    headline = "Miscalibrated" if direction is None else f"{direction.title()}-confident"
    key = _first_clear(clear, "top-class") or "ece"
    sentence = f"{choice}, {metric_text(result, key)}, {p}"
    return _Case("top-class", direction, f"{headline} in the top class", sentence, _RECALIBRATE)


def _clear_keys(result: Assessment) -> set[str]:
    """The tests that are significant by themselves after Holm's correction; if none is, those of the smallest p."""
    findings = result.evidence
    corrected = holm([finding.p_value for finding in findings])
    clear = {f.key for f, p in zip(findings, corrected, strict=True) if p <= significance_limit(result.level)}
    smallest = min(finding.p_value for finding in findings)
    return clear or {finding.key for finding in findings if finding.p_value <= smallest}


def _confidence_and_accuracy(result: Assessment) -> tuple[float, float, bool]:
    """Mean confidence and accuracy, and whether they differ by more than noise."""
    table = result.table
    filled = table.row_count > 0
    share = table.count[filled] / table.count.sum()
    stated, right = table.mean_ordered[filled, 0], table.rank_frequency[filled, 0]
    variance = share**2 @ (stated * (1 - stated) / result.vce.bins.independent_rows[filled])
    apart = abs(float(share @ (stated - right)))
    is_sure = apart > normal_quantile(result.level) * math.sqrt(float(variance)) + 1e-12
    return float(share @ stated), float(share @ right), is_sure


def _other_way(result: Assessment) -> str:
    if result.vce.debiased <= MIXED * abs(result.net.debiased):
        return ""
    return f"; some bins have the opposite error ({metric_text(result, 'vce', interval=False)})"


def metric_text(result: Assessment, key: str, interval: bool = True) -> str:
    """A metric in a sentence: its debiased value, with its interval."""
    metric = REPORTED[key]
    estimate = metric.of(result)
    assert estimate is not None
    span = f" {interval_text(estimate, metric.sign)}" if interval else ""
    return f"{metric.label} {estimate.debiased:{metric.sign}.4f}{span}"


def interval_text(estimate: Estimate, sign: str = "") -> str:
    """An interval in a sentence."""
    return f"[{estimate.interval.low:{sign}.4f}, {estimate.interval.high:{sign}.4f}]"


def _impossible(result: Assessment) -> list[str]:
    count = result.table.impossible_rows
    if not count:
        return []
    return [f"in {plural(count, 'row')} the predicted probability of the true class was 0"]


# Practical size: is the error large enough to matter?


def _practical_size(result: Assessment, case: _Case) -> tuple[str | None, str, str | None]:
    """The size in one word, the headline with it, and a remark for the sentence."""
    if result.tolerance is not None:
        return _against_tolerance(result, case, result.tolerance)
    found = case.kind not in ("none", "too-few-rows")
    sizes = [metric.magnitude(e) for metric in bounding_metrics() if (e := metric.of(result)) is not None]
    if found and all(value <= SMALL and high <= 2 * SMALL for _, value, high in sizes):
        return (
            "small",
            f"Slightly {case.headline[0].lower()}{case.headline[1:]}",
            "the error is significant but small",
        )
    return None, case.headline, None


def _against_tolerance(
    result: Assessment, case: _Case, tolerance: Mapping[str, float]
) -> tuple[str, str, str]:
    checked = [
        _Checked(metric.label, limit, low, high)
        for metric, limit in _limits(tolerance)
        if (estimate := metric.of(result)) is not None
        for low, _, high in [metric.magnitude(estimate)]
    ]
    beyond = [it for it in checked if it.low > it.limit]
    unknown = [it for it in checked if it.high > it.limit]
    found = case.kind not in ("none", "too-few-rows")
    if beyond and found:
        return (
            "beyond",
            f"{case.headline} beyond the tolerance",
            f"beyond the tolerance {_beside_limits(beyond)}",
        )
    if unknown:
        rows = f"{plural(result.n_rows, 'row')} {'is' if result.n_rows == 1 else 'are'}"
        return (
            "undecided",
            f"{case.headline}; undecided whether the error exceeds the tolerance",
            f"{rows} too few: these intervals include values above the tolerance {_beside_limits(unknown)}",
        )
    return "negligible", "Negligible, within the tolerance", f"within the tolerance {_beside_limits(checked)}"


def _limits(tolerance: Mapping[str, float]) -> list[tuple[ReportedMetric, float]]:
    """The tolerance of each metric that is checked; a metric without one has the largest of the others."""
    others = [metric.key for metric in bounding_metrics() if metric.key not in tolerance]
    return [(REPORTED[key], tolerance.get(key, max(tolerance.values()))) for key in (*tolerance, *others)]


class _Checked(NamedTuple):
    """The interval of the size of an error, and its tolerance."""

    label: str
    limit: float
    low: float
    high: float


def _beside_limits(checked: Sequence[_Checked]) -> str:
    """The tolerance, once if it is the same for all metrics, and the intervals that were compared with it."""
    spans = [f"{it.label} [{it.low:.4f}, {it.high:.4f}]" for it in checked]
    limits = [f"{it.limit:g}" for it in checked]
    if len(set(limits)) == 1:
        return f"{limits[0]}: {', '.join(spans)}"
    return ", ".join(f"{limit}: {span}" for limit, span in zip(limits, spans, strict=True))

"""The verdict: whether a model is miscalibrated, how, by how much, how sure that is, and what to do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trueness._printing import about_text, capitalise, count_text, p_sentence, plural, visible
from trueness.assessment.reported import REPORTED, ReportedMetric, bounding_metrics, estimates_of
from trueness.inference.classwise.results import ClassAssessment
from trueness.inference.combination import combined_p_value
from trueness.inference.corrections import holm
from trueness.inference.normal import normal_quantile
from trueness.inference.results import Estimate
from trueness.inference.scores.predicted_class import PredictedClassTerm

if TYPE_CHECKING:
    from trueness.assessment._result import Assessment

SMALL = 0.01
"""Without a tolerance, an error is small if all metrics are at most this, and their intervals at most twice this."""

CUMULATIVE_WEIGHT = 2.0
"""The cumulative log-score counts double: it detects a wrong temperature and errors that change sign along V, which
several other tests share, and others miss (ADR 18)."""

MIXED = 1.5
"""If VCE is more than this many times the net gap, gaps of both signs cancel in the net gap."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One test among the evidence."""

    key: str
    """The key of the metric, or "log_score"."""
    p_value: float
    weight: float = 1.0
    """How much it counts in the p-value of all the evidence."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The conclusion from all the evidence; `str(verdict)` is one sentence."""

    kind: str
    """"over-confident", "under-confident", "mixed" (both, in different bins), "ranks" (the ranks of the true class
    are not as frequent as predicted), "top-class" (only the top class is miscalibrated), "classes" (some classes are
    predicted too often, too seldom, too extremely or too timidly), "predicted-class" (over-confident where some classes
    are predicted), "none" (no evidence of miscalibration) or "too-few-rows"; of an event also "over-forecast",
    "under-forecast", "too-extreme", "too-timid" and "curve"."""
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
        if metric.is_evidence and not metric.repeats(result.tables)
    ]
    if not math.isnan(result.log_score_z.value):
        found.append(Finding("log_score", result.log_score_z.safe_p_value))
    if result.cumulative_log_score is not None:
        cumulative = result.cumulative_log_score.safe_p_value
        found.append(Finding("cumulative_log_score", cumulative, CUMULATIVE_WEIGHT))
    if result.by_predicted_class is not None:
        found.append(Finding("by_predicted_class", result.by_predicted_class.safe_p_value))
    if result.classes is not None:
        found.append(Finding("classes", result.classes.evidence_p_value))
    return [finding for finding in found if not math.isnan(finding.p_value)]


def evidence_p_value(findings: list[Finding]) -> float:
    """The p-value of all the evidence together; verdict, gate and groups use it."""
    return combined_p_value(
        [finding.p_value for finding in findings], [finding.weight for finding in findings]
    )


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
_CHECK_PRIOR = (
    "Check whether the classes are as frequent as in the training data; if not, correct the prior, else recalibrate "
    "each class."
)
_BY_CLASS = "One temperature for all classes cannot correct this; recalibrate each class against the rest."
_BY_PREDICTED_CLASS = "One temperature cannot correct this; fit one for each predicted class, on other rows."
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
    """What is largest in practice, with the rest in a clause each."""
    clear = clear_keys(result.evidence, result.level)
    called = called_classes(result) if "classes" in clear or not clear & _OF_RANKS else []
    if called and not _order_is_wrong(result) and _classes_come_first(result, called, clear):
        return _classes(result, called, clear)
    if not clear & _OF_RANKS and result.by_predicted_class is not None and "by_predicted_class" in clear:
        return _predicted_class(result)
    case = _of_ranks(result, clear)
    clause = f"; {class_clause(result, called)}" if called else ""
    return replace(case, sentence=case.sentence + clause)


_OF_RANKS = frozenset({*REPORTED, "log_score", "cumulative_log_score"})
"""The evidence that does not depend on which class is meant."""

LIMIT_OF_GAP = 0.01
"""A gap with a smaller corrected p-value, and half the size of the error, is named before the spread."""

CLASS_FIRST = 0.8
"""Classes come first in the verdict if the largest error of a class is at least this times that of the top class."""


def _classes_come_first(result: Assessment, called: Sequence[ClassAssessment], clear: set[str]) -> bool:
    """Whether the largest error of a class is the largest error in practice, and not that of most classes alike."""
    if not clear & _OF_RANKS:
        return True
    return _is_specific(called, result) and _size(called[0]) >= CLASS_FIRST * _rank_error(result)


def _is_specific(called: Sequence[ClassAssessment], result: Assessment) -> bool:
    """Whether the first class has a gap, or a spread that most other classes do not have: else all are alike."""
    if _is_gap(called[0]):
        return True
    alike = sum(_fault(it) == _fault(called[0]) for it in called)
    return 2 * alike < result.tables.n_classes


def called_classes(result: Assessment) -> list[ClassAssessment]:
    """The classes that are wrong by their corrected p-values, the largest error first."""
    if result.classes is None:
        return []
    limit = significance_limit(result.level)
    found = [each for each in result.classes.classes if each.adjusted_p_value <= limit]
    return sorted(found, key=_size, reverse=True)


def _size(it: ClassAssessment) -> float:
    """The size of a class's error as a share of the rows: of its gap, or of its calibration error."""
    return max(abs(it.gap.value), 0.0 if math.isnan(it.ece.debiased) else it.ece.debiased)


def _rank_error(result: Assessment) -> float:
    """The difference between mean confidence and accuracy, or RCE, which are shares of the rows too."""
    stated, right, _ = _confidence_and_accuracy(result)
    return max(abs(stated - right), result.rce.debiased)


def _classes(result: Assessment, called: Sequence[ClassAssessment], clear: set[str]) -> _Case:
    """Some classes are wrong, and this is the largest error."""
    first, *others = called
    name = _class_name(first, result)
    headline = f"{capitalise(name)} is {_fault(first)}"
    if result.tables.n_classes == 2 and _is_gap(first):
        headline = f"Forecasts {name} too {'often' if first.gap.value > 0 else 'seldom'}"
    parts = [f"{_numbers(first)}, {p_sentence(result.p_value)}"]
    parts += _other_classes(others)
    if clear & _OF_RANKS:
        over = result.net.debiased > 0
        parts.append(f"{'over' if over else 'under'}-confident as a whole, {metric_text(result, 'net')}")
    advice = _CHECK_PRIOR if _is_gap(first) else _BY_CLASS
    return _Case("classes", None, headline, "; ".join(parts), advice)


def class_clause(result: Assessment, called: Sequence[ClassAssessment]) -> str:
    """The class with the largest error, in a clause."""
    first, *others = called
    clause = f"{_class_name(first, result)} is {_fault(first)}, {_numbers(first)}"
    return "; ".join([clause, *_other_classes(others)])


def _other_classes(others: Sequence[ClassAssessment]) -> list[str]:
    if not others:
        return []
    shown = ", ".join(f"{visible(it.name)} ({_fault(it)})" for it in others[:2])
    more = f" and {plural(len(others) - 2, 'more class', 'more classes')}" if len(others) > 2 else ""
    return [f"also {'class' if len(others) == 1 else 'classes'} {shown}{more}"]


def _is_gap(it: ClassAssessment) -> bool:
    """Whether the gap is the main fault of a class; else it is the spread."""
    clearer = not it.adjusted_spread_p_value < it.adjusted_gap_p_value
    # Rows that have a gap are often too extreme too: the gap explains most of the error then.
    explains = it.adjusted_gap_p_value <= LIMIT_OF_GAP and abs(it.gap.value) >= _size(it) / 2
    return clearer or explains


def _fault(it: ClassAssessment) -> str:
    if _is_gap(it):
        return f"predicted too {'often' if it.gap.value > 0 else 'seldom'}"
    return f"too {'extreme' if it.spread.statistic < 0 else 'timid'}"


def _numbers(it: ClassAssessment) -> str:
    if _is_gap(it):
        return f"{about_text(it.gap.expected)} expected, {count_text(it.gap.observed)} observed"
    interval = it.ece.interval
    span = "" if interval is None else f" [{interval.low:.4f}, {interval.high:.4f}]"
    return f"slope {it.spread.slope:.2f}, ECE of the class {it.ece.debiased:.4f}{span}"


def _class_name(it: ClassAssessment, result: Assessment) -> str:
    """The class in a sentence; of two classes an index needs no quotes."""
    named = result.tables.by_class is not None and result.tables.by_class.spec.class_names is not None
    return f"class {visible(it.name)!r}" if named else f"class {it.name}"


def _predicted_class(result: Assessment) -> _Case:
    """Over- and under-confidence that depend on the predicted class."""
    test = result.by_predicted_class
    assert test is not None
    terms = sorted((t for t in test.terms if not math.isnan(t.p_value)), key=lambda term: term.p_value)
    names = _names_of_classes(result)

    def words(term: PredictedClassTerm) -> str:
        which = f"class {names[term.classes[0]]}" if len(term.classes) == 1 else "rare classes"
        return f"{'over' if term.value < 0 else 'under'}-confident where it predicts {which}, Z = {term.value:+.1f}"

    sentence = "; ".join([*(words(term) for term in terms[:2]), p_sentence(result.p_value)])
    return _Case(
        "predicted-class", None, "Miscalibrated for some predicted classes", sentence, _BY_PREDICTED_CLASS
    )


def _names_of_classes(result: Assessment) -> list[str]:
    table = result.tables.by_class
    names = None if table is None else table.spec.class_names
    return [visible(name) for name in names or map(str, range(result.tables.n_classes))]


def _of_ranks(result: Assessment, clear: set[str]) -> _Case:
    """The error of the ordered probabilities, which does not depend on which class is meant."""
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
    return _of_scores(result, clear, choice, p)


def _of_scores(result: Assessment, clear: set[str], choice: str, p: str) -> _Case:
    """What the log-score alone shows."""
    if "log_score" not in clear and result.cumulative_log_score is not None:
        return _along_variation(result, choice, p)
    z = result.log_score_z.value
    return _one_direction(z < 0, f"shown by the log-score and not by VCE, Z = {z:+.1f}, {p}; {choice}")


def _along_variation(result: Assessment, choice: str, p: str) -> _Case:
    """Errors that change sign along V, shown by the cumulated log-score alone."""
    test = result.cumulative_log_score
    assert test is not None
    assert test.where is not None
    over = test.cumulated[test.where] < 0
    where = f"up to bin {test.where + 1} of {result.table.n_bins}"
    sentence = (
        f"{'over' if over else 'under'}-confident {where}, shown by the cumulated log-score, {p}; {choice}"
    )
    return _Case("mixed", None, "Miscalibrated in some bins", sentence, _BY_BINS)


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


def clear_keys(findings: Sequence[Finding], level: float) -> set[str]:
    """The tests that are significant by themselves after Holm's correction; if none is, those of the smallest p."""
    corrected = holm([finding.p_value for finding in findings])
    clear = {f.key for f, p in zip(findings, corrected, strict=True) if p <= significance_limit(level)}
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

"""The verdict: whether a model is miscalibrated, how, by how much, how sure that is, and what to do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from trueness._printing import capitalise, p_sentence, plural
from trueness.old_assessment._case import Case
from trueness.old_assessment._class_words import (
    called_classes,
    class_clause,
    event_rises,
    fault_of,
    is_gap,
    name_of_class,
    names_of_classes,
    numbers_of,
    other_classes,
    size_of,
)
from trueness.old_assessment._practical_size import practical_size
from trueness.old_assessment.reported import REPORTED, estimates_of
from trueness.old_inference.classwise.results import ClassAssessment
from trueness.old_inference.combination import combined_p_value
from trueness.old_inference.corrections import holm
from trueness.old_inference.normal import normal_quantile
from trueness.old_inference.results import Estimate
from trueness.old_inference.scores.predicted_class import PredictedClassTerm

if TYPE_CHECKING:
    from trueness.old_assessment._result import Assessment

CUMULATIVE_WEIGHT = 2.0
"""The cumulative log-score counts double: it detects a wrong temperature and errors that change sign along V, which
several other tests share, and others miss (ADR 19)."""

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
    "under-forecast", "too-extreme", "too-timid", "curve", "stated-too-high" and "stated-too-low"."""
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
    size, headline, remark = practical_size(result, case)
    remarks = [case.sentence, *([remark] if remark else []), *_impossible(result)]
    advice = "No recalibration is needed for this tolerance." if size == "negligible" else case.advice
    return Verdict(case.kind, case.direction, p, size, headline, "; ".join(remarks), advice)


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


def _no_evidence(result: Assessment) -> Case:
    sentence = p_sentence(result.p_value)
    if result.detectable_net_gap > 0:  # 0 for predictions of probability 1, where one error is evidence
        sentence += (
            f"; a net gap of {result.detectable_net_gap:.3g} or more would be detected with 80 % power"
        )
    return Case(
        "none",
        None,
        "No evidence of miscalibration at this sample size",
        sentence,
        "Collect more rows if a smaller error would matter.",
    )


def _too_few(result: Assessment) -> Case:
    return Case(
        "too-few-rows",
        None,
        "Too few rows for a conclusion",
        f"with {plural(result.n_rows, 'row')} no net gap can be detected",
        "Collect more rows, or use fewer bins.",
    )


def _miscalibration(result: Assessment) -> Case:
    """What is largest in practice, with the rest in a clause each."""
    clear = clear_keys(result.evidence, result.level, 1 / (result.resamples + 1))
    called = (
        called_classes(result, significance_limit(result.level))
        if "classes" in clear or not clear & _OF_RANKS
        else []
    )
    in_order = not _order_is_wrong(result) or event_rises(result)
    if called and in_order and _classes_come_first(result, called, clear):
        return _classes(result, called, clear)
    if not clear & _OF_RANKS and result.by_predicted_class is not None and "by_predicted_class" in clear:
        return _predicted_class(result)
    case = _of_ranks(result, clear)
    clause = f"; {class_clause(result, called)}" if called else ""
    return replace(case, sentence=case.sentence + clause)


_OF_RANKS = frozenset({*REPORTED, "log_score", "cumulative_log_score"})
"""The evidence that does not depend on which class is meant."""

CLASS_FIRST = 1.25
"""Classes come first in the verdict if the largest error of a class is at least this times that of the top label."""

EVENT_FIRST = 0.8
"""The same with two classes, where the error of the top class follows from that of the event."""


def _classes_come_first(result: Assessment, called: Sequence[ClassAssessment], clear: set[str]) -> bool:
    """Whether the largest error of a class is the largest error in practice, and not that of most classes alike."""
    if not clear & _OF_RANKS:
        return True
    stated, right, _ = _confidence_and_accuracy(result)
    share = EVENT_FIRST if result.tables.n_classes == 2 else CLASS_FIRST
    return _is_specific(called, result) and size_of(called[0]) >= share * abs(stated - right)


def _is_specific(called: Sequence[ClassAssessment], result: Assessment) -> bool:
    """Whether the first class has a gap, or a spread that most other classes do not have: else all are alike."""
    if is_gap(called[0]):
        return True
    alike = sum(fault_of(it) == fault_of(called[0]) for it in called)
    return 2 * alike < result.table.n_cells


def _classes(result: Assessment, called: Sequence[ClassAssessment], clear: set[str]) -> Case:
    """Some classes are wrong, and this is the largest error."""
    first, *others = called
    name = name_of_class(first, result)
    headline = f"{capitalise(name)} is {fault_of(first)}"
    if result.tables.n_classes == 2 and is_gap(first):
        headline = f"Forecasts {name} too {'often' if first.gap.value > 0 else 'seldom'}"
    parts = [f"{numbers_of(first)}, {p_sentence(result.p_value)}"]
    parts += other_classes(others)
    if clear & _OF_RANKS:
        over = result.net.debiased > 0
        parts.append(f"{'over' if over else 'under'}-confident as a whole, {metric_text(result, 'net')}")
    advice = _CHECK_PRIOR if is_gap(first) else _BY_CLASS
    return Case("classes", None, headline, "; ".join(parts), advice)


def _predicted_class(result: Assessment) -> Case:
    """Over- and under-confidence that depend on the predicted class."""
    test = result.by_predicted_class
    assert test is not None
    terms = sorted((t for t in test.terms if not math.isnan(t.p_value)), key=lambda term: term.p_value)
    names = names_of_classes(result)

    def words(term: PredictedClassTerm) -> str:
        which = f"class {names[term.classes[0]]}" if len(term.classes) == 1 else "rare classes"
        return f"{'over' if term.value < 0 else 'under'}-confident where it predicts {which}, Z = {term.value:+.1f}"

    sentence = "; ".join([*(words(term) for term in terms[:2]), p_sentence(result.p_value)])
    return Case(
        "predicted-class", None, "Miscalibrated for some predicted classes", sentence, _BY_PREDICTED_CLASS
    )


def _of_ranks(result: Assessment, clear: set[str]) -> Case:
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


def _of_scores(result: Assessment, clear: set[str], choice: str, p: str) -> Case:
    """What the log-score alone shows."""
    if "log_score" not in clear:
        return _along_variation(result, choice, p)
    z = result.log_score_z.value
    return _one_direction(z < 0, f"shown by the log-score and not by VCE, Z = {z:+.1f}, {p}; {choice}")


def _along_variation(result: Assessment, choice: str, p: str) -> Case:
    """Errors that change sign along V, shown by the cumulated log-score alone."""
    test = result.cumulative_log_score
    assert test.where is not None
    over = test.cumulated[test.where] < 0
    where = f"up to bin {test.where + 1} of {result.table.n_bins}"
    sentence = (
        f"{'over' if over else 'under'}-confident {where}, shown by the cumulated log-score, {p}; {choice}"
    )
    return Case("mixed", None, "Miscalibrated in some bins", sentence, _BY_BINS)


def _first_clear(clear: set[str], reveals: str) -> str | None:
    """The first metric of the list, among those that are clear, that reveals this kind of miscalibration."""
    return next((key for key, metric in REPORTED.items() if key in clear and metric.reveals == reveals), None)


def _by_bins(result: Assessment, choice: str, p: str, opposed: bool) -> Case:
    """Errors of both directions, between the top class and lower ranks or between bins, cancel in the net gap."""
    if opposed:
        vary = f"yet outcomes vary {'more' if result.net.debiased > 0 else 'less'} than predicted"
        sentence = f"{choice}, {vary}, {metric_text(result, 'net')}, {p}"
        return Case("mixed", None, "Miscalibrated in both directions", sentence, _BY_BINS)
    noise, gap = result.vce.bins, result.net.centred_gap
    beyond = (noise.observed < noise.low - 1e-12) | (noise.observed > noise.high + 1e-12)
    numbers = f"{metric_text(result, 'vce')}, {metric_text(result, 'net', interval=False)}, {p}; {choice}"
    if (beyond & (gap > 0)).any() and (beyond & (gap < 0)).any():
        sentence = f"over-confident in some bins, under-confident in others, {numbers}"
        return Case("mixed", None, "Miscalibrated in both directions", sentence, _BY_BINS)
    return Case(
        "mixed",
        None,
        "Miscalibrated in some bins",
        f"the gaps of some bins exceed noise, {numbers}",
        _BY_BINS,
    )


def _one_direction(over: bool, sentence: str) -> Case:
    direction = "over" if over else "under"
    headline = f"{direction.title()}-confident"
    return Case(f"{direction}-confident", direction, headline, sentence, _RECALIBRATE)


def _order_is_wrong(result: Assessment) -> bool:
    """Whether a rank other than the first is more frequent for the true class, by more than noise."""
    table = result.table
    ranks = np.asarray(table.rank_count, dtype=np.float64)
    frequency = ranks.sum(axis=0) / table.count.sum()
    first, best = float(frequency[0]), float(frequency[1:].max(initial=0.0))
    noise = math.sqrt((first + best) / float(np.nansum(result.vce.bins.independent_rows)))
    return best - first > normal_quantile(result.level) * noise


def _ranks(result: Assessment, clear: set[str], choice: str, p: str, is_sure: bool) -> Case:
    key = _first_clear(clear, "ranks") or "rce"
    varies = any(REPORTED[other].reveals in ("bins", "direction") for other in clear if other in REPORTED)
    vary = "" if varies else ", although outcomes vary as much as predicted"
    top = f"; {choice}" if is_sure else ""
    return Case(
        "ranks",
        None,
        "Miscalibrated in the ranks",
        f"the ranks of the true class are not as predicted{vary}{top}; {metric_text(result, key)}, {p}",
        _CHECK_CLASSES,
    )


def _top_class(result: Assessment, clear: set[str], choice: str, p: str, is_sure: bool) -> Case:
    stated, right, _ = _confidence_and_accuracy(result)
    direction = ("over" if stated > right else "under") if is_sure else None
    headline = "Miscalibrated" if direction is None else f"{direction.title()}-confident"
    key = _first_clear(clear, "top-class") or "ece"
    sentence = f"{choice}, {metric_text(result, key)}, {p}"
    return Case("top-class", direction, f"{headline} in the top class", sentence, _RECALIBRATE)


def clear_keys(findings: Sequence[Finding], level: float, smallest: float) -> set[str]:
    """The tests that are significant by themselves after Holm's correction; if none is, those of the smallest p.

    So are tests by draws of which none is as extreme as the data, since their p-values cannot be below `smallest`.
    """
    corrected = holm([finding.p_value for finding in findings])
    clear = {f.key for f, p in zip(findings, corrected, strict=True) if p <= significance_limit(level)}
    clear |= {finding.key for finding in findings if finding.p_value <= smallest * (1 + 1e-9)}
    least = min(finding.p_value for finding in findings)
    return clear or {finding.key for finding in findings if finding.p_value <= least}


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

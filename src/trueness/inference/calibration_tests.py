"""Tests of calibration, each with an action, and the one p-value that they give together.

| test | detects | action |
|---|---|---|
| confidence | over- or under-confidence, also in a range of V | temperature |
| order | the true class is not among the top k as often as stated | check the columns |
| class frequency | a class is predicted too often or too seldom | correct the prior |
| predicted class | over-confidence where one class is predicted | a temperature each |
| class slope | probabilities of a class are too extreme or not enough | recalibrate the class |
| top label | confidence differs from accuracy somewhere | temperature |
| variation | the ranks vary more or less than predicted somewhere: VCE | temperature |

All are valid from one row on: p = (k + 1)/(R + 1) from draws of a calibrated model, or a signed
root, which is not below 1/(R + 1) either. With clusters, weights or soft labels only outcomes count
of which 5 effective ones are expected on both sides, and with fewer than 10 effective clusters
there is no test at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.exact_sums import FloatArray
from trueness.inference.binomial import frequency_roots, slope_roots
from trueness.inference.distributions import chi_square_tail, two_sided
from trueness.inference.noise import (
    RankDraws,
    Streams,
    draw_ranks,
    draw_score_maxima,
    draw_top_errors,
    p_value,
)
from trueness.inference.sample import Events, Sample, shortage

FEWEST_OUTCOMES = 5  # effective ones expected, with and without, for a test to use them
FEWEST_MISSES = 10  # effective ones expected of a predicted class that has a term of its own

# The test of confidence counts more: it detects a wrong temperature, the commonest error, which
# the others see less well. With equal weights up to .14 of power is lost at 200 rows.
CONFIDENCE_WEIGHT = 1.5

MOST_RESAMPLES, _LARGEST_P, _SMALLEST_P = 100_000, 0.9, 1e-300


@dataclass(frozen=True, slots=True)
class Test:
    """One test of calibration."""

    name: str
    statistic: float
    """Standardised and signed; below 0 over-confident (confidence, predicted class, class slope),
    above 0 observed too often (order, class frequency). ECE itself for the top label."""
    p_value: float
    where: str | None = None
    """The bin, rank or class that shows it most."""


class Outcome(NamedTuple):
    """The tests of a sample and their common p-value."""

    tests: tuple[Test, ...]
    p_value: float | None  # None if nothing can be tested
    reason: str | None  # why there is no p-value
    resamples: int  # R, which may have been raised: p is never below 1/(R + 1)


class ClassRoots(NamedTuple):
    """Signed roots of single classes, (K,) each: NaN where a class has too few outcomes."""

    frequency: FloatArray  # above 0 where a class was observed too often
    slope: FloatArray  # below 0 where its predictions are too extreme
    pooled: float  # of the frequency of all classes that are too rare to be tested alone


def calibration_tests(
    sample: Sample, draws: RankDraws, streams: Streams, *, resolution: float | None = None
) -> Outcome:
    """The tests; R grows tenfold while no draw is as extreme and p exceeds `resolution`.

    `resolution` is the largest p-value that the caller can use: of a gate, or .05/G of G groups.
    """
    if (reason := sample.without_p_value()) is not None:
        return Outcome((), None, reason, draws.size)
    while True:
        made = (
            confidence_test(sample, draws, streams),
            order_test(sample, draws),
            *class_tests(sample, class_roots(sample), draws.size),
            predicted_class_test(sample, draws.size),
            top_label_test(sample, draws.size, streams),
            variation_test(sample, draws),
        )
        tests = tuple(test for test in made if test is not None)
        if not tests:
            misses = (1 - sample.totals.confidence) * sample.n_effective
            reason = shortage(misses, FEWEST_OUTCOMES, "independent misses are expected")
            return Outcome((), None, reason or "the outcomes cannot vary", draws.size)
        weights = [CONFIDENCE_WEIGHT if test.name == "confidence" else 1.0 for test in tests]
        p = cauchy_combination([test.p_value for test in tests], weights)
        smallest = min(test.p_value for test in tests) * (draws.size + 1)
        if resolution is None or p <= resolution or smallest > 1.5 or draws.size >= MOST_RESAMPLES:
            return Outcome(tests, p, None, draws.size)
        draws = draw_ranks(sample, min(10 * draws.size, MOST_RESAMPLES), streams)


def confidence_test(sample: Sample, draws: RankDraws, streams: Streams) -> Test | None:
    """T = max_j |Σ_{m≤j} S_m|/√(D_S·Σv), S_m = Σ(ln p_y + H) in bin m.

    p is the larger of those by normal increments with the variances v_m and by draws of the ranks
    scaled to v_m, which are as skewed as the score is where a few misses make most of it.
    """
    variance = sample.score_variance
    total = float(variance.sum())
    misses = sample.totals.mass * (1 - sample.totals.confidence)
    usable = math.isinf(sample.design.clusters) or _enough(sample, np.array(misses))
    if not usable or total <= 1e-12 * sample.row_weight * sample.totals.mass:
        return None
    cumulated = np.cumsum(sample.score) / math.sqrt(total * sample.score_effect())
    statistic = float(cumulated[m := int(np.abs(cumulated).argmax())])
    normal = draw_score_maxima(np.sqrt(variance / total), draws.size, streams)
    scale = np.sqrt(variance / total / np.maximum(draws.score_variance, 1e-300))
    skewed = np.abs(np.cumsum(draws.score * scale, axis=1)).max(axis=1)
    p = max(p_value(normal, abs(statistic)), p_value(skewed, abs(statistic)))
    return Test("confidence", statistic, p, f"bin {m + 1}")


def order_test(sample: Sample, draws: RankDraws) -> Test | None:
    """T = max_k |G_k|/√(D_k·v_k), G_k = Σ 1[the true class is among the top k] - Σ Q_k."""
    apart = np.cumsum((sample.ranks.observed - sample.ranks.predicted).sum(axis=(0, 1)))[:-1]
    among = np.cumsum(sample.ranks.predicted.sum(axis=(0, 1)))[:-1]
    variance, effect = sample.rank_effects()
    usable = _enough(sample, np.minimum(among, sample.totals.mass - among))
    usable[0] |= sample.is_plain
    usable &= variance > 1e-12 * sample.row_weight * sample.totals.mass
    if not usable.any():
        return None
    z = apart[usable] / np.sqrt(variance * effect)[usable]
    drawn = draws.ahead[:, usable] / np.sqrt(np.maximum(draws.ahead_variance[usable], 1e-300))
    k = int(np.abs(z).argmax())
    p = p_value(np.abs(drawn).max(axis=1), abs(float(z[k])))
    return Test("order", float(z[k]), p, f"top {np.flatnonzero(usable)[k] + 1}")


def class_roots(sample: Sample) -> ClassRoots | None:
    """The signed roots of the frequency and the slope of each class; None without classes."""
    events = sample.classes
    if events is None:
        return None
    effect = sample.class_effects()
    expected, rows = events.predicted.sum(axis=1), sample.totals.mass
    enough = np.minimum(expected, rows - expected) / (sample.row_weight * effect) >= FEWEST_OUTCOMES
    frequency = frequency_roots(events, effect)
    slope = np.where(enough, slope_roots(events, effect), np.nan)
    if sample.is_plain:
        return ClassRoots(frequency, slope, math.nan)
    rest, pooled = np.flatnonzero(~enough), math.nan
    if len(rest) < len(enough):
        joined = Events(*(each[rest].reshape(1, -1) for each in events))
        own = np.array([effect[rest].max(initial=1.0)])
        if expected[rest].sum() / (sample.row_weight * own[0]) >= FEWEST_OUTCOMES:
            pooled = float(frequency_roots(joined, own)[0])
    return ClassRoots(np.where(enough, frequency, np.nan), slope, pooled)


def class_tests(sample: Sample, roots: ClassRoots | None, resamples: int) -> list[Test]:
    """Simes' test over the classes, of their frequencies and of their slopes."""
    if roots is None:
        return []
    found = []
    names = [*(sample.class_names[k] for k in sample.class_index), "rare classes"]
    pairs = (("class frequency", [*roots.frequency, roots.pooled]), ("class slope", roots.slope))
    for name, values in pairs:
        w = np.array(values)
        tested = np.flatnonzero(np.isfinite(w))
        if len(tested):
            p = two_sided(w[tested])
            k = int(tested[p.argmin()])
            common = max(simes(p.tolist()), 1 / (resamples + 1))
            found.append(Test(name, float(w[k]), common, names[k]))
    return found


def predicted_class_test(sample: Sample, resamples: int) -> Test | None:
    """Q = Σ S_k²/(D_k·v_k) of the rows that predict class k, χ²; with clusters its largest term.

    Classes with fewer than 10 expected effective misses are pooled into one term.
    """
    its = sample.predicted
    if its is None:
        return None
    misses = its.misses / (sample.row_weight * sample.design.effect)
    alone = (misses >= FEWEST_MISSES) & (its.variance > 0)
    terms = np.zeros((len(misses), int(alone.sum()) + 1))
    terms[np.flatnonzero(alone), np.arange(alone.sum())] = 1.0
    terms[~alone, -1] = 1.0
    if float(misses[~alone].sum()) < FEWEST_MISSES or not (its.variance @ terms)[-1] > 0:
        terms = terms[:, :-1]
    if terms.shape[1] < 2:
        return None
    z = (its.score @ terms) / np.sqrt(its.variance @ terms * sample.predicted_effect(terms))
    k = int(np.abs(z).argmax())
    if math.isinf(sample.design.clusters):
        p = chi_square_tail(float(z @ z), len(z))
    else:
        p = min(1.0, len(z) * float(two_sided(z[[k]])[0]))
    own = np.flatnonzero(terms[:, k])
    where = sample.class_names[own[0]] if len(own) == 1 else "rare classes"
    return Test("predicted class", float(z[k]), max(p, 1 / (resamples + 1)), where)


def top_label_test(sample: Sample, resamples: int, streams: Streams) -> Test | None:
    """ECE against draws in which the predicted class is right as often as it says."""
    if sample.top is None:
        return None
    n, predicted, observed, _ = (each[0] for each in sample.top)
    value = float(np.abs(predicted - observed).sum() / n.sum())
    usable = _enough(sample, np.minimum(predicted.sum(), n.sum() - predicted.sum()))
    is_certain = value == 0 and not sample.top.variance.any()
    if is_certain or not (usable or sample.is_plain):
        return None
    drawn = draw_top_errors(sample, float(sample.rank_effects()[1][0]), resamples, streams)
    return Test("top label", value, p_value(drawn, value))


def variation_test(sample: Sample, draws: RankDraws) -> Test | None:
    """T = Σ w|𝒪 - E 𝒪|, E the mean of the draws: VCE without what few rows take off V(r̄).

    Draws are as far from their mean as the rare classes of clusters make V vary.
    """
    misses = sample.totals.mass * (1 - sample.totals.confidence)
    usable = math.isinf(sample.design.clusters) or _enough(sample, np.array(misses))
    mean = draws.variation.mean(axis=0)
    rows = sample.ranks.rows.sum(axis=0)
    filled, apart = rows > 0, np.abs(draws.variation - mean)
    weight = rows[filled] / rows.sum()
    if not usable or not apart.any():
        return None
    observed = sample.ranks.variation(sample.ranks.observed, sample.variation)
    value = float(np.abs(observed - mean)[filled] @ weight)
    wider = math.sqrt(sample.variation_effect() / sample.design.effect)
    return Test("variation", value, p_value(wider * (apart[:, filled] @ weight), value))


def _enough(sample: Sample, expected: FloatArray) -> NDArray[np.bool_]:
    """Whether at least 5 effective outcomes are expected."""
    return np.asarray(expected / (sample.row_weight * sample.design.effect) >= FEWEST_OUTCOMES)


def cauchy_combination(p_values: Sequence[float], weights: Sequence[float]) -> float:
    """One p-value for several tests of the same rows, however they depend on one another.

    The mean T of cot(πp) has the tail of a Cauchy variable: p = 1/2 - arctan(T)/π (Liu and Xie
    2020). Tests that agree give their common p-value, and one small p-value among k about k times
    itself. Values above .9 count as .9, since near 1 they would cancel any evidence.

    >>> round(cauchy_combination([0.001, 0.5, 0.5, 0.5], [1, 1, 1, 1]), 4)
    0.004
    """
    if min(p_values) >= _LARGEST_P:
        return min(p_values)
    kept = [min(max(p, _SMALLEST_P), _LARGEST_P) for p in p_values]
    total = sum(w / math.tan(math.pi * p) for p, w in zip(kept, weights, strict=True))
    mean = total / sum(weights)
    # arctan near its limit keeps no digits: 1/2 - arctan(T)/π = arctan(1/T)/π for T > 0.
    return math.atan(1 / mean) / math.pi if mean > 0 else 0.5 - math.atan(mean) / math.pi


def simes(p_values: Sequence[float]) -> float:
    """One p-value for tests that are independent or positively dependent (Simes 1986)."""
    return min(benjamini_hochberg(p_values))


def holm(p_values: Sequence[float]) -> list[float]:
    """Corrected p-values that control the chance of any false call (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return [float(each) for each in np.minimum(stepped, 1.0)[np.argsort(order)]]


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Corrected p-values that control the share of false calls (Benjamini and Hochberg 1995).

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")[::-1]
    stepped = np.minimum.accumulate(p[order] * len(p) / np.arange(len(p), 0, -1))
    return [float(each) for each in np.minimum(stepped, 1.0)[np.argsort(order)]]

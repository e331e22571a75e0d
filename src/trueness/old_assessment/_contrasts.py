"""From samples of several models to the differences between them, with their noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_assessment._assessments_on_demand import AssessmentsOnDemand
from trueness.old_assessment._comparison_result import Comparison, Contrast, GroupComparison, Pair
from trueness.old_assessment._estimation import assess_resampled, has_enough_resamples
from trueness.old_assessment._model_replicates import DebiasedMetrics, ModelReplicates, debiased_metrics
from trueness.old_assessment._result import Assessment
from trueness.old_assessment._sample import Sample, SampleWithResamples
from trueness.old_assessment._settings import Settings
from trueness.old_assessment.compared import ComparedNumber, compared_numbers
from trueness.old_assessment.reported import REPORTED, ByNorm, ByReplicates, ReportedMetric
from trueness.old_inference.combination import combined_p_value
from trueness.old_inference.corrections import benjamini_hochberg, holm
from trueness.old_inference.few_clusters import p_value_of_clusters, reach_of_clusters
from trueness.old_inference.null import VALUES_AT_ONCE
from trueness.old_inference.option_bins import rank_gaps
from trueness.old_inference.option_replicates import AnyReplicates, OptionReplicates
from trueness.old_inference.results import Interval
from trueness.old_inference.tail import tail_p_values
from trueness.old_table.tables import Tables
from trueness.rows.clusters import identity

Samples: TypeAlias = dict[str, Sample]
"""The sample of each model on the same rows."""


def comparison_of(
    samples: Samples,
    settings: Settings,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    paired: bool = True,
) -> Comparison:
    """The comparison of all pairs of models on the same rows, or, if not `paired`, of tables of different rows."""
    assessments, debiased = _estimated(samples, settings)
    models = {
        name: ModelReplicates(debiased[name], sample, settings.seed if paired else identity(name))
        for name, sample in samples.items()
    }
    contrasted = [_pair(a, b, models, settings.level) for a, b in pairs or combinations(models, 2)]
    return Comparison(
        assessments=assessments,
        pairs=tuple(correct_pairs(contrasted)),
        level=settings.level,
        resamples=settings.resamples,
        seed=settings.seed,
        paired=paired,
    )


def _estimated(
    samples: Samples, settings: Settings
) -> tuple[Mapping[str, Assessment], dict[str, DebiasedMetrics]]:
    """The assessment of each model, and its debiased metrics.

    If an assessment may need more resamples, the assessments come first; else the debiased metrics, which have the
    same numbers and take half the time, and assessments when they are asked for.
    """
    resampled = {name: SampleWithResamples(sample, settings) for name, sample in samples.items()}
    if has_enough_resamples(settings):
        debiased: dict[str, DebiasedMetrics] = {
            name: {key: metric.debiased_of(sample) for key, metric in REPORTED.items()}
            for name, sample in resampled.items()
        }
        return AssessmentsOnDemand(resampled), debiased
    assessments = {name: assess_resampled(sample) for name, sample in resampled.items()}
    return assessments, {name: debiased_metrics(result) for name, result in assessments.items()}


def _pair(first: str, second: str, models: Mapping[str, ModelReplicates], level: float) -> Pair:
    a, b = models[first], models[second]
    numbers = compared_numbers()
    noises = {key: _Noise.of(numbers[key], a, b, ways) for key, ways in _noises(a, b).items()}
    n_clusters = min(a.effective_clusters, b.effective_clusters)
    ways = np.array([way for noise in noises.values() for way in noise.ways])
    sizes = np.array([abs(noise.difference) for noise in noises.values() for _ in noise.ways])
    # All at once, since every call for a single way takes about as long.
    reach = iter(reach_of_clusters(ways, level, n_clusters).tolist())
    p_values = iter(tail_p_values(ways, sizes).tolist())
    contrasts = {}
    for key, noise in noises.items():
        farthest, p = (max(islice(each, len(noise.ways))) for each in (reach, p_values))
        contrasts[key] = noise.contrast(farthest, p_value_of_clusters(p, n_clusters), level)
    return Pair(first, second, contrasts, p_value_together(contrasts, a.tables), math.nan)


def correct_pairs(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs with p-values corrected over pairs, by Holm: of each metric, and of all together."""
    contrasts = [dict(pair.contrasts) for pair in pairs]
    for key in compared_numbers():
        having = [of_pair for of_pair in contrasts if key in of_pair]
        adjusted = holm([of_pair[key].p_value for of_pair in having])
        for of_pair, p in zip(having, adjusted, strict=True):
            of_pair[key] = replace(of_pair[key], adjusted_p_value=p)
    together = holm([pair.p_value for pair in pairs])
    return [
        replace(pair, contrasts=of_pair, adjusted_p_value=p)
        for pair, of_pair, p in zip(pairs, contrasts, together, strict=True)
    ]


def p_value_together(contrasts: Mapping[str, Contrast], tables: Tables) -> float:
    """The p-value of all differences of a pair: that the models differ in any metric.

    Metrics that repeat another one are left out. So are those that another one bounds, if the noise of the difference
    is bounded and not estimated (RCE stands for both of its distances), and numbers that measure more than calibration.
    """
    numbers = compared_numbers()
    counted = [contrast.p_value for key, contrast in contrasts.items() if _counts(numbers[key], tables)]
    return combined_p_value(counted)


def _counts(number: ReportedMetric | ComparedNumber, tables: Tables) -> bool:
    if isinstance(number, ComparedNumber):
        return number.is_calibration
    is_implied = isinstance(number.contrast, ByNorm) and number.bounded_by is not None
    return not number.repeats(tables) and not is_implied


def _noises(first: ModelReplicates, second: ModelReplicates) -> dict[str, list[FloatArray]]:
    """For each metric that both models have, how far the difference may be off in each replicate, in each way."""
    numbers = [it for it in compared_numbers().values() if first.has(it) and second.has(it)]
    norms = {number.key: number.contrast for number in numbers if isinstance(number.contrast, ByNorm)}
    bounds = _norm_bounds(first, second, norms)
    return {
        number.key: _differences(number.contrast, first, second)
        if isinstance(number.contrast, ByReplicates)
        else [bounds[number.key]]
        for number in numbers
    }


def _differences(contrast: ByReplicates, first: ModelReplicates, second: ModelReplicates) -> list[FloatArray]:
    """How far a difference is from its mean in each replicate, (B,), in each way."""
    differences = [a - b for a, b in zip(contrast.values(first), contrast.values(second), strict=True)]
    if contrast.between is not None:
        differences.append(contrast.between(first, second))
    return [np.abs(difference - difference.mean()) for difference in differences]


def _norm_bounds(
    first: ModelReplicates, second: ModelReplicates, norms: Mapping[str, ByNorm]
) -> dict[str, FloatArray]:
    """By how much a difference of norms can be wrong at most in each replicate, (B,), for each norm.

    A metric is a norm of the gaps g of all bins and ranks, times the bins' shares, so that noise n moves it by ‖n‖ at
    most, and a difference by ‖n_a‖ + ‖n_b‖; but also, as |‖g_a‖ - ‖g_b‖| ≤ ‖g_a - g_b‖, by 2‖g_a - g_b‖ + ‖n_a - n_b‖
    with g as observed, which is less where the models hardly differ.
    """
    size, models = first.replicates.size, (first, second)
    n_bins = max(model.tables.by_variation.n_bins for model in models)
    n_ranks = max(model.bins.n_classes for model in models)
    apart = dict.fromkeys(norms, 0.0)
    alone, between = ({key: np.zeros(size) for key in norms} for _ in range(2))
    weighted = [_weighted_gaps(model.bins, model.replicates) for model in models]
    step = max(1, VALUES_AT_ONCE // (size * n_ranks))
    for start in range(0, n_bins, step):
        some = range(start, min(start + step, n_bins))
        for key, by_norm in norms.items():
            norm = by_norm.norm
            (gap_a, noise_a), (gap_b, noise_b) = (of_bins(some, by_norm.distance) for of_bins in weighted)
            gap_a, gap_b = _of_the_same_width(gap_a, gap_b, by_norm.distance)
            noise_a, noise_b = _of_the_same_width(noise_a, noise_b, by_norm.distance)
            apart[key] += float(norm(gap_a - gap_b).sum())
            alone[key] += (norm(noise_a) + norm(noise_b)).sum(axis=0)
            between[key] += norm(noise_a - noise_b).sum(axis=0)
    return {key: np.minimum(alone[key], 2 * apart[key] + between[key]) for key in norms}


def _of_the_same_width(a: FloatArray, b: FloatArray, distance: str) -> tuple[FloatArray, FloatArray]:
    """Gaps between ranks, (..., C), over the larger number of options of the two, on the scale of the distance."""
    if a.shape[-1] == b.shape[-1]:
        return a, b
    most = max(a.shape[-1], b.shape[-1])

    def widened(gaps: FloatArray) -> FloatArray:
        own = gaps.shape[-1]
        scale = (most - 1) / (own - 1) if distance == "w1" else 1.0
        return np.pad(gaps * scale, [*[(0, 0)] * (gaps.ndim - 1), (0, most - own)])

    return widened(a), widened(b)


def _weighted_gaps(
    bins: Any, replicates: AnyReplicates
) -> Callable[[range, str], tuple[FloatArray, FloatArray]]:
    """For some bins and a distance their share times r̄ - q̄, (bins, C), and the noise of that, (bins, B, C)."""
    share = replicates.shares(bins).T
    has_scales = isinstance(replicates, OptionReplicates)

    @lru_cache(maxsize=1)
    def found(start: int, stop: int, distance: str) -> tuple[FloatArray, FloatArray]:
        filled = slice(*np.searchsorted(bins.index, [start, stop]).tolist())
        at = bins.index[filled] - start
        gap, noise = (
            np.zeros((stop - start, bins.n_classes)),
            np.zeros((bins.n_classes, stop - start, replicates.size)),
        )
        if at.size:
            gap[at] = bins.weight[filled, None] * rank_gaps(bins, distance)[filled]
            noise[:, at] = share[filled] * replicates.deviations_of(bins, filled, distance)
        return gap, np.moveaxis(noise, 0, -1)

    return lambda some, distance: found(some.start, some.stop, distance if has_scales else "tv")


class _Noise(NamedTuple):
    """A difference, and how far it may be off in each replicate, (B,), in each way."""

    number: ReportedMetric | ComparedNumber
    difference: float
    ways: list[FloatArray]
    """Each widened by the error of the corrections."""

    @classmethod
    def of(
        cls,
        number: ReportedMetric | ComparedNumber,
        first: ModelReplicates,
        second: ModelReplicates,
        ways: Sequence[FloatArray],
    ) -> _Noise:
        """The difference of two models with its noise."""
        difference, wider = _difference(number, first, second)
        return cls(number, difference, [way + wider for way in ways])

    def contrast(self, reach: float, p_value: float, level: float) -> Contrast:
        """The difference with the widest of its noises, whose interval extends as far as `reach`."""
        assert self.number.contrast is not None
        interval = Interval(
            self.difference - reach, self.difference + reach, level, self.number.contrast.method
        )
        return Contrast(self.difference, interval, p_value, math.nan)


def _difference(
    number: ReportedMetric | ComparedNumber, first: ModelReplicates, second: ModelReplicates
) -> tuple[float, float]:
    """The difference of the debiased values, and the error of the corrections.

    All replicates share these corrections, so that their error does not appear in the replicates.
    """
    if isinstance(number, ComparedNumber):
        a, b = number.value(first.tables), number.value(second.tables)
        assert a is not None
        assert b is not None
        return a - b, 0.0
    one, other = first.debiased[number.key], second.debiased[number.key]
    assert one is not None
    assert other is not None
    difference = one.debiased - other.debiased
    wider = one.error + other.error if difference != 0 else 0.0
    if isinstance(number.contrast, ByNorm):
        # The bound is for the plug-in values, from which the debiased ones differ by what was corrected.
        wider += abs(difference - (one.value - other.value))
    return difference, wider


def adjust_groups(groups: list[GroupComparison], n_pairs: int) -> list[GroupComparison]:
    """The groups with the p-values of each pair corrected over the groups that were compared."""
    compared = [group.comparison for group in groups if group.comparison is not None]
    by_pair = [
        benjamini_hochberg([comparison.pairs[k].adjusted_p_value for comparison in compared])
        for k in range(n_pairs)
    ]
    columns = iter(zip(*by_pair, strict=True))
    return [
        group if group.comparison is None else replace(group, adjusted_p_values=next(columns))
        for group in groups
    ]

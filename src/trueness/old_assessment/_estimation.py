"""From a sample to its assessment: every metric estimated, with more resamples where a test needs them."""

from __future__ import annotations

import math
from dataclasses import replace

from trueness.old_assessment._cautions import cautions, too_few_resamples, without_classes
from trueness.old_assessment._result import Assessment
from trueness.old_assessment._sample import Sample, SampleWithResamples
from trueness.old_assessment._settings import Settings
from trueness.old_assessment.reported import REPORTED
from trueness.old_assessment.verdict import CUMULATIVE_WEIGHT
from trueness.old_inference.combination import MAX_P_VALUE
from trueness.old_inference.estimates import ResampledTable, log_score_test, uncertainty_reference
from trueness.old_inference.normal import normal_quantile

POWER = 0.8
"""A net gap that is detected with this probability is called detectable."""

MAX_RESAMPLES = 10**6
"""The largest number of resamples with which tests are repeated in which no resample is as extreme as the data."""

MAX_RESAMPLED_VALUES = 2 * 10**7
"""Resamples times bins that are held at a time: six numbers each make a gigabyte."""


def assessment_of(sample: Sample, settings: Settings) -> Assessment:
    """The assessment of a sample, with more resamples if a test needs them."""
    return assess_resampled(SampleWithResamples(sample, settings))


def assess_resampled(resampled: SampleWithResamples) -> Assessment:
    """The assessment of a sample whose resamples may have been drawn before."""
    sample, settings = resampled.sample, resampled.settings
    result = _estimate_metrics(resampled)
    if not needs_more_resamples(result, result.p_value, settings):
        return result
    needed = resamples_for(settings.p_resolution, result)
    resamples = min(needed, max_resamples(sample))
    if sample.clusters is None and resamples > settings.resamples:
        result = estimate_metrics(sample, replace(settings, resamples=resamples))
    if not needs_more_resamples(result, result.p_value, settings):
        return result
    return replace(result, warnings=(*result.warnings, too_few_resamples(needed, "")))


def needs_more_resamples(result: Assessment, p_value: float, settings: Settings) -> bool:
    """Whether a p-value misses `p_resolution` only because in some test no resample is as extreme as the data."""
    smallest = (1 + 1e-9) / (result.resamples + 1)
    is_reached_by_none = any(0 < finding.p_value <= smallest for finding in result.evidence)
    return is_reached_by_none and p_value > settings.p_resolution


def has_enough_resamples(settings: Settings) -> bool:
    """Whether no assessment needs more resamples, whatever its evidence."""
    return settings.resamples >= _resamples_for(settings.p_resolution, _most_evidence())


def _most_evidence() -> float:
    """The largest possible sum of the weights of findings: of metrics, log-scores and classes."""
    return sum(metric.is_evidence for metric in REPORTED.values()) + CUMULATIVE_WEIGHT + 3


def resamples_for(p_value: float, result: Assessment) -> int:
    """How many resamples let one finding alone reach a p-value, if all others count against it."""
    return _resamples_for(p_value, sum(finding.weight for finding in result.evidence))


def _resamples_for(p_value: float, k: float) -> int:
    """The same for findings whose weights sum to k.

    The Cauchy combination of 1/(R + 1), with weight 1, and of `MAX_P_VALUE` with the other weights, k - 1 in all,
    solved for R.
    """
    needed = k / math.tan(math.pi * p_value) - (k - 1) / math.tan(math.pi * MAX_P_VALUE)
    return math.ceil(math.pi / math.atan(1 / needed))


def max_resamples(sample: Sample) -> int:
    """How many resamples a gigabyte holds."""
    return max(999, min(MAX_RESAMPLES, MAX_RESAMPLED_VALUES // sample.tables.by_variation.n_bins))


def estimate_metrics(sample: Sample, settings: Settings) -> Assessment:
    """The assessment of a sample, with as many resamples as `settings.resamples`."""
    return _estimate_metrics(SampleWithResamples(sample, settings))


def _estimate_metrics(resampled: SampleWithResamples) -> Assessment:
    sample, settings = resampled.sample, resampled.settings
    table, by_variation = sample.tables.by_variation, resampled.by_variation
    return Assessment(
        estimates={key: metric.estimate(resampled) for key, metric in REPORTED.items()},
        uce=uncertainty_reference(by_variation, table) if table.spec.is_by_entropy else None,
        log_score_z=log_score_test(table, by_variation),
        classes=resampled.classes,
        by_predicted_class=resampled.predicted_class_test,
        cumulative_log_score=resampled.cumulative_log_score,
        detectable_net_gap=_detectable_net_gap(settings.level, by_variation),
        tables=sample.tables,
        level=settings.level,
        resamples=settings.resamples,
        seed=settings.seed,
        n_clusters=sample.n_clusters,
        warnings=(
            *cautions(table, resampled.variation_error, sample.n_clusters),
            *without_classes(sample.tables),
        ),
        tolerance=settings.tolerance,
        class_bins=settings.class_bins,
    )


def _detectable_net_gap(level: float, resampled: ResampledTable) -> float:
    """The net gap for which twice the p-value is at most 1 - level with probability `POWER`.

    In the combination of six tests that partly agree, a single one needs about half the p-value. For predictions of
    probability 1 it is 0: outcomes do not vary, and the first other outcome is evidence.
    """
    if resampled.has_no_noise:
        return math.inf
    return (normal_quantile((1 + level) / 2) + normal_quantile(2 * POWER - 1)) * resampled.null_net_sd

"""Several seeds of models on the same rows: the mean of each model, and the differences between models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from trueness._arrays import FloatArray
from trueness._printing import p_sentence, plural
from trueness.old_assessment._assess import specs_of
from trueness.old_assessment._comparison_result import Contrast, Pair
from trueness.old_assessment._contrasts import correct_pairs, p_value_together
from trueness.old_assessment._estimation import assessment_of
from trueness.old_assessment._model_replicates import ModelReplicates, debiased_metrics
from trueness.old_assessment._result import Assessment
from trueness.old_assessment._sample import Sample
from trueness.old_assessment._settings import Settings
from trueness.old_assessment._sums_of_models import sums_of_models
from trueness.old_assessment.reported import REPORTED, ByReplicates, ReportedMetric
from trueness.old_assessment.verdict import significance_limit
from trueness.old_inference.combination import combined_p_value
from trueness.old_inference.normal import normal_quantile
from trueness.old_inference.results import Estimate
from trueness.old_inference.runs import SeedEstimate, seed_estimate, weigh
from trueness.old_table.plan import TablePlan
from trueness.rows import Rows
from trueness.tabulation.clusters import RowsDone


@dataclass(frozen=True, slots=True, eq=False)
class SeedsAssessment:
    """The runs of one model on one data set: the mean of each metric with its interval, between and within seeds."""

    runs: Mapping[str, Assessment]
    """By seed."""
    estimates: Mapping[str, SeedEstimate | None]
    """By the key of the metric; None where the runs lack it."""
    level: float

    @classmethod
    def of_one(cls, result: Assessment) -> SeedsAssessment:
        """One run without a seed: its own intervals, and no spread between seeds."""
        estimates = {key: _alone(metric.of(result)) for key, metric in REPORTED.items()}
        return cls({"": result}, estimates, result.level)

    @property
    def n_rows(self) -> int:
        """The number of rows, which all runs share."""
        return next(iter(self.runs.values())).n_rows

    @property
    def p_value(self) -> float:
        """That all runs are calibrated: the p-values of the runs together (Cauchy combination)."""
        return combined_p_value([run.p_value for run in self.runs.values()])

    def mean_of(self, name: str) -> float:
        """The mean of a score over the runs.

        Parameters
        ----------
        name : str
            An attribute of an assessment, such as "accuracy" or "log_loss".
        """
        return float(np.mean([getattr(run, name) for run in self.runs.values()]))


@dataclass(frozen=True, slots=True, eq=False)
class SeedsComparison:
    """The models of one data set, compared by the means over their runs."""

    pairs: tuple[Pair, ...]
    """Differences of the means, with p-values corrected over the pairs of models by Holm."""
    n_runs: Mapping[str, int]
    """The number of runs of each model."""
    level: float

    @property
    def verdict(self) -> str:
        """One sentence for each pair of models."""
        return "\n".join(self._sentence(pair) for pair in self.pairs)

    def _sentence(self, pair: Pair) -> str:
        clear = pair.adjusted_p_value <= significance_limit(self.level)
        keys = pair.clear_keys(self.level)[:2] if clear else ["vce"]
        numbers = ", ".join(_contrast_text(pair, key) for key in keys)
        seeds = " and ".join(plural(self.n_runs[name], "seed") for name in (pair.first, pair.second))
        words = _conclusion(pair, keys) if clear else f"no evidence that {_both(pair)} differ in calibration"
        return f"{words}: {numbers}, {p_sentence(pair.adjusted_p_value)}; means over {seeds}"


def _both(pair: Pair) -> str:
    return f"{pair.first} and {pair.second}"


def _conclusion(pair: Pair, keys: Sequence[str]) -> str:
    """Which model is better by the metrics that differ clearly; a signed difference alone does not decide that."""
    names = (pair.first, pair.second)
    sizes = [pair.contrasts[key].difference for key in keys if not REPORTED[key].signed]
    better = {names if size < 0 else names[::-1] for size in sizes}
    if len(better) != 1:
        return f"{_both(pair)} differ in calibration"
    ((name, worse),) = better
    return f"{name} is better calibrated than {worse}"


def _contrast_text(pair: Pair, key: str) -> str:
    contrast, label = pair.contrasts[key], REPORTED[key].label
    low, high = contrast.interval.low, contrast.interval.high
    return f"{label}({pair.first}) - {label}({pair.second}) = {contrast.difference:+.4f} [{low:+.4f}, {high:+.4f}]"


def _alone(estimate: Estimate | None) -> SeedEstimate | None:
    """The estimate of one run; its sampling error is that of its interval."""
    if estimate is None:
        return None
    interval = estimate.interval
    sd = (interval.high - estimate.debiased) / normal_quantile(interval.level)
    return SeedEstimate(estimate.debiased, interval, math.nan, sd, math.nan, sd)


class AssessedRun(NamedTuple):
    """One run of a model: its assessment, and its metrics in each replicate of the rows."""

    result: Assessment
    replicates: ModelReplicates

    @classmethod
    def of(cls, result: Assessment, sample: Sample, seed: int) -> AssessedRun:
        """The run of an assessed sample that has replicates."""
        return cls(result, ModelReplicates(debiased_metrics(result), sample, seed))


def assess_runs(
    y_true: Any,
    runs: Mapping[tuple[str, str], Any],
    settings: Settings,
    plan: TablePlan,
    **how: Any,
) -> dict[tuple[str, str], AssessedRun]:
    """The assessment of each run, by model and seed, with replicates that have the same weights for all runs."""
    names = {key: str(place) for place, key in enumerate(runs)}
    rows = {names[key]: Rows.of(y_true, y_prob, **how) for key, y_prob in runs.items()}
    specs = {name: specs_of(of_run, plan) for name, of_run in rows.items()}
    n_rows = next(iter(rows.values())).n_rows * len(rows)
    samples = sums_of_models(rows, specs, 0, None, RowsDone(n_rows, None)).samples(settings)
    return {
        key: AssessedRun.of(assessment_of(samples[name], settings), samples[name], settings.seed)
        for key, name in names.items()
    }


def summarise(
    found: Mapping[tuple[str, str], AssessedRun], level: float
) -> tuple[dict[str, SeedsAssessment], SeedsComparison]:
    """The mean of each model over its seeds, and the differences between the models."""
    by_model: dict[str, dict[str, AssessedRun]] = {}
    for (model, seed), run in found.items():
        by_model.setdefault(model, {})[seed] = run
    means = {
        model: SeedsAssessment(
            {seed: run.result for seed, run in runs.items()},
            {key: _mean(metric, list(runs.values()), level) for key, metric in REPORTED.items()},
            level,
        )
        for model, runs in by_model.items()
    }
    runs_of = {model: list(runs.values()) for model, runs in by_model.items()}
    pairs = [_pair(first, second, runs_of, level) for first, second in combinations(runs_of, 2)]
    n_runs = {model: len(runs) for model, runs in runs_of.items()}
    return means, SeedsComparison(tuple(correct_pairs(pairs)), n_runs, level)


def _mean(metric: ReportedMetric, runs: Sequence[AssessedRun], level: float) -> SeedEstimate | None:
    values = _values(metric, runs)
    if values is None:
        return None
    covariance = _covariance(metric, [runs])
    possible = (-math.inf, math.inf) if metric.signed else (0.0, math.inf)
    return seed_estimate(values, covariance, level, possible)


def _values(metric: ReportedMetric, runs: Sequence[AssessedRun]) -> FloatArray | None:
    """The debiased value of each run, (K,); None if a run lacks the metric."""
    estimates = [metric.of(run.result) for run in runs]
    known = [it.debiased for it in estimates if it is not None]
    return np.array(known) if len(known) == len(runs) else None


def _covariance(metric: ReportedMetric, models: Sequence[Sequence[AssessedRun]]) -> FloatArray:
    """The covariance of the sampling errors of all runs, (ΣK, ΣK), over bootstrap replicates of the rows.

    Of several ways to compute replicates, the one with the largest variances counts. A metric that is a norm has no
    replicates, but intervals: the errors of a model's runs are then taken as the same, and those of two models as
    opposite, which makes the variance of a mean and of a difference as large as it can be.
    """
    runs = [run for of_model in models for run in of_model]
    if isinstance(metric.contrast, ByReplicates) and all(run.replicates.has(metric) for run in runs):
        ways = zip(*(metric.contrast.values(run.replicates) for run in runs), strict=True)
        matrices = [np.atleast_2d(np.cov(np.stack(way), ddof=1)) for way in ways]
        return max(matrices, key=lambda matrix: float(np.trace(matrix)))
    estimates = [metric.of(run.result) for run in runs]
    reach = [it.interval.high - it.debiased for it in estimates if it is not None]
    sd = np.array(reach) / normal_quantile(runs[0].result.level)
    side = np.concatenate([np.full(len(of_model), (-1.0) ** k) for k, of_model in enumerate(models)])
    return np.outer(sd * side, sd * side)


def _pair(first: str, second: str, runs_of: Mapping[str, list[AssessedRun]], level: float) -> Pair:
    both, contrasts = [runs_of[first], runs_of[second]], {}
    for key, metric in REPORTED.items():
        values = [_values(metric, runs) for runs in both]
        if metric.contrast is None or any(it is None for it in values):
            continue
        found = weigh([it for it in values if it is not None], [1.0, -1.0], _covariance(metric, both))
        interval = found.interval(level, (-math.inf, math.inf))
        contrasts[key] = Contrast(found.value, interval, found.p_value, math.nan)
    together = p_value_together(contrasts, both[0][0].result.tables)
    return Pair(first, second, contrasts, together, math.nan)

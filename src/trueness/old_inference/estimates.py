"""Estimates of metrics from a table and its resamples: noise floor, p-values, debiased value, interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.old_inference._bias import Bias, fitted_bias
from trueness.old_inference.model_draws import Draws, GivenDraws, ModelDraws, simulation_error
from trueness.old_inference.normal import debiased_total, half_normal_quantile, normal_quantile
from trueness.old_inference.null import NullBins, Resamples, p_value
from trueness.old_inference.option_bins import (
    AnyBins,
    OptionBins,
    bins_of,
    single_parts,
)
from trueness.old_inference.option_replicates import AnyReplicates
from trueness.old_inference.results import BinNoise, Debiased, Estimate, Interval, Reference, ZTest
from trueness.old_inference.scores.rank_draws import score_draws
from trueness.old_table import AnyRankTable, option_tables


@dataclass(frozen=True)
class Null:
    """Simulations of a calibrated model."""

    draws: Draws
    """Around q̄."""
    expectation: Callable[[Resamples], FloatArray]
    """E₀[𝒱(r̄*)] from the resamples, (F,)."""

    @property
    def resamples(self) -> Resamples:
        """Resamples around q̄; debiased values do not need them."""
        return self.draws.resamples

    @cached_property
    def expected(self) -> FloatArray:
        """E₀[𝒱(r̄*)], (F,)."""
        return self.expectation(self.resamples)


@dataclass(frozen=True)
class ResampledTable:
    """A table with its resamples."""

    bins: AnyBins
    n_bins: int
    predicted: FloatArray
    """𝒫_m of the filled bins, (F,)."""
    observed: FloatArray
    """𝒪_m of the filled bins, (F,)."""
    nulls: tuple[Null, ...]
    """The independent noise of each bin; and, if rows have clusters, that of the bootstrap replicates, in which bins
    may be correlated, but ranks that no cluster has observed have no noise. Neither covers the other."""
    around: Draws
    """Around what was observed."""
    n_resamples: int
    bias: Bias
    log_score_variance: float
    """Variance of Σ(ln p_y + H)."""

    @classmethod
    def of(cls, table: AnyRankTable, resamples: int, seed: list[int]) -> ResampledTable:
        """A table of independent rows with its resamples, from the table alone."""
        bins = bins_of(table)
        around = ModelDraws(bins.smooth(), resamples, [*seed, 1])
        return cls._of_bins(table, bins, around, resamples, seed)

    @classmethod
    def of_clusters(cls, table: AnyRankTable, replicates: AnyReplicates, seed: list[int]) -> ResampledTable:
        """A table of rows in clusters with its resamples, whose noise is estimated from the replicates."""
        bins: Any = bins_of(table)  # of the same kind as the replicates
        bins = replicates.with_effective_counts(bins)
        around = GivenDraws(replicates.resample_observed(bins))
        alone = cls._of_bins(table, bins, around, replicates.size, seed)
        together = GivenDraws(replicates.resample_null(bins))
        return replace(
            alone,
            nulls=(*alone.nulls, Null(together, _mean_variation)),
            log_score_variance=max(alone.log_score_variance, float(replicates.log_score.var())),
        )

    @classmethod
    def _of_bins(
        cls, table: AnyRankTable, bins: AnyBins, around: Draws, resamples: int, seed: list[int]
    ) -> ResampledTable:
        null = ModelDraws(bins, resamples, [*seed, 0])
        variance = table.log_score_variance
        if table.spec.weighted:  # as if Σw²·VE; exact if weights and varentropy are uncorrelated
            variance *= float(table.weight_square_sum.sum() / table.count.sum())
        return cls(
            bins=bins,
            n_bins=table.n_bins,
            predicted=table.predicted_variation[bins.index],
            observed=table.observed_variation[bins.index],
            nulls=(Null(null, partial(_expected_variation, bins)),),
            around=around,
            n_resamples=resamples,
            bias=fitted_bias(bins, resamples, [*seed, 2]),
            log_score_variance=variance,
        )

    @property
    def null(self) -> Resamples:
        """Resamples of each bin, independent of one another."""
        return self.nulls[0].resamples

    @property
    def expected(self) -> FloatArray:
        """E₀[𝒱(r̄*)], (F,)."""
        return self.nulls[0].expected

    @property
    def independent(self) -> bool:
        """Whether the bins are independent of one another, as they are without clusters."""
        return len(self.nulls) == 1

    @property
    def all_resamples(self) -> list[Resamples]:
        """Resamples under calibration and around the observed frequencies."""
        return [draws.resamples for draws in self._draws]

    @property
    def _draws(self) -> list[Draws]:
        return [*(null.draws for null in self.nulls), self.around]

    @property
    def debiased_gap(self) -> FloatArray:
        """𝒪_m + bias_m - 𝒫_m, (F,)."""
        return self.observed + self.bias.by_bin - self.predicted

    @cached_property
    def sd(self) -> FloatArray:
        """σ_m of 𝒱(r̄_m), (F,)."""
        return np.asarray(np.max([draws.sd for draws in self._draws], axis=0))

    @property
    def sd_error(self) -> FloatArray:
        """The relative standard error of σ_m from its simulation, (F,): 0 where it comes from a formula."""
        is_drawn = np.any([draws.is_drawn for draws in self._draws], axis=0)
        return np.where(is_drawn, simulation_error(self.n_resamples), 0.0)

    def p_value(self, compared: Callable[[Null], tuple[FloatArray, float]]) -> float:
        """The larger p-value of all nulls; `compared` gives simulated values and the observed one."""
        return max(p_value(*compared(null)) for null in self.nulls)

    def to_all_bins(self, values: FloatArray | IntArray) -> FloatArray:
        """Values of the filled bins among all bins, NaN elsewhere."""
        everywhere = np.full(self.n_bins, np.nan)
        everywhere[self.bins.index] = values
        return everywhere

    def noise(
        self, observed: FloatArray, expected: FloatArray, null: FloatArray, sd: FloatArray, level: float
    ) -> BinNoise:
        """The noise of single bins."""
        by_bin = np.ascontiguousarray(null.T)
        low, high = np.quantile(by_bin, [(1 - level) / 2, (1 + level) / 2], axis=1)
        return BinNoise(*map(self.to_all_bins, (observed, expected, low, high, sd, self.bins.count)))

    @property
    def has_no_noise(self) -> bool:
        """Whether uncertain predictions have no noise: with one row per bin the entropy is 0 whatever the label."""
        return self.null_net_sd == 0 and bool((self.bins.predicted[:, 0] < 1).any())

    @property
    def net_sd(self) -> float:
        """Standard deviation of the net gap, including the standard error of its bias."""
        weight = self.bins.weight
        if self.independent:
            sd = math.sqrt(float(weight**2 @ self.sd**2))
        else:
            sd = max(float((resamples.variation @ weight).std()) for resamples in self.all_resamples)
        return sd + self.bias.standard_error

    @property
    def null_net_sd(self) -> float:
        """Standard deviation of the net gap if the model were calibrated."""
        return max(float((null.resamples.variation @ self.bins.weight).std()) for null in self.nulls)


def _expected_variation(bins: AnyBins, null: Resamples) -> FloatArray:
    if isinstance(bins, NullBins):
        return bins.expected_variation(null.variation)
    return bins.expected_variation(null.cells)


def _mean_variation(null: Resamples) -> FloatArray:
    return np.asarray(null.variation.mean(axis=0))


def debiased_variation_error(resampled: ResampledTable) -> Debiased:
    """VCE, or ECE if the table is binned by confidence."""
    e, w, gap, sd = resampled, resampled.bins.weight, resampled.debiased_gap, resampled.sd
    return Debiased(
        value=float(w @ np.abs(e.observed - e.predicted)),
        debiased=float(debiased_total(w, gap, sd)),
        gap=e.to_all_bins(e.bins.sign * gap),
        sd=e.to_all_bins(sd),
        error=e.bias.standard_error + _resampling_error(w, gap, sd, e.sd_error),
    )


def variation_error(resampled: ResampledTable, level: float, seed: list[int]) -> Estimate:
    """VCE, or ECE if the table is binned by confidence, with tests and interval."""
    e, w, sd = resampled, resampled.bins.weight, resampled.sd
    found = debiased_variation_error(e)
    value, total = found.value, float(w @ np.abs(e.debiased_gap))
    if e.independent:
        # All gaps share the error of the bias.
        root = math.sqrt(float(w**2 @ sd**2))
        wider = 1 + e.bias.standard_error / root if root > 0 else 1.0
        reach = half_normal_quantile(w * sd * wider, level, seed)
    else:
        noises = (np.abs(d.variation - d.variation.mean(axis=0)) @ w for d in e.all_resamples)
        reach = max(float(np.quantile(noise, level)) for noise in noises) + e.bias.standard_error
    if e.has_no_noise:
        reach = e.bins.largest_gap
    return Estimate(
        value=value,
        noise_floor=float((np.abs(e.null.variation - e.predicted) @ w).mean()),
        p_value=e.p_value(lambda null: (np.abs(null.resamples.variation - e.predicted) @ w, value)),
        centred_p_value=e.p_value(
            lambda null: (
                np.abs(null.resamples.variation - null.expected) @ w,
                float(w @ np.abs(e.observed - null.expected)),
            )
        ),
        debiased=found.debiased,
        interval=Interval.around(total, reach, (0.0, e.bins.largest_gap), level, "half-normal"),
        centred_gap=e.to_all_bins(e.bins.sign * (e.observed - e.expected)),
        debiased_gap=found.gap,
        bins=e.noise(e.observed, e.expected, e.null.variation, sd, level),
        bias_error=found.error,
    )


def _resampling_error(weight: FloatArray, gap: FloatArray, sd: FloatArray, error: FloatArray) -> float:
    """Standard error of the debiased sum from the simulation of σ, which has these relative standard errors."""
    if not error.any():
        return 0.0
    low, high = (debiased_total(weight, gap, sd * (1 + sign * error)) for sign in (-1, 1))
    return abs(float(high) - float(low)) / 2


def debiased_net_gap(resampled: ResampledTable) -> Debiased:
    """Σ w·Δ, positive if over-confident."""
    e, w, sign = resampled, resampled.bins.weight, resampled.bins.sign
    return Debiased(
        value=sign * float(w @ (e.observed - e.predicted)),
        debiased=sign * float(w @ e.debiased_gap),
        gap=e.to_all_bins(sign * e.debiased_gap),
        sd=e.to_all_bins(e.sd),
        error=e.bias.standard_error,
    )


def net_gap(resampled: ResampledTable, level: float) -> Estimate:
    """Σ w·Δ, positive if over-confident, with tests and interval."""
    e, w, sign = resampled, resampled.bins.weight, resampled.bins.sign
    found = debiased_net_gap(e)
    value, debiased = found.value, found.debiased
    most = e.bins.largest_gap
    reach = 2 * most if e.has_no_noise else normal_quantile(level) * e.net_sd
    return Estimate(
        value=value,
        noise_floor=sign * float(w @ (e.expected - e.predicted)),
        p_value=e.p_value(lambda null: (np.abs((null.resamples.variation - e.predicted) @ w), abs(value))),
        centred_p_value=e.p_value(
            lambda null: (
                np.abs((null.resamples.variation - null.expected) @ w),
                abs(float(w @ (e.observed - null.expected))),
            )
        ),
        debiased=debiased,
        interval=Interval.around(debiased, reach, (-most, most), level, "normal"),
        centred_gap=e.to_all_bins(sign * (e.observed - e.expected)),
        debiased_gap=found.gap,
        bins=e.noise(e.observed, e.expected, e.null.variation, e.sd, level),
        bias_error=found.error,
    )


def uncertainty_reference(resampled: ResampledTable, table: AnyRankTable) -> Reference:
    """UCE, and its value for a calibrated model with these predictions."""
    e, w = resampled, resampled.bins.weight
    uncertainty = table.mean_variation[e.bins.index]
    value = float(w @ np.abs(1 - e.bins.observed[:, 0] - uncertainty))

    def values(null: Null) -> FloatArray:
        return np.asarray(np.abs(1 - null.resamples.first - uncertainty) @ w)

    def distances(null: Null) -> tuple[FloatArray, float]:
        there = values(null)
        return np.abs(there - there.mean()), abs(value - float(there.mean()))

    return Reference(value, float(values(e.nulls[0]).mean()), e.p_value(distances))


def log_score_test(table: AnyRankTable, resampled: ResampledTable) -> ZTest:
    """Z = Σ(ln p_y + H)/√ΣVE, standard normal if the model is calibrated; it needs no bins.

    For rows in clusters the variance is that of the replicates, if that is larger. Rows whose true class had
    probability 0 are left out, since their log-score is infinite; their number is reported.
    """
    variance = resampled.log_score_variance
    if variance <= 0:
        return ZTest(
            math.nan,
            math.nan,
            "every prediction is certain or uniform, so the log-score cannot vary",
            math.nan,
        )
    z = table.log_score_sum / math.sqrt(variance)
    reason = None
    if table.impossible_rows:
        rows = "1 row" if table.impossible_rows == 1 else f"{table.impossible_rows} rows"
        reason = f"without {rows} whose true class had probability 0"
    return ZTest(z, math.erfc(abs(z) / math.sqrt(2)), reason, _drawn_log_score_p_value(table, resampled))


def log_score_draws(table: AnyRankTable, resampled: ResampledTable) -> list[FloatArray]:
    """Draws of Σ(ln p_y + H) in the filled bins under each null, (R, F) each, with the variance of the rows."""
    bins, parts = resampled.bins, single_parts(resampled.bins)
    variances = [
        of.log_scores.variance[own.index] for of, own in zip(option_tables(table), parts, strict=True)
    ]
    if (total := sum(float(variance.sum()) for variance in variances)) > 0:
        variances = [variance * (resampled.log_score_variance / total) for variance in variances]
    draws = []
    for null in resampled.nulls:
        scores = _log_scores(null.resamples)
        of_parts = [
            score_draws(score, own.count, own.predicted, variance)
            for score, own, variance in zip(scores, parts, variances, strict=True)
        ]
        draws.append(bins.add_up(of_parts) if isinstance(bins, OptionBins) else of_parts[0])
    return draws


def _log_scores(resamples: Resamples) -> Sequence[FloatArray]:
    """The log-scores of the cells of each number of options."""
    return [cells.log_score for cells in resamples.cells] or [resamples.log_score]


def _drawn_log_score_p_value(table: AnyRankTable, resampled: ResampledTable) -> float:
    """The two-sided p-value of Σ(ln p_y + H) by simulation.

    The tails of Z are not normal if rare outcomes contribute most of its variance; those of the simulation are nearly
    exact. With clusters the score of the binned ranks is compared, Σ_m n_m Σ_c (r̄_c - q̄_c)·ln q̄_c, whose replicates
    are known.
    """
    if resampled.independent:
        (drawn,) = log_score_draws(table, resampled)
        return p_value(np.abs(drawn.sum(axis=1)), abs(table.log_score_sum))
    count = resampled.bins.count
    observed = abs(float(count @ resampled.bins.log_score))
    return resampled.p_value(lambda null: (np.abs(null.resamples.log_score @ count), observed))

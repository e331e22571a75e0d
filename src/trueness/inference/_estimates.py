"""From draws to what is said of a number: noise floor, p-values, debiased value, interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trueness._sums import FloatArray, IntArray
from trueness.inference._folded import debiased_total, half_normal_quantile, normal_quantile
from trueness.inference._null import Draws, FilledBins, draw, multinomial_frequencies, p_value
from trueness.inference._replicates import Replicates
from trueness.inference._tilt import Bias, fitted_bias
from trueness.table import CalibrationTable


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the true value is, with the stated level of confidence."""

    low: float
    high: float
    level: float
    method: str
    """How it was made: "half-normal", "normal", or "triangle" (see docs/inference.md)."""


@dataclass(frozen=True, slots=True, eq=False)
class BinNoise:
    """What was observed in each bin beside what a calibrated model would show, (M,); NaN in empty bins."""

    observed: FloatArray
    """The number that is compared: 𝒱(r̄_m), or d(r̄_m, q̄_m)."""
    expected: FloatArray
    """Its mean if the model were calibrated."""
    low: FloatArray
    """Of the band in which it would lie, with the level of the assessment."""
    high: FloatArray
    sd: FloatArray
    """Its standard deviation, at the null or as observed, whichever is larger."""
    independent_rows: FloatArray
    """As many rows as make this much noise: those of the bin, fewer if they are weighted or come in clusters."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A number read off a table, and what it means."""

    value: float
    """The plug-in value, as the paper defines it."""
    noise_floor: float
    """Its mean if the model were calibrated."""
    p_value: float
    """The chance of such a value, or a larger one, if the model were calibrated."""
    centred_p_value: float
    """The same with each bin compared with its mean under calibration: this one sees over-confidence too."""
    debiased: float
    """The value that rows without number would give, as far as these can tell."""
    interval: Interval
    """Of the debiased value."""
    centred_gap: FloatArray
    """Observed less expected under calibration in each bin, (M,), positive if over-confident; NaN in empty bins."""
    bins: BinNoise


@dataclass(frozen=True, slots=True)
class Reference:
    """A number that is not zero for a calibrated model, beside the value that it would have."""

    value: float
    calibrated_value: float
    """What a calibrated model with these very predictions would get, on average."""
    p_value: float
    """The chance to be as far from it, on either side, if the model were calibrated."""


@dataclass(frozen=True, slots=True)
class ZTest:
    """A standardised sum with its two-sided p-value; the value is NaN or infinite where `reason` says so."""

    value: float
    p_value: float
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A table with all that was drawn for it."""

    bins: FilledBins
    n_bins: int
    predicted: FloatArray
    """𝒫_m of the filled bins, (F,)."""
    observed: FloatArray
    """𝒪_m of the filled bins, (F,)."""
    null: Draws
    """Draws around q̄."""
    around: Draws
    """Draws around what was observed."""
    expected: FloatArray
    """E₀[𝒱(r̄*)], (F,)."""
    bias: Bias
    sd: FloatArray
    """σ_m of 𝒱(r̄_m), (F,)."""
    independent: bool
    """Whether bins err independently of one another: not if rows come in clusters."""

    @classmethod
    def of(cls, table: CalibrationTable, resamples: int, seed: list[int]) -> Evidence:
        """For rows that are independent of one another: the table is enough."""
        bins = FilledBins.of(table)
        smoothed = bins.smoothed()
        null = draw(bins, multinomial_frequencies(bins, resamples, [*seed, 0]), resamples)
        around = draw(smoothed, multinomial_frequencies(smoothed, resamples, [*seed, 1]), resamples)
        expected = bins.expected_variation(null.variation)
        bias = fitted_bias(bins, resamples, [*seed, 2])
        return cls._made(
            table, bins, null=null, around=around, expected=expected, bias=bias, independent=True
        )

    @classmethod
    def of_clusters(cls, table: CalibrationTable, replicates: Replicates, seed: list[int]) -> Evidence:
        """For rows that come in clusters: how the clusters differ tells the noise."""
        bins = FilledBins.of(table)
        bins = replace(bins, count=replicates.effective_count(bins))
        null = draw(bins, replicates.null_frequencies(bins), replicates.size)
        around = draw(bins.smoothed(), replicates.observed_frequencies(bins), replicates.size)
        expected = null.variation.mean(axis=0)
        bias = fitted_bias(bins, replicates.size, [*seed, 2])
        return cls._made(
            table, bins, null=null, around=around, expected=expected, bias=bias, independent=False
        )

    @classmethod
    def _made(cls, table: CalibrationTable, bins: FilledBins, **drawn: Any) -> Evidence:
        return cls(
            bins=bins,
            n_bins=table.n_bins,
            predicted=table.predicted_variation[bins.index],
            observed=table.observed_variation[bins.index],
            sd=np.maximum(drawn["null"].variation.std(axis=0), drawn["around"].variation.std(axis=0)),
            **drawn,
        )

    def spread_out(self, values: FloatArray | IntArray) -> FloatArray:
        """Values of the filled bins at their places among all, NaN elsewhere."""
        everywhere = np.full(self.n_bins, np.nan)
        everywhere[self.bins.index] = values
        return everywhere

    def noise(
        self, observed: FloatArray, expected: FloatArray, null: FloatArray, sd: FloatArray, level: float
    ) -> BinNoise:
        """What is said of single bins."""
        low, high = np.quantile(null, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return BinNoise(*map(self.spread_out, (observed, expected, low, high, sd, self.bins.count)))

    @property
    def net_sd(self) -> float:
        """Standard deviation of the net gap, the uncertainty of its bias included."""
        weight = self.bins.weight
        if self.independent:
            sd = math.sqrt(float(weight**2 @ self.sd**2))
        else:
            sd = max(float((draws.variation @ weight).std()) for draws in (self.null, self.around))
        return sd + self.bias.standard_error

    @property
    def null_net_sd(self) -> float:
        """The same if the model were calibrated."""
        return float((self.null.variation @ self.bins.weight).std())


def variation_error(evidence: Evidence, level: float, seed: list[int]) -> Estimate:
    """VCE, or ECE if the table is binned by confidence."""
    e, w = evidence, evidence.bins.weight
    null = np.abs(e.null.variation - e.predicted) @ w
    centred_null = np.abs(e.null.variation - e.expected) @ w
    value = float(w @ np.abs(e.observed - e.predicted))
    gap = e.observed + e.bias.by_bin - e.predicted
    total = float(w @ np.abs(gap))
    if e.independent:
        # The bias is the same for all bins' gaps, so that its error widens them all.
        root = math.sqrt(float(w**2 @ e.sd**2))
        wider = 1 + e.bias.standard_error / root if root > 0 else 1.0
        reach = half_normal_quantile(w * e.sd * wider, level, seed)
    else:
        noises = (np.abs(d.variation - d.variation.mean(axis=0)) @ w for d in (e.null, e.around))
        reach = max(float(np.quantile(noise, level)) for noise in noises) + e.bias.standard_error
    return Estimate(
        value=value,
        noise_floor=float(null.mean()),
        p_value=p_value(null, value),
        centred_p_value=p_value(centred_null, float(w @ np.abs(e.observed - e.expected))),
        debiased=debiased_total(w, gap, e.sd, total),
        interval=Interval(
            max(0.0, total - reach), min(e.bins.largest_gap, total + reach), level, "half-normal"
        ),
        centred_gap=e.spread_out(e.bins.sign * (e.observed - e.expected)),
        bins=e.noise(e.observed, e.expected, e.null.variation, e.sd, level),
    )


def net_gap(evidence: Evidence, level: float) -> Estimate:
    """Σ w·Δ, positive if over-confident."""
    e, w, sign = evidence, evidence.bins.weight, evidence.bins.sign
    null = sign * ((e.null.variation - e.predicted) @ w)
    value = sign * float(w @ (e.observed - e.predicted))
    floor = sign * float(w @ (e.expected - e.predicted))
    debiased = sign * float(w @ (e.observed + e.bias.by_bin - e.predicted))
    reach, most = normal_quantile(level) * e.net_sd, e.bins.largest_gap
    return Estimate(
        value=value,
        noise_floor=floor,
        p_value=p_value(np.abs(null), abs(value)),
        centred_p_value=p_value(np.abs(null - floor), abs(value - floor)),
        debiased=debiased,
        interval=Interval(max(-most, debiased - reach), min(most, debiased + reach), level, "normal"),
        centred_gap=e.spread_out(sign * (e.observed - e.expected)),
        bins=e.noise(e.observed, e.expected, e.null.variation, e.sd, level),
    )


def ranked_error(evidence: Evidence, distance: str, level: float) -> Estimate:
    """RCE by total variation ("tv") or Wasserstein distance over ranks ("w1").

    Both are sums of |differences| over bins and ranks, each with its own noise, so that the value is freed of noise as
    VCE is.
    """
    e, w = evidence, evidence.bins.weight
    apart = e.bins.observed - e.bins.predicted
    if distance == "tv":
        gaps, noise, share = apart, e.null.tv_noise, 0.5
        null, around = e.null.tv, e.around.tv
    else:
        gaps, noise = np.cumsum(apart, axis=1)[:, :-1], e.null.w1_noise
        share = 1 / (e.bins.n_classes - 1)
        null, around = e.null.w1, e.around.w1
    observed = np.abs(gaps).sum(axis=1) * share
    expected = null.mean(axis=0)
    value = float(w @ observed)
    # As normal noise that has the same mean size.
    sd = noise * math.sqrt(math.pi / 2)
    weights = np.broadcast_to((w * share)[:, None], gaps.shape)
    reach = max(float(np.quantile(draws @ w, level)) for draws in (null, around))
    return Estimate(
        value=value,
        noise_floor=float((null @ w).mean()),
        p_value=p_value(null @ w, value),
        centred_p_value=p_value(np.abs(null - expected) @ w, float(w @ np.abs(observed - expected))),
        debiased=debiased_total(weights.ravel(), gaps.ravel(), sd.ravel(), value),
        interval=Interval(max(0.0, value - reach), min(1.0, value + reach), level, "triangle"),
        centred_gap=e.spread_out(observed - expected),
        bins=e.noise(observed, expected, null, null.std(axis=0), level),
    )


def uncertainty_reference(evidence: Evidence, table: CalibrationTable) -> Reference:
    """UCE beside what a calibrated model with these predictions would get."""
    e, w = evidence, evidence.bins.weight
    uncertainty = table.mean_variation[e.bins.index]
    null = np.abs(1 - e.null.first - uncertainty) @ w
    value = float(w @ np.abs(1 - e.bins.observed[:, 0] - uncertainty))
    calibrated = float(null.mean())
    return Reference(value, calibrated, p_value(np.abs(null - calibrated), abs(value - calibrated)))


def log_score_test(table: CalibrationTable, evidence: Evidence) -> ZTest:
    """Z = Σ(ln p_y + H)/√ΣVE, standard normal if the model is calibrated; it needs no bins.

    Of clustered rows the variance is larger, by about as much as that of their ranks is.
    """
    if table.impossible_rows:
        return ZTest(-math.inf, 0.0, f"the true class had probability 0 in {table.impossible_rows} rows")
    variance = table.log_score_variance
    if table.spec.weighted:  # Σw²·VE is not kept; this is it if weights do not go with the varentropy
        variance *= float(table.weight_square_sum.sum() / table.count.sum())
    if not evidence.independent:
        variance *= float(
            evidence.bins.weight @ (table.effective_count[evidence.bins.index] / evidence.bins.count)
        )
    if variance <= 0:
        return ZTest(
            math.nan, math.nan, "every prediction is certain or uniform, so that its log-score cannot vary"
        )
    z = table.log_score_sum / math.sqrt(variance)
    return ZTest(z, math.erfc(abs(z) / math.sqrt(2)))

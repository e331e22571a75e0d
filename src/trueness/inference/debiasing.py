"""The value of a calibration error with unlimited data.

V of the frequencies of few rows is biased: entropy is too low, the more so the more classes there
are. The bias is that of q_β ∝ q̄^β, the predictions at the temperature 1/β which makes the observed
ranks most likely, since most models err in this direction; a bias at the predictions themselves
would be wrong by more than the error to be measured with 100 classes and 30 rows in a bin. What is
left, Σ w|g|, is too large because noise does not cancel in it: `debiased_total` solves for gaps
that would give as much on average (indirect inference, Gourieroux et al. 1993).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from trueness.exact_sums import FloatArray, IntArray
from trueness.inference.distributions import erf, normal_quantile
from trueness.inference.noise import (
    RankDraws,
    Streams,
    bounded_logs,
    draw_variation,
    effective_counts,
)
from trueness.inference.sample import Sample

_ROOT_2_OVER_PI = math.sqrt(2 / math.pi)
_WITHOUT_NOISE = 1e9  # the size of a gap without noise, in standard deviations
_MOST_BETA, _MOST_STEPS = 2.0**10, 100

# Mean, variance and third central moment of |Z|.
_HALF_NORMAL = (_ROOT_2_OVER_PI, 1 - 2 / math.pi, _ROOT_2_OVER_PI * (4 / math.pi - 1))


class VariationGaps(NamedTuple):
    """The gaps of the filled bins with bias and noise, (F,) each."""

    weight: FloatArray  # share of all rows
    observed: FloatArray  # 𝒪_m = V(r̄_m)
    predicted: FloatArray  # 𝒫_m = V(q̄_m)
    null: FloatArray  # 𝒪_m in draws of a calibrated model, (R, F)
    bias: FloatArray  # 𝒱(q_β) - E[𝒱(r̄*)] for r̄* from q_β: how far 𝒪_m is too low
    bias_error: float  # of the mean of `bias`: half its change over β ± one standard error
    beta: float  # the exponent that fits best: 1/β is the temperature to divide logits by
    sd: FloatArray  # σ_m of 𝒪_m: under q̄ or under (n·r̄ + q̄)/(n + 1), whichever is larger
    is_noiseless: bool  # with one row a bin entropy is 0 whatever happens

    @property
    def gap(self) -> FloatArray:
        """g_m = 𝒪_m + bias_m - 𝒫_m."""
        return self.observed + self.bias - self.predicted


def variation_gaps(sample: Sample, draws: RankDraws, streams: Streams) -> VariationGaps:
    """The gaps of a sample, from the draws of a calibrated model and as many of what was seen."""
    total, measure, strata = sample.ranks.rows.sum(axis=0), sample.variation, sample.strata
    counts = [effective_counts(each, sample.design.effect) for each in strata]
    ranks = [(n, each.predicted, each.observed) for n, each in zip(counts, strata, strict=True)]
    beta, error = most_likely_beta(ranks)
    variance, biases = np.zeros(len(total)), np.zeros((3, len(total)))
    for s, (stratum, (n, q, r)) in enumerate(zip(strata, ranks, strict=True)):
        at, share = stratum.bins, stratum.share
        for k, power in enumerate((beta, beta - error, beta + error)):
            if not measure.linear:
                tilted = at_power(bounded_logs(q, n), power)
                mean = measure.expectation_for(n, tilted)
                if mean is None:
                    mean = draw_variation(sample, s, tilted, draws.size, streams, "bias").mean(0)
                biases[k, at] += share * (measure.of(tilted) - mean)
        seen = n[:, None] * r + q
        seen /= seen.sum(axis=1, keepdims=True)
        drawn = draw_variation(sample, s, seen, draws.size, streams, "observed ranks")
        variance[at] += share**2 * drawn.var(axis=0)
    filled, wider = total > 0, math.sqrt(sample.variation_effect() / sample.design.effect)
    weight, null = total[filled] / total.sum(), draws.variation[:, filled]
    observed = sample.ranks.variation(sample.ranks.observed, measure)
    predicted = sample.ranks.variation(sample.ranks.predicted, measure)
    uncertain = any(bool((each.predicted[:, 0] < 1).any()) for each in strata)
    return VariationGaps(
        weight=weight,
        observed=observed[filled],
        predicted=predicted[filled],
        null=null,
        bias=biases[0, filled],
        bias_error=float(abs(weight @ (biases[2] - biases[1])[filled])) / 2,
        beta=beta,
        sd=wider * np.sqrt(np.maximum(null.var(axis=0), variance[filled])),
        is_noiseless=uncertain and not null.var(axis=0).any(),
    )


def at_power(logs: FloatArray, beta: float) -> FloatArray:
    """q_β ∝ q̄^β from ln q̄, (F, C)."""
    powers = beta * logs
    powers = np.exp(powers - powers.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def most_likely_beta(strata: list[tuple[IntArray, FloatArray, FloatArray]]) -> tuple[float, float]:
    """The β that maximises Σ n Σ_c r̄_c·ln q_β,c, and its standard error, from n, q̄ and r̄.

    The likelihood of an exponential family: at its maximum the mean of ln q̄ is the observed one,
    and its variance is the information. β is below 0 if ranks were observed in reverse order; its
    error is 0 if all predictions are uniform or one-hot, where it has no effect.
    """
    logs = [bounded_logs(q, n) for n, q, _ in strata]

    def excess(beta: float) -> tuple[float, float]:
        """How far the mean of ln q̄ exceeds the observed one, and the information, its slope."""
        total = information = 0.0
        for (n, _, r), own in zip(strata, logs, strict=True):
            p = at_power(own, beta)
            mean = (p * own).sum(axis=1)
            total += float(n @ (mean - (r * own).sum(axis=1)))
            information += float(n @ ((p * own**2).sum(axis=1) - mean**2))
        return total, information

    low, high, beta = -_MOST_BETA, _MOST_BETA, 1.0  # most models are nearly calibrated
    for _ in range(_MOST_STEPS):
        above, information = excess(beta)
        low, high = (beta, high) if above < 0 else (low, beta)
        newton = beta - above / information if information > 0 else math.inf
        following = newton if low < newton < high else (low + high) / 2
        done, beta = abs(following - beta) <= 1e-14 * max(1.0, abs(beta)), following
        if done or not above:
            break
    return beta, 1 / math.sqrt(information) if information > 1e-9 else 0.0


def debiased_total(weight: FloatArray, gap: FloatArray, sd: FloatArray) -> FloatArray:
    """t·T, T = Σ w|g| over the last axis and t such that gaps t·g with noise give T on average.

    Solves Σ w·FN(t·g, σ) = T for t in [0, 1], with the mean of a folded normal distribution
    FN(μ, σ) = E|N(μ, σ²)| = σ√(2/π)·exp(-μ²/2σ²) + μ·(1 - 2Φ(-μ/σ)), μ ≥ 0; 0 where noise alone
    explains T. The left side is convex in t and at least T at t = 1, from where Newton's method
    therefore never overshoots.
    """
    size, noise = np.abs(gap), weight * (sd * _ROOT_2_OVER_PI)
    weighted = weight * size
    total = weighted.sum(axis=-1)
    above = noise.sum(axis=-1) < total
    none = np.full_like(size, _WITHOUT_NOISE)
    scaled = np.divide(size, sd * math.sqrt(2), out=none, where=sd > size / _WITHOUT_NOISE)
    t = above.astype(np.float64)
    for _ in range(_MOST_STEPS):
        x = scaled * t[..., None]
        slope = (weighted * erf(x)).sum(axis=-1)
        excess = (noise * np.exp(-(x**2))).sum(axis=-1) + t * slope - total
        step = np.divide(excess, slope, out=np.zeros(t.shape), where=above & (slope > 0))
        t = np.clip(t - step, 0.0, 1.0)
        if (np.abs(step) <= 1e-10 * t).all():
            break
    return np.asarray(t * total)


def half_normal_reach(scale: FloatArray, level: float) -> FloatArray:
    """The level-quantile of Σ s·|Z| over the last axis, for independent standard normal Z.

    By Cornish and Fisher's expansion with the skewness of the sum: for a single term exact to 1 %
    at levels up to .95 and 2.5 % too large at .99, for more terms closer.

    >>> half_normal_reach(np.array([[1.0], [2.0]]), 0.95).round(2).tolist()
    [1.96, 3.92]
    """
    mean, variance, third = (
        factor * (scale**power).sum(axis=-1) for power, factor in enumerate(_HALF_NORMAL, start=1)
    )
    sd = np.sqrt(variance)
    skewness = np.divide(third, sd**3, out=np.zeros(sd.shape), where=sd > 0)
    z = normal_quantile(2 * level - 1)
    return np.asarray(mean + sd * (z + skewness * (z**2 - 1) / 6))

"""Normal noise: quantiles, and sums of absolute values, as an L1 error over bins is."""

from __future__ import annotations

import math

import numpy as np

from trueness._arrays import FloatArray

_ROOT_2_OVER_PI = math.sqrt(2 / math.pi)
_erf = np.frompyfunc(math.erf, 1, 1)
_erfc = np.frompyfunc(math.erfc, 1, 1)

_FAR = 40.0
"""Standard deviations; larger distances make no difference."""

_MOST_STEPS = 60
_SMALL_STEP = 1e-10  # of t; above the rounding of the sums

QUANTILE_DRAWS = 9999


def folded_mean(mean: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """FN(μ, σ) = E|N(μ, σ²)| = σ√(2/π)·exp(-μ²/2σ²) + μ·(1 - 2Φ(-μ/σ)), and its derivative, 1 - 2Φ(-μ/σ); μ ≥ 0."""
    scaled = np.minimum(np.divide(mean, sd, out=np.full(mean.shape, _FAR), where=sd > 0), _FAR)
    within = _erf(scaled / math.sqrt(2)).astype(np.float64)
    return sd * _ROOT_2_OVER_PI * np.exp(-0.5 * scaled**2) + mean * within, within


def debiased_total(weight: FloatArray, gap: FloatArray, sd: FloatArray) -> FloatArray:
    """t·T, with T = Σ w|g| over the last axis and t in [0, 1] such that gaps t·g with noise would give T on average.

    Solves Σ w·FN(t·g, σ) = T (indirect inference); 0 where noise alone explains T. The left side is convex in t and at
    t = 1 no smaller than T, so that Newton's method from there approaches the root from above.
    """
    size = np.abs(gap)
    total = (weight * size).sum(axis=-1)
    above_noise = (weight * sd).sum(axis=-1) * _ROOT_2_OVER_PI < total
    t = np.where(above_noise, 1.0, 0.0)
    for _ in range(_MOST_STEPS):
        seen, within = folded_mean(t[..., None] * size, sd)
        slope = (weight * size * within).sum(axis=-1)
        excess = (weight * seen).sum(axis=-1) - total
        step = np.divide(excess, slope, out=np.zeros(t.shape), where=above_noise & (slope > 0))
        t = np.maximum(t - step, 0.0)
        if np.abs(step).max() < _SMALL_STEP:
            break
    return np.asarray(t * total)


def half_normal_quantile(scale: FloatArray, level: float, seed: list[int]) -> float:
    """The level-quantile of Σ s_m·|Z_m| for independent standard normal Z_m, by seeded draws."""
    stream, totals = np.random.default_rng(seed), np.zeros(QUANTILE_DRAWS)
    for s in scale:
        totals += s * np.abs(stream.standard_normal(QUANTILE_DRAWS))
    return float(np.quantile(totals, level))


def normal_quantile(level: float) -> float:
    """z with P(|Z| ≤ z) = level for a standard normal Z."""
    from statistics import NormalDist  # late, because it is slow to import

    return NormalDist().inv_cdf((1 + level) / 2)


def normal_density(z: FloatArray) -> FloatArray:
    """φ(z) of the standard normal distribution."""
    return np.asarray(np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi))


def normal_upper_tail(z: FloatArray) -> FloatArray:
    """P(Z ≥ z) = erfc(z/√2)/2 for a standard normal Z, accurate in relative terms also far in the tail.

    >>> normal_upper_tail(np.array([0.0, 10.0])).tolist()
    [0.5, 7.61985302416...e-24]
    """
    return np.asarray(0.5 * _erfc(np.asarray(z) / math.sqrt(2)), dtype=np.float64)

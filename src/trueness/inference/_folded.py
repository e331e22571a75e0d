"""Sums of absolute values of normal variates: what an L1 error over bins is, given its true gaps."""

from __future__ import annotations

import math

import numpy as np

from trueness._sums import FloatArray

_ROOT_2_OVER_PI = math.sqrt(2 / math.pi)
_erf = np.frompyfunc(math.erf, 1, 1)

QUANTILE_DRAWS = 9999


def folded_mean(mean: FloatArray, sd: FloatArray) -> FloatArray:
    """FN(μ, σ) = E|N(μ, σ²)| = σ√(2/π)·exp(-μ²/2σ²) + μ·(1 - 2Φ(-μ/σ))."""
    mean = np.abs(mean)
    scaled = np.divide(mean, sd, out=np.full(mean.shape, np.inf), where=sd > 0)
    bell = np.exp(-0.5 * np.minimum(scaled, 1e3) ** 2)
    inside = _erf(np.minimum(scaled, 1e3) / math.sqrt(2)).astype(np.float64)
    return np.asarray(sd * _ROOT_2_OVER_PI * bell + mean * inside)


def debiased_total(weight: FloatArray, gap: FloatArray, sd: FloatArray, total: float) -> float:
    """t·T with t in [0, 1] such that gaps t·g, seen through noise, would on average add up to the T observed.

    Solves Σ w·FN(t·g, σ) = T (indirect inference): 0 where noise alone explains T.
    """
    if float(weight @ sd) * _ROOT_2_OVER_PI >= total:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if float(weight @ folded_mean(middle * gap, sd)) < total:
            low = middle
        else:
            high = middle
        if high - low < 1e-12:
            break
    return (low + high) / 2 * total


def half_normal_quantile(scale: FloatArray, level: float, seed: list[int]) -> float:
    """The level-quantile of Σ s_m·|Z_m| for independent standard normal Z_m, by seeded draws."""
    stream, totals = np.random.default_rng(seed), np.zeros(QUANTILE_DRAWS)
    for s in scale:
        totals += s * np.abs(stream.standard_normal(QUANTILE_DRAWS))
    return float(np.quantile(totals, level))


def normal_quantile(level: float) -> float:
    """z with P(|Z| ≤ z) = level."""
    from statistics import NormalDist  # here, because it is slow to import

    return NormalDist().inv_cdf((1 + level) / 2)

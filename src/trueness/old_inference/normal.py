"""Normal noise: quantiles, and sums of absolute values, as an L1 error over bins is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Literal

import numpy as np

from trueness._arrays import FloatArray

_ROOT_2_OVER_PI = math.sqrt(2 / math.pi)
_erfc = np.frompyfunc(math.erfc, 1, 1)

_FAR = 40.0
"""Standard deviations; larger distances make no difference."""

_WITHOUT_NOISE = 1e9
"""The size of a gap without noise, in standard deviations, so that the smallest share of it is far from 0 too."""

_STEPS_OF_ERF = 512
"""Values of erf between 0 and 1 from which others are interpolated."""

_LARGEST_OF_ERF = 6.0
"""From here on erf is 1 in float64."""

_MOST_STEPS = 60
_SMALL_ERROR = 1e-10
"""Of t. After a step s of Halley's method it is |(f₂/2f₁)² - f₃/6f₁|·s³ to leading order, with the k-th derivative f_k.

For a sum of folded means the ratios are at most those of a single gap of u = t·g/σ: f₂/f₁ = 2uφ(u)/(t·erf(u/√2)) ≤ 1/t
and |f₃/f₁| = 2u³φ(u)/(t²·erf(u/√2)) ≤ 1.03/t². So the error is less than s³/2t²."""

QUANTILE_DRAWS = 9999

KEPT_DRAWS = 20
"""Draws of so many bins are kept, 1.6 megabytes, for the streams of VCE, ECE and the class gap."""


@cache
def _pieces_of_erf() -> FloatArray:
    """Erf as a cubic of t in [0, 1) in each step from 0 on, (4, steps): the coefficients of 1, t, t² and t³."""
    x = np.arange(int(_LARGEST_OF_ERF * _STEPS_OF_ERF) + 2) / _STEPS_OF_ERF
    slope = 2 / math.sqrt(math.pi) * np.exp(-(x**2)) / _STEPS_OF_ERF
    value, first, last = np.array([math.erf(one) for one in x.tolist()]), slope[:-1], slope[1:]
    rise = value[1:] - value[:-1]
    return np.stack([value[:-1], first, 3 * rise - 2 * first - last, first + last - 2 * rise])


def erf(x: FloatArray) -> FloatArray:
    """The error function of x ≥ 0, to 1e-12: cubic between two values and their slopes.

    `math.erf` of one number after the other takes ten times as long.

    >>> erf(np.array([0.0, 1.0, 50.0])).round(9).tolist()
    [0.0, 0.842700793, 1.0]
    """
    order: Literal["C", "F"] = "F" if x.flags.fnc else "C"
    t = np.minimum(x, _LARGEST_OF_ERF).ravel(order)
    t *= _STEPS_OF_ERF
    step = t.astype(np.intp)
    t -= step
    *lower, cubic = _pieces_of_erf()
    found = cubic.take(step, mode="clip")
    for coefficient in reversed(lower):
        found *= t
        found += coefficient.take(step, mode="clip")
    return np.asarray(found.reshape(x.shape, order=order))


def folded_mean(mean: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """FN(μ, σ) = E|N(μ, σ²)| = σ√(2/π)·exp(-μ²/2σ²) + μ·(1 - 2Φ(-μ/σ)), and its derivative, 1 - 2Φ(-μ/σ); μ ≥ 0."""
    scaled = np.minimum(np.divide(mean, sd, out=np.full_like(mean, _FAR), where=sd > 0), _FAR)
    within = erf(scaled / math.sqrt(2))
    return sd * _ROOT_2_OVER_PI * np.exp(-0.5 * scaled**2) + mean * within, within


def debiased_total(weight: FloatArray, gap: FloatArray, sd: FloatArray) -> FloatArray:
    """t·T, with T = Σ w|g| over the last axis and t in [0, 1] such that gaps t·g with noise would give T on average.

    Solves Σ w·FN(t·g, σ) = T (indirect inference), to 1e-10; 0 where noise alone explains T. The left side is convex in
    t: Halley's method, which uses the curvature too, needs two or three steps. It starts at the solution for a single
    gap of the same size against noise as the sum has. Many sums are best in Fortran order, since arrays are added
    faster than the few numbers of each sum.
    """
    size, noise = np.abs(gap), weight * (sd * _ROOT_2_OVER_PI)
    weighted = weight * size
    total, floor = weighted.sum(axis=-1), noise.sum(axis=-1)
    above_noise = floor < total
    ratio = np.divide(total, floor / _ROOT_2_OVER_PI, out=np.full(total.shape, _FAR), where=floor > 0)
    t = np.where(above_noise, np.interp(ratio, *_folded_means()) / np.where(above_noise, ratio, 1.0), 0.0)
    scaled = np.divide(size, sd * math.sqrt(2), out=np.full_like(size, _WITHOUT_NOISE), where=sd > 0)
    scaled = np.minimum(scaled, _WITHOUT_NOISE)
    bend = weighted * scaled * (2 / math.sqrt(math.pi))
    for _ in range(_MOST_STEPS):
        x = scaled * t[..., None]
        density = np.exp(-(x**2))
        slope = (weighted * erf(x)).sum(axis=-1)
        excess = (noise * density).sum(axis=-1) + t * slope - total
        # Newton's step f/f' over 1 - f·f''/2f'², which is kept between 1/2 and 2.
        can_step = above_noise & (slope > 0)
        newton = np.divide(excess, slope, out=np.zeros(t.shape), where=can_step)
        bent = np.divide((bend * density).sum(axis=-1), slope, out=np.zeros(t.shape), where=can_step)
        step = newton / (1 - np.clip(newton * bent / 2, -1.0, 0.5))
        t = np.minimum(np.maximum(t - step, 0.0), 1.0)
        if (np.abs(step) ** 3 <= 2 * _SMALL_ERROR * t**2).all():
            break
    return np.asarray(t * total)


@cache
def _folded_means() -> tuple[FloatArray, FloatArray]:
    """FN(μ, 1), and μ from 0 to where both are the same."""
    mean = np.append(np.linspace(0.0, _LARGEST_OF_ERF, 200), _FAR)
    return folded_mean(mean, np.ones_like(mean))[0], mean


def half_normal_quantile(scale: FloatArray, level: float, seed: list[int]) -> float:
    """The level-quantile of Σ s_m·|Z_m| for independent standard normal Z_m, by seeded draws."""
    draws = _draws(seed, len(scale)) if len(scale) > KEPT_DRAWS else _kept_draws(tuple(seed), len(scale))
    totals = np.zeros(QUANTILE_DRAWS)
    for s, of_bin in zip(scale.tolist(), draws, strict=True):
        totals += s * of_bin
    return float(np.quantile(totals, level))


def _draws(seed: Sequence[int], n: int) -> Iterator[FloatArray]:
    """|Z_m| of n bins, one after the other."""
    stream = np.random.default_rng(seed)
    return (np.abs(stream.standard_normal(QUANTILE_DRAWS)) for _ in range(n))


@lru_cache(maxsize=8)
def _kept_draws(seed: tuple[int, ...], n: int) -> list[FloatArray]:
    """The same for few bins, in memory: all models that are compared have the same seed."""
    return list(_draws(seed, n))


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

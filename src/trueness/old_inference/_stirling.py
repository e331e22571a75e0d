"""Logarithms of factorials without the large terms that cancel in probabilities (Loader 2000)."""

from __future__ import annotations

import math

import numpy as np

from trueness._arrays import FloatArray

_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
"""Of ln Γ(a + 1) - [(a + ½) ln a - a + ½ ln 2π] = Σ c_j/a^(2j+1), whose error is below 1e-16 from a = 16 on."""


def stirling_error(a: float) -> float:
    """ln Γ(a + 1) less Stirling's formula (a + ½) ln a - a + ½ ln 2π, for a > 0."""
    if a < 16:
        return math.lgamma(a + 1) - (a + 0.5) * math.log(a) + a - 0.5 * math.log(2 * math.pi)
    return sum(c / a ** (2 * j + 1) for j, c in enumerate(_SERIES))


def deviance(a: float, mean: float) -> float:
    """a·ln(a/μ) + μ - a for a, μ > 0, by a series in v = (a - μ)/(a + μ) where the two are close.

    a·ln(a/μ) = 2a·artanh(v), and μ - a = -2av/(1 + v): the sum is (a - μ)·v + 2a·Σ_{j≥1} v^(2j+1)/(2j+1).
    """
    v = (a - mean) / (a + mean)
    if abs(v) > 0.1:
        return a * math.log(a / mean) + mean - a
    total, power, j = (a - mean) * v, 2 * a * v, 0
    while True:
        j += 1
        power *= v * v
        step = power / (2 * j + 1)
        if abs(step) <= 1e-17 * abs(total):
            return total
        total += step


_OF_SMALL = np.array([0.0, *map(stirling_error, range(1, 16))])


def stirling_errors(a: FloatArray) -> FloatArray:
    """`stirling_error` of whole numbers a ≥ 1.

    >>> bool(stirling_errors(np.array([3.0, 40.0]))[1] == stirling_error(40))
    True
    """
    large = np.maximum(a, 16.0)
    series = sum(c / large ** (2 * j + 1) for j, c in enumerate(_SERIES))
    return np.where(a < 16, _OF_SMALL.take(a.astype(np.intp), mode="clip"), series)

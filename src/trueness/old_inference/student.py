"""Student's t distribution with any number of degrees of freedom, without special functions of other libraries."""

from __future__ import annotations

import math
from functools import lru_cache

from trueness.old_inference.normal import normal_quantile

_MOST_TERMS = 10_000
_TINY = 1e-300
_MOST_STEPS = 1000


def student_tail(t: float, degrees: float) -> float:
    """P(|T| > t) for t ≥ 0: I_x(ν/2, 1/2) at x = ν/(ν + t²); normal if ν is infinite.

    >>> round(student_tail(2.776445, 4), 6), round(student_tail(1.959964, math.inf), 6)
    (0.05, 0.05)
    """
    if math.isinf(degrees):
        return math.erfc(t / math.sqrt(2))
    return incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5)


def student_quantile(level: float, degrees: float) -> float:
    """The t with P(|T| ≤ t) = level.

    >>> round(student_quantile(0.95, 4), 4), round(student_quantile(0.95, 1), 3)
    (2.7764, 12.706)
    """
    return normal_quantile(level) if math.isinf(degrees) else student_deviate(1 - level, degrees)


@lru_cache(maxsize=4096)
def student_deviate(tail: float, degrees: float) -> float:
    """The t with P(|T| > t) = tail, by Newton's method from 0: the tail is convex, so that no step goes too far.

    It is infinite where the density is too small for a float: beyond a t of 10¹⁵⁴ with one degree of freedom.
    """
    t = 0.0
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(math.pi * degrees)
    for _ in range(_MOST_STEPS):
        density = scale * (1 + t * t / degrees) ** (-(degrees + 1) / 2)
        if density == 0:
            return math.inf
        step = (student_tail(t, degrees) - tail) / (2 * density)
        t += step
        if abs(step) <= 1e-13 * max(t, 1.0):
            break
    return t


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction (DLMF 8.17.22).

    >>> round(incomplete_beta(0.5, 2, 3), 6)
    0.6875
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # where the fraction would converge slowly: DLMF 8.17.4
        return 1 - incomplete_beta(1 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    return front / a * _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """1/(1 + d₁/(1 + d₂/(1 + …))) by Lentz's method."""
    c, d = 1.0, 1 / _nonzero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d, c = 1 / _nonzero(1 + term * d), _nonzero(1 + term / c)
            value *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return value


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY

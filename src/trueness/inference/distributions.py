"""Quantiles and tails of the normal, Student's and the χ² distribution, and erf of arrays.

Written out because importing SciPy takes longer than a whole assessment.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from trueness.exact_sums import FloatArray

_STEPS, _LARGEST = 512, 6.0  # values of erf from 0 to 1, and from where on it is 1 in float64

_erfc = np.frompyfunc(math.erfc, 1, 1)


def erf(x: FloatArray) -> FloatArray:
    """The error function of x ≥ 0, to 1e-12: cubics between values with their slopes.

    `math.erf` of one number after the other takes ten times as long.

    >>> erf(np.array([0.0, 1.0, 50.0])).round(9).tolist()
    [0.0, 0.842700793, 1.0]
    """
    t = np.minimum(x, _LARGEST) * _STEPS
    step = t.astype(np.intp)
    t -= step
    constant, linear, square, cube = (each.take(step) for each in _cubics())
    return np.asarray(constant + t * (linear + t * (square + t * cube)))


@cache
def _cubics() -> FloatArray:
    """Erf in each step as a cubic of t in [0, 1): the coefficients of 1, t, t² and t³."""
    x = np.arange(int(_LARGEST * _STEPS) + 2) / _STEPS
    slope = 2 / math.sqrt(math.pi) * np.exp(-(x**2)) / _STEPS
    value, first, last = np.array([math.erf(each) for each in x.tolist()]), slope[:-1], slope[1:]
    rise = value[1:] - value[:-1]
    return np.stack([value[:-1], first, 3 * rise - 2 * first - last, first + last - 2 * rise])


@cache
def normal_quantile(level: float) -> float:
    """The z with P(|Z| ≤ z) = level for a standard normal Z.

    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    from statistics import NormalDist  # late, because it is slow to import

    return NormalDist().inv_cdf((1 + level) / 2)


def two_sided(z: FloatArray) -> FloatArray:
    """P(|Z| ≥ |z|) for a standard normal Z, accurate in relative terms also far in the tail."""
    return np.asarray(_erfc(np.abs(z) / math.sqrt(2)), dtype=np.float64)


def student_quantile(level: float, degrees: float) -> float:
    """The t with P(|T| ≤ t) = level, by Cornish and Fisher's expansion in 1/degrees.

    Abramowitz and Stegun 26.7.5: exact to .01 % at the level .95 and to .1 % at .99 from 9 on.

    >>> round(student_quantile(0.95, 9), 4), round(student_quantile(0.95, math.inf), 4)
    (2.2621, 1.96)
    """
    z = normal_quantile(level)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / degrees**k for k, term in enumerate(terms, 1))


def chi_square_tail(x: float, degrees: int) -> float:
    """P(X ≥ x) for X ~ χ² with a whole number of degrees of freedom, a finite sum.

    Q(x; d + 2) = Q(x; d) + (x/2)^(d/2)·exp(-x/2)/Γ(d/2 + 1) (Abramowitz and Stegun 26.4.4 and 5).

    >>> round(chi_square_tail(3.841459, 1), 6), round(chi_square_tail(18.307038, 10), 6)
    (0.05, 0.05)
    """
    half = max(x / 2, 1e-300)
    tail = math.erfc(math.sqrt(half)) if degrees % 2 else math.exp(-half)
    for d in range(2 - degrees % 2, degrees, 2):
        tail += math.exp(d / 2 * math.log(half) - half - math.lgamma(d / 2 + 1))
    return tail

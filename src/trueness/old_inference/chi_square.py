"""The upper tail of the χ² distribution, without special functions of other libraries."""

from __future__ import annotations

import math

from trueness.old_inference._stirling import deviance, stirling_error

_SMALL = 1e-17
"""Terms below this share of the sum do not change it."""

_MOST_TERMS = 10**6


def chi_square_tail(x: float, df: float) -> float:
    """P(X ≥ x) of the χ² distribution with df > 0 degrees of freedom: Q(df/2, x/2), to about 1e-13 of itself.

    NaN where x is NaN.

    >>> round(chi_square_tail(3.841458820694124, 1), 12), chi_square_tail(0.0, 3), chi_square_tail(math.inf, 3)
    (0.05, 1.0, 0.0)
    """
    if math.isnan(x) or x <= 0:
        return x if math.isnan(x) else 1.0
    if math.isinf(x):
        return 0.0
    a, y = df / 2, x / 2
    if y < a + 1:
        return 1.0 - _density_term(a, y) * _series(a, y)
    return _density_term(a, y) * a / _fraction(a, y)


def _density_term(a: float, y: float) -> float:
    """yᵃe⁻ʸ/Γ(a + 1) by Loader's saddle-point expansion, in which no large numbers cancel."""
    return math.exp(-stirling_error(a) - deviance(a, y)) / math.sqrt(2 * math.pi * a)


def _series(a: float, y: float) -> float:
    """Σ_{k≥0} yᵏ/((a + 1)…(a + k)): all terms are positive."""
    term = total = 1.0
    for k in range(1, _MOST_TERMS):
        term *= y / (a + k)
        total += term
        if term < _SMALL * total:
            break
    return total


def _fraction(a: float, y: float) -> float:
    """The continued fraction F with Γ(a, y) = yᵃe⁻ʸ/F, by the modified method of Lentz; y ≥ a + 1.

    F = y + 1 - a - 1·(1 - a)/(y + 3 - a - 2·(2 - a)/(y + 5 - a - …)).
    """
    b = y + 1 - a
    f = c = b
    d = 0.0
    for k in range(1, _MOST_TERMS):
        numerator = k * (a - k)
        b += 2
        d = 1 / (b + numerator * d)
        c = b + numerator / c
        f *= c * d
        if abs(c * d - 1) < 2**-53:
            break
    return f

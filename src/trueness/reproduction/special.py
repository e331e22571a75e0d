"""Two moments of a Dirichlet vector that have no simulation in them: E[H] in closed form, E[max] by quadrature.

SciPy would bring the digamma and the incomplete gamma function; NumPy and a page of series are enough here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from trueness._arrays import FloatArray

TINY = 1e-18
"""What lies beyond this in a tail does not change a float64."""


def mean_entropy(alpha: Sequence[float]) -> float:
    """E[H(p)] = [ψ(α₀ + 1) - Σ (α_c/α₀) ψ(α_c + 1)]/ln C for p ~ Dirichlet(α) (statistics.md §3).

    >>> round(mean_entropy([1, 1]), 12) == round(0.5 / math.log(2), 12)
    True
    """
    total = sum(alpha)
    inner = sum(value / total * digamma(value + 1) for value in alpha)
    return (digamma(total + 1) - inner) / math.log(len(alpha))


def mean_largest(alpha: Sequence[float]) -> float:
    """E[max p] = α₀⁻¹ ∫ (1 - Π F_Γ(α_c)(x)) dx for p ~ Dirichlet(α) (statistics.md §3).

    p is a vector of gamma variates over their sum, and the sum is independent of p with mean α₀: so the largest variate
    has the mean α₀·E[max p]. Integrated over ln x, in which the edge of the integrand is smooth for small α too.

    >>> round(mean_largest([1, 1, 1]), 12) == round((1 + 1 / 2 + 1 / 3) / 3, 12)
    True
    """
    low, high = _edge(alpha)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    ends = np.linspace(math.log(low), math.log(high), 129)
    half = np.diff(ends)[:, None] / 2
    x = np.exp(ends[:-1, None] + half * (nodes + 1)).ravel()
    integral = float(np.sum((half * weights).ravel() * x * _beyond(x, alpha)))
    return (low + integral) / sum(alpha)  # below `low` the integrand is 1


def _beyond(x: FloatArray, alpha: Sequence[float]) -> FloatArray:
    """P(the largest of the gamma variates is above x), with all its digits in the upper tail."""
    log_below = np.zeros_like(x)
    with np.errstate(divide="ignore"):
        for shape, times in Counter(alpha).items():
            upper = gamma_tail(shape, x)
            log_below += times * np.log1p(-upper)
    return -np.expm1(log_below)


def _edge(alpha: Sequence[float]) -> tuple[float, float]:
    """Below the first x the largest variate never lies, above the second it never does, both but for TINY."""
    x = np.exp(
        np.linspace(
            -60, math.log(max(alpha) + 50 * math.sqrt(max(alpha)) + 100 + 2 * math.log(len(alpha))), 2000
        )
    )
    beyond = _beyond(x, alpha)
    low, high = int(np.argmax(1 - beyond > TINY)), int(np.argmax(beyond < TINY))
    return float(x[max(low - 1, 0)]), float(x[high if beyond[high] < TINY else -1])


def digamma(x: float) -> float:
    """ψ(x) = d/dx ln Γ(x) for x > 0: upwards by ψ(x) = ψ(x + 1) - 1/x, then the asymptotic series.

    Abramowitz & Stegun 6.3.5 and 6.3.18; beyond x = 10 eight terms leave an error below 1e-15.

    >>> round(digamma(1.0), 12)  # minus Euler's constant
    -0.577215664902
    """
    shift = 0.0
    while x < 10:
        shift -= 1 / x
        x += 1
    square = 1 / (x * x)
    series = 0.0
    for coefficient in (-3617 / 8160, 1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12):
        series = (series + coefficient) * square
    return shift + math.log(x) - 0.5 / x - series


def gamma_tail(shape: float, x: FloatArray) -> FloatArray:
    """P(X > x) for X ~ Gamma(shape, 1): the regularised upper incomplete gamma function Q(shape, x), x ≥ 0.

    The series of Abramowitz & Stegun 6.5.29 below shape + 1, the continued fraction 6.5.31 above.
    """
    tail = np.empty_like(x)
    near = x < shape + 1
    tail[near] = 1 - _lower_series(shape, x[near])
    tail[~near] = _upper_fraction(shape, x[~near])
    return np.clip(tail, 0.0, 1.0)


def _kernel(shape: float, x: FloatArray) -> FloatArray:
    """xᵃ e⁻ˣ/Γ(a + 1), in logarithms until the end."""
    with np.errstate(divide="ignore"):
        return np.exp(shape * np.log(x) - x - math.lgamma(shape + 1))


def _lower_series(shape: float, x: FloatArray) -> FloatArray:
    """P(a, x) = xᵃe⁻ˣ/Γ(a + 1)·Σ_k xᵏ/((a + 1)…(a + k))."""
    term, total, k = np.ones_like(x), np.ones_like(x), 0
    while np.any(term > 1e-17 * total):
        k += 1
        term = term * x / (shape + k)
        total += term
    return _kernel(shape, x) * total


def _upper_fraction(shape: float, x: FloatArray) -> FloatArray:
    """Q(a, x) = xᵃe⁻ˣ/Γ(a)·1/(x + 1 - a - 1(1 - a)/(x + 3 - a - …)), by the modified method of Lentz."""
    b = x + 1 - shape
    front, back = np.full_like(x, 1e300), 1 / b
    value, k = back.copy(), 0
    change = np.full_like(x, 2.0)
    while np.any(np.abs(change - 1) > 1e-15):
        k += 1
        step = -k * (k - shape)
        b = b + 2
        back = 1 / _off_zero(step * back + b)
        front = _off_zero(b + step / front)
        change = front * back
        value *= change
        if k > 100_000:
            raise ArithmeticError(f"the incomplete gamma function of {shape:g} does not converge")
    return shape * _kernel(shape, x) * value


def _off_zero(value: FloatArray) -> FloatArray:
    return np.where(np.abs(value) < 1e-300, 1e-300, value)

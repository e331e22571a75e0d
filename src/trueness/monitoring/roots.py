"""Roots of many monotone functions at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from trueness._arrays import FloatArray

MOST_STEPS = 80
_ROUNDING = 2.0**-49
"""Of x, relative: eight times the rounding of a number."""


def bracketed_root(
    function: Callable[[FloatArray], FloatArray],
    low: FloatArray,
    high: FloatArray,
    values: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray:
    """x between low and high with function(x) = 0, of each element, to the last bits of x.

    The function acts on each element by itself and has opposite signs at the ends, where `values` are its
    values if they are known (Chandrupatla 1997: inverse quadratic interpolation where it can be trusted, bisection
    elsewhere).

    >>> bracketed_root(lambda x: x * x - np.array([2.0, 9.0]), np.zeros(2), np.full(2, 4.0)).round(12).tolist()
    [1.414213562373, 3.0]
    """
    a, b = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
    f_a, f_b = (function(a), function(b)) if values is None else values
    step = np.full(a.shape, 0.5)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(MOST_STEPS):
            x = a + step * (b - a)
            f_x = function(x)
            same = np.sign(f_x) == np.sign(f_a)
            c, f_c = np.where(same, a, b), np.where(same, f_a, f_b)
            b, f_b = np.where(same, b, a), np.where(same, f_b, f_a)
            a, f_a = x, f_x
            width = np.abs(b - a)
            best = np.where(np.abs(f_a) < np.abs(f_b), a, b)
            least = _ROUNDING * np.abs(best) + 1e-300
            if np.all((width <= 2 * least) | (f_a == 0) | (f_b == 0)):
                break
            step = _next_step((a, f_a), (b, f_b), (c, f_c), np.minimum(least / width, 0.5))
    return np.where(f_a == 0, a, np.where(f_b == 0, b, best))


_Point = tuple[FloatArray, FloatArray]


def _next_step(newest: _Point, other: _Point, oldest: _Point, least: FloatArray) -> FloatArray:
    """The next point as a share of the bracket: by inverse quadratic interpolation if it is safe, else the middle."""
    (a, f_a), (b, f_b), (c, f_c) = newest, other, oldest
    xi, phi = (a - b) / (c - b), (f_a - f_b) / (f_c - f_b)
    safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
    inverse = f_a / (f_a - f_b) * f_c / (f_c - f_b) - (c - a) / (b - a) * f_a / (f_c - f_a) * f_b / (
        f_b - f_c
    )
    step = np.where(safe & np.isfinite(inverse), inverse, 0.5)
    return np.clip(step, least, 1 - least)

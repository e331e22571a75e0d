"""Bands for the trend that hold at all looks at once (section 8)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from trueness._arrays import FloatArray
from trueness.monitoring.roots import bracketed_root
from trueness.monitoring.starts import log_sum
from trueness.old_inference.normal import normal_quantile

_TILTS = np.array([sign * 4 * 2.0**-i for sign in (1, -1) for i in range(12)])
"""λ of equation 8."""


def frequency_band(observed: FloatArray, n: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    """All m with Σ_λ (1/24)·exp(λR - N·ln(1 + m(e^λ - 1))) < 1/α (equation 8), of each R and N.

    >>> low, high = frequency_band(np.array([5.0]), np.array([10.0]), 0.05)
    >>> low.round(9).item(), high.round(9).item()
    (0.078404576, 0.921595424)
    """
    with np.errstate(invalid="ignore"):
        mean = np.where(n > 0, observed / np.where(n > 0, n, 1.0), 0.5)

    def excess(m: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            terms = _TILTS * observed[:, None] - n[:, None] * np.log1p(m[:, None] * np.expm1(_TILTS))
        return log_sum(terms - math.log(len(_TILTS))) + math.log(alpha)

    return _end(excess, mean, np.zeros(mean.shape)), _end(excess, mean, np.ones(mean.shape))


def _end(excess: Callable[[FloatArray], FloatArray], mean: FloatArray, end: FloatArray) -> FloatArray:
    """The root between the mean and an end of [0, 1]; that end if the value there is still below 1/α."""
    at_end, at_mean = np.minimum(excess(end), 1e300), excess(mean)
    inside = at_end > 0
    target = np.where(inside, 0.0, at_end)
    root = bracketed_root(
        lambda m: np.minimum(excess(m), 1e300) - target, mean, end, (at_mean - target, at_end - target)
    )
    return np.where(inside, root, end)


def wilson_interval(mean: FloatArray, n: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Wilson's interval of a frequency among n rows: an ordinary one, for one look at one time."""
    z = normal_quantile(level)
    rows = np.maximum(n, 1e-300)
    middle = (mean + z * z / (2 * rows)) / (1 + z * z / rows)
    reach = z / (1 + z * z / rows) * np.sqrt(mean * (1 - mean) / rows + z * z / (4 * rows**2))
    return np.clip(middle - reach, 0.0, 1.0), np.clip(middle + reach, 0.0, 1.0)


def running_factor(n: float, first: float, alpha: float) -> float:
    """√((1 + 1/x)(ln(1 + x) - 2 ln α)) with x = 8·N/N*, N* = 10 times the rows of the first look (equation 9)."""
    x = 8 * n / (10 * first)
    return math.sqrt((1 + 1 / x) * (math.log1p(x) - 2 * math.log(alpha)))

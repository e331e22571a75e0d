"""Cumulative differences of an event: the tests of Kolmogorov and Smirnov, and of Kuiper."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.draws import by_draws, few_cells
from trueness.old_inference.events.in_the_large import NO_ROWS
from trueness.old_inference.null import p_value

_BISECTIONS = 60

CERTAIN = "every probability is 0 or 1, so there is no noise to compare with"


@dataclass(frozen=True, slots=True)
class CumulativeTest:
    """The largest cumulative difference of an event, with its p-value."""

    value: float
    """max|F| for Kolmogorov and Smirnov, max F - min F for Kuiper; from 0 to 1."""
    standardised: float
    """The value in units of √Σp(1 - p)/N."""
    p_value: float
    """By draws."""
    law_p_value: float
    """By the law of Brownian motion, which the draws approach with many rows."""
    noise_floor: float
    """The mean value of the draws."""
    reason: str | None = None
    """Why there is no value."""


@dataclass(frozen=True, slots=True, eq=False)
class CumulativeDifferences:
    """F_j = Σ(Σy - Σp)/N over the cells up to j, and the two tests of it."""

    path: FloatArray
    """F after each cell, (F,); it begins at 0, and its last value is minus the gap in the large."""
    sd: float
    """The standard deviation of the last value if the event is calibrated."""
    ks: CumulativeTest
    kuiper: CumulativeTest


def cumulative_differences(
    cells: EventCells, seed: list[int], resamples: int, square: float | None = None
) -> CumulativeDifferences:
    """The path of cumulative differences in order of the probability, with its tests.

    `square` is Σp² of the rows, for the exact noise √(Σp - Σp²)/N of unweighted ones; without it the noise is that of
    the cells at their p̄. Equal probabilities lie in one cell, so that no order among ties matters. Draws are compared
    with the path on the same cells, at most 512, so that the p-values are valid whatever the grid.
    """
    if not len(cells.count):
        return CumulativeDifferences(np.empty(0), math.nan, _undefined(NO_ROWS), _undefined(NO_ROWS))
    variance = float(cells.variance.sum())
    if square is not None and not cells.weighted:
        variance = max(float(cells.predicted.sum()) - square, 0.0)
    sd = math.sqrt(variance) / cells.total
    path = _path(cells, cells.mean_observed[None])
    few = few_cells(cells)
    compared = _sizes(_path(few, few.mean_observed[None]))[0]
    null = by_draws(few, seed, resamples, lambda y: _sizes(_path(few, y)))
    largest, span = _sizes(path)[0].tolist()
    return CumulativeDifferences(
        path=path[0],
        sd=sd,
        ks=_test(largest, sd, (null[:, 0], float(compared[0])), largest_tail),
        kuiper=_test(span, sd, (null[:, 1], float(compared[1])), range_tail),
    )


def _path(cells: EventCells, frequency: FloatArray) -> FloatArray:
    """F of each row of observed frequencies, (R, F)."""
    return np.asarray(np.cumsum(cells.count * (frequency - cells.mean_predicted), axis=1) / cells.total)


def _sizes(path: FloatArray) -> FloatArray:
    """max|F| and max F - min F of each path, with F = 0 before the first cell, (R, 2)."""
    high, low = np.maximum(path.max(axis=1), 0.0), np.minimum(path.min(axis=1), 0.0)
    return np.stack([np.maximum(high, -low), high - low], axis=-1)


def _test(
    value: float, sd: float, drawn: tuple[FloatArray, float], law: Callable[[float], float]
) -> CumulativeTest:
    """The test of one size of the path: the draws, and the value that is compared with them."""
    if sd <= 0:
        return _undefined(CERTAIN, value)
    null, compared = drawn
    return CumulativeTest(value, value / sd, p_value(null, compared), law(value / sd), float(null.mean()))


def _undefined(reason: str, value: float = math.nan) -> CumulativeTest:
    return CumulativeTest(value, math.nan, math.nan, math.nan, math.nan, reason)


def largest_tail(x: float) -> float:
    """P(sup|B| ≥ x) for Brownian motion B on [0, 1].

    1 - (4/π)·Σ_{k≥0} (-1)ᵏ/(2k + 1)·exp(-(2k + 1)²π²/8x²); above 1 the equal 4·Σ_{k≥0} (-1)ᵏ·(1 - Φ((2k + 1)x)), which
    keeps its digits in the tail.
    """
    if x <= 0:
        return 1.0
    if x > 1:
        return 4 * math.fsum((-1) ** k * _upper((2 * k + 1) * x) for k in range(5))
    odd = range(1, 2 * _terms(x) + 2, 2)
    total = math.fsum((-1) ** (m // 2) / m * math.exp(-((m * math.pi / x) ** 2) / 8) for m in odd)
    return 1 - 4 / math.pi * total


def largest_quantile(level: float) -> float:
    """x with P(sup|B| ≤ x) = level: the band that a calibrated path stays within, in units of its last noise.

    >>> round(largest_quantile(0.95), 4)
    2.2414
    """
    low, high = 0.0, 20.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if largest_tail(middle) > 1 - level else (low, middle)
    return (low + high) / 2


def range_tail(x: float) -> float:
    """P(max B - min B ≥ x) for Brownian motion B on [0, 1] (Feller 1951).

    1 - Σ_{k≥0} (8/x² + 2/((k + ½)²π²))·exp(-2(k + ½)²π²/x²); above 1 the equal 8·Σ_{k≥1} (-1)ᵏ⁻¹·k·(1 - Φ(k·x)).
    """
    if x <= 0:
        return 1.0
    if x > 1:
        return 8 * math.fsum((-1) ** (k - 1) * k * _upper(k * x) for k in range(1, 12))
    squares = (((k + 0.5) * math.pi) ** 2 for k in range(_terms(x)))
    return 1 - math.fsum((8 / x**2 + 2 / square) * math.exp(-2 * square / x**2) for square in squares)


def _terms(x: float) -> int:
    """Terms after which exp(-k²π²/x²) is 0 to rounding; x ≤ 1."""
    return 6 if x > 0.1 else 2


def _upper(z: float) -> float:
    """1 - Φ(z)."""
    return 0.5 * math.erfc(z / math.sqrt(2))

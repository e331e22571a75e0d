"""The spread of an event: whether its log-odds are too extreme or too timid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.events._batch import CellBatch, where_cells
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.in_the_large import NO_ROWS
from trueness.old_inference.events.tilt import clipped, log_odds, solve_tilt
from trueness.old_inference.normal import normal_upper_tail

ALIKE = "all predictions of this event are alike"

_LEAST_SPREAD = 1e-9
"""Standard deviations of the log-odds below this are rounding."""


@dataclass(frozen=True, slots=True)
class SpreadTest:
    """The test of the slope of a logistic recalibration against 1, free of the gap in the large."""

    statistic: float
    """S = Σ(Σy - n·p̄)·d, with d the log-odds of a cell less their mean weighted by n·p̄(1 - p̄)."""
    score: float
    """S/√Σv·d²; its tails are lighter than normal, so that it is not what the p-value is from."""
    signed_root: float
    """w, the signed root of the likelihood ratio: below 0 too extreme, above 0 too timid."""
    slope: float
    """1 + S/Σv·d²: the slope of a logistic recalibration by one step, below 1 if too extreme."""
    p_value: float
    """Two-sided, of w by the normal distribution."""
    reason: str | None = None
    """Why there are no values."""

    @property
    def value(self) -> float:
        """w, as `signed_root`."""
        return self.signed_root


def spread_test(cells: EventCells) -> SpreadTest:
    """The test of the spread of one event.

    >>> n, y = np.array([10.0, 10.0]), np.array([3.0, 7.0])
    >>> test = spread_test(EventCells(n, np.array([1.0, 9.0]), y, n))
    >>> round(test.signed_root, 3), round(test.slope, 3)
    (-2.479, -0.011)
    """
    return spread_tests([cells])[0]


def spread_tests(events: Sequence[EventCells]) -> list[SpreadTest]:
    """`spread_test` of each event, at once."""
    found = [_undefined(NO_ROWS)] * len(events)
    some = where_cells(events)
    tests = _spread_tests(CellBatch.of([events[k] for k in some])) if some else []
    for k, test in zip(some, tests, strict=True):
        found[k] = test
    return found


def _spread_tests(batch: CellBatch) -> list[SpreadTest]:
    """The tests of events with rows.

    A weighted cell is (Σw²/Σw)·Binomial((Σw)²/Σw², p̄), whose variance is Σw²·p̄(1 - p̄).
    """
    p = clipped(batch.mean_predicted)
    x, v = log_odds(p), batch.weight_square * p * (1 - p)
    centre = batch.total(v * x) / batch.total(v)
    d = x - centre[batch.owner]
    statistic = batch.total((batch.observed - batch.count * p) * d)
    variance = batch.total(v * d**2)
    alike = variance <= _LEAST_SPREAD**2 * batch.total(v)
    root = np.sqrt(np.where(alike, 1.0, variance))
    w = _signed_root(batch, p, d)
    slope = 1 + statistic / np.where(alike, 1.0, batch.total(batch.count * p * (1 - p) * d**2))
    columns = np.stack([statistic, statistic / root, w, slope, 2 * normal_upper_tail(np.abs(w))]).T.tolist()
    return [
        _undefined(ALIKE) if none else SpreadTest(*row)
        for row, none in zip(columns, alike.tolist(), strict=True)
    ]


def _signed_root(batch: CellBatch, p: FloatArray, d: FloatArray) -> FloatArray:
    """w = sign(t)·√(2(t·S - K(t))) with K′(t) = S, K(t) = Σ n[ln(1 - p̄ + p̄e^{td}) - t·p̄d], (K,).

    t·S - K(t) is written as the log-likelihood ratio Σ[Σy·ln(p_t/p̄) + (n - Σy)·ln((1 - p_t)/(1 - p̄))], in which no
    large numbers cancel, also for separated outcomes, where t is infinite.
    """
    unit = batch.weight_square / batch.count
    n, y, step = batch.count / unit, batch.observed / unit, unit * d
    t = solve_tilt(log_odds(p), step, n, batch.total(y * step), batch.starts)
    moved, log_p, log_rest = t[batch.owner] * step, np.log(p), np.log1p(-p)
    hit = -np.logaddexp(log_p, log_rest - moved)
    miss = -np.logaddexp(log_rest, log_p + moved)
    ratio = batch.total(y * hit + (n - y) * miss)
    return np.asarray(np.sign(t) * np.sqrt(np.maximum(2 * ratio, 0.0)))


def _undefined(reason: str) -> SpreadTest:
    return SpreadTest(math.nan, math.nan, math.nan, math.nan, math.nan, reason)

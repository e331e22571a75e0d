"""The best temperature from sums at a few knots: the log loss as calibration and refinement."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray
from trueness._printing import p_sentence
from trueness.old_inference.chi_square import chi_square_tail
from trueness.old_table import CalibrationTable, require_table
from trueness.refusals import InvalidValueError

KNOTS = 2.0 ** (np.arange(-8, 9) / 4)
"""The exponents at which the loss is summed, (17,)."""

_ONE = 8
"""The knot a = 1: the predictions as they are."""

_WIDTH = math.log(2) / 4
"""Between two knots, in ln a."""

_BISECTIONS = 60

OUTSIDE = "the best exponent is not between 0.25 and 4; the nearer end is given"


@dataclass(frozen=True, slots=True)
class TemperatureFit:
    """The exponent a for which pᵃ, divided by its sum, fits the labels best: one over the temperature.

    It is fitted on the rows that it is read on; `log_loss_at` of another profile is free of that.
    """

    exponent: float
    """Below 1 if the predictions are over-confident."""
    standard_error: float
    """Of the exponent, if the predictions at it are calibrated; NaN at an end."""
    log_loss: float
    """Of the predictions as they are: calibration + refinement."""
    calibration: float
    """(L(1) - min L)/N: what the best temperature would gain, at least 0. In-sample."""
    refinement: float
    """min L/N: the log loss at the best temperature."""
    noise_floor: float
    """The mean calibration part of a calibrated model: 1/(2N), as twice the gain is χ² with one degree of freedom."""
    p_value: float
    """Of the likelihood ratio 2(L(1) - min L) by χ² with one degree of freedom."""
    reason: str | None = None
    """What limits the fit."""

    @property
    def temperature(self) -> float:
        """1/a: above 1 if the predictions are over-confident."""
        return 1 / self.exponent

    @property
    def words(self) -> str:
        """What the numbers say, in one sentence."""
        beyond = "" if self.reason is None else " or more" if self.temperature > 1 else " or less"
        return (
            f"temperature {self.temperature:.3f}{beyond} is best; it lowers the log-loss {self.log_loss:.4f} by "
            f"{self.calibration:.4f} ({self.noise_floor:.2g} if calibrated, {p_sentence(self.p_value)})"
        )


def fit_temperature(sums: FloatArray, weight: float, weight_square: float) -> TemperatureFit:
    """The best exponent from L, L′ and L″ at the knots, (3, 17).

    Between two knots, L is the polynomial of degree five in ln a that has these values at both. It gives the best
    exponent to 1e-6 and the loss at it to 1e-8 of a row. (Cubics through L′ with the slopes L″ give 2e-4 and 7e-7.)
    """
    loss, slope, curvature = sums
    inside = slope[0] < 0 < slope[-1]
    exponent = _root(sums) if inside else float(KNOTS[0] if slope[0] >= 0 else KNOTS[-1])
    least = min(loss_at(sums, exponent), float(loss[_ONE]))
    gain, unit = float(loss[_ONE]) - least, weight_square / weight
    information = float(np.interp(exponent, KNOTS, curvature))
    error = math.sqrt(unit / information) if inside and information > 0 else math.nan
    return TemperatureFit(
        exponent=exponent,
        standard_error=error,
        log_loss=float(loss[_ONE]) / weight,
        calibration=gain / weight,
        refinement=least / weight,
        noise_floor=weight_square / (2 * weight**2),
        p_value=chi_square_tail(2 * gain / unit, 1),
        reason=None if inside else OUTSIDE,
    )


def loss_at(sums: FloatArray, exponent: float) -> float:
    """L at any exponent between the first knot and the last."""
    k = min(max(int(np.searchsorted(KNOTS, exponent, side="right")) - 1, 0), len(KNOTS) - 2)
    return float(np.polyval(_quintic(sums, k), (math.log(exponent) - math.log(KNOTS[k])) / _WIDTH))


def _quintic(sums: FloatArray, k: int) -> FloatArray:
    """The coefficients of L between two knots, highest first, in the share t of the way in ln a."""
    a = KNOTS[k : k + 2]
    loss, slope, curvature = sums[:, k : k + 2]
    # Derivatives by t: dL/d ln a = a·L′, and once more.
    y, d, c = loss, _WIDTH * a * slope, _WIDTH**2 * a * (a * curvature + slope)
    rise = y[1] - y[0] - d[0] - c[0] / 2
    turn = d[1] - d[0] - c[0]
    bend = c[1] - c[0]
    upper = (6 * rise - 3 * turn + bend / 2, -15 * rise + 7 * turn - bend, 10 * rise - 4 * turn + bend / 2)
    return np.array([*upper, c[0] / 2, d[0], y[0]])


def _root(sums: FloatArray) -> float:
    """The exponent at which the slope is 0, in the interval in which L′ changes its sign; by bisection."""
    k = int(np.searchsorted(sums[1], 0.0)) - 1
    slope = np.polyder(_quintic(sums, k))
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if np.polyval(slope, middle) < 0 else (low, middle)
    return float(KNOTS[k] * math.exp(_WIDTH * (low + high) / 2))


def temperature_step(table: CalibrationTable) -> float:
    """One Newton step towards the best exponent, a ≈ 1 + Σ(ln p_y + H)/ΣVE, from a table alone.

    Good for |a - 1| ≤ 0.1 only: where the best exponent is .853 it gives .835, where it is .588 it gives .351. Rows
    whose true class had probability 0 are left out. NaN if no prediction varies.
    """
    require_table("table", table)
    if not table.n_rows:
        raise InvalidValueError("no-rows", "a table without rows has no temperature", argument="table")
    variance = table.log_score_variance
    return 1 + table.log_score_sum / variance if variance > 0 else math.nan

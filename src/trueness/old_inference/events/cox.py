"""Cox's recalibration: the intercept and the slope of a logistic regression on the log-odds of the predictions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.chi_square import chi_square_tail
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.in_the_large import NO_ROWS
from trueness.old_inference.events.logistic import LogisticRegression, information
from trueness.old_inference.events.tilt import CLIP, clipped, log_odds, probability, solve_tilt
from trueness.old_inference.normal import normal_quantile
from trueness.old_inference.results import Interval

ALWAYS, NEVER = "the event was observed in every row", "the event was never observed"
SEPARATED = (
    "separation: one probability divides the rows with the event from those without, so the slope is infinite"
)
REVERSED = "separation: one probability divides the rows without the event from those with it, so the slope is infinite"
ONE_PROBABILITY = "all predictions have one probability, so there is no slope"
FLAT = "the predictions differ too little for a slope"

MOST_CERTAIN = 0.01
"""A larger share of rows at the clip is worth a warning."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of a logistic regression with its Wald interval; where it is NaN, `reason` says why."""

    value: float
    standard_error: float
    interval: Interval
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class CoxFit:
    """y ~ a + b·ln(p/(1 - p)): (0, 1) if calibrated; b < 1 if the predictions are too extreme."""

    intercept: Coefficient
    """a."""
    slope: Coefficient
    """b."""
    statistic: float
    """2[ℓ(a, b) - ℓ(0, 1)], the joint likelihood ratio."""
    p_value: float
    """Of both coefficients together, by χ² with two degrees of freedom."""
    intercept_at_slope_1: Coefficient
    """The intercept if the slope is 1: the shift of all log-odds that makes expected and observed number equal."""
    certain_rows: float
    """The share of the rows whose probability is within 2⁻³⁰ of 0 or 1, where it is clipped."""
    reason: str | None = None
    """Why there are no coefficients."""

    @property
    def depends_on_the_clip(self) -> bool:
        """Whether so many rows are certain that the slope depends on where their probabilities are clipped."""
        return self.certain_rows > MOST_CERTAIN


def cox_fit(cells: EventCells, level: float) -> CoxFit:
    """The regression over cells at their p̄, clipped to [2⁻³⁰, 1 - 2⁻³⁰], with Wald intervals of the level.

    Weighted rows: coefficients by weighted likelihood, standard errors from Σw², likelihood ratio divided by Σw²/Σw.
    """
    reason = _without_maximum(cells)
    if reason is not None:
        return _without_fit(cells, level, reason)
    x = log_odds(clipped(cells.mean_predicted))
    regression = LogisticRegression(x, cells.count, cells.observed[None])
    found = regression.fit()
    if not regression.has_converged(found)[0]:
        return _without_fit(cells, level, FLAT)
    unit = float(cells.weight_square.sum()) / cells.total
    statistic = max(2 * float(regression.gain(found)[0]) / unit, 0.0)
    errors = np.sqrt(np.diag(_covariance(cells, x, found[0])))
    intercept, slope = (
        _coefficient(value, error, level)
        for value, error in zip(found[0].tolist(), errors.tolist(), strict=True)
    )
    shift = intercept_at_slope_1(cells, level)
    return CoxFit(intercept, slope, statistic, chi_square_tail(statistic, 2), shift, _certain_rows(cells))


def _without_fit(cells: EventCells, level: float, reason: str) -> CoxFit:
    """NaN for both coefficients; the intercept at slope 1 may exist."""
    none, shift = _undefined(reason, level), intercept_at_slope_1(cells, level)
    return CoxFit(none, none, math.nan, math.nan, shift, _certain_rows(cells), reason)


def intercept_at_slope_1(cells: EventCells, level: float) -> Coefficient:
    """a with Σn/(1 + e^-(x + a)) = Σy, where x are the log-odds of the cells."""
    reason = _one_outcome(cells)
    if reason is not None:
        return _undefined(reason, level)
    x, ones = log_odds(clipped(cells.mean_predicted)), np.ones(len(cells.count))
    target = np.array([cells.observed.sum()])
    shift = float(solve_tilt(x, ones, cells.count, target, np.zeros(1, dtype=np.int64))[0])
    p = probability(x + shift)
    error = math.sqrt(float(cells.weight_square @ (p * (1 - p)))) / float(cells.count @ (p * (1 - p)))
    return _coefficient(shift, error, level)


def _covariance(cells: EventCells, x: FloatArray, at: FloatArray) -> FloatArray:
    """A⁻¹BA⁻¹ with A = Σw·p(1 - p)xxᵀ and B = Σw²·p(1 - p)xxᵀ; A⁻¹ without weights."""
    inverse = np.linalg.inv(information(x, cells.count, at))
    return np.asarray(inverse @ information(x, cells.weight_square, at) @ inverse)


def _one_outcome(cells: EventCells) -> str | None:
    """Why no intercept exists: there are no rows, or all have the same outcome."""
    if not len(cells.count):
        return NO_ROWS
    observed, slack = float(cells.observed.sum()), 1e-12 * cells.total
    return NEVER if observed <= slack else ALWAYS if observed >= cells.total - slack else None


def _without_maximum(cells: EventCells) -> str | None:
    """Why the likelihood has no maximum: rows with and without the event must overlap in both directions."""
    reason = _one_outcome(cells)
    if reason is not None:
        return reason
    x, slack = clipped(cells.mean_predicted), 1e-12 * cells.count
    if x[0] == x[-1]:
        return ONE_PROBABILITY
    with_event, without = x[cells.observed > slack], x[cells.observed < cells.count - slack]
    if without.max() <= with_event.min():
        return SEPARATED
    return REVERSED if with_event.max() <= without.min() else None


def _certain_rows(cells: EventCells) -> float:
    """The share of rows in cells whose p̄ is clipped; NaN without rows."""
    p = cells.mean_predicted
    return float(cells.count[(p <= CLIP) | (p >= 1 - CLIP)].sum()) / cells.total if len(p) else math.nan


def _coefficient(value: float, error: float, level: float) -> Coefficient:
    reach = normal_quantile(level) * error
    return Coefficient(value, error, Interval(value - reach, value + reach, level, "normal"))


def _undefined(reason: str, level: float) -> Coefficient:
    return Coefficient(math.nan, math.nan, Interval(math.nan, math.nan, level, "normal"), reason)

"""ICI, E50, E90 and Emax: how far a smooth calibration curve is from the predictions, over all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from trueness._arguments import require_choice
from trueness._arrays import FloatArray
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.draws import DrawnStatistic, by_draws, few_cells
from trueness.old_inference.events.in_the_large import NO_ROWS
from trueness.old_inference.events.isotonic import isotonic_frequencies
from trueness.old_inference.events.loess import loess_frequencies
from trueness.old_inference.events.logistic import LogisticRegression
from trueness.old_inference.events.tilt import clipped, log_odds
from trueness.old_inference.null import p_value

Curve: TypeAlias = Literal["loess", "logistic", "isotonic"]

MOST_LOESS_DRAWS = 199
"""Draws of a local regression, which is slower than the other curves."""


@dataclass(frozen=True, slots=True, eq=False)
class CurveErrors:
    """Distances |m(p) - p| between a calibration curve m and the predictions, over rows.

    References: Austin and Steyerberg (2019), The Integrated Calibration Index; Harrell, Regression Modeling Strategies.
    """

    ici: DrawnStatistic
    """The mean distance: the integrated calibration index."""
    e50: DrawnStatistic
    """The median distance."""
    e90: DrawnStatistic
    """The distance that nine tenths of the rows do not exceed."""
    e_max: DrawnStatistic
    """The largest distance."""
    curve: Curve
    """How m was fitted."""
    fitted: FloatArray
    """m at each cell, (F,)."""
    resamples: int
    """The number of draws."""
    reason: str | None = None
    """Why there are no values."""


def curve_errors(cells: EventCells, curve: Curve, seed: list[int], resamples: int) -> CurveErrors:
    """The distances from a curve that is fitted to the cells at their p̄, and anew to each draw.

    All of them are above 0 for calibrated events too: compare them with their noise floors.
    """
    require_choice("curve", curve, ("loess", "logistic", "isotonic"))
    if not len(cells.count):
        none = DrawnStatistic.undefined()
        return CurveErrors(none, none, none, none, curve, np.empty(0), 0, NO_ROWS)
    draws = min(resamples, MOST_LOESS_DRAWS) if curve == "loess" else resamples
    fitted = _fit(cells, curve, cells.mean_observed[None])
    few = few_cells(cells)
    # All at once, because the draws of a local regression share its weights.
    frequency = np.vstack([few.mean_observed, by_draws(few, seed, draws, lambda y: y)])
    compared, *null = _distances(few, _fit(few, curve, frequency))
    drawn = np.array(null)
    ici, e50, e90, e_max = (
        DrawnStatistic(value, float(drawn[:, k].mean()), p_value(drawn[:, k], float(compared[k])))
        for k, value in enumerate(_distances(cells, fitted)[0].tolist())
    )
    return CurveErrors(ici, e50, e90, e_max, curve, fitted[0], draws)


def _fit(cells: EventCells, curve: Curve, frequency: FloatArray) -> FloatArray:
    """The curve at each cell, (R, F), for R rows of observed frequencies."""
    if curve == "isotonic":
        return isotonic_frequencies(cells.count, frequency)
    if curve == "loess":
        return loess_frequencies(cells.mean_predicted, _row_count(cells), frequency)
    x = log_odds(clipped(cells.mean_predicted))
    regression = LogisticRegression(x, cells.count, cells.count * frequency)
    return regression.probability(regression.fit())


def _row_count(cells: EventCells) -> FloatArray:
    """Rows of each cell; of weighted ones, weights scaled to the effective number of all rows."""
    return cells.count * (cells.total / float(cells.weight_square.sum()))


def _distances(cells: EventCells, fitted: FloatArray) -> FloatArray:
    """Mean, median, nine tenths and maximum of |m - p̄| over rows, (R, 4)."""
    apart = np.abs(fitted - cells.mean_predicted)
    half, most = _row_quantiles(apart, _row_count(cells), (0.5, 0.9))
    return np.stack([apart @ (cells.count / cells.total), half, most, apart.max(axis=1)], axis=-1)


def _row_quantiles(values: FloatArray, count: FloatArray, shares: tuple[float, ...]) -> list[FloatArray]:
    """Quantiles over rows, of which a cell has `count` with the same value; between two rows linearly, (R,) each."""
    order = np.argsort(values, axis=1)
    ranked = np.take_along_axis(values, order, axis=1)
    upto = np.cumsum(count[order], axis=1)
    found = []
    for share in shares:
        place = (count.sum() - 1) * share
        low, high = (_value_at(ranked, upto, row) for row in (np.floor(place), np.floor(place) + 1))
        found.append(low + (place - np.floor(place)) * (high - low))
    return found


def _value_at(ranked: FloatArray, upto: FloatArray, row: float) -> FloatArray:
    """The value of the given row, counted from 0 in increasing order; of the last one beyond it."""
    index = np.minimum((upto <= row + 1e-9).sum(axis=1), ranked.shape[1] - 1)
    return np.asarray(np.take_along_axis(ranked, index[:, None], axis=1)[:, 0])

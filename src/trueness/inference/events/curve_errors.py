"""ICI, E50, E90 and Emax: how far a smooth calibration curve is from the predictions, over all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from trueness._arguments import require_choice
from trueness._arrays import FloatArray
from trueness.inference.events.cells import EventCells
from trueness.inference.events.draws import DrawnStatistic, by_draws
from trueness.inference.events.in_the_large import NO_ROWS
from trueness.inference.events.isotonic import isotonic_frequencies
from trueness.inference.events.loess import loess_frequencies
from trueness.inference.events.logistic import LogisticRegression
from trueness.inference.events.tilt import clipped, log_odds

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
    fitted, distances = (_all_at_once if curve == "loess" else _in_parts)(cells, curve, seed, draws)
    ici, e50, e90, e_max = (DrawnStatistic.of(float(each[0]), each[1:]) for each in distances.T)
    return CurveErrors(ici, e50, e90, e_max, curve, fitted, draws)


def _all_at_once(
    cells: EventCells, curve: Curve, seed: list[int], draws: int
) -> tuple[FloatArray, FloatArray]:
    """The curve, (F,), and the distances of the event and of all draws, (1 + R, 4), for curves with common weights."""
    frequency = np.vstack([cells.mean_observed, by_draws(cells, seed, draws, lambda y: y)])
    fitted = _fit(cells, curve, frequency)
    return fitted[0], _distances(cells, fitted)


def _in_parts(cells: EventCells, curve: Curve, seed: list[int], draws: int) -> tuple[FloatArray, FloatArray]:
    """The same, with as many draws in memory at a time as fit."""
    fitted = _fit(cells, curve, cells.mean_observed[None])
    null = by_draws(cells, seed, draws, lambda y: _distances(cells, _fit(cells, curve, y)))
    return fitted[0], np.vstack([_distances(cells, fitted), null])


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

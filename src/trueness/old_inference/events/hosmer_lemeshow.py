"""The test of Hosmer and Lemeshow: squared standardised gaps over bins of equal mass."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.chi_square import chi_square_tail
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.draws import by_draws
from trueness.old_inference.events.in_the_large import IMPOSSIBLE, NO_ROWS
from trueness.old_inference.null import p_value


@dataclass(frozen=True, slots=True)
class HosmerLemeshowTest:
    """X² over bins, with its drawn p-value, and the one by χ² for comparison."""

    value: float
    """X² = Σ(O - E)²/(E(1 - E/n))."""
    p_value: float
    """By draws of a calibrated event."""
    chi_square_p_value: float
    """By χ² with as many degrees of freedom as bins; too small for rare events."""
    degrees: int
    """The number of bins with noise. Nothing was fitted on these rows, so that none is subtracted."""
    reason: str | None = None
    """Why there is no value, or why the p-value is 0."""


def hosmer_lemeshow_test(
    cells: EventCells, seed: list[int], resamples: int, n_bins: int = 10
) -> HosmerLemeshowTest:
    """X² over bins of equal mass, which are made of whole cells.

    Its degrees of freedom are the number of bins M. M - 2, the default of several packages, is for the rows on which
    the model was fitted, and calls 11 to 14 % of calibrated events miscalibrated at 5 %.
    """
    if not len(cells.count):
        return HosmerLemeshowTest(math.nan, math.nan, math.nan, 0, NO_ROWS)
    bins = cells.in_equal_mass(n_bins)
    noisy = bins.variance > 0
    if np.any(np.abs(bins.observed - bins.predicted)[~noisy] > 1e-9 * bins.count[~noisy]):
        return HosmerLemeshowTest(math.inf, 0.0, 0.0, int(noisy.sum()), IMPOSSIBLE)
    if not noisy.any():
        return HosmerLemeshowTest(math.nan, math.nan, math.nan, 0, "every probability is 0 or 1")
    scale = np.where(noisy, bins.count**2 / np.where(noisy, bins.variance, 1.0), 0.0)

    def chi_square(y: FloatArray) -> FloatArray:
        return np.asarray((y - bins.mean_predicted) ** 2 @ scale)

    value, degrees = float(chi_square(bins.mean_observed)), int(noisy.sum())
    drawn = p_value(by_draws(bins, seed, resamples, chi_square), value)
    return HosmerLemeshowTest(value, drawn, chi_square_tail(value, degrees), degrees)

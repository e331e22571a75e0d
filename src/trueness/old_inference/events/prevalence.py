"""What is left of miscalibration once the prevalence is right: all odds multiplied by one factor."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.cox import Coefficient, intercept_at_slope_1
from trueness.old_inference.events.tilt import clipped, log_odds, probability


@dataclass(frozen=True, slots=True, eq=False)
class PrevalenceAdjustment:
    """The event with all odds multiplied by eᵃ, such that it is expected as often as it was observed."""

    shift: Coefficient
    """a, the intercept at slope 1, with its interval."""
    odds_factor: float
    """eᵃ."""
    predicted_prevalence: float
    """Σp/N before the adjustment."""
    implied_prevalence: float
    """Σn·p̄′/N after it, which is the observed frequency."""
    cells: EventCells | None
    """The cells at p̄′: all metrics can be computed from them again. None if there is no shift."""
    reason: str | None = None
    """Why there is no shift."""


def adjust_prevalence(cells: EventCells, level: float) -> PrevalenceAdjustment:
    """The event after the shift of its log-odds that makes expected and observed number equal.

    Cells are shifted at their p̄, clipped to [2⁻³⁰, 1 - 2⁻³⁰].
    """
    shift = intercept_at_slope_1(cells, level)
    before = float(cells.predicted.sum()) / cells.total if len(cells.count) else float("nan")
    if shift.reason is not None:
        return PrevalenceAdjustment(shift, float("nan"), before, float("nan"), None, shift.reason)
    p = probability(log_odds(clipped(cells.mean_predicted)) + shift.value)
    adjusted = replace(cells, predicted=cells.count * p)
    implied = float(adjusted.predicted.sum()) / cells.total
    return PrevalenceAdjustment(shift, float(np.exp(shift.value)), before, implied, adjusted)

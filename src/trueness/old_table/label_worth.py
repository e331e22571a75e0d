"""How many rows with single labels a row with a soft label is worth.

Calibrated means E[s | p] = p for soft labels s. How much s varies given p is not known: as much as single labels, or
less, as means of several votes do. The sums of a table tell: f = Σ(1 - ‖q‖²)/Σ‖r - q‖², the variance of single labels
over that of the soft ones.
"""

from __future__ import annotations

import math

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_table.content import Sums
from trueness.old_table.event_content import EventSums
from trueness.old_table.exact_sums import ExactSum

MOST_WORTH = 1e6
"""Soft labels that equal the predictions have no noise at all."""


def squared_distance(sums: Sums) -> float:
    """Σ‖p - s‖² over all rows, of labels or soft labels s: N times the Brier score; NaN if a sum is missing."""
    true, square, spread = sums.true_probability, sums.square, sums.label_spread
    if true is None or square is None:
        return math.nan
    if isinstance(true, ExactSum) and isinstance(square, ExactSum):
        # 1 - 2 p_y + ‖p‖² in whole units: where predictions are nearly perfect, floats would cancel.
        units = (int(sums.rows.sum()) << true.bits) - 2 * true.units + square.units
        units -= spread.units if isinstance(spread, ExactSum) else 0
        return max(0, units) / (1 << true.bits)
    total = float(sums.mass.sum() - 2.0 * true.value + square.value)
    return max(0.0, total - (0.0 if spread is None else float(spread.value)))


def row_worth(sums: Sums) -> float:
    """f of a table; 1 if no row has a soft label."""
    if sums.label_spread is None or sums.square is None:
        return 1.0
    single = np.array(float(sums.mass.sum()) - float(sums.square.value))
    return float(_ratio(single, np.array(squared_distance(sums))))


def event_row_worth(sums: EventSums) -> FloatArray:
    """f = Σp(1 - p)/Σ(y - p)² of each event, with p̄ of its cell for p, (K,); 1 if no row has a soft label."""
    count = sums.mass
    if sums.label_spread is None:
        return np.ones(len(count))
    p = sums.predicted.value / np.where(count > 0, count, 1.0)
    observed = sums.observed.value
    of_predictions = (count * p * (1 - p)).sum(axis=1)
    square = observed.sum(axis=1) - sums.label_spread.value
    distance = square - 2 * (p * observed).sum(axis=1) + (count * p**2).sum(axis=1)
    return _ratio(of_predictions, distance)


def _ratio(single: FloatArray, soft: FloatArray) -> FloatArray:
    """The quotient, at most MOST_WORTH; 1 where neither varies."""
    most = np.where(single > 0, MOST_WORTH, 1.0)
    found = np.divide(single, soft, out=most.copy(), where=soft > single / MOST_WORTH)
    return np.where(found > 0, found, 1.0)


def has_soft_labels(table: object) -> bool:
    """Whether a table of any kind has rows with soft labels; those of rows with options of their own never do."""
    return getattr(getattr(table, "sums", None), "label_spread", None) is not None

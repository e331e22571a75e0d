"""Scores of an event from its sums over all rows: Spiegelhalter's test, the Brier score and the log loss."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.in_the_large import NO_ROWS
from trueness.old_inference.results import ZTest

_ROUNDING = 1e-14
"""Variances below this for each row are rounding of the sums of powers, whose terms are multiples of 2⁻⁵²."""


@dataclass(frozen=True, slots=True)
class EventTotals:
    """Sums of one event over all rows, each row times its weight."""

    count: float
    """N, the number of rows or their weight."""
    predicted: float
    """Σp."""
    observed: float
    """Σy."""
    square: float
    """Σp²."""
    cube: float
    """Σp³."""
    fourth: float
    """Σp⁴."""
    product: float
    """Σp·y."""
    log_likelihood: float
    """Σ[y·ln p + (1 - y)·ln(1 - p)] over the rows where it is finite."""
    impossible_rows: float = 0
    """The other rows, or their weight: observed with p = 0, or not observed with p = 1."""
    weight_square: float | None = None
    """Σw²; None if the rows have no weights."""

    @property
    def unit(self) -> float:
        """Σw²/Σw, by which weights increase the variance of a sum if they do not depend on p; 1 without weights."""
        return 1.0 if self.weight_square is None else self.weight_square / self.count


@dataclass(frozen=True, slots=True)
class EventScore:
    """A proper score of an event, lower is better, and the value that a calibrated event would have."""

    value: float
    calibrated_value: float
    """The mean score of a calibrated event with the same predictions."""
    reason: str | None = None
    """Why there is no value, or which rows were left out."""


def spiegelhalter_test(totals: EventTotals, inflation: float = 1.0) -> ZTest:
    """Z = Σ(y - p)(1 - 2p)/√Σ(1 - 2p)²p(1 - p), standard normal if calibrated; above 0 the Brier score is too high.

    Two-sided; `inflation` is that of the variance by clusters.

    Reference: Spiegelhalter (1986), Probabilistic prediction in patient management and clinical trials.
    """
    t = totals
    if t.count <= 0:
        return ZTest(math.nan, math.nan, NO_ROWS)
    variance = (t.predicted - 5 * t.square + 8 * t.cube - 4 * t.fourth) * t.unit * inflation
    if variance <= _ROUNDING * t.count:
        return ZTest(math.nan, math.nan, "every probability is 0, 0.5 or 1, so the Brier score cannot vary")
    z = float(t.observed - t.predicted - 2 * t.product + 2 * t.square) / math.sqrt(variance)
    return ZTest(z, math.erfc(abs(z) / math.sqrt(2)))


def brier_score(totals: EventTotals) -> EventScore:
    """Σ(p - y)²/N, from 0 to 1; Σp(1 - p)/N if calibrated."""
    t = totals
    if t.count <= 0:
        return EventScore(math.nan, math.nan, NO_ROWS)
    value = float(t.square - 2 * t.product + t.observed) / t.count
    return EventScore(max(value, 0.0), max(float(t.predicted - t.square) / t.count, 0.0))


def log_loss(totals: EventTotals, cells: EventCells | None = None) -> EventScore:
    """-Σ[y·ln p + (1 - y)·ln(1 - p)]/N over the rows where it is finite; the reason says how many were left out.

    The value of a calibrated event is the mean entropy of the cells at their p̄; NaN without cells.
    """
    rows = totals.count - totals.impossible_rows
    if rows <= 0:
        return EventScore(math.nan, math.nan, "no rows whose outcome had a probability above 0")
    return EventScore(
        abs(totals.log_likelihood) / rows,
        math.nan if cells is None else _mean_entropy(cells),
        _left_out(totals.impossible_rows),
    )


def _left_out(impossible: float) -> str | None:
    """How many rows the log loss is without."""
    if not impossible:
        return None
    return f"without {'1 row' if impossible == 1 else f'{impossible:g} rows'} whose outcome had probability 0"


def _mean_entropy(cells: EventCells) -> float:
    """-Σn[p̄·ln p̄ + (1 - p̄)·ln(1 - p̄)]/N."""
    p = cells.mean_predicted
    inside = np.where((p > 0) & (p < 1), p, 0.5)
    entropy = np.where(p == inside, -inside * np.log(inside) - (1 - inside) * np.log1p(-inside), 0.0)
    return float(cells.count @ entropy) / cells.total

"""Small vectors of events, worked out by exact arithmetic, and cells made of rows in plain loops."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.event_statistics import EventTotals

T_PROBS = [
    (0.70, 0.20, 0.10),
    (0.62, 0.27, 0.11),
    (0.55, 0.33, 0.12),
    (0.13, 0.72, 0.15),
    (0.08, 0.63, 0.29),
    (0.21, 0.41, 0.38),
    (0.24, 0.17, 0.59),
    (0.03, 0.09, 0.88),
]
T_LABELS = [0, 0, 1, 1, 2, 1, 2, 2]

B_PROBS = [0.02, 0.07, 0.13, 0.24, 0.36, 0.41, 0.58, 0.66, 0.83, 0.97]
B_OUTCOMES = [0, 0, 1, 0, 0, 1, 0, 1, 1, 1]

FIVE = (0.2, 0.4, 0.6, 0.8)
"""Interior edges of five bins of equal width."""


def cells_of(p: Any, y: Any, edges: Sequence[float] | None = None, weight: Any = None) -> EventCells:
    """Cells between interior edges, closed on the right; without edges, one cell for each distinct probability."""
    p, y = np.asarray(p, dtype=float), np.asarray(y, dtype=float)
    w = np.ones(len(p)) if weight is None else np.asarray(weight, dtype=float)
    keys = p if edges is None else np.searchsorted(np.asarray(edges), p, side="left")
    _, cell = np.unique(keys, return_inverse=True)
    sums = [np.bincount(cell, weights=each) for each in (w, w * p, w * y, w * w)]
    return EventCells(*sums, weighted=weight is not None)


def totals_of(p: Any, y: Any) -> EventTotals:
    """Sums over rows of which none is impossible."""
    p, y = np.asarray(p, dtype=float), np.asarray(y, dtype=float)
    return EventTotals(
        count=len(p),
        predicted=float(p.sum()),
        observed=float(y.sum()),
        square=float((p**2).sum()),
        cube=float((p**3).sum()),
        fourth=float((p**4).sum()),
        product=float(p @ y),
        log_likelihood=float(np.log(np.where(y == 1, p, 1 - p)).sum()),
    )


def class_of_t(c: int, edges: Sequence[float] | None = None) -> EventCells:
    """Class c of the vector T."""
    return cells_of([row[c] for row in T_PROBS], [label == c for label in T_LABELS], edges)


def event_b(edges: Sequence[float] | None = None) -> EventCells:
    """The vector B."""
    return cells_of(B_PROBS, B_OUTCOMES, edges)


def calibrated_cells(
    rng: np.random.Generator, p: Any, edges: Sequence[float] | None = None, slope: float = 1.0
) -> EventCells:
    """Cells of rows whose outcomes are drawn with the log-odds of p times the slope."""
    p = np.asarray(p)
    odds = (p / (1 - p)) ** slope
    return cells_of(p, rng.random(len(p)) < odds / (1 + odds), edges)


def event_grid() -> np.ndarray:
    """The interior edges of the event grid of 5026 cells."""
    middle = np.arange(57, 3544) / 3600
    tail = np.array([2.0**-e * (1 + i / 32) for e in range(30, 6, -1) for i in range(32)] + [1 / 64])
    return np.unique(np.concatenate([middle, tail, 1 - tail]))


NO_CELLS = EventCells(*(np.empty(0) for _ in range(4)))


def certain(observed: float) -> EventCells:
    """Three rows of probability 0 and one of probability 1; the first of which were observed."""
    n = np.array([3.0, 1.0])
    return EventCells(n, np.array([0.0, 1.0]), np.array([observed, 1.0]), n)

"""Rows with errors of eight kinds, and rows without any, for the study of all tests and of their combination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import trueness as tn

ROWS = 2000

KINDS = (
    "none",
    "temperature",
    "some classes",
    "shift",
    "one class",
    "swap",
    "tail",
    "low",
    "groups",
)
"""What is wrong, in the order of the columns of the power tables."""

ALPHAS = {3: (1.0,) * 3, 10: (0.3,) * 10}
"""The true distributions π of a row are Dirichlet(α), by the number of classes."""

Rows = tuple[np.ndarray, np.ndarray]
"""Labels and predictions."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Calibrated rows that are yet to be made wrong."""

    y_true: np.ndarray
    truth: np.ndarray
    """π, from which the labels are drawn."""
    rng: np.random.Generator

    def amount(self, of_three: float, of_ten: float) -> float:
        """The amount of an error by the number of classes, chosen such that it is neither obvious nor invisible."""
        return of_three if self.truth.shape[1] == 3 else of_ten


def rows_with_error(kind: str, n_classes: int, rng: np.random.Generator, n_rows: int = ROWS) -> Rows:
    """Rows that are miscalibrated as the kind says."""
    y_true, truth = tn.simulate.calibrated(n_rows, ALPHAS[n_classes], rng=rng)
    truth = np.maximum(truth, 1e-12)
    return _ERRORS[kind](Calibrated(y_true, truth / truth.sum(axis=1, keepdims=True), rng))


def rare_event_rows(prevalence: float, spread: float, n_rows: int, rng: np.random.Generator) -> Rows:
    """Calibrated rows of two classes, of which the second is rare; its log-odds are normal."""
    odds = np.log(prevalence / (1 - prevalence)) + spread * rng.standard_normal(n_rows)
    p = 1 / (1 + np.exp(-odds))
    return (rng.random(n_rows) < p).astype(np.intp), np.stack([1 - p, p], axis=1)


def _powers(truth: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """Predictions ∝ π^a, with an exponent for each row."""
    logs = exponent[:, None] * np.log(truth)
    p = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _none(rows: Calibrated) -> Rows:
    return rows.y_true, rows.truth


def _temperature(rows: Calibrated) -> Rows:
    return rows.y_true, _powers(rows.truth, np.full(len(rows.truth), rows.amount(1.12, 1.08)))


def _some_classes(rows: Calibrated) -> Rows:
    """Rows that predict class 0 (of ten: an even class) are sharpened, the others blunted."""
    predicted = rows.truth.argmax(axis=1)
    sharpened = predicted == 0 if rows.truth.shape[1] == 3 else predicted % 2 == 0
    return rows.y_true, _powers(
        rows.truth, np.where(sharpened, rows.amount(1.35, 1.15), rows.amount(0.85, 1 / 1.15))
    )


def _shift(rows: Calibrated) -> Rows:
    """The prior of class 0 is five points higher than in the predictions: they are those of other prevalences."""
    prior = 1 / rows.truth.shape[1]
    odds = rows.truth.copy()
    odds[:, 0] *= (prior + 0.05) / prior * (1 - prior) / (1 - prior - 0.05)
    return tn.simulate.draw_labels(odds / odds.sum(axis=1, keepdims=True), rows.rng), rows.truth


def _one_class(rows: Calibrated) -> Rows:
    """The log-odds of class 0 are multiplied, its mean is kept."""
    first = rows.truth[:, 0]
    odds = rows.amount(1.3, 1.5) * np.log(first / (1 - first))
    shift = _root(lambda b: float((1 / (1 + np.exp(-odds - b)) - first).mean()), -20, 20)
    wrong = 1 / (1 + np.exp(-odds - shift))
    p = rows.truth * ((1 - wrong) / (1 - first))[:, None]
    p[:, 0] = wrong
    return rows.y_true, p


def _swap(rows: Calibrated) -> Rows:
    """Ranks 2 and 3 are exchanged in some rows."""
    chosen = rows.rng.random(len(rows.truth)) < rows.amount(0.15, 0.25)
    return rows.y_true, np.where(chosen[:, None], tn.simulate.swap_ranks(rows.truth), rows.truth)


def _tail(rows: Calibrated) -> Rows:
    """Labels are drawn from rows whose lower ranks are more even than predicted."""
    flatter = tn.simulate.flatten_tail(rows.truth, amount=rows.amount(0.25, 0.15))
    return tn.simulate.draw_labels(flatter, rows.rng), rows.truth


def _low(rows: Calibrated) -> Rows:
    """The quarter of the rows with the lowest confidence is sharpened."""
    confidence = rows.truth.max(axis=1)
    low = confidence <= np.quantile(confidence, 0.25)
    return rows.y_true, _powers(rows.truth, np.where(low, rows.amount(1.9, 1.25), 1.0))


def _groups(rows: Calibrated) -> Rows:
    """Half of the rows, at random, are sharpened, the others blunted."""
    return rows.y_true, _powers(rows.truth, np.where(rows.rng.random(len(rows.truth)) < 0.5, 1.3, 1 / 1.3))


_ERRORS: dict[str, Callable[[Calibrated], Rows]] = {
    "none": _none,
    "temperature": _temperature,
    "some classes": _some_classes,
    "shift": _shift,
    "one class": _one_class,
    "swap": _swap,
    "tail": _tail,
    "low": _low,
    "groups": _groups,
}


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where an increasing function is 0, by bisection."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return (low + high) / 2

"""Rows as the sums that the tests by class and by predicted class are computed from, in plain NumPy."""

from typing import NamedTuple

import numpy as np
from event_rows import cells_of

from trueness.old_inference.classwise.assessment import assess_classes
from trueness.old_inference.classwise.results import ClasswiseAssessment
from trueness.old_inference.events.cells import EventCells

_TAILS = [2.0**-j for j in (7, 8, 9, 10, 13, 17, 20, 23, 26, 30)]
CLASS_GRID = sorted([k / 60 * (1 + 2**-22) for k in range(1, 60)] + _TAILS + [1 - t for t in _TAILS])
"""Interior edges of the 80 cells in which all classes are tabulated."""

TEN = [k / 10 * (1 + 2**-22) for k in range(1, 10)]


def events(y: np.ndarray, p: np.ndarray, edges: list[float] | None) -> list[EventCells]:
    """The cells of each class; of two classes those of class 1."""
    classes = [1] if p.shape[1] == 2 else range(p.shape[1])
    return [cells_of(p[:, c], y == c, edges) for c in classes]


def assess_rows(
    y: np.ndarray, p: np.ndarray, resamples: int = 99, names: list[str] | None = None, seed: int = 0
) -> ClasswiseAssessment:
    """The assessment of all classes in ten bins."""
    return assess_classes(
        events(y, p, CLASS_GRID),
        events(y, p, TEN),
        p.shape[1],
        level=0.95,
        resamples=resamples,
        seed=seed,
        names=names,
    )


class Scores(NamedTuple):
    """A score of each row less its expectation, and its variance."""

    score: np.ndarray
    variance: np.ndarray

    def by(self, place: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Sums over the rows of each class or bin."""
        return np.bincount(place, self.score, size), np.bincount(place, self.variance, size)


def log_scores(y: np.ndarray, p: np.ndarray) -> Scores:
    """ln p_y + H, and the varentropy."""
    logs = np.log(np.where(p > 0, p, 1.0))
    entropy = -(p * logs).sum(axis=1)
    return Scores(logs[np.arange(len(y)), y] + entropy, (p * logs**2).sum(axis=1) - entropy**2)


def brier_scores(y: np.ndarray, p: np.ndarray) -> Scores:
    """p_y - ‖p‖², and its variance."""
    square = (p**2).sum(axis=1)
    return Scores(p[np.arange(len(y)), y] - square, (p**3).sum(axis=1) - square**2)


def draw(rng: np.random.Generator, p: np.ndarray) -> np.ndarray:
    """Labels from each row of probabilities."""
    return np.asarray((rng.random((len(p), 1)) > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1))


def dirichlet(rng: np.random.Generator, n_classes: int, alpha: float, rows: int) -> np.ndarray:
    """Rows of probabilities above 0."""
    p = np.maximum(rng.dirichlet(np.full(n_classes, alpha), rows), 1e-14)
    return np.asarray(p / p.sum(axis=1, keepdims=True))

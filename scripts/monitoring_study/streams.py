"""Streams of simulated looks as arrays of counts: what `tabulate` would give, for many looks at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueness import simulate
from trueness.monitoring.cells import Cells
from trueness.monitoring.watched import EVENT_EDGES

Array = np.ndarray[Any, np.dtype[np.float64]]
Fault = Callable[[Array, np.random.Generator], tuple[Any, Array]]
"""Labels and predictions from the true probabilities."""

N_BINS = 10
ALPHA = {2: [1.0] * 2, 3: [1.0] * 3, 10: [10.0] + [1.0] * 9, 100: [0.05] * 100}
"""The Dirichlet parameters of section 9, by the number of classes."""


@dataclass(frozen=True)
class Counts:
    """Rank counts (looks, bins, classes), and event counts (looks, classes, cells, 2) if they were asked for."""

    predicted: Array
    observed: Array
    events: tuple[Array, Array] | None = None

    @property
    def cells(self) -> Cells:
        """The cells of the rank tables."""
        return Cells.of(self.predicted, self.observed, self.observed.sum(axis=-1))

    @property
    def event_cells(self) -> Cells:
        """The cells of the event tables, (looks·classes, cells, 2)."""
        assert self.events is not None
        predicted, observed = (x.reshape(-1, *x.shape[2:]) for x in self.events)
        return Cells.of(predicted, observed, observed.sum(axis=-1))


def look_counts(y_true: Any, y_prob: Array, n_looks: int, *, with_events: bool = False) -> Counts:
    """The counts of rows that are split evenly into looks, in ten bins of entropy of equal width."""
    n, c = y_prob.shape
    order = np.argsort(-y_prob, axis=1, kind="stable")
    ordered = np.take_along_axis(y_prob, order, axis=1)
    rank = np.argmax(order == np.asarray(y_true)[:, None], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(ordered > 0, ordered * np.log(ordered), 0).sum(axis=1) / np.log(c)
    edges = np.arange(1, N_BINS) / N_BINS
    place = (n_looks * np.arange(n) // n) * N_BINS + np.searchsorted(edges + 2.0**-22, entropy)
    size = n_looks * N_BINS
    predicted = np.stack([np.bincount(place, ordered[:, k], size) for k in range(c)], axis=-1)
    observed = np.bincount(place * c + rank, minlength=size * c).astype(float)
    shape = (n_looks, N_BINS, c)
    events = _event_counts(y_true, y_prob, n_looks) if with_events else None
    return Counts(predicted.reshape(shape), observed.reshape(shape), events)


def _event_counts(y_true: Any, y_prob: Array, n_looks: int) -> tuple[Array, Array]:
    n, c = y_prob.shape
    n_cells = len(EVENT_EDGES) - 1
    cell = np.searchsorted(np.array(EVENT_EDGES[1:-1]), y_prob)
    look = (n_looks * np.arange(n) // n)[:, None]
    place = ((look * c + np.arange(c)) * n_cells + cell).ravel()
    size = n_looks * c * n_cells
    hit = (np.asarray(y_true)[:, None] == np.arange(c)).ravel().astype(float)
    rows = np.bincount(place, minlength=size).astype(float)
    predicted, observed = (np.bincount(place, x, size) for x in (y_prob.ravel(), hit))
    pairs = (np.stack([x, rows - x], axis=-1) for x in (predicted, observed))
    one, other = (x.reshape(n_looks, c, n_cells, 2) for x in pairs)
    return one, other


def calibrated(p: Array, rng: np.random.Generator) -> tuple[Any, Array]:
    """No fault."""
    return simulate.draw_labels(p, rng), p


def sharpened(exponent: float) -> Fault:
    """Predictions ∝ p^exponent."""
    return lambda p, rng: (simulate.draw_labels(p, rng), simulate.sharpen(p, exponent))


def swapped(share: float) -> Fault:
    """The two largest predictions exchanged in a share of the rows."""

    def fault(p: Array, rng: np.random.Generator) -> tuple[Any, Array]:
        q = np.where((rng.random(len(p)) < share)[:, None], simulate.swap_ranks(p, 0, 1), p)
        return simulate.draw_labels(p, rng), q

    return fault


def top_logit(amount: float) -> Fault:
    """The largest prediction's logit raised."""

    def fault(p: Array, rng: np.random.Generator) -> tuple[Any, Array]:
        q = p.copy()
        at = np.arange(len(p)), p.argmax(axis=1)
        q[at] *= np.exp(amount)
        return simulate.draw_labels(p, rng), q / q.sum(axis=1, keepdims=True)

    return fault


def label_shift(points: float, of_class: int = 0) -> Fault:
    """One class more frequent by so many points, the others less in proportion."""

    def fault(p: Array, rng: np.random.Generator) -> tuple[Any, Array]:
        weight = _weight_for(p, of_class, points)
        q = p.copy()
        q[:, of_class] *= weight
        return simulate.draw_labels(q / q.sum(axis=1, keepdims=True), rng), p

    return fault


def _weight_for(p: Array, of_class: int, points: float) -> float:
    """The factor on the odds of a class at which its mean probability changes by so many points."""
    low, high = 1e-3, 1e3
    mine, goal = p[:, of_class], p[:, of_class].mean() + points
    for _ in range(60):
        middle = float(np.sqrt(low * high))
        low, high = (
            (middle, high) if (mine * middle / (1 + mine * (middle - 1))).mean() < goal else (low, middle)
        )
    return low


def class_temperature(exponent: float, of_class: int = 0) -> Fault:
    """The odds of one class to a power in the predictions: too extreme above 1, too timid below."""

    def fault(p: Array, rng: np.random.Generator) -> tuple[Any, Array]:
        mine = p[:, of_class]
        odds = (mine / np.maximum(1 - mine, 1e-300)) ** exponent
        changed = odds / (1 + odds)
        q = p * ((1 - changed) / np.maximum(1 - mine, 1e-300))[:, None]
        q[:, of_class] = changed
        return simulate.draw_labels(p, rng), q / q.sum(axis=1, keepdims=True)

    return fault


def stream(
    n_classes: int,
    n_rows: int,
    n_looks: int,
    fault: Fault,
    rng: np.random.Generator,
    *,
    after: int = 0,
    copies: int = 1,
    alpha: list[float] | None = None,
    with_events: bool = False,
) -> Counts:
    """A stream that is calibrated before look `after`; `copies` of each row are there."""
    p = simulate.calibrated(
        n_looks * n_rows // copies, alpha or ALPHA[n_classes], rng=int(rng.integers(2**31))
    ).y_prob
    split = after * n_rows // copies
    parts = [calibrated(p[:split], rng)] if split else []
    parts.append(fault(p[split:], rng))
    y_true = np.repeat(np.concatenate([y for y, _ in parts]), copies)
    y_prob = np.repeat(np.concatenate([q for _, q in parts]), copies, axis=0)
    return look_counts(y_true, y_prob, n_looks, with_events=with_events)

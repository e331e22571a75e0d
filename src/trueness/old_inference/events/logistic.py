"""Logistic regression of an event on its log-odds, for many draws at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness.old_inference.events.tilt import probability

_MOST_STEPS = 50
_HALVINGS = 30
_SMALL_STEP = 1e-12
_SINGULAR = 1e-14
"""Determinants of the information below this share of the product of its diagonal are rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class LogisticRegression:
    """Cells at log-odds x with n rows, and R rows of observed numbers; coefficients (a, b) are (R, 2)."""

    x: FloatArray
    """ln(p/(1 - p)) of each cell, (F,)."""
    n: FloatArray
    """Rows of each cell, (F,)."""
    y: FloatArray
    """Observed numbers, (R, F)."""

    def select(self, rows: IntArray) -> LogisticRegression:
        """Some of the R rows."""
        return LogisticRegression(self.x, self.n, self.y[rows])

    def probability(self, at: FloatArray) -> FloatArray:
        """1/(1 + e^-(a + b·x)), (R, F)."""
        return probability(at[:, :1] + at[:, 1:] * self.x)

    def gain(self, at: FloatArray) -> FloatArray:
        """The log-likelihood Σ[Σy·η - n·ln(1 + e^η)], η = a + b·x, less its value at (0, 1), (R,)."""
        linear = at[:, :1] + at[:, 1:] * self.x
        normalising = np.logaddexp(0.0, linear) - np.logaddexp(0.0, self.x)
        return np.asarray((self.y * (linear - self.x) - self.n * normalising).sum(axis=1))

    def newton_step(self, at: FloatArray) -> FloatArray:
        """The information matrix solved for the score, (R, 2); 0 where the matrix is singular."""
        p = self.probability(at)
        residual = self.y - self.n * p
        u0, u1 = residual.sum(axis=1), residual @ self.x
        a, b, d = _moments(self.x, self.n * p * (1 - p))
        determinant = a * d - b**2
        regular = determinant > _SINGULAR * a * d
        scale = np.where(regular, 1 / np.where(regular, determinant, 1.0), 0.0)
        return np.stack([(d * u0 - b * u1) * scale, (a * u1 - b * u0) * scale], axis=-1)

    def has_converged(self, at: FloatArray) -> NDArray[np.bool_]:
        """Whether the information is regular and another step would change nothing, (R,)."""
        p = self.probability(at)
        a, b, d = _moments(self.x, self.n * p * (1 - p))
        small = np.abs(self.newton_step(at)).max(axis=1) < 1e-6 * (1 + np.abs(at).max(axis=1))
        return np.asarray(small & (a * d - b**2 > _SINGULAR * a * d))

    def fit(self) -> FloatArray:
        """Intercept and slope that maximise the likelihood, (R, 2).

        Newton's method from (0, 1); steps that would lower the likelihood are halved. For separated outcomes, which
        have no maximum, the result is where fifty steps lead: a step function, to rounding.
        """
        found, open_ones = np.tile([0.0, 1.0], (len(self.y), 1)), np.arange(len(self.y))
        for _ in range(_MOST_STEPS):
            step = self.select(open_ones)._improving_step(found[open_ones])
            found[open_ones] += step
            size = 1 + np.abs(found[open_ones]).max(axis=1)
            open_ones = open_ones[np.abs(step).max(axis=1) >= _SMALL_STEP * size]
            if not len(open_ones):
                break
        return found

    def _improving_step(self, at: FloatArray) -> FloatArray:
        """Newton's step, halved until the likelihood does not fall by more than rounding.

        A step that moves no log-odds by more than 1 raises the likelihood: along it the curvature, n·p(1 - p), changes
        by less than the factor e, and 1 - ∫(1 - s)·eˢ ds = 3 - e > 0.
        """
        step = self.newton_step(at)
        long = np.flatnonzero(np.abs(step) @ [1.0, np.abs(self.x).max()] > 1)
        if len(long):
            step[long] = self.select(long)._halved(at[long], step[long])
        return step

    def _halved(self, at: FloatArray, step: FloatArray) -> FloatArray:
        """The steps, each halved until the likelihood does not fall."""
        before = self.gain(at)
        slack = 1e-12 * np.maximum(np.abs(before), 1.0)
        for _ in range(_HALVINGS):
            worse = self.gain(at + step) < before - slack
            if not worse.any():
                break
            step = np.where(worse[:, None], step / 2, step)
        return step


def information(x: FloatArray, n: FloatArray, at: FloatArray) -> FloatArray:
    """Σ n·p(1 - p)·[[1, x], [x, x²]] at one pair of coefficients, (2,); the matrix is (2, 2)."""
    p = probability(at[0] + at[1] * x)
    a, b, d = _moments(x, n * p * (1 - p))
    return np.array([[a, b], [b, d]])


def _moments(x: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Σv, Σv·x and Σv·x² over the last axis."""
    return weight.sum(axis=-1), weight @ x, weight @ x**2

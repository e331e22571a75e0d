"""Logistic regression of an event on its log-odds, for many draws at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.inference.events.tilt import probability

_MOST_STEPS = 50
_HALVINGS = 30
_SMALL_STEP = 1e-12


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
        residual = self.y - self.n * self.probability(at)
        u0, u1 = residual.sum(axis=1), residual @ self.x
        matrix = information(self.x, self.n, at)
        a, b, d = matrix[:, 0, 0], matrix[:, 0, 1], matrix[:, 1, 1]
        determinant = a * d - b**2
        regular = determinant > 1e-14 * a * d
        scale = np.where(regular, 1 / np.where(regular, determinant, 1.0), 0.0)
        return np.stack([(d * u0 - b * u1) * scale, (a * u1 - b * u0) * scale], axis=-1)

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
        """Newton's step, halved until the likelihood does not fall by more than rounding."""
        step, before = self.newton_step(at), self.gain(at)
        slack = 1e-12 * np.maximum(np.abs(before), 1.0)
        for _ in range(_HALVINGS):
            worse = self.gain(at + step) < before - slack
            if not worse.any():
                break
            step = np.where(worse[:, None], step / 2, step)
        return step


def information(x: FloatArray, n: FloatArray, at: FloatArray) -> FloatArray:
    """Σ n·p(1 - p)·[[1, x], [x, x²]] at the coefficients, (R, 2, 2)."""
    p = probability(at[:, :1] + at[:, 1:] * x)
    v = n * p * (1 - p)
    s0, s1, s2 = v.sum(axis=1), v @ x, v @ x**2
    return np.stack([np.stack([s0, s1], axis=-1), np.stack([s1, s2], axis=-1)], axis=-2)

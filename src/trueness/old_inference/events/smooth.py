"""The smooth calibration error of an event, smECE: residuals smoothed by a kernel whose width is the error itself.

Reference: Błasiok and Nakkiran (2023), Smooth ECE: principled reliability diagrams via kernel smoothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.draws import by_draws
from trueness.old_inference.events.in_the_large import NO_ROWS
from trueness.old_inference.null import p_value

_NODES, _STEPS = 4096, 40
"""Intervals of [0, 1] and halvings of the width, for the value."""

_DRAWN_NODES, _DRAWN_STEPS = 1024, 14
"""The same for draws, and for the value that is compared with them."""


@dataclass(frozen=True, slots=True)
class SmoothError:
    """The smooth calibration error of an event, beside that of a calibrated one. It is not debiased."""

    value: float
    """σ with smECE_σ = σ, from 0 to 1."""
    noise_floor: float
    """Its mean if the event is calibrated."""
    p_value: float
    """The probability of a value at least as large if the event is calibrated, by draws."""
    resamples: int
    reason: str | None = None
    """Why there is no value."""

    @property
    def words(self) -> str:
        """What the number says, in one sentence."""
        if self.reason is not None:
            return f"no smooth calibration error: {self.reason}"
        return (
            f"smooth calibration error {self.value:.4f}, where a calibrated event would have {self.noise_floor:.4f}, "
            f"p = {self.p_value:.3g}"
        )


def smooth_error(cells: EventCells, seed: list[int], resamples: int) -> SmoothError:
    """smECE with noise floor and p-value, from the cells of an event."""
    value = smooth_error_value(cells)
    if math.isnan(value):
        return SmoothError(math.nan, math.nan, math.nan, 0, NO_ROWS)
    few = _Nodes(cells, _DRAWN_NODES)
    null = by_draws(cells, seed, resamples, lambda y: _fixed_points(few.spectrum(y), _DRAWN_STEPS))
    compared = _fixed_points(few.spectrum(cells.mean_observed[None]), _DRAWN_STEPS)[0]
    return SmoothError(value, float(null.mean()), p_value(null, float(compared)), resamples)


def smooth_error_value(cells: EventCells) -> float:
    """smECE alone; NaN without rows."""
    if not len(cells.count):
        return math.nan
    return float(_fixed_points(_Nodes(cells, _NODES).spectrum(cells.mean_observed[None]), _STEPS)[0])


def smooth_error_at(cells: EventCells, width: float) -> float:
    """smECE_σ = ∫₀¹ |Σ d_i·K_σ(t, p_i)/N| dt for residuals d = y - p and the Gaussian reflected at 0 and 1."""
    spectrum = _Nodes(cells, _NODES).spectrum(cells.mean_observed[None])
    return float(_smoothed(spectrum, np.array([width]))[0])


class _Nodes:
    """Equally spaced points of [0, 1], to which the residuals of the cells are moved.

    The residual sum of a cell sits at its p̄ and is shared by the two nearest nodes, linearly.
    """

    def __init__(self, cells: EventCells, n_intervals: int) -> None:
        p = cells.mean_predicted
        self.share, self.p, self.n_intervals = cells.count / cells.total, p, n_intervals
        place = np.minimum(np.floor(p * n_intervals), n_intervals - 1)
        self.beyond = p * n_intervals - place
        # Cells are in the order of p̄, so that those of an interval between two nodes are a run.
        self.at, self.starts = np.unique(place.astype(np.int64), return_index=True)

    def spectrum(self, frequency: FloatArray) -> FloatArray:
        """The cosine transform of the residuals of each row of observed frequencies, (R, F) → (R, nodes)."""
        residual = (frequency - self.p) * self.share
        lines = np.zeros((len(frequency), self.n_intervals + 1))
        lines[:, self.at] += np.add.reduceat(residual * (1 - self.beyond), self.starts, axis=1)
        lines[:, self.at + 1] += np.add.reduceat(residual * self.beyond, self.starts, axis=1)
        # Reflected at 0 and 1: inner nodes have a mirror image, the end nodes are their own and count double.
        lines[:, [0, -1]] *= 2
        mirrored = np.concatenate([lines, lines[:, -2:0:-1]], axis=1)
        return np.asarray(np.fft.rfft(mirrored, axis=1).real)


def _smoothed(spectrum: FloatArray, width: FloatArray) -> FloatArray:
    """smECE_σ of each row for its own σ, (R,)."""
    k = np.arange(spectrum.shape[1])
    damped = spectrum * np.exp(-((np.pi * k * width[:, None]) ** 2) / 2)
    values = np.abs(np.fft.irfft(damped, n=2 * (len(k) - 1), axis=1)[:, : len(k)])
    return np.asarray(values.sum(axis=1) - (values[:, 0] + values[:, -1]) / 2)


def _fixed_points(spectrum: FloatArray, steps: int) -> FloatArray:
    """σ with smECE_σ = σ of each row, (R,), by bisection: the left side falls in σ."""
    low, high = np.zeros(len(spectrum)), np.ones(len(spectrum))
    for _ in range(steps):
        middle = (low + high) / 2
        above = _smoothed(spectrum, middle) > middle
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return (low + high) / 2

"""The smooth calibration error in the arithmetic of relplot, on its grid.

relplot 1.0.3, `metrics.py` (`smECE`, `smooth_ece`, `search_param`) and `kernels.py` (`ReflectedGaussianKernel`).
"""

from __future__ import annotations

import numpy as np

from trueness._arrays import FloatArray
from trueness.conventions.assignments import Assignment
from trueness.conventions.readings import Reading

_SMALLEST_WIDTH = 0.001
_HALVINGS = 10
_DENSITY_FLOOR = 1e-4


def smooth_error(reading: Reading, _: Assignment, __: str) -> float:
    """∫|Σ(p - y)·K_σ|/∫Σ K_σ at the smallest σ, of ten halvings of (0, 1], that is not below the error itself."""
    predicted = reading.predicted.astype(np.float64)
    residual = predicted - reading.observed
    width = 1.0
    if not _is_below(width, predicted, residual):
        above, below = 1.0, 0.0
        for _halving in range(_HALVINGS):
            middle = (above + below) / 2
            if _is_below(middle, predicted, residual):
                below = middle
            else:
                above = middle
        width = above
    return _error_at(width, predicted, residual)


def _is_below(width: float, predicted: FloatArray, residual: FloatArray) -> bool:
    return width < _SMALLEST_WIDTH or width < _error_at(width, predicted, residual)


def _error_at(width: float, predicted: FloatArray, residual: FloatArray) -> float:
    """The error at a fixed width: means over at least 200 points of [0, 1]."""
    points = np.linspace(0, 1, max(round(10 / width), 200))
    density = _smoothed(width, predicted, np.ones_like(residual), points) + _DENSITY_FLOOR
    smoothed = _smoothed(width, predicted, residual, points) / density
    return float(np.sum(np.abs(smoothed) * density) / np.sum(density))


def _smoothed(width: float, where: FloatArray, values: FloatArray, points: FloatArray) -> FloatArray:
    """Σ values·K at the points: split between two neighbours of a grid, convolved with reflection, interpolated."""
    size = max(2000, round(20 / width)) // 2 + 1
    grid = _on_grid(where, values, size)
    t = np.linspace(0, 1, size)
    kernel = np.exp(-(t - 0.5) * (t - 0.5) / (2 * width**2)) / (np.sqrt(2 * np.pi) * width)
    reflected = np.concatenate([grid[::-1][:-1], grid, grid[::-1][1:]])
    convolved = np.convolve(reflected, kernel, "valid")[size // 2 : size // 2 + size]
    left = (points * (size - 1)).astype(int).clip(0, size - 2)
    share = (points - left / (size - 1)) * (size - 1)
    return np.asarray(convolved[left] * (1 - share) + convolved[left + 1] * share)


def _on_grid(where: FloatArray, values: FloatArray, size: int) -> FloatArray:
    """The values added to the two grid points beside them, in proportion to the nearness."""
    left = (where * (size - 1)).astype(int).clip(0, size - 2)
    share = where * (size - 1) - left
    return np.asarray(
        np.bincount(left, (1 - share) * values, size) + np.bincount(left + 1, share * values, size)
    )

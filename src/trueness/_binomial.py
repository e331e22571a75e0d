"""Binomial probabilities of a window of counts, computed from their ratios without special functions."""

from __future__ import annotations

import numpy as np

from trueness._arrays import FloatArray


def binomial_window(
    n: FloatArray, p: FloatArray, low: FloatArray, width: int
) -> tuple[FloatArray, FloatArray]:
    """The counts low, …, low + width - 1, and weights proportional to P(X = k) for X ~ Binomial(n, p), (L, width) each.

    All arguments are columns, (L, 1). Counts above n have weight 0.

    >>> k, weight = binomial_window(*np.array([[[2.0]], [[0.5]], [[0.0]]]), 4)
    >>> (weight / weight.sum()).tolist()
    [[0.25, 0.5, 0.25, 0.0]]
    """
    k = low + np.arange(width)
    inside = np.clip(p, 1e-300, 1 - 2**-53)
    with np.errstate(divide="ignore"):
        # P(k)/P(k-1) = (n-k+1)/k · p/(1-p); the first count of the window has no predecessor.
        steps = np.log(np.maximum(n - k + 1, 0.0) / np.maximum(k, 1.0)) + (np.log(inside) - np.log1p(-inside))
    steps[:, 0] = 0.0
    logs = np.cumsum(steps, axis=1)
    logs[k > n] = -np.inf
    return k, np.exp(logs - logs.max(axis=1, keepdims=True))

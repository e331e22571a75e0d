"""Local regression (loess) of the observed frequency on the probability, over cells."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from trueness._arrays import FloatArray, IntArray

SPAN = 0.75
"""The share of the rows that each local line is fitted to."""

_BLOCK_VALUES = 2**19
"""Weights in memory at a time, four megabytes."""


def loess_frequencies(
    p: FloatArray, count: FloatArray, frequency: FloatArray, span: float = SPAN
) -> FloatArray:
    """The local lines at each cell, (R, F), for each of R rows of observed frequencies, (R, F).

    At a cell, a line is fitted by weighted least squares to the nearest ⌊span·N⌋ rows, counted in whole cells, with
    tricube weights (1 - (distance/h)³)³, where h is the distance of the furthest. p is increasing, (F,). The fit is
    linear in the frequencies, so that all draws share the weights.
    """
    smoothed = np.empty(frequency.shape)
    sums = np.ascontiguousarray((count * frequency).T)
    for cells, weights in _lines(p, count, span):
        smoothed[:, cells] = (weights @ sums).T
    return smoothed


def _lines(p: FloatArray, count: FloatArray, span: float) -> Iterator[tuple[slice, FloatArray]]:
    """For blocks of cells, the weight of each row of every cell in the value of the local line there, (k, F)."""
    reach = _reach(p, count, math.floor(span * count.sum() + 1e-10))
    block = max(1, _BLOCK_VALUES // len(p))
    for start in range(0, len(p), block):
        cells = slice(start, start + block)
        yield cells, _weights(p - p[cells, None], reach[cells, None], count)


def _weights(distance: FloatArray, reach: FloatArray, count: FloatArray) -> FloatArray:
    """w·(S₂ - S₁·d)/(S₀S₂ - S₁²) with S_j = Σ n·w·dʲ; w/S₀, the local mean, where all near rows have equal p."""
    # Where the nearest rows all lie in the cell itself, only they count. Beyond the reach all weights are 0.
    scaled = np.clip(distance / np.where(reach > 0, reach, 1e-300), -1.0, 1.0)
    size = np.abs(scaled)
    near = 1 - size * size * size  # much faster than powers
    near *= near * near
    sloped = near * scaled
    s0, s1, s2 = (np.einsum("ij,j->i", each, count) for each in (near, sloped, sloped * scaled))
    determinant = s0 * s2 - s1**2
    line = determinant > 1e-10 * s0**2
    divisor = np.where(line, determinant, s0)
    near *= (np.where(line, s2, 1.0) / divisor)[:, None]
    sloped *= (np.where(line, s1, 0.0) / divisor)[:, None]
    return np.asarray(near - sloped)


def _reach(p: FloatArray, count: FloatArray, rows: int) -> FloatArray:
    """The distance from each cell within which at least that many rows lie, the smallest possible, (F,).

    The nearest rows are those of cells l to r(l), where r(l) is the first cell at which enough rows are reached. As l
    grows, the distance to l falls and that to r(l) grows: the best l is where they cross.
    """
    cumulated = np.cumsum(count)
    before = cumulated - count
    right = np.searchsorted(cumulated, before + max(rows, 1) - 1e-9)
    end = np.append(p, np.inf)[right]
    crossing = _first_crossing(p, end)
    candidates = [np.maximum(p - p[left], end[left] - p) for left in (crossing, np.maximum(crossing - 1, 0))]
    return np.asarray(np.minimum(*candidates))


def _first_crossing(p: FloatArray, end: FloatArray) -> IntArray:
    """For each cell, the first l from which on end[l] is no nearer than p[l], by bisection for all cells at once."""
    low, high = np.zeros(len(p), dtype=np.int64), np.arange(len(p))
    while np.any(low < high):
        middle = (low + high) // 2
        crossed = end[middle] - p >= p - p[middle]
        low, high = np.where(crossed, low, middle + 1), np.where(crossed, middle, high)
    return low

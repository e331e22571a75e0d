"""Isotonic regression of the observed frequency on the probability: pool adjacent violators."""

from __future__ import annotations

import numpy as np

from trueness._arrays import FloatArray


def isotonic_frequencies(count: FloatArray, frequency: FloatArray) -> FloatArray:
    """The increasing frequencies nearest to the given ones, (R, F), in the sense of Σ n(m - ȳ)², for each of R rows.

    Wherever the mean of a block is not below that of the next, the two have one value in the solution; all such
    neighbours are pooled at once, until none are left. Equal neighbours are pooled too.

    >>> isotonic_frequencies(np.ones(4), np.array([[0.0, 1.0, 0.5, 1.0]])).tolist()
    [[0.0, 0.75, 0.75, 1.0]]
    """
    n_draws, n_cells = frequency.shape
    weight, total = np.tile(count, n_draws), (count * frequency).ravel()
    size, draw = np.ones(len(total), dtype=np.int64), np.repeat(np.arange(n_draws), n_cells)
    while True:
        mean = total / weight
        begins = np.append(True, (mean[1:] > mean[:-1]) | (draw[1:] != draw[:-1]))
        if begins.all():
            return np.repeat(mean, size).reshape(frequency.shape)
        starts = np.flatnonzero(begins)
        weight, total, size = (np.add.reduceat(each, starts) for each in (weight, total, size))
        draw = draw[starts]

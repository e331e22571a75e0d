"""Products of sums and bootstrap weights, in tiles."""

from __future__ import annotations

import numpy as np

from trueness._arrays import FloatArray

TILE = 2**19
"""Multiplications of a tile: so few that a BLAS library does not start threads for them.

Starting and waiting takes longer than a small product, and the threads of some libraries stay busy for a tenth of a
second after it.
"""

LEAST_TILE = 16
"""Replicates of a tile at least; larger products are left to the library as a whole."""


def in_tiles(values: FloatArray, weights: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """The product of values, (columns, units), and weights, (units, B), in `out` if it is given.

    >>> in_tiles(np.ones((1, 3)), np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 1.0]]))
    array([[3., 2.]])
    """
    step = TILE // max(values.size, 1)
    product = np.empty((len(values), weights.shape[1])) if out is None else out
    if step < LEAST_TILE:
        step = weights.shape[1]
    for first in range(0, weights.shape[1], step):
        tile = slice(first, first + step)
        np.matmul(values, weights[:, tile], out=product[:, tile])
    return product

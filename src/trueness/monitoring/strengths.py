"""The strength at which a direction is wrong by a given size (section 2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from trueness._arrays import FloatArray
from trueness.monitoring.cells import Cells
from trueness.monitoring.directions import STRONGEST, Direction
from trueness.monitoring.roots import bracketed_root

SIZES = tuple(0.0025 * 2**i for i in range(7))
"""ε_i: by how much an alternative exceeds the tolerance, in total variation."""

_GRID = np.concatenate([[0.0], STRONGEST * 2.0 ** -np.arange(24.0)[::-1]])
"""Strengths between which a root is searched; all sizes share the evaluations."""

Reach = Callable[[FloatArray], FloatArray]
"""The total variation that strengths (L, I, M) or (L, I, 1) reach."""


def distance(u: FloatArray, p: FloatArray) -> FloatArray:
    """Total variation between laws, over the last axis."""
    return np.asarray(np.abs(u - p).sum(axis=-1) / 2)


def strength_over_bins(cells: Cells, direction: Direction, size: FloatArray) -> FloatArray:
    """s with Σ share·TV(u_b, p_b) = size, (L, I, 1) as `size`; NaN where it is not reached."""
    p, share = cells.p[:, None], cells.share[:, None]

    def mean(distances: FloatArray) -> FloatArray:
        return np.asarray((share * distances).sum(axis=-1, keepdims=True))

    if direction.shift is not None:
        return _strength_of_shift(mean(distance(direction.shift(p), 0.0 * p)), size)
    return _search(lambda s: mean(distance(direction.alternative(p, s), p)), size)


def strength_of_bin(cells: Cells, direction: Direction, size: FloatArray) -> FloatArray:
    """s with TV(u_b, p_b) = size in each bin by itself, (L, I, M) as `size`; NaN where it is not reached."""
    p = cells.p[:, None]
    if direction.shift is not None:
        return _strength_of_shift(distance(direction.shift(p), 0.0 * p), size)
    return _search(lambda s: distance(direction.alternative(p, s), p), size)


def _strength_of_shift(whole: FloatArray, size: FloatArray) -> FloatArray:
    """s with v·|d| = size."""
    with np.errstate(divide="ignore", invalid="ignore"):
        v = size / whole
        return np.where(v <= -np.expm1(-STRONGEST), -np.log1p(-v), np.nan)


def _search(reach: Reach, size: FloatArray) -> FloatArray:
    """The strength that reaches a size, searched between the neighbours of a grid."""
    n_looks, _, n_places = size.shape
    at_grid = reach(np.broadcast_to(_GRID[None, :, None], (n_looks, len(_GRID), n_places)))
    above = (at_grid[:, None] < size[:, :, None]).sum(axis=2)
    attainable = (above > 0) & (above < len(_GRID))
    upper = np.clip(above, 1, len(_GRID) - 1)
    ends = tuple(np.take_along_axis(at_grid, k, axis=1) for k in (upper - 1, upper))
    target = np.where(attainable, size, ends[1])
    root = bracketed_root(
        lambda s: reach(s) - target, _GRID[upper - 1], _GRID[upper], (ends[0] - target, ends[1] - target)
    )
    return np.where(attainable, root, np.nan)

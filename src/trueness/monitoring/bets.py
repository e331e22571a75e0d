"""The e-values of looks: one for each way of being wrong, a direction, a size, and where (section 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trueness._arrays import FloatArray
from trueness.monitoring.cells import Cells
from trueness.monitoring.clipping import SortedRatios, levels_over_bins
from trueness.monitoring.directions import Direction
from trueness.monitoring.strengths import SIZES, distance, strength_of_bin, strength_over_bins

_CHUNK = 500_000
"""Numbers of one temporary array, about."""


def log_bets(
    cells: Cells,
    directions: Sequence[Direction],
    tolerance: float,
    *,
    single_bins: bool = True,
    sizes: FloatArray | None = None,
) -> FloatArray:
    """ln e of each look, direction, size and place: all bins, then each bin alone; (L, D, I, 1 + M) or (L, D, I, 1).

    `sizes` are those of each look, (L, I); by default `SIZES`.
    """
    n_looks, n_bins, n_outcomes = cells.q.shape
    size = np.broadcast_to(np.array(SIZES), (n_looks, len(SIZES))) if sizes is None else sizes
    step = max(1, _CHUNK // (len(directions) * size.shape[1] * n_bins * n_outcomes))
    parts = []
    for start in range(0, n_looks, step):
        some, of_some = cells.part(slice(start, start + step)), size[start : start + step, :, None]
        places = [_over_bins(some, directions, tolerance, of_some)]
        if single_bins:
            places.append(_of_single_bins(some, directions, tolerance, of_some))
        parts.append(np.concatenate(places, axis=-1))
    return np.concatenate(parts)


def _over_bins(
    cells: Cells, directions: Sequence[Direction], tolerance: float, size: FloatArray
) -> FloatArray:
    """ln e of bets on all bins together, (L, D, I, 1)."""
    s = np.stack([strength_over_bins(cells, each, tolerance + size) for each in directions], axis=1)
    u, f = _alternatives(cells, directions, s), cells.f[:, None, None]
    levels = None
    if tolerance > 0:
        share = np.where(np.isnan(s), 0.0, cells.share[:, None, None])
        outside = (share * distance(u, f)).sum(axis=-1, keepdims=True) > tolerance
        s = np.where(outside, s, np.nan)
        levels = levels_over_bins(u, f, np.where(outside, share, 0.0), tolerance)
    value = _log_stakes(u, cells, levels).sum(axis=-1, keepdims=True)
    return np.where(np.isnan(s), 0.0, value)


def _of_single_bins(
    cells: Cells, directions: Sequence[Direction], tolerance: float, size: FloatArray
) -> FloatArray:
    """ln e of bets on each bin alone, (L, D, I, M)."""
    share = cells.share[:, None]
    allowed = np.divide(tolerance, share, out=np.full(share.shape, np.inf), where=share > 0)
    s = np.stack([strength_of_bin(cells, each, allowed + size) for each in directions], axis=1)
    u = _alternatives(cells, directions, s)
    levels = None
    if tolerance > 0:
        mass = np.where(np.isnan(s), 0.0, allowed[:, None])
        levels = SortedRatios.of(u, cells.f[:, None, None]).levels(mass)
    return np.where(np.isnan(s), 0.0, _log_stakes(u, cells, levels))


def _alternatives(cells: Cells, directions: Sequence[Direction], s: FloatArray) -> FloatArray:
    """u of each direction at its strengths s (L, D, I, M or 1), (L, D, I, M, C); p itself where s is NaN."""
    strength = np.where(np.isnan(s), 0.0, s)
    p = cells.p[:, None]
    return np.stack([each.alternative(p, strength[:, d]) for d, each in enumerate(directions)], axis=1)


def _log_stakes(
    u: FloatArray, cells: Cells, levels: tuple[FloatArray, FloatArray] | None = None
) -> FloatArray:
    """Σ_k R_k·ln x_k of each bin, with 0·ln 0 = 0, for x = u/f clipped to the levels, (L, D, I, M)."""
    x = u / cells.f[:, None, None]
    if levels is not None:
        x = np.clip(x, levels[0][..., None], levels[1][..., None])
    observed = cells.observed[:, None, None]
    with np.errstate(divide="ignore"):
        return np.asarray((observed * np.log(x, out=np.zeros(x.shape), where=observed > 0)).sum(axis=-1))

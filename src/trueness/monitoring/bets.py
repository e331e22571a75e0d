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
    if tolerance == 0:
        return np.where(np.isnan(s), 0.0, _gain(u / f, cells).sum(axis=-1, keepdims=True))
    share = np.where(np.isnan(s), 0.0, cells.share[:, None, None])
    outside = (share * distance(u, f)).sum(axis=-1, keepdims=True) > tolerance
    share = np.where(outside, share, 0.0)
    x = _clipped(u / f, levels_over_bins(u, f, share, tolerance))
    width = np.where(share > 0, _width(x), 0.0).max(axis=-1, keepdims=True)
    excess = (share * _excess(x, f)).sum(axis=-1, keepdims=True) + width * tolerance
    rows = cells.observed.sum(axis=(1, 2))[:, None, None, None]
    value = _gain(x, cells).sum(axis=-1, keepdims=True) - rows * np.log1p(np.maximum(excess, 0.0))
    return np.where(np.isnan(s) | ~outside, 0.0, value)


def _of_single_bins(
    cells: Cells, directions: Sequence[Direction], tolerance: float, size: FloatArray
) -> FloatArray:
    """ln e of bets on each bin alone, (L, D, I, M)."""
    share = cells.share[:, None]
    allowed = np.divide(tolerance, share, out=np.full(share.shape, np.inf), where=share > 0)
    s = np.stack([strength_of_bin(cells, each, allowed + size) for each in directions], axis=1)
    u, f = _alternatives(cells, directions, s), cells.f[:, None, None]
    if tolerance == 0:
        return np.where(np.isnan(s), 0.0, _gain(u / f, cells))
    mass = np.where(np.isnan(s), 0.0, allowed[:, None])
    x = _clipped(u / f, SortedRatios.of(u, f).levels(mass))
    excess = _excess(x, f) + _width(x) * mass
    rows = cells.observed.sum(axis=-1)[:, None, None]
    value = _gain(x, cells) - rows * np.log1p(np.maximum(excess, 0.0))
    return np.where(np.isnan(s), 0.0, value)


def _alternatives(cells: Cells, directions: Sequence[Direction], s: FloatArray) -> FloatArray:
    """u of each direction at its strengths s (L, D, I, M or 1), (L, D, I, M, C); p itself where s is NaN."""
    strength = np.where(np.isnan(s), 0.0, s)
    p = cells.p[:, None]
    return np.stack([each.alternative(p, strength[:, d]) for d, each in enumerate(directions)], axis=1)


def _clipped(ratio: FloatArray, levels: tuple[FloatArray, FloatArray]) -> FloatArray:
    return np.clip(ratio, levels[0][..., None], levels[1][..., None])


def _gain(x: FloatArray, cells: Cells) -> FloatArray:
    """Σ_k R_k·ln x_k of each bin, with 0·ln 0 = 0, (L, D, I, M)."""
    observed = cells.observed[:, None, None]
    with np.errstate(divide="ignore"):
        return np.asarray((observed * np.log(x, out=np.zeros(x.shape), where=observed > 0)).sum(axis=-1))


def _width(x: FloatArray) -> FloatArray:
    return np.asarray(x.max(axis=-1) - x.min(axis=-1))


def _excess(x: FloatArray, f: FloatArray) -> FloatArray:
    """f·x - 1 of each bin.

    A law within the tolerance expects at most Σ share·(f·x - 1) + ν·δ more than 1 of stakes x that span ν (section 4).
    That is 0 up to rounding; where levels are less exact, because an alternative is nearly zero, the stakes are divided
    by it, and so every bet is an e-value whatever the accuracy of its levels.
    """
    return np.asarray((f * x).sum(axis=-1) - 1)

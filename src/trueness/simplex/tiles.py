"""All pairs of rows, tile by tile: total variation distances, and the terms of the kernel error.

A tile is 1024 × 1024 pairs, computed in strips that stay in the cache and never stored. Tiles are distributed to
threads, and their sums are added in the order of the tiles: the number of threads does not change a bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray
from trueness._threads import Span, available_cores, in_threads
from trueness.simplex.rows_as_arrays import SimplexRows

TILE, STRIP = 1024, 128
"""Rows and columns of a tile; rows that are computed at a time."""

MOST_DOUBLE_ROWS = 12_000
"""Up to so many rows everything is float64; beyond, float32 within a strip, and float64 between strips."""

Values = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Pairs:
    """Rows whose pairs are compared."""

    predictions: Values
    """p, (N, C)."""
    residuals: Values
    """e_y - p, (N, C)."""

    @classmethod
    def of(cls, rows: SimplexRows) -> Pairs:
        """In float64 if the rows are few."""
        dtype = np.float64 if len(rows.labels) <= MOST_DOUBLE_ROWS else np.float32
        return cls(rows.predictions.astype(dtype, copy=False), rows.residuals.astype(dtype, copy=False))

    @property
    def n_rows(self) -> int:
        """N."""
        return len(self.predictions)

    @cached_property
    def columns(self) -> Values:
        """p class by class, (C, N)."""
        return np.ascontiguousarray(self.predictions.T)

    @cached_property
    def half_sums(self) -> Values:
        """Σ_c p_c/2 of each row, which is ½ to rounding, (N,)."""
        return np.asarray(self.predictions.sum(axis=1) / 2)

    @property
    def own_terms(self) -> FloatArray:
        """h_ii = ‖e_y - p‖² of each row, (N,)."""
        wide = self.residuals.astype(np.float64, copy=False)
        return np.asarray(np.einsum("ij,ij->i", wide, wide))

    def distances(self, rows: slice, others: slice) -> Values:
        """TV(p_i, p_j) = (Σp_i + Σp_j)/2 - Σ_c min(p_ic, p_jc), at least 0."""
        block, columns = self.predictions[rows], self.columns[:, others]
        common = np.zeros((len(block), columns.shape[1]), block.dtype)
        lower = np.empty_like(common)
        for of_rows, of_others in zip(block.T, columns, strict=True):
            np.minimum(of_rows[:, None], of_others, out=lower)
            np.add(common, lower, out=common)
        np.subtract(self.half_sums[others], common, out=common)
        np.add(common, self.half_sums[rows][:, None], out=common)
        return np.maximum(common, 0.0, out=common)

    def terms(self, rows: slice, others: slice, bandwidth: float) -> Values:
        """h_ij = exp(-TV(p_i, p_j)/γ)·(e_yi - p_i)·(e_yj - p_j), with 0 for a row with itself."""
        terms = self.distances(rows, others)
        np.divide(terms, terms.dtype.type(-bandwidth), out=terms)
        np.exp(terms, out=terms)
        np.multiply(terms, self.residuals[rows] @ self.residuals[others].T, out=terms)
        shared = np.arange(max(rows.start, others.start), min(rows.stop, others.stop))
        terms[shared - rows.start, shared - others.start] = 0.0
        return terms

    def over_tiles(self, work: Callable[[slice, slice], Any], n_threads: int | None) -> list[Any]:
        """What `work` returns for each tile of rows i and rows j ≥ i, in order; a tile is a pair of slices."""
        tiles = list(_tiles(self.n_rows))
        found: list[Any] = [None] * len(tiles)
        _ = self.columns, self.half_sums  # made once, before the threads need them

        def run(spans: Iterable[Span]) -> None:
            for number, _ in spans:
                found[number] = work(*tiles[number])

        workers = available_cores() if n_threads is None else n_threads
        in_threads(run, [(number, number + 1) for number in range(len(tiles))], workers)
        return found

    def total_of_pairs(self, bandwidth: float, n_threads: int | None) -> float:
        """Σ_{i≠j} h_ij."""

        def of_tile(rows: slice, others: slice) -> float:
            sums = [float(self.terms(strip, others, bandwidth).sum()) for strip in strips(rows)]
            return math.fsum(sums) * (1.0 if rows == others else 2.0)

        return math.fsum(self.over_tiles(of_tile, n_threads))

    def quadratic_forms(self, weights: FloatArray, bandwidth: float, n_threads: int | None) -> FloatArray:
        """Σ_{i≠j} v_i·v_j·h_ij for each column v of `weights`, (N, R) → (R,)."""
        narrow = weights.astype(self.predictions.dtype, copy=False)

        def of_tile(rows: slice, others: slice) -> FloatArray:
            total = np.zeros(weights.shape[1])
            for strip in strips(rows):
                seen = self.terms(strip, others, bandwidth) @ narrow[others]
                total += np.einsum("ir,ir->r", seen.astype(np.float64), weights[strip])
            return total * (1.0 if rows == others else 2.0)

        return np.asarray(np.add.reduce(self.over_tiles(of_tile, n_threads)))


def strips(rows: slice) -> Iterator[slice]:
    """The rows of a tile, STRIP at a time."""
    return (slice(at, min(at + STRIP, rows.stop)) for at in range(rows.start, rows.stop, STRIP))


def _tiles(n_rows: int) -> Iterator[tuple[slice, slice]]:
    starts = range(0, n_rows, TILE)
    parts = [slice(start, min(start + TILE, n_rows)) for start in starts]
    return ((rows, others) for k, rows in enumerate(parts) for others in parts[k:])

"""The edges of all tables as kernels search them: few are compared one by one, many are looked up in a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.old_table import TableSpec
from trueness.tabulation.compiled.library import FEW_EDGES, GUESSES, Job, address


class Search:
    """The thresholds of several tables, (tables, edges), filled up with infinities that no value exceeds."""

    def __init__(self, specs: Sequence[TableSpec], eps: float) -> None:
        ranges = [spec.range for spec in specs]
        edges = [spec.thresholds(eps) for spec in specs]
        self.n_edges = max(map(len, edges), default=0)
        self.edges: FloatArray = np.array([_filled_up(values, self.n_edges) for values in edges])
        self.guesses: IntArray | None = None
        if self.n_edges > FEW_EDGES:
            self.lows = [low for low, _ in ranges]
            self.scales = [GUESSES / (high - low) for low, high in ranges]
            self.guesses = np.array([*map(_guesses, self.edges, self.lows, self.scales)], np.int64)

    def describe(self, job: Job) -> None:
        """Hand the edges over to a job; this object must be kept as long as the job."""
        job.n_edges, job.edges = self.n_edges, address(self.edges)
        if self.guesses is not None:
            job.guesses = address(self.guesses)
            job.lows[: len(self.lows)], job.scales[: len(self.lows)] = self.lows, self.scales


def _filled_up(values: FloatArray, n: int) -> FloatArray:
    """The values, followed by infinities if they are fewer than n."""
    return values if len(values) == n else np.concatenate([values, np.full(n - len(values), np.inf)])


def _guesses(edges: FloatArray, low: float, scale: float) -> IntArray:
    """For each of 4096 equal cells of the range, the first bin that a value in it can be in."""
    # A little below each cell, since the cell of a value is found with rounding.
    cells = low + (np.arange(GUESSES + 1) - 1e-6) / scale
    return np.searchsorted(edges, cells, side="left")

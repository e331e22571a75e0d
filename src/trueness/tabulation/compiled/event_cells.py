"""The events of rows in a compiled pass: what a kernel is told about them, and the sums that it leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueness._arrays import IntArray
from trueness.bins import ProbabilityGrid, class_grid, event_grid
from trueness.old_table import TOP_LABEL, EventSpec, EventSums
from trueness.old_table.exact_sums import LOG_SCORE_BITS, PROBABILITY_BITS, ExactSum
from trueness.tabulation.compiled.library import (
    CLASS_GRID,
    EVENT_GRID,
    N_MOMENTS,
    NO_CLASS,
    OTHER_GRID,
    Job,
    address,
    require_library,
)

MOST_ROWS = 2**23
"""So many rows certainly fit in the words of a cell."""

MOMENTS = ("square", "cube", "fourth", "product", "log_likelihood")


class EventCells:
    """The sums of an event table while rows are added; it must be kept as long as the job that it was handed to."""

    def __init__(self, spec: EventSpec, eps: float) -> None:
        self.spec, (k, g) = spec, spec.shape
        self.classes = np.array(
            [NO_CLASS if event == TOP_LABEL else event for event in spec.events], np.int64
        )
        self.thresholds = spec.grid.thresholds(eps)
        self.kind, self.parts = _kind(spec.grid, eps)
        self.cells = np.zeros((2, k, g | 1, 2), np.uint64)
        """Two words for each cell, as `source/events.h` says; of rows without the event, and of rows with it."""
        self.moments = np.zeros((k, 2 * N_MOMENTS + 1), np.int64)
        self.n_rows = 0
        self.done: EventSums | None = None

    def describe(self, job: Job) -> None:
        """Hand events, grid and sums over to a job."""
        job.n_events, job.n_cells = self.spec.shape
        job.events, job.thresholds = address(self.classes), address(self.thresholds)
        job.all_classes = np.array_equal(self.classes, np.arange(job.n_classes))
        job.has_top = bool(np.any(self.classes == NO_CLASS))
        job.grid, job.parts = self.kind, self.parts
        job.stride, job.cells = self.cells.shape[2], address(self.cells)
        if self.spec.has_moments:
            job.moments = address(self.moments)

    def expect(self, n_rows: int) -> None:
        """Make room in the cells for so many rows more."""
        self.n_rows += n_rows
        if self.n_rows > MOST_ROWS:
            self.done = self.sums()
            for sums in (self.cells, self.moments):
                sums[...] = 0
            self.n_rows = n_rows

    def sums(self) -> EventSums:
        """The sums so far."""
        job, of_cells = Job(), np.empty((4, *self.spec.shape), np.int64)
        self.describe(job)
        require_library().read_cells(job, of_cells)
        rows, whole, fraction, observed = of_cells
        sums = EventSums(
            rows=rows,
            predicted=ExactSum(whole, fraction, PROBABILITY_BITS),
            observed=ExactSum.of_counts(observed, PROBABILITY_BITS),
            **moments_by_name(self.moments.copy()) if self.spec.has_moments else {},
        )
        return sums if self.done is None else self.done + sums


def _kind(grid: ProbabilityGrid, eps: float) -> tuple[int, float]:
    """Which grid it is, and by what p is multiplied there: 60/64 or 3600/4096, less the snap of the edges."""
    snap = 1.0 + max(2.0**-22, 4.0 * eps)
    if grid == class_grid():
        return CLASS_GRID, 60 / 64 / snap
    return (EVENT_GRID, 3600 / 4096 / snap) if grid == event_grid() else (OTHER_GRID, 0.0)


def moments_by_name(totals: IntArray) -> dict[str, Any]:
    """The sums of powers and logarithms, and the impossible rows, by name."""
    made: dict[str, Any] = {
        name: ExactSum(
            totals[:, 2 * which].copy(),
            totals[:, 2 * which + 1].copy(),
            LOG_SCORE_BITS if name == "log_likelihood" else PROBABILITY_BITS,
        )
        for which, name in enumerate(MOMENTS)
    }
    return made | {"impossible_rows": totals[:, -1].copy()}

"""Draws of the observed numbers of a calibrated event, and the seeds of their streams."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.events.cells import EventCells

_DRAWN_VALUES = 2**18
"""Drawn numbers in memory at a time, two megabytes."""

MOST_DRAWN_CELLS = 512
"""Cells of equal mass that draws are made on where a curve or a path is computed for each draw."""

STREAMS = {
    "calibration_error": 0,
    "hosmer_lemeshow": 1,
    "cumulative": 2,
    "loess": 3,
    "logistic": 4,
    "isotonic": 5,
    "smooth": 6,
    "corp": 7,
    "decomposition": 8,
}
"""The last number of the seed of each statistic, so that none depends on which others are asked for."""


def event_seed(seed: int, event: int, statistic: str) -> list[int]:
    """The seed of the stream of one statistic of one event: [seed, 7, event, k].

    >>> event_seed(0, 3, "cumulative")
    [0, 7, 3, 2]
    """
    return [seed, 7, event, STREAMS[statistic]]


@dataclass(frozen=True, slots=True)
class DrawnStatistic:
    """A statistic that is above 0 for calibrated events too, compared with draws of a calibrated event."""

    value: float
    noise_floor: float
    """Its mean if the event is calibrated."""
    p_value: float
    """The probability of a value at least as large if the event is calibrated: (k + 1)/(R + 1) of R draws."""

    @classmethod
    def undefined(cls) -> DrawnStatistic:
        """All NaN."""
        return cls(math.nan, math.nan, math.nan)


def independent_rows(cells: EventCells) -> FloatArray:
    """Rows of each cell, or the effective number of weighted ones, as whole numbers from 1 on."""
    return np.asarray(np.maximum(np.rint(cells.effective_count), 1.0))


def few_cells(cells: EventCells) -> EventCells:
    """The cells merged so far that refitting a curve to each draw takes little time; as they are if they are few.

    A statistic is compared with its draws on the same cells, so that the p-value is valid whatever they are.
    """
    return cells if len(cells.count) <= MOST_DRAWN_CELLS else cells.in_equal_mass(MOST_DRAWN_CELLS)


def by_draws(
    cells: EventCells, seed: list[int], resamples: int, statistic: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """A statistic of the observed frequencies, (k, F) → (k,) or (k, …), for R draws of a calibrated event.

    The observed number of a cell is Binomial(n, p̄). Draws come in parts that fit into memory, whose size does not
    change the numbers.
    """
    stream = np.random.default_rng(seed)
    n, p = independent_rows(cells).astype(np.int64), cells.mean_predicted
    batch = max(1, _DRAWN_VALUES // len(n))
    sizes = (min(batch, resamples - start) for start in range(0, resamples, batch))
    return np.concatenate([statistic(stream.binomial(n, p, (size, len(n))) / n) for size in sizes])

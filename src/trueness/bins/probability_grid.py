"""Cells over [0, 1] for the probability of an event: fine enough for any bins, and fixed, so that tables add."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness.bins.edges import Edges
from trueness.bins.equal_mass import EqualMass
from trueness.bins.kinds import Bins, group_starts
from trueness.refusals import InvalidValueError, Refusal

_PARTS = 3600
"""Edges that a decimal or a simple fraction can mean are multiples of 1/3600."""

_USUAL_NUMBERS = (
    "use 10, 12, 15, 20, 30 or another number that divides 60; bins of equal mass accept any number"
)


@dataclass(frozen=True, slots=True)
class ProbabilityGrid:
    """Cells over [0, 1], closed on the right; 0 is in the first.

    A probability is above an edge e if p > e + snap(e), with snap(e) = e·max(2⁻²², 4·eps of the dtype) if e is a
    multiple of 1/3600 and 0 otherwise (powers of two, which no decimal means). The snap is relative, so that small
    probabilities keep their cells.

    >>> class_grid().n_cells, event_grid().n_cells
    (80, 5026)
    """

    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        steps = np.diff(self.edges)
        if len(self.edges) < 2 or self.edges[0] != 0.0 or self.edges[-1] != 1.0 or not np.all(steps > 0):
            cause = f"edges of probabilities must increase from 0 to 1, got {list(self.edges)}"
            raise InvalidValueError("bad-edges", cause, argument="edges", value=list(self.edges))

    @property
    def n_cells(self) -> int:
        """The number of cells, one fewer than edges."""
        return len(self.edges) - 1

    def thresholds(self, eps: float) -> FloatArray:
        """e + snap(e) of the interior edges in order, for predictions of a dtype with this eps."""
        return _thresholds(self, eps)

    def index(self, p: FloatArray, eps: float) -> IntArray:
        """The cell of each probability: the number of interior edges that it lies above."""
        return np.searchsorted(self.thresholds(eps), p, side="left")

    def merge(self, count: NDArray[Any], bins: Bins) -> tuple[IntArray, ProbabilityGrid]:
        """The first cell of each coarser bin, and these bins; `count` (of one event) is needed for equal mass."""
        return _merged(self, count, bins) if isinstance(bins, EqualMass) else _merged_alike(self, bins)


def _merged(grid: ProbabilityGrid, count: NDArray[Any], bins: Bins) -> tuple[IntArray, ProbabilityGrid]:
    try:
        starts, edges = group_starts(Edges(grid.edges), count, bins)
    except Refusal as error:
        raise error.with_facts(remedy=_USUAL_NUMBERS) from error
    starts.setflags(write=False)
    return starts, ProbabilityGrid(tuple(edges))


@lru_cache(maxsize=64)
def _merged_alike(grid: ProbabilityGrid, bins: Bins) -> tuple[IntArray, ProbabilityGrid]:
    """The same for bins that do not depend on the rows: every class of every model has them."""
    return _merged(grid, np.zeros(grid.n_cells, np.int64), bins)


@cache
def _thresholds(grid: ProbabilityGrid, eps: float) -> FloatArray:
    edges = np.array(grid.edges[1:-1])
    multiple = np.rint(edges * _PARTS) / _PARTS == edges
    thresholds = edges + np.where(multiple, edges * max(2.0**-22, 4.0 * eps), 0.0)
    thresholds.sort()  # with a coarse dtype an edge may be snapped beyond a power of two: a cell is a number of edges
    thresholds.setflags(write=False)
    return thresholds


def _symmetric(lower: Iterable[float], middle: Iterable[float]) -> ProbabilityGrid:
    """The grid of the middle edges, the lower ones, and the mirror images of the lower ones."""
    small = list(lower)
    return ProbabilityGrid(tuple(sorted({0.0, 1.0, *small, *(1.0 - edge for edge in small), *middle})))


@cache
def class_grid() -> ProbabilityGrid:
    """80 cells: k/60, and 2⁻ʲ and 1 - 2⁻ʲ for j = 7, 8, 9, 10, 13, 17, 20, 23, 26, 30.

    It merges exactly into 1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30 or 60 bins of equal width.
    """
    return _symmetric((2.0**-j for j in (7, 8, 9, 10, 13, 17, 20, 23, 26, 30)), (k / 60 for k in range(61)))


@cache
def event_grid() -> ProbabilityGrid:
    """5026 cells: 1/3600 wide in the middle, and 1/32 of an octave in the tails, from 2⁻³⁰ to 1/64.

    Cells are at most 3.2 % of the odds wide from 10⁻⁹ to 1 - 10⁻⁹. Every edge of the class grid is one of these.
    """
    tail = [2.0**-e * (1 + i / 32) for e in range(7, 31) for i in range(32)]
    return _symmetric([*tail, 1 / 64], (j / _PARTS for j in range(57, 3544)))

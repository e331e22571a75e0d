"""Which bin a library puts a row into: the edges, the rule for a value on an edge, and rows without a bin."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray
from trueness.conventions.readings import Reading

DROPPED = -1
"""The bin of a row that counts in none."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The bins of all rows, by the library's rule and by the one of this library in the same bins."""

    index: NDArray[np.intp]
    """(N,): the bin of each row, or DROPPED."""
    plain: NDArray[np.intp]
    """(N,): its bin if no row is dropped and a value on an edge belongs to the bin below."""
    n_bins: int
    """One more than the largest index that is possible."""
    low: float | None = 0.0
    """Where the bins begin; None if they are made of the rows."""

    @property
    def moved(self) -> int:
        """The number of rows that the rule for values on an edge puts into another bin."""
        return int(np.count_nonzero((self.index != self.plain) & (self.index != DROPPED)))

    @property
    def dropped(self) -> int:
        """The number of rows in no bin."""
        return int(np.count_nonzero(self.index == DROPPED))


def closed_left(reading: Reading, n_bins: int) -> Assignment:
    """[k/M, (k+1)/M), and a further bin for the value 1 alone; edges in the dtype of the rows (torchmetrics).

    The edges are those of `torch.linspace`, which counts from both ends.
    """
    edges = torch_linspace(n_bins, reading.predicted.dtype)
    index = np.searchsorted(edges, reading.predicted, side="right") - 1
    return Assignment(index, _plain(reading, edges), n_bins + 1)


def closed_left_and_last(reading: Reading, n_bins: int) -> Assignment:
    """[k/M, (k+1)/M), the last one with 1: as NumPy's histogram, with edges in float64 (netcal)."""
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    index = np.searchsorted(edges[1:-1], reading.predicted, side="right")
    return Assignment(index, _plain(reading, edges), n_bins)


def closed_right(reading: Reading, n_bins: int) -> Assignment:
    """(k/M, (k+1)/M], the first one with 0, with the edges of `numpy.linspace` (scikit-learn)."""
    return _closed_right(reading, np.linspace(0.0, 1.0, n_bins + 1))


def closed_right_at_quotients(reading: Reading, n_bins: int) -> Assignment:
    """The same with edges k/M, each one rounded quotient (uncertainty-calibration)."""
    return _closed_right(reading, np.arange(n_bins + 1) / n_bins)


def one_bin_fewer(reading: Reading, n_bins: int) -> Assignment:
    """M edges from 0 to 1, so M - 1 bins (k/(M-1), (k+1)/(M-1)], and one for the value 0 alone (MAPIE)."""
    edges = np.linspace(0.0, 1.0, n_bins)
    index = np.searchsorted(edges, reading.predicted, side="left")
    return Assignment(index, _plain(reading, edges) + 1, n_bins)


def at_quantiles(reading: Reading, n_bins: int) -> Assignment:
    """Bins between the percentiles of the rows, closed on the right (scikit-learn, strategy="quantile")."""
    edges = np.percentile(reading.predicted, np.linspace(0, 1, n_bins + 1) * 100)
    index = np.searchsorted(edges[1:-1], reading.predicted, side="left")
    return Assignment(index, index, n_bins, None)


def equal_mass(reading: Reading, n_bins: int) -> Assignment:
    """Bins whose edges are half-way between the parts of `numpy.array_split` of the sorted rows, closed on the right.

    Equal edges are one, so equal values stay together and there may be fewer bins (uncertainty-calibration).
    """
    ordered = np.sort(reading.predicted.astype(np.float64))
    parts = np.array_split(ordered, min(n_bins, len(ordered)))
    between = [(low[-1] + high[0]) / 2.0 for low, high in pairwise(parts)]
    edges = np.unique([*between, 1.0])
    index = np.searchsorted(edges, reading.predicted, side="left")
    return Assignment(index, index, len(edges), None)


def hundreds(reading: Reading, n_rows: int) -> Assignment:
    """⌊N/100⌋ bins of 100 rows in the order of their numbers, the last up to the end and dropped (HLE).

    Equal numbers are ordered as NumPy's default sort leaves them.
    """
    n_bins = reading.n_rows // n_rows
    place = np.empty(reading.n_rows, np.intp)
    place[np.argsort(reading.predicted)] = np.arange(reading.n_rows)
    plain = np.minimum(place // n_rows, n_bins - 1)
    return Assignment(np.where(plain == n_bins - 1, DROPPED, plain), plain, n_bins, None)


def open_at_zero(reading: Reading, n_bins: int) -> Assignment:
    """(k/M, (k+1)/M] with float32 edges; the values 0 and above 1 are in no bin (the UCE authors' script)."""
    edges = torch_linspace(n_bins, np.dtype(np.float32)).astype(np.float64)
    index = np.searchsorted(edges, reading.predicted, side="left") - 1
    outside = (index < 0) | (index >= n_bins)
    return Assignment(np.where(outside, DROPPED, index), _plain(reading, edges), n_bins)


def one_bin(reading: Reading, _: int) -> Assignment:
    """All rows in one bin, for numbers without bins."""
    index = np.zeros(reading.n_rows, np.intp)
    return Assignment(index, index, 1, None)


def torch_linspace(n_bins: int, dtype: np.dtype[Any]) -> FloatArray:
    """M + 1 numbers from 0 to 1: k·s in the lower half, 1 - (M-k)·s in the upper, with s = 1/M in the dtype.

    As `torch.linspace` on processors with fused multiply-add: the difference is rounded once.
    """
    step, half = float(dtype.type(1) / dtype.type(n_bins)), (n_bins + 1) // 2
    lower = [k * Fraction(step) for k in range(half)]
    upper = [1 - k * Fraction(step) for k in range(n_bins - half, -1, -1)]
    return np.array([float(edge) for edge in (*lower, *upper)]).astype(dtype)


def _closed_right(reading: Reading, edges: FloatArray) -> Assignment:
    index = np.searchsorted(edges[1:-1], reading.predicted, side="left")
    return Assignment(index, _plain(reading, edges), len(edges) - 1)


def _plain(reading: Reading, edges: FloatArray) -> NDArray[np.intp]:
    """The bins between the same edges by the rule of this library (`trueness.bins.edges`): V > e_k + snap."""
    snap = max(2.0**-22, 4.0 * float(np.finfo(reading.predicted.dtype).eps))
    return np.searchsorted(edges[1:-1].astype(np.float64) + snap, reading.predicted, side="left")

"""Bins over the range of a variation measure, and the one rule for values that lie on an edge.

Bins are right-closed, the lowest edge belongs to the first bin, and a value within rounding of an edge is on it. The
paper's bins ((m-1)/M, m/M] leave out V = 0, where a one-hot classifier puts all its rows; here every row has a bin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness._arguments import whole_number
from trueness._arrays import FloatArray, IntArray
from trueness.ranking import ordered_blocks
from trueness.rows import Rows
from trueness.variation import Variation, as_variation

MOST_BINS = 10**7

EQUAL_MASS_SNAP = 1e-12
"""Edges that were taken from the data are compared as finely as V is computed."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Bins between given edges, in increasing order from the bottom of the measure's range to its top.

    The first two edges may be equal: a bin for the lowest value alone. `snap` is how far above an edge a value may
    lie and still be on it; None means the rule for computed or rounded values, by the dtype of the input.

    >>> Edges([0, 0.2, 0.5, 1]).n_bins
    3
    """

    edges: tuple[float, ...]
    snap: float | None = None

    def __init__(self, edges: Sequence[float] | NDArray[Any], snap: float | None = None) -> None:
        if isinstance(edges, (str, bytes)) or not hasattr(edges, "__iter__"):
            raise TypeError(f"edges must be a list of numbers, got {edges!r}")
        try:
            values = tuple(float(edge) for edge in edges)
        except (TypeError, ValueError) as error:
            raise TypeError(f"edges must be a flat list of numbers, got {edges!r}") from error
        steps = np.diff(values)
        if len(values) < 2 or not np.all(np.isfinite(values)):
            raise ValueError(f"edges must be at least two finite numbers, got {list(values)}")
        if values[0] == values[-1] or steps[0] < 0 or np.any(steps[1:] <= 0):
            raise ValueError(f"edges must increase (only the first two may be equal), got {list(values)}")
        if snap is not None and not 0 <= snap < np.inf:
            raise ValueError(f"snap must be None or a number from 0 up, got {snap!r}")
        object.__setattr__(self, "edges", values)
        object.__setattr__(self, "snap", None if snap is None else float(snap))

    @property
    def n_bins(self) -> int:
        """The number of bins, one fewer than edges."""
        return len(self.edges) - 1

    def resolve(self, low: float, high: float) -> Edges:
        """These edges, after checking that they cover the measure's range."""
        slack = (high - low) * 2.0**-22
        if self.edges[0] > low + slack or self.edges[-1] < high - slack:
            raise ValueError(
                f"edges run from {self.edges[0]} to {self.edges[-1]}, but the measure runs from {low} to {high}: "
                "rows outside would have no bin"
            )
        return self

    def thresholds(self, eps: float, span: float) -> FloatArray:
        """e_k + snap for the interior edges: beyond it V is above edge k.

        eps is that of the predictions' dtype, span the width of the measure's attainable range.
        """
        return _thresholds(self, eps, span)

    @staticmethod
    def index(values: FloatArray, thresholds: FloatArray) -> NDArray[np.unsignedinteger]:
        """The bin of each value: the number of interior edges that it lies above.

        In the narrowest type that holds it, since up to 16 bits are sorted by radix.
        """
        if len(thresholds) < 24:  # quicker to count than to search
            return np.asarray(np.add.reduce(values > thresholds[:, None], axis=0, dtype=np.uint8))
        narrow = np.uint16 if len(thresholds) < 2**16 else np.uint32
        return np.searchsorted(thresholds, values, side="left").astype(narrow)


@lru_cache(maxsize=16)
def _thresholds(bins: Edges, eps: float, span: float) -> FloatArray:
    """The rule for values on an edge: V is above edge k if V > e_k + snap.

    snap = (hi - lo)·max(2⁻²², 4·eps(dtype)): float32 rows, decimals and computed logarithms all miss an edge by less,
    and no one means to tell bins apart by so little.
    """
    edges = np.array(bins.edges)
    snap = span * max(2.0**-22, 4.0 * eps) if bins.snap is None else bins.snap
    widths = np.diff(edges)
    narrowest = float(widths[widths > 0].min())
    if snap >= narrowest / 2:
        wider = (
            ", or cast y_prob to a wider dtype if its values are more exact than that" if eps > 1e-10 else ""
        )
        raise ValueError(
            f"bins of width {narrowest:g} are too narrow to tell apart values that are on an edge within {snap:g} "
            f"(predictions whose dtype has eps {eps:g}): use fewer bins{wider}, or pass Edges(..., snap=...)"
        )
    return np.asarray(edges[1:-1] + snap)


@dataclass(frozen=True, slots=True)
class EqualWidth:
    """So many bins of the same width over the measure's attainable range.

    >>> EqualWidth(4).resolve(0.0, 1.0).edges
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """

    n_bins: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", whole_number("the number of bins", self.n_bins, 1, MOST_BINS))

    def resolve(self, low: float, high: float) -> Edges:
        """The bins as edges."""
        return _equal_edges(self.n_bins, low, high)


@lru_cache(maxsize=16)  # most calls ask for the same ten bins, and short inputs would feel the making
def _equal_edges(n_bins: int, low: float, high: float) -> Edges:
    """e_k = (lo·(M - k) + hi·k)/M, which puts plain decimals where they are written."""
    k = np.arange(n_bins + 1)
    edges = (low * (n_bins - k) + high * k) / n_bins
    edges[[0, -1]] = low, high  # to the last digit
    return Edges(edges)


@dataclass(frozen=True, slots=True)
class FineGrid:
    """Many narrow bins, to be merged afterwards into any coarser ones with `CalibrationTable.coarsen`.

    This is how equal-mass bins are made of data that is seen only once: tables on one grid add, wherever they come
    from, and the bins are chosen at the end.
    """

    n_cells: int = 4000

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_cells", whole_number("the number of cells", self.n_cells, 1, MOST_BINS))

    def resolve(self, low: float, high: float) -> Edges:
        """The cells as edges."""
        return _equal_edges(self.n_cells, low, high)


@dataclass(frozen=True, slots=True)
class EqualMass:
    """Bins that hold the same number of rows each, as far as equal values of V allow.

    The right edge of bin k is the ⌈kN/M⌉-th smallest V. Rows with equal V always share a bin, so with many equal
    values there are fewer bins than asked for, and the table shows those that were made.
    """

    n_bins: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", whole_number("the number of bins", self.n_bins, 1, MOST_BINS))

    def fit(
        self,
        y_prob: Any,
        *,
        variation: str | Variation = "entropy",
        sample_weight: Any = None,
        from_logits: bool = False,
        normalize: bool = False,
    ) -> Edges:
        """The edges these predictions give, to be reused so that later tables merge.

        >>> EqualMass(2).fit([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.5, 0.5]], variation="confidence").edges
        (0.5, 0.7, 1.0)
        """
        rows = Rows.of_predictions(y_prob, sample_weight, from_logits=from_logits, normalize=normalize)
        return self.fit_rows(rows, as_variation(variation))

    def fit_rows(self, rows: Rows, variation: Variation) -> Edges:
        """`fit` for rows that have passed the border."""
        low, high = variation.range_for(rows.n_classes)
        values = np.empty(rows.n_rows)
        for start, stop, ordered in ordered_blocks(rows):
            values[start:stop] = variation.of_rows(ordered.T, rows.sum_tolerance)
        return self.edges_at(self._ends(values, rows.sample_weight), low, high)

    def nth(self, n_rows: int) -> IntArray:
        """Which of the sorted values (from 0) are the right ends of the bins, ⌈kN/M⌉ for k = 1 to M."""
        return np.asarray(-(-np.arange(1, self.n_bins + 1) * n_rows // self.n_bins) - 1)

    def edges_at(self, ends: FloatArray, low: float, high: float) -> Edges:
        """The edges, given the right ends of all bins."""
        return Edges(_without_repeats(low, ends, high), EQUAL_MASS_SNAP)

    def _ends(self, values: FloatArray, weights: FloatArray | None) -> FloatArray:
        """The right ends of all bins, the largest value last."""
        if weights is None:
            nth = self.nth(len(values))
            values.partition(nth)  # in place: this may be the largest array there is
            return values[nth]
        kept = weights > 0
        order = np.argsort(values[kept])
        mass = np.cumsum(weights[kept][order])
        # A weight that sums to exactly k/M must count as having reached it.
        goals = np.arange(1, self.n_bins + 1) * mass[-1] * (1 - 1e-13)
        nth = np.searchsorted(mass * self.n_bins, goals)
        return np.asarray(values[kept][order][np.minimum(nth, len(mass) - 1)])

    def group(self, count: NDArray[Any]) -> IntArray:
        """The first cell of each bin when cells of a fine grid, with these counts, are merged."""
        mass = np.cumsum(count)
        nth = np.searchsorted(mass * self.n_bins, np.arange(1, self.n_bins) * mass[-1] * (1 - 1e-13))
        last = len(count) - 1 - int(np.argmax(count[::-1] > 0))
        return np.concatenate([[0], np.unique(nth[nth < last]) + 1]).astype(np.int64)


Bins: TypeAlias = EqualWidth | EqualMass | Edges | FineGrid


def as_bins(bins: int | Bins) -> Bins:
    """The bins meant by a number (equal width), or the object itself."""
    if isinstance(bins, (EqualWidth, EqualMass, Edges, FineGrid)):
        return bins
    if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool):
        return EqualWidth(int(bins))
    raise TypeError(f"bins must be a number or EqualWidth, EqualMass, Edges or FineGrid, got {bins!r}")


def confidence_bins_for(bins: Bins, chosen: int | Bins | None = None) -> Bins:
    """The bins by confidence, off which ECE is read, beside `bins` of another measure.

    Those that were chosen; else bins of the same kind and number. Edges were chosen for the other measure and mean
    nothing for confidences, so they give as many bins of equal width.
    """
    if chosen is not None:
        return as_bins(chosen)
    return EqualWidth(bins.n_bins) if isinstance(bins, Edges) else bins


def group_starts(fine: Edges, count: NDArray[Any], coarse: Bins) -> tuple[IntArray, tuple[float, ...]]:
    """Where each coarser bin begins among finer ones, and the coarser edges; each must be a fine edge."""
    if isinstance(coarse, EqualMass):
        starts = coarse.group(count)
        return starts, (*(fine.edges[start] for start in starts), fine.edges[-1])
    edges = coarse.resolve(fine.edges[0], fine.edges[-1]).edges
    wanted, have = np.array(edges[:-1]), np.array(fine.edges[:-1])
    starts = np.searchsorted(have, wanted - 1e-12)
    missing = np.abs(have[np.minimum(starts, len(have) - 1)] - wanted) > 1e-12
    if np.any(missing):
        raise ValueError(
            f"edge {wanted[missing][0]} of the coarser bins is not an edge of the {len(have)} finer ones; a number of "
            f"equal bins must divide theirs, EqualMass may be any number"
        )
    if len(wanted) > 1 and wanted[0] == wanted[1]:
        # A bin for the lowest value alone can only come from such a bin.
        if len(have) == 1 or have[0] != have[1]:
            raise ValueError(
                f"the finer bins do not hold the value {wanted[0]} apart, as the coarser ones ask for"
            )
        starts[1] = 1
    return starts.astype(np.int64), edges


def _without_repeats(low: float, ends: FloatArray, high: float) -> list[float]:
    """Edges from ascending right ends, without those that equal the one before or the last to rounding."""
    equal = 4 * EQUAL_MASS_SNAP
    interior: list[float] = []
    for end in ends[ends < ends[-1] - equal]:
        if not interior or end > interior[-1] + equal:
            # Rows at the very bottom, such as one-hot ones, get the bin [low, low].
            interior.append(float(end) if end > low + equal else low)
    return [low, *interior, high]

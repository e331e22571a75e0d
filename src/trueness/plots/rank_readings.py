"""The numbers of the pictures of ranks: how often each was predicted to come true, and did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueness._arguments import whole_number
from trueness._arrays import FloatArray, IntArray
from trueness.inference.binomial import frequency_band, standardised_gap
from trueness.plots.readings import Judged, rows_text, span_of
from trueness.table import CalibrationTable

MOST_RANKS = 30
"""So many ranks are shown one by one; more of them in groups that widen downwards."""
RANK_GROUPS = 24


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """How often each rank was predicted to come true and did, for one bin or all rows, (G,) each."""

    bin: int | None
    """Its number, from 1; None for all rows."""
    title: str
    rows: float
    n_classes: int
    first: IntArray
    """First and last rank of each group; equal where ranks stand alone."""
    last: IntArray
    predicted: FloatArray
    """The mean over the ranks of a group."""
    observed: FloatArray
    low: FloatArray
    """Of the band in which the observed frequency would lie if the model were calibrated."""
    high: FloatArray
    gap: FloatArray
    """Standardised: like a standard normal number if the model is calibrated."""
    level: float

    @property
    def grouped(self) -> bool:
        """Whether there are too many ranks to be shown one by one."""
        return bool(np.any(self.last > self.first))

    @property
    def labels(self) -> list[str]:
        """Names of the groups: 3, or 5–8 for several ranks."""
        return rank_labels(self.first, self.last)


@dataclass(frozen=True, slots=True, eq=False)
class HeatMap:
    """Bins × ranks: where the distribution is wrong, (F, G)."""

    bins: IntArray
    span: list[str]
    rows: FloatArray
    first: IntArray
    last: IntArray
    predicted: FloatArray
    """Probability of the whole group."""
    observed: FloatArray
    gap: FloatArray
    """Standardised; above 0 the ranks came true more often than predicted."""

    @property
    def labels(self) -> list[str]:
        """Names of the groups: 3, or 5–8 for several ranks."""
        return rank_labels(self.first, self.last)


def rank_labels(first: IntArray, last: IntArray) -> list[str]:
    """Names of groups of ranks."""
    return [str(a) if a == b else f"{a}–{b}" for a, b in zip(first.tolist(), last.tolist(), strict=True)]


def rank_starts(n_classes: int) -> IntArray:
    """Where groups of ranks begin, from 0: each rank by itself, or groups as wide as they are far down.

    >>> rank_starts(4).tolist(), rank_starts(1000)[:12].tolist()
    ([0, 1, 2, 3], [0, 1, 2, 3, 4, 6, 8, 10, 14, 18, 23, 30])
    """
    if n_classes <= MOST_RANKS:
        return np.arange(n_classes)
    return np.unique(np.floor(np.geomspace(1, n_classes + 1, RANK_GROUPS + 5)[:-1]).astype(np.int64)) - 1


def ranks(judged: Judged, bin: int | None = None) -> Ranks:
    """The rank diagram of one bin, by its number from 1, or of all rows."""
    table, noise = judged.table, judged.vce.bins
    count = table.count.astype(np.float64)
    if bin is None:
        share, n = count / count.sum(), noise.independent_rows
        filled = table.row_count > 0
        # The noise of a weighted mean over bins: Σ w²/n is one over the number of rows if all weigh the same.
        rows, size = float(count.sum()), 1 / float((share[filled] ** 2 / n[filled]).sum())
        q, r = (sums.sum(axis=0) / rows for sums in (table.ordered_sum, table.rank_count))
        title = f"all {rows_text(rows)}"
    else:
        m = whole_number("bin", bin, 1, table.n_bins) - 1
        if not table.row_count[m]:
            raise ValueError(f"bin {bin} of {table.n_bins} holds no rows; filled are {_some_filled(table)}")
        rows, size = float(count[m]), float(noise.independent_rows[m])
        q, r = table.mean_ordered[m], table.rank_frequency[m]
        name = table.spec.variation.display_name
        title = f"bin {m + 1} of {table.n_bins}, {name} in {span_of(table.edges, m + 1)}, {rows_text(rows)}"
    starts = rank_starts(table.n_classes)
    width = np.diff(np.append(starts, table.n_classes))
    predicted, observed = (np.minimum(np.add.reduceat(v, starts), 1.0) for v in (q / q.sum(), r))
    n_of = np.full(predicted.shape, np.rint(size))
    low, high = frequency_band(n_of, predicted, judged.level)
    return Ranks(
        bin=bin,
        title=title,
        rows=rows,
        n_classes=table.n_classes,
        first=starts + 1,
        last=starts + width,
        predicted=predicted / width,
        observed=observed / width,
        low=low / width,
        high=high / width,
        gap=standardised_gap(n_of, observed, predicted),
        level=judged.level,
    )


def _some_filled(table: CalibrationTable, most: int = 12) -> str:
    filled = (np.flatnonzero(table.row_count) + 1).tolist()
    return ", ".join(map(str, filled[:most])) + (", …" if len(filled) > most else "")


def heat_map(judged: Judged) -> HeatMap:
    """Standardised gaps of all bins and ranks."""
    table = judged.table
    filled = np.flatnonzero(table.row_count)
    starts = rank_starts(table.n_classes)
    q, r = (
        np.minimum(np.add.reduceat(v[filled], starts, axis=1), 1.0)
        for v in (table.mean_ordered, table.rank_frequency)
    )
    n = judged.vce.bins.independent_rows[filled, None]
    return HeatMap(
        bins=filled + 1,
        span=[span_of(table.edges, number + 1) for number in filled.tolist()],
        rows=table.count[filled].astype(np.float64),
        first=starts + 1,
        last=np.append(starts[1:], table.n_classes),
        predicted=q,
        observed=r,
        gap=standardised_gap(n, r, q),
    )


def worst_bin(judged: Judged) -> int:
    """The number of the bin that adds most to the ranked calibration error."""
    table = judged.table
    apart = np.abs(table.rank_frequency - table.mean_ordered).sum(axis=1) * table.count
    return int(np.nanargmax(np.where(table.row_count > 0, apart, np.nan))) + 1

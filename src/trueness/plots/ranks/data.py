"""What a rank diagram shows: how often each rank was predicted to be that of the true class, and was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trueness._arguments import whole_number
from trueness._arrays import FloatArray, IntArray
from trueness._printing import first_few, rows_text
from trueness.old_inference.binomial import frequency_band, standardised_gap
from trueness.old_table import AnyRankTable
from trueness.plots._plotted_bins import span_of
from trueness.plots._rank_groups import rank_labels, rank_starts
from trueness.plots.table_estimates import Drawable
from trueness.refusals import InvalidValueError

MOST_BARS = 12
"""With more ranks than this the axes are logarithmic: most probabilities are small."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Predicted and observed frequency of each rank of the true class, for one bin or all rows, (G,) each."""

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
    """Lower end of the band in which the observed frequency would lie if the model were calibrated."""
    high: FloatArray
    gap: FloatArray
    """Standardised: approximately standard normal if the model is calibrated."""
    level: float

    @property
    def grouped(self) -> bool:
        """Whether there are too many ranks to be shown one by one."""
        return bool(np.any(self.last > self.first))

    @property
    def logarithmic(self) -> bool:
        """Whether there are too many ranks for bars on linear axes."""
        return self.n_classes > MOST_BARS

    @property
    def labels(self) -> list[str]:
        """Names of the groups: 3, or 5–8 for several ranks."""
        return rank_labels(self.first, self.last)

    @property
    def smallest_shown(self) -> float:
        """Lower end of a logarithmic axis: a third of the share of one row in the widest group of ranks."""
        return 1 / (3 * max(self.rows, 1.0) * float((self.last - self.first + 1).max()))


class _Frequencies(NamedTuple):
    """Mean ordered prediction and rank frequencies of some rows, with their number and that of independent ones."""

    title: str
    rows: float
    independent_rows: float
    predicted: FloatArray
    observed: FloatArray


def ranks_of(result: Drawable, bin: int | None = None) -> Ranks:
    """The rank diagram of one bin, by its number from 1, or of all rows."""
    it = _all_rows(result) if bin is None else _one_bin(result, bin)
    starts = rank_starts(result.table.n_cells)
    width = np.diff(np.append(starts, result.table.n_cells))
    predicted, observed = (
        np.minimum(np.add.reduceat(v, starts), 1.0) for v in (it.predicted / it.predicted.sum(), it.observed)
    )
    n = np.full(predicted.shape, np.rint(it.independent_rows))
    low, high = frequency_band(n, predicted, result.level)
    return Ranks(
        bin=bin,
        title=it.title,
        rows=it.rows,
        n_classes=result.table.n_cells,
        first=starts + 1,
        last=starts + width,
        predicted=predicted / width,
        observed=observed / width,
        low=low / width,
        high=high / width,
        gap=standardised_gap(n, observed, predicted),
        level=result.level,
    )


def _all_rows(result: Drawable) -> _Frequencies:
    table = result.table
    count, filled = table.count.astype(np.float64), table.row_count > 0
    share, n = count / count.sum(), result.vce.bins.independent_rows
    rows = float(count.sum())
    # The noise of a weighted mean over bins: Σ w²/n is one over the number of rows if all weigh the same.
    size = 1 / float((share[filled] ** 2 / n[filled]).sum())
    predicted, observed = (sums.sum(axis=0) / rows for sums in (table.ordered_sum, table.rank_count))
    return _Frequencies(f"all {rows_text(rows)}", rows, size, predicted, observed)


def _one_bin(result: Drawable, bin: int) -> _Frequencies:
    table = result.table
    m = whole_number("bin", bin, 1, table.n_bins) - 1
    if not table.row_count[m]:
        raise _empty_bin(table, bin)
    rows = float(table.count[m])
    name, span = table.spec.variation.display_name, span_of(table.edges, m + 1)
    title = f"bin {m + 1} of {table.n_bins}, {name} in {span}, {rows_text(rows)}"
    size = float(result.vce.bins.independent_rows[m])
    return _Frequencies(title, rows, size, table.mean_ordered[m], table.rank_frequency[m])


def _empty_bin(table: AnyRankTable, bin: int) -> InvalidValueError:
    filled = first_few((np.flatnonzero(table.row_count) + 1).tolist(), 12)
    cause = f"bin {bin} of {table.n_bins} has no rows"
    remedy = f"bins with rows are {filled}"
    return InvalidValueError("empty-bin", cause, remedy, argument="bin", value=bin)


def worst_bin(result: Drawable) -> int:
    """The number of the bin that adds most to the ranked calibration error, from 1."""
    table = result.table
    distance = np.abs(table.rank_frequency - table.mean_ordered).sum(axis=1) * table.count
    return int(np.nanargmax(np.where(table.row_count > 0, distance, np.nan))) + 1


def worst_ranks_of(result: Drawable) -> Ranks:
    """The rank diagram of the bin that adds most to the ranked calibration error."""
    return ranks_of(result, worst_bin(result))

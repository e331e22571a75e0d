"""What the map of bins and ranks shows: how far each rank's frequency is from its prediction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.old_inference.binomial import standardised_gap
from trueness.plots._plotted_bins import PlottedBins
from trueness.plots._rank_groups import rank_labels, rank_starts
from trueness.plots.table_estimates import Drawable

LARGEST_GAP = 6.0
"""Standardised gaps beyond this many standard deviations have the strongest colour."""


@dataclass(frozen=True, slots=True, eq=False)
class RankMap:
    """Filled bins × groups of ranks, (F, G)."""

    bins: PlottedBins
    first: IntArray
    last: IntArray
    predicted: FloatArray
    """Probability of the entire group."""
    observed: FloatArray
    gap: FloatArray
    """Standardised; above 0 the ranks were observed more often than predicted."""

    @property
    def labels(self) -> list[str]:
        """Names of the groups: 3, or 5–8 for several ranks."""
        return rank_labels(self.first, self.last)


def rank_map_of(result: Drawable) -> RankMap:
    """Standardised gaps of all bins and ranks."""
    table, bins = result.table, PlottedBins.of(result.table)
    starts = rank_starts(table.n_cells)
    predicted, observed = (
        np.minimum(np.add.reduceat(v[bins.index], starts, axis=1), 1.0)
        for v in (table.mean_ordered, table.rank_frequency)
    )
    n = result.vce.bins.independent_rows[bins.index, None]
    return RankMap(
        bins=bins,
        first=starts + 1,
        last=np.append(starts[1:], table.n_cells),
        predicted=predicted,
        observed=observed,
        gap=standardised_gap(n, observed, predicted),
    )

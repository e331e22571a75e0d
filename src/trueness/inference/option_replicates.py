"""Bootstrap replicates of the tables of rows with different numbers of options: all have the same weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from trueness._arrays import FloatArray
from trueness.inference.null import Resamples
from trueness.inference.option_bins import AnyBins, Cells, OptionBins, resample_options
from trueness.inference.replicates import Replicates, bootstrap_table, independent_rows
from trueness.table import AnyRankTable, OptionTables


@dataclass(frozen=True, slots=True)
class OptionReplicates:
    """The replicates of the table of each number of options, with what `Replicates` has over all of them."""

    parts: tuple[Replicates, ...]

    @property
    def size(self) -> int:
        """The number of replicates B."""
        return self.parts[0].size

    @property
    def log_score(self) -> FloatArray:
        """Σw(ln p_y + H) of all rows, (B,)."""
        return np.asarray(sum(part.log_score for part in self.parts))

    def with_effective_counts(self, bins: AnyBins) -> OptionBins:
        """The bins with the number of independent rows that have the same noise in each cell."""
        own = _options(bins)
        effects = [of.design_effect(part.bins) for of, part in self._pairs(own)]
        mean = float(own.weight @ own.combine(effects))
        return own.with_parts(
            replace(part.bins, count=independent_rows(part.bins, effect, mean))
            for part, effect in zip(own.parts, effects, strict=True)
        )

    def resample_observed(self, bins: AnyBins) -> Resamples:
        """Resamples around what was observed."""
        own = _options(bins)
        draws = [of.observed_frequencies(part.bins) for of, part in self._pairs(own)]
        return resample_options(own.smooth(), draws, self.size)

    def resample_null(self, bins: AnyBins) -> Resamples:
        """Resamples around the predictions."""
        own = _options(bins)
        draws = [of.null_frequencies(part.bins) for of, part in self._pairs(own)]
        return resample_options(own, draws, self.size)

    def _pairs(self, bins: OptionBins) -> Iterator[tuple[Replicates, Cells]]:
        return zip(self.parts, bins.parts, strict=True)

    def shares(self, bins: AnyBins) -> FloatArray:
        """The share of each filled bin in each replicate, (B, F); as observed where no row was drawn."""
        own = _options(bins)
        count = own.add_up(self._counts(own))
        total = count.sum(axis=1, keepdims=True)
        return np.where(total > 0, count / np.where(total > 0, total, 1.0), own.weight)

    def variation_gaps(self, bins: AnyBins) -> FloatArray:
        """𝒪 - 𝒫 of each filled bin in each replicate, (B, F)."""
        own = _options(bins)
        gaps = [of.variation_gaps(part.bins) for of, part in self._pairs(own)]
        shares = self._shares_of_cells(own)
        return own.add_up([share * gap for share, gap in zip(shares, gaps, strict=True)])

    def deviations(self, bins: AnyBins, m: int, distance: str = "tv") -> FloatArray:
        """The difference of the gaps between ranks of the m-th filled bin from the observed ones, (B, C).

        They are on the scale of the distance over the largest number of options.
        """
        own = _options(bins)
        gaps = np.zeros((self.size, own.n_classes))
        for of, part, share in zip(self.parts, own.parts, self._shares_of_cells(own), strict=True):
            for k in np.flatnonzero(part.places == m).tolist():
                ordered, ranks = of.means(part.bins, k)
                scale = own.scale_of(part.n_options, distance)
                gaps[:, : part.n_options] += scale * share[:, [k]] * (ranks - ordered)
        return np.asarray(gaps - own.rank_gaps(distance)[m])

    def _counts(self, bins: OptionBins) -> list[FloatArray]:
        """The rows of each cell in each replicate, (B, K) for each number of options."""
        return [of.rank[part.bins.index].sum(axis=2).T for of, part in self._pairs(bins)]

    def _shares_of_cells(self, bins: OptionBins) -> list[FloatArray]:
        """The share of each cell in its bin in each replicate, (B, K); as observed where none of its rows was drawn."""
        counts = self._counts(bins)
        total = bins.add_up(counts)
        shares = []
        for part, count in zip(bins.parts, counts, strict=True):
            of_bin = total[:, part.places]
            shares.append(np.where(of_bin > 0, count / np.where(of_bin > 0, of_bin, 1.0), part.share))
        return shares


AnyReplicates: TypeAlias = Replicates | OptionReplicates


def by_table(made: Iterator[Replicates], tables: Sequence[AnyRankTable]) -> tuple[AnyReplicates, ...]:
    """The replicates of each table, taken in turn: one for each number of options, if rows have their own."""
    return tuple(
        OptionReplicates(tuple(next(made) for _ in table)) if isinstance(table, OptionTables) else next(made)
        for table in tables
    )


def bootstrap_any_table(table: AnyRankTable, resamples: int, seed: list[int]) -> AnyReplicates:
    """The replicates of a table of independent rows, from the table alone."""
    if not isinstance(table, OptionTables):
        return bootstrap_table(table, resamples, seed)
    return OptionReplicates(
        tuple(bootstrap_table(own, resamples, [seed[0], c, *seed[1:]]) for c, own in table.items())
    )


def _options(bins: AnyBins) -> OptionBins:
    assert isinstance(bins, OptionBins)
    return bins

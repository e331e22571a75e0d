"""Bootstrap replicates of the tables of rows with different numbers of options: all have the same weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.null import Resamples
from trueness.old_inference.option_bins import AnyBins, Cells, OptionBins, resample_options
from trueness.old_inference.replicates import Replicates, bootstrap_table, independent_rows
from trueness.old_table import AnyRankTable, OptionTables


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
        """The bins with the number of independent rows that have the same noise in each cell.

        The few rows of a cell do not tell how dependent they are: the rows of its bin do.
        """
        own = _options(bins)
        effect = self._design_effect(own)
        ratio = independent_rows(own.count, effect, float(effect @ own.weight)) / own.count
        return own.with_parts(
            replace(
                part.bins,
                count=np.maximum(np.rint(part.bins.count * ratio[part.places]), 1).astype(np.int64),
            )
            for part in own.parts
        )

    def _design_effect(self, bins: OptionBins) -> FloatArray:
        """The variance of the rank frequencies of each filled bin over that of independent rows, (F,).

        That of rows with the observed frequencies: replicates of a cell of few rows vary as little as these suggest.
        """
        seen = np.array([self.deviations(bins, m).var(axis=0).sum() for m in range(len(bins.index))])
        independent = bins.add_up(
            [
                part.share**2 * (part.bins.observed * (1 - part.bins.observed)).sum(axis=1) / part.bins.count
                for part in bins.parts
            ]
        )
        return np.asarray(np.divide(seen, independent, out=np.ones(len(seen)), where=independent > 0))

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
        cells = [
            (of, part, k) for of, part in self._pairs(own) for k in np.flatnonzero(part.places == m).tolist()
        ]
        counts = [of.rank[part.bins.index[k]].sum(axis=0) for of, part, k in cells]
        total = np.asarray(sum(counts))
        gaps = np.zeros((self.size, own.n_classes))
        for (of, part, k), count in zip(cells, counts, strict=True):
            share = np.where(total > 0, count / np.where(total > 0, total, 1.0), part.share[k])
            ordered, ranks = of.means(part.bins, k)
            scale = own.scale_of(part.n_options, distance)
            gaps[:, : part.n_options] += scale * share[:, None] * (ranks - ordered)
        return np.asarray(gaps - own.rank_gaps(distance)[m])

    def deviations_of(self, bins: AnyBins, some: slice, distance: str = "tv") -> FloatArray:
        """The same of some of the filled bins, (C, bins, B)."""
        chosen = range(*some.indices(len(bins.index)))
        return np.stack([self.deviations(bins, m, distance).T for m in chosen], axis=1)

    def _counts(self, bins: OptionBins) -> list[FloatArray]:
        """The rows of each cell in each replicate, (B, K) for each number of options."""
        return [of.rank[part.bins.index].sum(axis=1).T for of, part in self._pairs(bins)]

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

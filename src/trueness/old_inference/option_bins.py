"""The bins of rows with different numbers of options: each is made of cells, one for each number of options.

The cells of a bin are independent multinomials, each over its own ranks. Their variations are averaged with the share
of each cell in the rows of its bin, with their sign, and so are all resamples; gaps between ranks are added up before
sizes are taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness._threads import Span, available_cores, in_threads
from trueness.old_inference.null import (
    BATCH_VALUES,
    MANY_VALUES,
    CellResamples,
    Frequencies,
    NullBins,
    Resamples,
    multinomial_frequencies,
)
from trueness.old_table import AnyRankTable, OptionTables
from trueness.refusals import InvalidValueError
from trueness.variation import Variation


@dataclass(frozen=True, slots=True)
class Cells:
    """The filled bins of the rows with one number of options, and where they are among all filled bins."""

    bins: NullBins
    places: IntArray
    """The place of each cell's bin among the filled bins, (K,)."""
    share: FloatArray
    """n_mC/n_m: the share of each cell in its bin, (K,)."""

    @property
    def n_options(self) -> int:
        """The number of options C."""
        return self.bins.n_classes


@dataclass(frozen=True, slots=True)
class OptionBins:
    """The filled bins of `OptionTables`, with the attributes of `NullBins` over all cells of each bin."""

    parts: tuple[Cells, ...]
    index: IntArray
    """Their indices among all bins, (F,)."""
    weight: FloatArray
    """w_m, (F,)."""
    variation: Variation

    @classmethod
    def of(cls, tables: OptionTables) -> OptionBins:
        """The filled bins of tables with rows."""
        index = np.flatnonzero(tables.row_count)
        if not index.size:
            raise InvalidValueError("no-rows", "a table without rows cannot be assessed", argument="table")
        mass = tables.count.astype(np.float64)
        parts = []
        for table in tables.values():
            bins = NullBins.of(table)
            places = np.searchsorted(index, bins.index)
            parts.append(Cells(bins, places, table.count[bins.index] / mass[bins.index]))
        return cls(tuple(parts), index, mass[index] / mass.sum(), tables.spec.variation)

    def with_parts(self, bins: Iterable[NullBins]) -> OptionBins:
        """The same cells with other counts or predictions."""
        pairs = zip(self.parts, bins, strict=True)
        return replace(self, parts=tuple(replace(part, bins=own) for part, own in pairs))

    def smooth(self) -> OptionBins:
        """Cells with the observed frequencies and one predicted row as predictions."""
        return self.with_parts(part.bins.smooth() for part in self.parts)

    def combine(self, values: Sequence[FloatArray]) -> FloatArray:
        """Σ_C (n_mC/n_m)·value of each cell, whose cells are on the last axis, (..., F)."""
        return self.add_up([part.share * own for part, own in zip(self.parts, values, strict=True)])

    @property
    def n_classes(self) -> int:
        """The largest number of options."""
        return max(part.n_options for part in self.parts)

    @property
    def sign(self) -> float:
        """The factor that makes a gap positive for over-confidence."""
        return self.variation.sign

    @property
    def largest_gap(self) -> float:
        """The largest possible |𝒪 - 𝒫|."""
        return max(part.bins.largest_gap for part in self.parts)

    @property
    def count(self) -> IntArray:
        """The rows of each bin, or their effective number, (F,)."""
        total = np.zeros(len(self.index), np.int64)
        for part in self.parts:
            total[part.places] += part.bins.count
        return total

    @property
    def predicted(self) -> FloatArray:
        """The mean ordered prediction, 0 for ranks that a row does not have, (F, C)."""
        return self._padded([part.bins.predicted for part in self.parts])

    @property
    def observed(self) -> FloatArray:
        """The rank frequencies, (F, C)."""
        return self._padded([part.bins.observed for part in self.parts])

    def rank_gaps(self, distance: str) -> FloatArray:
        """r̄ - q̄ of each bin, (F, C), on the scale of the distance: see `OptionTables.rank_gap`."""
        return self._padded(
            [
                (part.bins.observed - part.bins.predicted) * self.scale_of(part.n_options, distance)
                for part in self.parts
            ]
        )

    def scale_of(self, n_options: int, distance: str) -> float:
        """The factor by which gaps between ranks of rows with so many options count."""
        return (self.n_classes - 1) / (n_options - 1) if distance == "w1" else 1.0

    def _padded(self, values: Sequence[FloatArray]) -> FloatArray:
        """Values of each rank in each cell, (K, C), averaged by bin, (F, C)."""
        total = np.zeros((len(self.index), self.n_classes))
        for part, of_part in zip(self.parts, values, strict=True):
            total[part.places, : part.n_options] += part.share[:, None] * of_part
        return total

    @property
    def log_score(self) -> FloatArray:
        """Σ_c (r̄_c - q̄_c)·ln q̄_c by row of each bin, (F,)."""
        return self.mean_by_count([part.bins.log_score for part in self.parts])

    def add_up(self, values: Sequence[FloatArray]) -> FloatArray:
        """Values of the cells, on the last axis, added up by bin, (..., F)."""
        total = np.zeros((*values[0].shape[:-1], len(self.index)))
        for part, of_part in zip(self.parts, values, strict=True):
            total[..., part.places] += of_part
        return total

    def mean_by_count(self, values: Sequence[FloatArray]) -> FloatArray:
        """Values of the cells, on the last axis, averaged by the number of rows that are resampled, (..., F)."""
        pairs = zip(self.parts, values, strict=True)
        return np.asarray(self.add_up([part.bins.count * own for part, own in pairs]) / self.count)

    def expected_variation(self, cells: Sequence[CellResamples]) -> FloatArray:
        """E[𝒱(r̄*)] of each bin, (F,): exact where the measure has a formula."""
        pairs = zip(self.parts, cells, strict=True)
        return self.combine([part.bins.expected_variation(own.variation) for part, own in pairs])


AnyBins: TypeAlias = NullBins | OptionBins


def bins_of(table: AnyRankTable) -> AnyBins:
    """The filled bins of a table with rows."""
    return OptionBins.of(table) if isinstance(table, OptionTables) else NullBins.of(table)


def rank_gaps(bins: AnyBins, distance: str) -> FloatArray:
    """r̄ - q̄ of each bin, (F, C), on the scale of the distance over the largest number of options."""
    return bins.rank_gaps(distance) if isinstance(bins, OptionBins) else bins.observed - bins.predicted


def single_parts(bins: AnyBins) -> tuple[NullBins, ...]:
    """The cells of each number of options; the bins themselves if all rows have the same."""
    return tuple(part.bins for part in bins.parts) if isinstance(bins, OptionBins) else (bins,)


def combined(bins: AnyBins, values: Sequence[FloatArray]) -> FloatArray:
    """Values of the cells, one array for each of `single_parts`, averaged by bin."""
    return bins.combine(values) if isinstance(bins, OptionBins) else values[0]


def seeds_of(bins: AnyBins, seed: list[int]) -> list[list[int]]:
    """The seed of each of `single_parts`: the number of options follows the root of the seed."""
    if isinstance(bins, NullBins):
        return [seed]
    return [[seed[0], part.n_options, *seed[1:]] for part in bins.parts]


def draw_options(bins: OptionBins, resamples: int, seed: list[int]) -> Resamples:
    """Resamples of the rank frequencies of independent rows, drawn around the predictions of the cells."""
    batch = max(1, BATCH_VALUES // sum(part.n_options for part in bins.parts))
    draws = [
        multinomial_frequencies(part.bins, resamples, own, batch)
        for part, own in zip(bins.parts, seeds_of(bins, seed), strict=True)
    ]
    return resample_options(bins, draws, resamples)


def resample_options(bins: OptionBins, frequencies: Sequence[Frequencies], resamples: int) -> Resamples:
    """The numbers of all bins for R resamples of the rank frequencies of their cells.

    `frequencies` gives those of each part, in batches of the same sizes.
    """
    n_bins, most = len(bins.index), bins.n_classes
    variation, first, tv, w1 = (np.empty((resamples, n_bins)) for _ in range(4))
    tv_noise, w1_noise = np.zeros((n_bins, most)), np.zeros((n_bins, most - 1))
    cells = [np.empty((2, resamples, len(part.places))) for part in bins.parts]
    logs = [part.bins.log_predicted for part in bins.parts]
    of_bins = _cells_by_bin(bins)

    def fill(spans: Iterable[Span]) -> None:
        for m, _ in spans:
            done = 0
            for batch in zip(*(frequencies[p](k) for p, k in of_bins[m]), strict=True):
                rows = slice(done, done + len(batch[0]))
                done += len(batch[0])
                apart, scaled = np.zeros((len(batch[0]), most)), np.zeros((len(batch[0]), most))
                variation[rows, m] = first[rows, m] = 0.0
                for (p, k), r in zip(of_bins[m], batch, strict=True):
                    part = bins.parts[p]
                    own, share = part.bins, part.share[k]
                    cells[p][0, rows, k] = own.variation.of(r)
                    cells[p][1, rows, k] = (r - own.predicted[k]) @ logs[p][k]
                    variation[rows, m] += share * cells[p][0, rows, k]
                    first[rows, m] += share * r[:, 0]
                    gaps = share * (r - own.predicted[k])
                    apart[:, : part.n_options] += gaps
                    scaled[:, : part.n_options] += bins.scale_of(part.n_options, "w1") * gaps
                ahead = np.abs(np.cumsum(scaled, axis=1)[:, :-1])
                np.abs(apart, out=apart)
                tv[rows, m], w1[rows, m] = apart.sum(axis=1) / 2, ahead.sum(axis=1) / (most - 1)
                tv_noise[m] += apart.sum(axis=0)
                w1_noise[m] += ahead.sum(axis=0)

    n_threads = available_cores() if resamples * n_bins * most >= MANY_VALUES else 1
    in_threads(fill, [(m, m + 1) for m in range(n_bins)], n_threads)
    of_cells = tuple(CellResamples(*own) for own in cells)
    return Resamples(
        variation,
        first,
        tv,
        w1,
        bins.mean_by_count([own.log_score for own in of_cells]),
        of_cells,
        tv_noise / resamples,
        w1_noise / resamples,
    )


def _cells_by_bin(bins: OptionBins) -> list[list[tuple[int, int]]]:
    """For each filled bin the part and the place in it of each of its cells."""
    found: list[list[tuple[int, int]]] = [[] for _ in bins.index]
    for p, part in enumerate(bins.parts):
        for k, m in enumerate(part.places.tolist()):
            found[m].append((p, k))
    return found

"""Bootstrap replicates of tables: the sums of a table with different weights of the clusters each time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.old_inference.bootstrap_weights import MAX_WEIGHT, BootstrapWeights
from trueness.old_inference.null import VALUES_AT_ONCE, Frequencies, NullBins, Resamples, resample
from trueness.old_inference.products import in_tiles
from trueness.old_table import CalibrationTable, TableSpec
from trueness.old_table.cluster_sums import CellSums, ClusterSums


@dataclass(frozen=True, slots=True)
class Replicates:
    """B replicates of the sums of one table."""

    spec: TableSpec
    sums: FloatArray
    """Ordered probabilities and then rank counts, (M, 2C, B): the replicates of a sum are contiguous in memory."""
    log_score: FloatArray
    """Σw(ln p_y + H) of all bins, (B,)."""

    @property
    def size(self) -> int:
        """The number of replicates B."""
        return int(self.sums.shape[2])

    @property
    def ordered(self) -> FloatArray:
        """Σwq of each bin, (M, C, B)."""
        return self.sums[:, : self.spec.n_cells]

    @property
    def rank(self) -> FloatArray:
        """Σwr of each bin, (M, C, B)."""
        return self.sums[:, self.spec.n_cells :]

    def shares(self, bins: NullBins) -> FloatArray:
        """The share of each filled bin in each replicate, (B, F); as observed where no row was drawn."""
        count = self.rank[_contiguous(bins.index)].sum(axis=1).T
        total = count.sum(axis=1, keepdims=True)
        return np.where(total > 0, count / np.where(total > 0, total, 1.0), bins.weight)

    def means(self, bins: NullBins, m: int) -> tuple[FloatArray, FloatArray]:
        """q̄ and r̄ of the m-th filled bin in each replicate, (B, C); as observed where none of its rows was drawn."""
        ordered, ranks = self._means_of(bins, slice(m, m + 1))
        return ordered[:, 0].T, ranks[:, 0].T

    def _means_of(self, bins: NullBins, some: slice) -> FloatArray:
        """q̄ and r̄ of some of the filled bins in each replicate, (2, C, bins, B): sums over classes are of arrays."""
        which = _contiguous(bins.index[some])
        parts = self.ordered[which], self.rank[which]
        totals = [part.sum(axis=1) for part in parts]
        unseen = np.nonzero(totals[1] == 0)
        means = np.empty((2, self.spec.n_cells, *totals[0].shape))
        for mean, part, total, observed in zip(
            means, parts, totals, (bins.predicted, bins.observed), strict=True
        ):
            total[unseen] = 1.0
            np.divide(part.swapaxes(0, 1), total, out=mean)
            if unseen[0].size:
                mean[:, *unseen] = observed[some].T[:, unseen[0]]
        return means

    def variation_gaps(self, bins: NullBins) -> FloatArray:
        """𝒱(r̄) - 𝒱(q̄) of each filled bin in each replicate, (B, F), in Fortran order."""
        gaps = np.empty((len(bins.count), self.size))
        step = max(1, VALUES_AT_ONCE // (self.size * self.spec.n_cells))
        for first in range(0, len(gaps), step):
            some = slice(first, first + step)
            predicted, observed = (
                bins.variation.of(mean.reshape(self.spec.n_cells, -1).T)
                for mean in self._means_of(bins, some)
            )
            gaps[some] = (observed - predicted).reshape(-1, self.size)
        return gaps.T

    def deviations(self, bins: NullBins, m: int) -> FloatArray:
        """The difference of r̄ - q̄ of the m-th filled bin from the observed one in each replicate, (B, C)."""
        return self.deviations_of(bins, slice(m, m + 1))[:, 0].T

    def deviations_of(self, bins: NullBins, some: slice, _: str = "tv") -> FloatArray:
        """The same of some of the filled bins, (C, bins, B), for every distance: see `OptionReplicates`."""
        ordered, ranks = self._means_of(bins, some)
        ranks -= ordered
        ranks -= (bins.observed[some] - bins.predicted[some]).T[..., None]
        return np.asarray(ranks)

    def with_effective_counts(self, bins: NullBins) -> NullBins:
        """The bins with the number of independent rows that have the same noise."""
        return replace(bins, count=self.effective_count(bins))

    def resample_observed(self, bins: NullBins) -> Resamples:
        """Resamples around what was observed."""
        return resample(bins.smooth(), self.observed_frequencies(bins), self.size)

    def resample_null(self, bins: NullBins) -> Resamples:
        """Resamples around the predictions."""
        return resample(bins, self.null_frequencies(bins), self.size)

    def effective_count(self, bins: NullBins) -> IntArray:
        """The number of independent rows with the same noise in each filled bin, (F,); at most the number of rows."""
        effect = self.design_effect(bins)
        return independent_rows(bins.count, effect, float(effect @ bins.weight))

    def design_effect(self, bins: NullBins) -> FloatArray:
        """The variance of the rank frequencies of each filled bin over that of independent rows, (F,)."""
        independent = (bins.predicted * (1 - bins.predicted)).sum(axis=1)  # of a single row
        seen = np.array([self.deviations(bins, m).var(axis=0).sum() for m in range(len(bins.count))])
        return np.asarray(
            np.divide(seen * bins.count, independent, out=np.ones(len(seen)), where=independent > 0)
        )

    def null_frequencies(self, bins: NullBins) -> Frequencies:
        """Rank frequencies of a calibrated model: around q̄, with the noise of the replicates."""

        def of_bin(m: int) -> Iterator[FloatArray]:
            around = np.maximum(bins.predicted[m] + self.deviations(bins, m), 0.0)
            yield around / around.sum(axis=1, keepdims=True)

        return of_bin

    def observed_frequencies(self, bins: NullBins) -> Frequencies:
        """The rank frequencies of the replicates."""

        def of_bin(m: int) -> Iterator[FloatArray]:
            yield self.means(bins, m)[1]

        return of_bin


def _contiguous(index: IntArray) -> IntArray | slice:
    """Rising indices as a slice if none is left out, so that what they select is not copied."""
    whole = len(index) > 0 and int(index[-1] - index[0]) == len(index) - 1
    return slice(int(index[0]), int(index[-1]) + 1) if whole else index


def independent_rows(count: IntArray, effect: FloatArray, mean: float) -> IntArray:
    """The number of independent rows with the same noise in each bin, (F,), given its design effect and their mean."""
    # The few clusters of a bin estimate its noise badly: at least the mean over all bins is used.
    effect = np.maximum(np.maximum(effect, mean), 1.0)
    # A bootstrap of k clusters has (k - 1)/k of their variance, as if there were k² / (k - 1), about k + 1.
    fewer = np.where(effect > 1, 1, 0)
    return np.asarray(np.maximum(np.rint(count / effect) - fewer, 1), np.int64)


def bootstrap_table(table: CalibrationTable, resamples: int, seed: list[int]) -> Replicates:
    """The replicates of a table of independent rows, from the table alone: the rank counts are Poisson.

    Drawn around the smoothed observed frequencies for the effective number of rows, each bin from its own stream. The
    predictions of a bin stay as they are: how they vary within it is not in the table.
    """
    bins = NullBins.of(table)
    smoothed, mass = bins.smooth().predicted, table.count[bins.index].astype(np.float64)
    n, c = table.n_bins, table.spec.n_cells
    made = Replicates(table.spec, np.zeros((n, 2 * c, resamples)), np.zeros(resamples))
    for m, at in enumerate(bins.index.tolist()):
        stream = np.random.default_rng([*seed, at])
        ranks = stream.poisson(bins.count[m] * smoothed[m], (resamples, c)) * (mass[m] / bins.count[m])
        made.rank[at] = ranks.T
        made.ordered[at] = bins.predicted[m][:, None] * ranks.sum(axis=1)
    return made


MULTIPLIED_AT_A_TIME = 2**21
"""Sums of units that are multiplied at a time, 16 megabytes: several bins at once, since short products are slow."""


def bootstrap(of_tables: Sequence[ClusterSums], weights: BootstrapWeights) -> list[Replicates]:
    """The replicates of tables of the same clusters, such as those of several models: all get the same weights."""
    made = [_Products(sums, weights.n_units, weights.resamples) for sums in of_tables]
    for replicates, drawn in weights.batches():
        for products in made:
            products.fill(replicates, drawn)
    return [products.replicates for products in made]


class _Products:
    """The replicates of one table, made by products of weights and sums of units."""

    def __init__(self, sums: ClusterSums, n_units: int, resamples: int) -> None:
        spec, of_cells = sums.spec, sums.sums
        assert isinstance(spec, TableSpec)
        assert isinstance(of_cells, CellSums)
        self.values = on_grid(np.concatenate([of_cells.ordered.value, of_cells.rank.value], axis=1))
        self.units, self.bins, self.n_units = sums.units, sums.bins, n_units
        # On a grid the sum over the bins of a unit is exact, in any order.
        scores = np.bincount(sums.units, on_grid(of_cells.log_score.value), n_units)
        self.scores = np.asarray(scores[None], np.float64)
        m, columns = spec.bins.n_bins, self.values.shape[1]
        self.replicates = Replicates(spec, np.empty((m, columns, resamples)), np.empty(resamples))
        step = max(1, MULTIPLIED_AT_A_TIME // (n_units * columns))
        self.runs = [range(start, min(start + step, m)) for start in range(0, m, step)]

    def fill(self, replicates: slice, drawn: FloatArray) -> None:
        """Set some of the replicates, from the weights of all units in them, (units, B)."""
        for run in self.runs:
            of_run = self.replicates.sums[run.start : run.stop].reshape(-1, self.replicates.size)
            in_tiles(self._of_units(run), drawn, of_run[:, replicates])
        self.replicates.log_score[replicates] = in_tiles(self.scores, drawn)[0]

    def _of_units(self, run: range) -> FloatArray:
        """The sums of all units in a run of bins, (bins·columns, units)."""
        entries = np.flatnonzero((self.bins >= run.start) & (self.bins < run.stop))
        dense = np.zeros((self.n_units, len(run), self.values.shape[1]))
        dense[self.units[entries], self.bins[entries] - run.start] = self.values[entries]
        return dense.reshape(self.n_units, -1).T


def on_grid(values: FloatArray) -> FloatArray:
    """Values rounded to multiples of a power of two so large that 53 bits hold every weighted sum over the first axis.

    Their products with whole weights are then exact, and so are the sums: whatever order the matrix product adds in,
    which depends on the number of threads and on the processor, the replicates have the same bits.
    """
    largest = float(np.abs(values).sum(axis=0).max(initial=0.0)) * MAX_WEIGHT
    if largest == 0.0:
        return values
    unit = 2.0 ** (math.frexp(largest)[1] + 1 - 53)
    return np.asarray(np.rint(values / unit) * unit)

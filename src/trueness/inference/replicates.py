"""Bootstrap replicates of tables: the sums of a table with different weights of the rows each time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness._progress import Progress
from trueness._scratch import Scratch
from trueness.inference.bootstrap_weights import BLOCK_ROWS, Weights
from trueness.inference.null import Frequencies, NullBins
from trueness.rows import Rows
from trueness.table import TableSpec
from trueness.table.exact_sums import LOG_SCORE_BITS, PROBABILITY_BITS
from trueness.tabulation.row_statistics import BlockStatistics, Describer, shares

_GRID_BITS = 38
"""The sum over a block of 2¹⁰ rows, with weights of 1 on average, then has at most 53 bits for values up to 2⁵."""


@dataclass(frozen=True, slots=True)
class Replicates:
    """B replicates of the sums of one table; those of further rows can be added."""

    spec: TableSpec
    sums: FloatArray
    """Ordered probabilities and then rank counts, (M, B, 2C): each bin is contiguous in memory."""
    log_score: FloatArray
    """Σw(ln p_y + H), (B,)."""

    @classmethod
    def empty(cls, spec: TableSpec, resamples: int) -> Replicates:
        """The replicates of no rows."""
        return cls(spec, np.zeros((spec.bins.n_bins, resamples, 2 * spec.n_classes)), np.zeros(resamples))

    @property
    def size(self) -> int:
        """The number of replicates B."""
        return int(self.sums.shape[1])

    def __add__(self, other: Replicates) -> Replicates:
        return replace(self, sums=self.sums + other.sums, log_score=self.log_score + other.log_score)

    @property
    def ordered(self) -> FloatArray:
        """Σwq of each bin, (M, B, C)."""
        return self.sums[:, :, : self.spec.n_classes]

    @property
    def rank(self) -> FloatArray:
        """Σwr of each bin, (M, B, C)."""
        return self.sums[:, :, self.spec.n_classes :]

    def shares(self, bins: NullBins) -> FloatArray:
        """The share of each filled bin in each replicate, (B, F); as observed where no row was drawn."""
        count = self.rank[bins.index].sum(axis=2).T
        total = count.sum(axis=1, keepdims=True)
        return np.where(total > 0, count / np.where(total > 0, total, 1.0), bins.weight)

    def means(self, bins: NullBins, m: int) -> tuple[FloatArray, FloatArray]:
        """q̄ and r̄ of the m-th filled bin in each replicate, (B, C); as observed where none of its rows was drawn."""
        at = bins.index[m]
        count = self.rank[at].sum(axis=1, keepdims=True)
        drawn = count > 0
        total = np.where(drawn, self.ordered[at].sum(axis=1, keepdims=True), 1.0)
        ordered = np.where(drawn, self.ordered[at] / total, bins.predicted[m])
        ranks = np.where(drawn, self.rank[at] / np.where(drawn, count, 1.0), bins.observed[m])
        return ordered, ranks

    def deviations(self, bins: NullBins, m: int) -> FloatArray:
        """The difference of r̄ - q̄ of the m-th filled bin from the observed one in each replicate, (B, C)."""
        ordered, ranks = self.means(bins, m)
        return np.asarray((ranks - ordered) - (bins.observed[m] - bins.predicted[m]))

    def effective_count(self, bins: NullBins) -> IntArray:
        """The number of independent rows with the same noise in each filled bin, (F,); at most the number of rows."""
        independent = (bins.predicted * (1 - bins.predicted)).sum(axis=1)  # of a single row
        seen = np.array([self.deviations(bins, m).var(axis=0).sum() for m in range(len(bins.count))])
        effect = np.divide(seen * bins.count, independent, out=np.ones(len(seen)), where=independent > 0)
        # The few clusters of a bin estimate its noise badly: at least the mean over all bins is used.
        effect = np.maximum(np.maximum(effect, effect @ bins.weight), 1.0)
        # A bootstrap of k clusters has (k - 1)/k of their variance, as if there were k² / (k - 1), about k + 1.
        fewer = np.where(effect > 1, 1, 0)
        return np.asarray(np.maximum(np.rint(bins.count / effect) - fewer, 1), np.int64)

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


def replicate(
    models: Sequence[tuple[Rows, Sequence[TableSpec]]],
    weights: Weights,
    resamples: int,
    *,
    group_of: IntArray | None = None,
    n_groups: int = 1,
    progress: Progress | None = None,
) -> list[list[list[Replicates]]]:
    """Replicates of the tables of several models' predictions for the same rows, with the same weights.

    One for each group of rows (all rows are one group if `group_of` is None), each model, and each of its specs.
    """
    scratch = Scratch()
    describers = [[Describer(spec, rows.y_prob.eps, scratch) for spec in specs] for rows, specs in models]
    totals = [
        [[Replicates.empty(spec, resamples) for spec in specs] for _, specs in models]
        for _ in range(n_groups)
    ]
    first, n_rows = models[0][0], models[0][0].n_rows
    groups = np.zeros(n_rows, np.int64) if group_of is None else group_of
    with np.errstate(all="ignore"):
        for start, stop in first.spans(BLOCK_ROWS):
            drawn, code = weights.block(start, stop).astype(np.float64), groups[start:stop]
            if first.sample_weight is not None:  # rows of weight 0 are left out
                weight = first.sample_weight[start:stop]
                drawn, code = (drawn * weight[:, None])[weight > 0], code[weight > 0]
            for m, ((rows, _), of_model) in enumerate(zip(models, describers, strict=True)):
                for s, describer in enumerate(of_model):
                    into = [group[m][s] for group in totals]
                    _add(into, describer.describe(rows, start, stop), drawn, code)
            if progress is not None:
                progress(stop / n_rows)
    return totals


def _add(into: Sequence[Replicates], block: BlockStatistics, drawn: FloatArray, code: IntArray) -> None:
    """Add a block of rows to all replicates of their groups, by one matrix product for each group and bin."""
    spec = into[0].spec
    both = _on_grid(np.concatenate([block.ordered.T, _rank_shares(block, spec)], axis=1))
    cell = code * spec.bins.n_bins + block.bins
    order = np.argsort(cell, kind="stable")
    present, first = np.unique(cell[order], return_index=True)
    drawn, both = drawn[order], both[order]
    scores = _on_grid(block.log_scores[0][order] * 2.0**-LOG_SCORE_BITS)
    for at, begin, end in zip(present.tolist(), first, [*first[1:], len(order)], strict=True):
        group, m = divmod(at, spec.bins.n_bins)
        into[group].sums[m] += drawn[begin:end].T @ both[begin:end]
        into[group].log_score[:] += drawn[begin:end].T @ scores[begin:end]


def _on_grid(values: FloatArray) -> FloatArray:
    """Values rounded to multiples of 2⁻³⁸, in place.

    Their products with whole weights are exact, and so are the sums of a block: whatever order the matrix product adds
    in, which depends on the number of threads and on the processor, the replicates have the same bits.
    """
    values *= 2.0**_GRID_BITS
    np.rint(values, out=values)
    values *= 2.0**-_GRID_BITS
    return values


def _rank_shares(block: BlockStatistics, spec: TableSpec) -> FloatArray:
    """r of each row, (n, C): a one, or the shares of tied ranks."""
    n, n_classes = len(block.bins), spec.n_classes
    cells = np.arange(n) * n_classes + block.rank
    ranks = np.zeros(n * n_classes)
    if spec.ties == "split":
        cells, units = shares(cells, block.tied)
        ranks[cells] = units / 2.0**PROBABILITY_BITS
    else:
        ranks[cells] = 1.0
    return ranks.reshape(n, n_classes)

"""Bootstrap replicates of tables: the sums of a table, many times over, with other weights each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trueness._border import Rows
from trueness._content import TableSpec
from trueness._scratch import Scratch
from trueness._sums import PROBABILITY_BITS, FloatArray, IntArray
from trueness.inference._null import FilledBins, Frequencies
from trueness.inference._poisson import BLOCK_ROWS, Weights
from trueness.tabulation.portable import Described, Describer, shares

Progress = Callable[[float], None]
"""Is told now and then which share of the work is done, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Replicates:
    """B replicates of the sums of one table; replicates of further rows add."""

    spec: TableSpec
    sums: FloatArray
    """Ordered probabilities and then rank counts, summed by bin, (B, M, 2C)."""

    @classmethod
    def empty(cls, spec: TableSpec, resamples: int) -> Replicates:
        """Of no rows."""
        return cls(spec, np.zeros((resamples, spec.bins.n_bins, 2 * spec.n_classes)))

    @property
    def size(self) -> int:
        """How many replicates B."""
        return len(self.sums)

    def __add__(self, other: Replicates) -> Replicates:
        return replace(self, sums=self.sums + other.sums)

    @property
    def ordered(self) -> FloatArray:
        """Σwq of each bin, (B, M, C)."""
        return self.sums[:, :, : self.spec.n_classes]

    @property
    def rank(self) -> FloatArray:
        """Σwr of each bin, (B, M, C)."""
        return self.sums[:, :, self.spec.n_classes :]

    def shares(self, bins: FilledBins) -> FloatArray:
        """Of each filled bin in each replicate, (B, F)."""
        count = self.rank[:, bins.index].sum(axis=2)
        return np.asarray(count / count.sum(axis=1, keepdims=True))

    def means(self, bins: FilledBins, m: int) -> tuple[FloatArray, FloatArray]:
        """q̄ and r̄ of the m-th filled bin in each replicate, (B, C); as observed where none of its rows was drawn."""
        at = bins.index[m]
        count = self.rank[:, at].sum(axis=1, keepdims=True)
        drawn = count > 0
        total = np.where(drawn, self.ordered[:, at].sum(axis=1, keepdims=True), 1.0)
        ordered = np.where(drawn, self.ordered[:, at] / total, bins.predicted[m])
        ranks = np.where(drawn, self.rank[:, at] / np.where(drawn, count, 1.0), bins.observed[m])
        return ordered, ranks

    def deviations(self, bins: FilledBins, m: int) -> FloatArray:
        """How r̄ - q̄ of the m-th filled bin differs from what was observed, in each replicate, (B, C)."""
        ordered, ranks = self.means(bins, m)
        return np.asarray((ranks - ordered) - (bins.observed[m] - bins.predicted[m]))

    def effective_count(self, bins: FilledBins) -> IntArray:
        """So many independent rows would make as much noise in each filled bin, (F,); no more than there are."""
        independent = (bins.predicted * (1 - bins.predicted)).sum(axis=1)  # of a single row
        seen = np.array([self.deviations(bins, m).var(axis=0).sum() for m in range(len(bins.count))])
        as_many = np.divide(independent, seen, out=bins.count.astype(np.float64), where=seen > 0)
        return np.asarray(np.clip(np.rint(as_many), 1, bins.count), np.int64)

    def null_frequencies(self, bins: FilledBins) -> Frequencies:
        """Rank frequencies around q̄ with the noise of the replicates: as if the model were calibrated."""

        def of_bin(m: int) -> Iterator[FloatArray]:
            around = np.maximum(bins.predicted[m] + self.deviations(bins, m), 0.0)
            yield around / around.sum(axis=1, keepdims=True)

        return of_bin

    def observed_frequencies(self, bins: FilledBins) -> Frequencies:
        """Rank frequencies of the replicates as they are."""

        def of_bin(m: int) -> Iterator[FloatArray]:
            yield self.means(bins, m)[1]

        return of_bin


def replicate(
    models: Sequence[tuple[Rows, Sequence[TableSpec]]],
    weights: Weights,
    resamples: int,
    progress: Progress | None = None,
) -> list[list[Replicates]]:
    """Replicates of the tables of several models' predictions for the same rows, with the same weights."""
    scratch = Scratch()
    work = [
        [(Describer(rows, spec, scratch), Replicates.empty(spec, resamples)) for spec in specs]
        for rows, specs in models
    ]
    first, n_rows = models[0][0], models[0][0].n_rows
    with np.errstate(all="ignore"):
        for start, stop in first.spans(BLOCK_ROWS):
            drawn = weights.block(start, stop).astype(np.float64)
            if first.sample_weight is not None:  # rows of weight 0 are as if absent
                weight = first.sample_weight[start:stop]
                drawn = (drawn * weight[:, None])[weight > 0]
            for of_model in work:
                for describer, total in of_model:
                    _add(total, describer.described(start, stop), drawn)
            if progress is not None:
                progress(stop / n_rows)
    return [[total for _, total in of_model] for of_model in work]


def _add(total: Replicates, block: Described, drawn: FloatArray) -> None:
    """Add a block of rows to all replicates: for each bin one product of matrices."""
    both = np.concatenate([block.ordered.T, _rank_shares(block, total.spec)], axis=1)
    order = np.argsort(block.bins, kind="stable")
    present, first = np.unique(block.bins[order], return_index=True)
    drawn, both = drawn[order], both[order]
    for m, begin, end in zip(present, first, [*first[1:], len(order)], strict=True):
        total.sums[:, m] += drawn[begin:end].T @ both[begin:end]


def _rank_shares(block: Described, spec: TableSpec) -> FloatArray:
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

"""What is summed of each row of a block: its order, V, bin, rank of the true class and scores.

Everything about a row is computed from that row alone by the same operations whichever rows are beside it, so blocks
may be cut anywhere.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray, column_sums
from trueness._scratch import Scratch
from trueness.ranking import (
    LEAST_LOG,
    count_above_and_tied,
    count_above_and_tied_by_scores,
    lower_tied_classes,
    ordered_rows,
)
from trueness.rows import Rows, row_sums
from trueness.table import TableSpec
from trueness.table.exact_sums import ONE_BITS, PROBABILITY_BITS, bits_of_ones
from trueness.variation import log_or_finite

_UNIT = 1 << PROBABILITY_BITS


class BlockStatistics(NamedTuple):
    """What is summed of each row of a block."""

    ordered: FloatArray
    """qᵢ as columns, (C, n)."""
    variation: FloatArray
    """𝒱(pᵢ) within the measure's range, (n,)."""
    bins: NDArray[np.unsignedinteger]
    rank: IntArray
    """The rank of the true class; the first of the ranks it shares, if ties are split."""
    tied: IntArray
    """The number of classes with the probability of the true class, itself included."""
    impossible: NDArray[np.bool_]
    """Whether the true class had probability zero."""
    log_scores: FloatArray
    """ln p_y + H and ln p_y in nats (0 where p_y = 0), and the varentropy, (3, n)."""
    true_probability: IntArray
    """p_y in units of 2⁻⁵², (n,)."""
    square: IntArray
    """‖p‖² in units of 2⁻⁵², (n,)."""
    weight: FloatArray | None

    def select(self, chosen: NDArray[np.bool_]) -> BlockStatistics:
        """The same for some of the rows."""
        fields: list[Any] = [None if field is None else field[..., chosen] for field in self]
        return BlockStatistics(*fields)


class Describer:
    """Computes what is summed of each row, block by block."""

    def __init__(self, spec: TableSpec, eps: float, scratch: Scratch) -> None:
        self.spec, self.scratch = spec, scratch
        low, high = spec.variation.range_for(spec.n_classes)
        self.thresholds = spec.bins.thresholds(eps, high - low)

    def describe(self, rows: Rows, start: int, stop: int) -> BlockStatistics:
        """What is summed of rows start to stop; valid until the next call."""
        spec = self.spec
        block = rows.block(start, stop)
        ordered = ordered_rows(block, self.scratch)
        entropy, varentropy = self._entropy(ordered, row_sums(rows, ordered, start))
        if spec.variation.kernel == "entropy":
            # The same operations as in the measure's own formula, with the logarithms that were computed before.
            variation = np.minimum(np.maximum(entropy / math.log(spec.n_classes), 0.0), 1.0)
        else:
            variation = spec.variation.of_rows(ordered.T, rows.sum_tolerance)

        assert rows.labels is not None
        labels = rows.labels.block(start, stop)
        of_true = _chosen(block, labels)
        scores = rows.scores(start, stop) if rows.from_logits else None
        rank, tied, log_p = self._rank(block, ordered, of_true, labels, scores)
        impossible = log_p == -np.inf
        log_scores = np.empty((3, stop - start))
        log_scores[1] = np.maximum(log_p, LEAST_LOG)
        log_scores[0] = log_scores[1] + entropy
        if impossible.any():
            log_scores[:2, impossible] = 0.0
        log_scores[2] = varentropy
        weight = None if rows.sample_weight is None else rows.sample_weight[start:stop]
        bins = spec.bins.index(variation, self.thresholds)
        statistics = BlockStatistics(
            ordered,
            variation,
            bins,
            rank,
            tied,
            impossible,
            log_scores,
            true_probability=_units(of_true),
            square=self._square(ordered),
            weight=weight,
        )
        return statistics if weight is None or weight.all() else statistics.select(weight > 0)

    def _entropy(self, ordered: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
        """H = -Σ p ln p of each column, and its varentropy Σ p(ln p + H)², in nats; `total` is Σp."""
        logs = log_or_finite(ordered, out=self.scratch.array("logs", ordered.shape))
        products = np.multiply(ordered, logs, out=self.scratch.array("work", ordered.shape))
        entropy = 0.0 - column_sums(products)
        products *= logs
        # Multiplied out; cancellation loses some 1e-16 of Σ p ln² p, which matters with thousands of classes only.
        varentropy = column_sums(products) + entropy * entropy * (total - 2.0)
        return entropy, np.maximum(varentropy, 0.0)

    def _square(self, ordered: FloatArray) -> IntArray:
        """Σ p² of each column in units of 2⁻⁵², each p·p rounded to one."""
        work = self.scratch.array("work", ordered.shape)
        np.multiply(ordered, ordered, out=work)
        work += 1.0
        square: IntArray = np.add.reduce(work.view(np.int64), axis=0)
        square -= bits_of_ones(len(ordered))
        return square

    def _rank(
        self,
        block: NDArray[Any],
        ordered: FloatArray,
        of_true: FloatArray,
        labels: NDArray[np.intp],
        scores: FloatArray | None,
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """The rank of the true class, the number of classes tied with it, and its ln p; from the logits, if given."""
        if scores is not None:
            rank, tied, log_p = count_above_and_tied_by_scores(scores, _chosen(scores, labels))
        else:
            rank, tied = count_above_and_tied(ordered, of_true)
            log_p = np.log(of_true)
        if self.spec.ties == "first" and (shared := np.flatnonzero(tied > 1)).size:
            ranked = block if scores is None else scores
            rank[shared] += lower_tied_classes(ranked[shared], labels[shared])
        return rank, tied, log_p


def _chosen(block: NDArray[Any], labels: NDArray[np.intp]) -> FloatArray:
    """The value of each row at its label, (n,)."""
    chosen = block.ravel().take(np.arange(0, block.size, block.shape[1]) + labels)
    return chosen.astype(np.float64, copy=False)


def _units(p: FloatArray) -> IntArray:
    """Probabilities in units of 2⁻⁵², half to even."""
    return (p + 1.0).view(np.int64) - ONE_BITS


def shares(cells: IntArray, tied: IntArray) -> tuple[IntArray, NDArray[np.uint64]]:
    """One row over k tied ranks: ⌊2⁵²/k⌋ to each of the k cells from the first on, the remainder to the first."""
    first = np.cumsum(tied) - tied
    offset = np.arange(int(tied.sum())) - np.repeat(first, tied)
    units = np.repeat(_UNIT // tied, tied)
    units[first] += _UNIT % tied
    return np.repeat(cells, tied) + offset, units.astype(np.uint64)

"""What is summed of each row of a block: its order, V, bin, rank of the true class and scores.

Everything about a row is computed from that row alone by the operations of `trueness._row_arithmetic`, so blocks may be
cut anywhere and the compiled engine gets the same bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness._row_arithmetic import (
    LEAST_NORMAL,
    TWO_BITS,
    UNIT,
    entropy_in_bits,
    entropy_variation,
    log2_of_positive,
    log_likelihood_units,
    log_moments,
    log_score_units,
    sum_square_units,
    underflowed_score_units,
    units,
    variance_in_bits,
    variance_units,
)
from trueness._scratch import Scratch
from trueness.old_table import TableSpec
from trueness.ranking import (
    count_above_and_tied,
    count_above_and_tied_by_scores,
    lower_tied_classes,
    ordered_rows,
    underflowed_log_p,
)
from trueness.rows import Rows, row_sums
from trueness.tabulation.soft_labels import (
    SoftBlock,
    mean_share_units,
    share_spread,
    shares_by_rank,
    soft_log_scores,
    squared_scores,
    whole_units,
)


class BlockStatistics(NamedTuple):
    """What is summed of each row of a block."""

    ordered: FloatArray
    """qᵢ as columns, (C, n)."""
    steps: FloatArray
    """1 + qᵢ as columns, and 1 + the fraction of 𝒱(pᵢ) as one more line, (C + 1, n): their bits count units of 2⁻⁵²."""
    variation: FloatArray
    """𝒱(pᵢ) within the measure's range, (n,)."""
    bins: NDArray[np.integer]
    rank: IntArray
    """The rank of the true class; the first of the ranks it shares, if ties are split."""
    tied: IntArray
    """The number of classes with the probability of the true class, itself included."""
    impossible: NDArray[np.bool_]
    """Whether the true class had probability zero."""
    log_scores: IntArray
    """ln p_y + H and ln p_y (0 where p_y = 0), and the varentropy, in units of 2⁻⁴⁰, (3, n)."""
    true_probability: IntArray
    """p_y in units of 2⁻⁵², (n,)."""
    square: IntArray
    """‖p‖² in units of 2⁻⁵², (n,)."""
    predicted_class: IntArray
    """The class of the largest probability, of equal ones the first, (n,)."""
    weight: FloatArray | None
    rank_units: IntArray | None = None
    """Of soft labels: the share of each rank in units of 2⁻⁵², (C, n)."""
    label_spread: IntArray | None = None
    """Of soft labels: 1 - ‖s‖² in units of 2⁻⁵², (n,)."""

    @property
    def scores(self) -> IntArray:
        """What is summed by bin and by predicted class, (4, n).

        Log-score, varentropy and that of possible rows in units of 2⁻⁴⁰; 1 - q₁ in units of 2⁻⁵².
        """
        log_score, _, variance = self.log_scores
        possible_variance = np.where(self.impossible, 0, variance)
        misses = TWO_BITS - self.steps[0].view(np.int64)
        return np.array([log_score, variance, possible_variance, misses])

    def select(self, chosen: NDArray[np.bool_]) -> BlockStatistics:
        """The same for some of the rows."""
        fields: list[Any] = [None if field is None else field[..., chosen] for field in self]
        return BlockStatistics(*fields)


class _Truth(NamedTuple):
    """What the labels of a block say of it."""

    rank: IntArray
    tied: IntArray
    impossible: NDArray[np.bool_]
    log_scores: IntArray
    probability: IntArray
    """Of the true class, in units of 2⁻⁵²."""
    soft: SoftBlock | None


class Describer:
    """Computes what is summed of each row, block by block."""

    def __init__(self, spec: TableSpec, eps: float, scratch: Scratch) -> None:
        self.spec, self.scratch = spec, scratch
        self.thresholds = spec.thresholds(eps)

    def describe(self, rows: Rows, start: int, stop: int) -> BlockStatistics:
        """What is summed of rows start to stop; valid until the next call."""
        spec, scratch = self.spec, self.scratch
        block = rows.block(start, stop)
        ordered = ordered_rows(block, scratch)
        steps = scratch.array("steps", (spec.n_cells + 1, stop - start))
        np.add(ordered, 1.0, out=steps[:-1])
        total = row_sums(rows, ordered, steps[:-1], start)
        moments = log_moments(ordered, scratch)
        entropy = entropy_in_bits(moments)
        if spec.variation.kernel == "entropy":
            variation = entropy_variation(entropy, spec.n_cells)
        else:
            variation = spec.variation.of_rows(ordered.T, rows.sum_tolerance)
        np.add(variation if spec.variation.kernel else variation - np.floor(variation), 1.0, out=steps[-1])

        truth = self._truth(rows, block, ordered, entropy, start)
        truth.log_scores[2] = variance_units(variance_in_bits(moments, entropy, total))
        weight = None if rows.sample_weight is None else rows.sample_weight[start:stop]
        if truth.soft is not None:  # how much a soft label varies is not known but from itself
            some = truth.soft.is_soft
            truth.log_scores[2, some] = squared_scores(truth.log_scores[0, some])
        statistics = BlockStatistics(
            ordered,
            steps,
            variation,
            spec.bins.index(variation, self.thresholds),
            truth.rank,
            truth.tied,
            truth.impossible,
            truth.log_scores,
            true_probability=truth.probability,
            square=sum_square_units(ordered, scratch),
            predicted_class=block.argmax(axis=1),
            weight=weight,
            rank_units=None if truth.soft is None else truth.soft.rank_units,
            label_spread=None if truth.soft is None else truth.soft.spread,
        )
        return statistics if weight is None or weight.all() else statistics.select(weight > 0)

    def _truth(
        self, rows: Rows, block: NDArray[Any], ordered: FloatArray, entropy: FloatArray, start: int
    ) -> _Truth:
        """What the labels of a block say of it."""
        assert rows.labels is not None
        stop = start + len(block)
        labels = rows.labels.block(start, stop)
        given = rows.scores(start, stop) if rows.from_logits else None
        ranked_by = block if given is None else given
        if rows.labels.soft:
            return self._soft_truth(ranked_by, block, rows.labels.shares(start, stop), entropy, given)
        p_true = chosen(block, labels)
        rank, tied = rank_and_ties(
            ordered, p_true, labels, ranked_by, ties=self.spec.ties, from_logits=rows.from_logits
        )
        impossible, log_scores = _log_scores(p_true, entropy, given, labels, self.scratch)
        return _Truth(rank, tied, impossible, log_scores, units(p_true), None)

    def _soft_truth(
        self,
        ranked_by: NDArray[Any],
        block: NDArray[Any],
        shares: FloatArray,
        entropy: FloatArray,
        logits: FloatArray | None,
    ) -> _Truth:
        """The same for soft labels, which have no single rank."""
        ranked, tied = shares_by_rank(ranked_by, shares, self.spec.ties)
        impossible, log_scores = soft_log_scores(block, shares, entropy, logits)
        soft = SoftBlock(np.ascontiguousarray(whole_units(ranked).T), share_spread(shares))
        none = np.zeros(len(block), np.int64)
        return _Truth(none, tied, impossible, log_scores, mean_share_units(block, shares), soft)

    def in_units(self, block: BlockStatistics, rows: Rows, start: int, unit_of: IntArray) -> BlockStatistics:
        """The block with the bins of each row's unit; `unit_of` is that of the rows from `start` on."""
        weight = rows.sample_weight
        units = unit_of if weight is None else unit_of[weight[start : start + len(unit_of)] > 0]
        return block._replace(bins=units * self.spec.bins.n_bins + block.bins)


def rank_and_ties(
    ordered: FloatArray,
    p_true: FloatArray,
    labels: NDArray[np.intp],
    given: NDArray[Any],
    *,
    ties: str,
    from_logits: bool,
) -> tuple[IntArray, IntArray]:
    """The rank of the true class, and the number of classes tied with it; ties are broken by the values given."""
    rank, tied = count_above_and_tied(ordered, p_true)
    shared = np.flatnonzero(tied > 1)
    if not shared.size:
        return rank, tied
    scores, of_shared = given[shared], labels[shared]
    if from_logits:
        rank[shared], tied[shared] = count_above_and_tied_by_scores(scores, of_shared)
    if ties == "first":
        rank[shared] += lower_tied_classes(scores, of_shared)
    return rank, tied


def _log_scores(
    p_true: FloatArray,
    entropy: FloatArray,
    logits: FloatArray | None,
    labels: NDArray[np.intp],
    scratch: Scratch,
) -> tuple[NDArray[np.bool_], IntArray]:
    """Whether the true class was impossible, and the `log_scores` of a block, whose last line is not set yet."""
    log2_p = log2_of_positive(p_true, scratch)
    log_scores = np.empty((3, len(p_true)), np.int64)
    log_scores[0], log_scores[1] = log_score_units(log2_p, entropy), log_likelihood_units(log2_p)
    impossible = p_true == 0.0
    if logits is not None and (tiny := np.flatnonzero(p_true < LEAST_NORMAL)).size:
        log_p = underflowed_log_p(logits[tiny], labels[tiny])
        impossible[tiny] = log_p == -np.inf
        log_scores[:2, tiny] = underflowed_score_units(log_p, entropy[tiny])
    if impossible.any():
        log_scores[:2, impossible] = 0
    return impossible, log_scores


def chosen(block: NDArray[Any], labels: NDArray[np.intp]) -> FloatArray:
    """The value of each row at its label, (n,)."""
    values = block.ravel().take(np.arange(0, block.size, block.shape[1]) + labels)
    return values.astype(np.float64, copy=False)


def shares(cells: IntArray, tied: IntArray) -> tuple[IntArray, NDArray[np.uint64]]:
    """One row over k tied ranks: ⌊2⁵²/k⌋ to each of the k cells from the first on, the remainder to the first."""
    first = np.cumsum(tied) - tied
    offset = np.arange(int(tied.sum())) - np.repeat(first, tied)
    units = np.repeat(UNIT // tied, tied)
    units[first] += UNIT % tied
    return np.repeat(cells, tied) + offset, units.astype(np.uint64)

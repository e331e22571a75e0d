"""Conversion between a table and a matrix of integers, in which tables are added by adding matrices.

An `ExactSum` carries from its fraction to its whole part. torchmetrics adds states (over processes and steps) without
carrying, so each number is split into integers ("words") far narrower than 64 bits: 2³⁶ rows can be added.

| column of a bin | words |
|---|---|
| rows | 1 |
| ordered sums, for each rank | high and low half, 26 bits each: C and C |
| rank counts | C, or in halves if ties are split: C and C |
| sum of V | whole, high half, low half |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trueness._arrays import IntArray
from trueness.table import Sums, TableSpec
from trueness.table.exact_sums import LOG_SCORE_BITS, PROBABILITY_BITS, ExactSum

HALF = PROBABILITY_BITS // 2
LOG_HALF = LOG_SCORE_BITS // 2
SCORES = ("log_score", "log_score_variance", "log_likelihood", "true_probability", "square")
"""The sums over all rows, three words each, that follow the tied and the impossible rows in the totals."""

N_TOTALS = 2 + 3 * len(SCORES)
"""Words of the totals, before the counts of skipped rows."""


def width(spec: TableSpec) -> int:
    """The number K of words in a bin."""
    return 1 + (3 if spec.ties == "first" else 4) * spec.n_classes + 3


def words_of(sums: Sums, spec: TableSpec, n_reasons: int) -> tuple[IntArray, IntArray]:
    """The words of all bins, (M, K), and the totals, with zeros for the rows skipped for each reason."""
    c, rank = spec.n_classes, _exact(sums.rank)
    words = np.empty((spec.bins.n_bins, width(spec)), np.int64)
    words[:, 0] = sums.rows
    words[:, 1 : 1 + c], words[:, 1 + c : 1 + 2 * c] = _halves(_exact(sums.ordered))
    if spec.ties == "first":
        words[:, 1 + 2 * c : -3] = rank.whole
    else:
        words[:, 1 + 2 * c : 1 + 3 * c], words[:, 1 + 3 * c : -3] = _halves(rank)
    words[:, -3], words[:, -2], words[:, -1] = _three_words(_exact(sums.variation))
    totals = np.zeros(N_TOTALS + n_reasons, np.int64)
    totals[:2] = sums.tied_rows, sums.impossible_rows
    scores = [_three_words(_exact(getattr(sums, name))) for name in SCORES]
    totals[2:N_TOTALS] = np.ravel(scores)
    return words, totals


def sums_of(bins: IntArray, totals: IntArray, spec: TableSpec) -> Sums:
    """The sums that `words_of` turns into these words."""
    c, zeros = spec.n_classes, np.zeros((spec.bins.n_bins, spec.n_classes), np.int64)
    rows, high, low, *ranks, variation = np.split(bins, [1, *range(1 + c, bins.shape[1] - 2, c)], axis=1)
    rank = (ranks[0], zeros) if spec.ties == "first" else _carried_halves(*ranks)
    halves = (LOG_HALF, LOG_HALF, LOG_HALF, HALF, HALF)
    named = zip(SCORES, totals[2:N_TOTALS].reshape(-1, 3), halves, strict=True)
    scores: dict[str, Any] = {name: _carried_words(words, half) for name, words, half in named}
    return Sums(
        rows=rows[:, 0].copy(),
        tied_rows=np.array(totals[0]),
        impossible_rows=np.array(totals[1]),
        ordered=ExactSum(*_carried_halves(high, low), PROBABILITY_BITS),
        rank=ExactSum(rank[0].copy(), rank[1], PROBABILITY_BITS),
        variation=_carried_words(variation, HALF),
        **scores,
    )


def _exact(total: object) -> ExactSum:
    assert isinstance(total, ExactSum)  # rows are not weighted here
    return total


def _halves(total: ExactSum) -> tuple[IntArray, IntArray]:
    return (total.whole << HALF) + (total.fraction >> HALF), total.fraction & ((1 << HALF) - 1)


def _carried_halves(high: IntArray, low: IntArray) -> tuple[IntArray, IntArray]:
    units = ((high & ((1 << HALF) - 1)) << HALF) + low
    return (high >> HALF) + (units >> PROBABILITY_BITS), units & ((1 << PROBABILITY_BITS) - 1)


def _three_words(total: ExactSum) -> tuple[IntArray, IntArray, IntArray]:
    half = total.bits // 2
    return total.whole, total.fraction >> half, total.fraction & ((1 << half) - 1)


def _carried_words(words: IntArray, half: int) -> ExactSum:
    whole, high, low = np.moveaxis(words, -1, 0)
    units = ((high & ((1 << half) - 1)) << half) + low
    return ExactSum.with_carry(whole + (high >> half), units, 2 * half)

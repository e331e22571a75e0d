"""Conversion between a table and a matrix of integers, in which tables are added by adding matrices.

An `ExactSum` carries from its fraction to its whole part. torchmetrics adds states (over processes and steps) without
carrying, so each number is split into integers ("words") far narrower than 64 bits: 2³⁶ rows can be added.

| column of a bin | words |
|---|---|
| rows | 1 |
| ordered sums, for each rank | high and low half, 26 bits each: C and C |
| rank counts | C, or in halves if ties are split: C and C |
| sum of V | whole, high half, low half |
| log-score, its variance, that of possible rows | likewise, 20 bits each half |

If labels are soft, rank counts are in halves, and the totals end with the sum of 1 - ‖s‖², in three words.

The scores are also kept of the rows that predict each class, after the number of these rows and
before the sum of 1 - q₁. They do not depend on the bins, so they are among the totals.

"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from trueness._arrays import IntArray
from trueness.old_table import Sums, TableSpec
from trueness.old_table.exact_sums import LOG_SCORE_BITS, PROBABILITY_BITS, ExactSum

HALF = PROBABILITY_BITS // 2
LOG_HALF = LOG_SCORE_BITS // 2
TOTALS = ("log_likelihood", "true_probability", "square")
"""The sums over all rows, three words each, that follow the tied and the impossible rows in the totals."""

OF_BIN = {"variation": HALF}
OF_BIN |= dict.fromkeys(("log_score", "log_score_variance", "possible_variance"), LOG_HALF)
"""The last sums of a bin, three words each, and half of their bits."""

OF_CLASS = 1 + 3 * 4
"""The words of the rows that predict a class."""

N_COUNTS = 2
"""The words of tied and impossible rows, with which the totals begin."""

_FIRST_TOTALS = N_COUNTS + 3 * len(TOTALS)


def width(spec: TableSpec, soft: bool = False) -> int:
    """The number K of words in a bin."""
    return 1 + _n_sums(spec, soft) * spec.n_cells + 3 * len(OF_BIN)


def n_totals(spec: TableSpec, soft: bool = False) -> int:
    """The number of words of the totals, without the counts of skipped rows, which follow."""
    return _n_scored_totals(spec) + (3 if soft else 0)


def _n_scored_totals(spec: TableSpec) -> int:
    """The number of words before those of soft labels."""
    return _FIRST_TOTALS + spec.n_cells * OF_CLASS


def _n_sums(spec: TableSpec, soft: bool) -> int:
    """The number of words of each rank in a bin."""
    return 3 if _has_whole_ranks(spec, soft) else 4


def _has_whole_ranks(spec: TableSpec, soft: bool) -> bool:
    return spec.ties == "first" and not soft


def words_of(sums: Sums, spec: TableSpec, soft: bool = False) -> tuple[IntArray, IntArray]:
    """The words of all bins, (M, K), and the totals."""
    rank = _exact(sums.rank)
    words = [
        sums.rows[:, None],
        *halves(_exact(sums.ordered)),
        *([rank.whole] if _has_whole_ranks(spec, soft) else halves(rank)),
        *(_side_by_side(getattr(sums, name)) for name in OF_BIN),
    ]
    totals: list[IntArray] = [np.array([sums.tied_rows, sums.impossible_rows]), *_scored_totals(sums)]
    if soft:
        spread = sums.label_spread or ExactSum.zeros((), PROBABILITY_BITS)
        totals.append(np.ravel(three_words(_exact(spread))))
    return np.concatenate(words, axis=1), np.concatenate(totals)


def _scored_totals(sums: Sums) -> list[IntArray]:
    """The words of the scores of all rows, and of the rows that predict each class."""
    assert sums.predicted_rows is not None
    scores = sums.predicted_scores, sums.predicted_possible_variance, sums.predicted_misses
    return [
        np.ravel([three_words(_exact(getattr(sums, name))) for name in TOTALS]),
        np.hstack([sums.predicted_rows[:, None], *map(_side_by_side, scores)]).ravel(),
    ]


def sums_of(bins: IntArray, totals: IntArray, spec: TableSpec, soft: bool = False) -> Sums:
    """The sums that `words_of` turns into these words; totals may be followed by the counts of skipped rows."""
    c, n = spec.n_cells, _n_sums(spec, soft)
    rows, high, low, *ranks = np.split(bins[:, : 1 + n * c], range(1, 1 + n * c, c), axis=1)
    sums: dict[str, Any] = {
        "rows": rows[:, 0].copy(),
        "tied_rows": np.array(totals[0]),
        "impossible_rows": np.array(totals[1]),
        "ordered": of_halves(high, low),
        "rank": ExactSum(ranks[0].copy(), np.zeros_like(ranks[0]), PROBABILITY_BITS)
        if _has_whole_ranks(spec, soft)
        else of_halves(*ranks),
        **_scored_sums(bins[:, -3 * len(OF_BIN) :], totals, c),
    }
    first = _n_scored_totals(spec)
    if soft and (last := totals[first : first + 3]).any():
        sums["label_spread"] = of_three_words(last, HALF)
    return replace(Sums.zeros(spec), **sums)


def _scored_sums(bins: IntArray, totals: IntArray, n_classes: int) -> dict[str, Any]:
    """The last sums of bins, and those whose `_scored_totals` are these."""
    of_bins = zip(OF_BIN.items(), bins.reshape(len(bins), -1, 3).swapaxes(0, 1), strict=True)
    predicted = totals[_FIRST_TOTALS:][: n_classes * OF_CLASS].reshape(n_classes, OF_CLASS)
    scores = predicted[:, 1:].reshape(n_classes, -1, 3)
    named = zip(TOTALS, totals[N_COUNTS:_FIRST_TOTALS].reshape(-1, 3), (LOG_HALF, HALF, HALF), strict=True)
    return {
        **{name: of_three_words(words, half) for (name, half), words in of_bins},
        "predicted_rows": predicted[:, 0].copy(),
        "predicted_scores": of_three_words(scores[:, :2], LOG_HALF),
        "predicted_possible_variance": of_three_words(scores[:, 2], LOG_HALF),
        "predicted_misses": of_three_words(scores[:, 3], HALF),
        **{name: of_three_words(words, half) for name, words, half in named},
    }


def _side_by_side(total: object) -> IntArray:
    """The words of n sums, (n, 3), or of n pairs of sums, (n, 6)."""
    words = np.stack(three_words(_exact(total)), axis=-1)
    return words.reshape(len(words), -1)


def _exact(total: object) -> ExactSum:
    assert isinstance(total, ExactSum)  # rows are not weighted here
    return total


def halves(total: ExactSum) -> tuple[IntArray, IntArray]:
    """A sum of probabilities as high·2⁻²⁶ + low·2⁻⁵²; the high half of a negative sum is negative."""
    return (total.whole << HALF) + (total.fraction >> HALF), total.fraction & ((1 << HALF) - 1)


def of_halves(high: IntArray, low: IntArray) -> ExactSum:
    """The sum whose `halves`, or those of its parts added up, are these."""
    units = ((high & ((1 << HALF) - 1)) << HALF) + low
    return ExactSum.with_carry(high >> HALF, units, PROBABILITY_BITS)


def three_words(total: ExactSum) -> tuple[IntArray, IntArray, IntArray]:
    """A sum as whole + high·2⁻ʰ + low·2⁻²ʰ, with h half of its bits."""
    half = total.bits // 2
    return total.whole, total.fraction >> half, total.fraction & ((1 << half) - 1)


def of_three_words(words: IntArray, half: int) -> ExactSum:
    """The sum whose `three_words`, or those of its parts added up, lie along the last axis."""
    whole, high, low = words[..., 0], words[..., 1], words[..., 2]
    units = ((high & ((1 << half) - 1)) << half) + low
    return ExactSum.with_carry(whole + (high >> half), units, 2 * half)

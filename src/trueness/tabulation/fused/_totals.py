"""Running sums of the fused engine: 64-bit words that wrap round, emptied in time into wide exact sums."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from trueness.ranking import LEAST_LOG
from trueness.table.exact_sums import LOG_SCORE_BITS, ONE_BITS, PROBABILITY_BITS
from trueness.tabulation.fused._jit import jit

TINY = float(np.finfo(np.float64).tiny)
"""Below it numbers are subnormal."""

_UNIT = 1 << PROBABILITY_BITS
_MASK = _UNIT - 1

N_SCORES = 5
"""Totals over all rows, as `Totals.scores` has them."""


class Totals(NamedTuple):
    """The sums of one thread: K measures, M bins, C classes. A last bin of `acc` and `ranks` takes what has no row."""

    acc: Any
    """Bits of 1 + p, summed modulo 2⁶⁴ since the last flush, (copies, K, M + 1, words of a row)."""
    ranks: Any
    """Rank counts since the last flush, (copies, K, M + 1, C)."""
    whole: Any
    fraction: Any
    """Exact sums so far, (K, M, words of a row)."""
    rank_count: Any
    """Rank counts so far, (K, M, C)."""
    split_whole: Any
    split_fraction: Any
    """What split ties change in the rank counts, (K, M, C)."""
    scores: Any
    """Log-score, log-likelihood, varentropy, p_y and ‖p‖² so far, whole and fraction each, (5, 2)."""
    odd_rows: Any
    """Impossible and tied rows, (2,)."""

    @classmethod
    def zeros(cls, copies: int, n_measures: int, n_bins: int, n_classes: int, row: int) -> Totals:
        """Nothing summed yet."""
        wide, ranked = (n_measures, n_bins, row), (n_measures, n_bins, n_classes)
        return cls(
            acc=aligned_zeros((copies, n_measures, n_bins + 1, row)),
            ranks=np.zeros((copies, n_measures, n_bins + 1, n_classes), np.int64),
            whole=np.zeros(wide, np.int64),
            fraction=np.zeros(wide, np.int64),
            rank_count=np.zeros(ranked, np.int64),
            split_whole=np.zeros(ranked, np.int64),
            split_fraction=np.zeros(ranked, np.int64),
            scores=np.zeros((N_SCORES, 2), np.int64),
            odd_rows=np.zeros(2, np.int64),
        )


def aligned_zeros(shape: tuple[int, ...]) -> Any:
    """int64 zeros that begin on a cache line, so that no vector straddles two."""
    size = int(np.prod(shape))
    memory = np.zeros(size + 8, np.int64)
    start = (-memory.ctypes.data % 64) // 8
    return memory[start : start + size].reshape(shape)


@jit
def flush(totals, lane_sums):
    """Empty the words that wrap round into the exact sums."""
    copies, n_measures, n_bins, row = totals.acc.shape
    n_classes = totals.ranks.shape[3]
    for copy in range(copies):
        for k in range(n_measures):
            for m in range(n_bins - 1):
                count = 0
                for c in range(n_classes):
                    count += totals.ranks[copy, k, m, c]
                if count == 0:
                    continue
                for c in range(n_classes):
                    totals.rank_count[k, m, c] += totals.ranks[copy, k, m, c]
                    totals.ranks[copy, k, m, c] = 0
                for c in range(row):
                    # Below 2⁶⁴, since fewer than 4096 rows were added.
                    steps = np.uint64(totals.acc[copy, k, m, c]) - np.uint64(count) * np.uint64(ONE_BITS)
                    fraction = totals.fraction[k, m, c] + np.int64(steps & np.uint64(_MASK))
                    totals.whole[k, m, c] += np.int64(steps >> np.uint64(PROBABILITY_BITS)) + (
                        fraction >> PROBABILITY_BITS
                    )
                    totals.fraction[k, m, c] = fraction & _MASK
                    totals.acc[copy, k, m, c] = 0
    for which in range(N_SCORES):
        bits = LOG_SCORE_BITS if which < 3 else PROBABILITY_BITS
        for lane in range(8):
            # Carried lane by lane: one is below 2⁶³ in size, but eight together need not be.
            units = lane_sums[8 * which + lane]
            fraction = totals.scores[which, 1] + (units & ((1 << bits) - 1))
            totals.scores[which, 0] += (units >> bits) + (fraction >> bits)
            totals.scores[which, 1] = fraction & ((1 << bits) - 1)
            lane_sums[8 * which + lane] = 0


@jit
def add_log(totals, lane_sums, which, lane, value):
    """Add one row's logarithm, of any size, to a sum."""
    whole = math.floor(value)
    totals.scores[which, 0] += np.int64(whole)
    lane_sums[8 * which + lane] += np.int64(np.rint((value - whole) * 2.0**LOG_SCORE_BITS))


@jit
def add_odd_row(scores, label, p, rank, tied, entropy, logits, split, bins, copy, lane_sums, lane, totals):
    """Put right a row that is rare enough to be looked at alone.

    Its true class is tied and was counted at the first of the tied ranks; or has a probability of zero, or too small
    for the vector logarithm, and its log-score was left out; or both. `scores` are the row's logits, if it came as
    such, and tell apart what has underflowed; else its probabilities.
    """
    if p < TINY:
        log_p = math.log(p) if p > 0.0 else -np.inf
        if logits:
            top = scores.max()
            log_p = max(scores[label] - top - math.log(np.exp(scores - top).sum()), LEAST_LOG)
            if scores[label] == -np.inf:
                log_p = -np.inf
        if log_p == -np.inf:
            totals.odd_rows[0] += 1
        else:
            add_log(totals, lane_sums, 0, lane, log_p + entropy)
            add_log(totals, lane_sums, 1, lane, log_p)
    if tied == 1:
        return
    more = equal = before = 0
    for c in range(len(scores)):
        more += scores[c] > scores[label]
        equal += scores[c] == scores[label]
        before += c < label and scores[c] == scores[label]
    totals.odd_rows[1] += equal > 1
    for k in range(len(bins)):
        m = bins[k]
        if equal == 1 or not split:
            totals.ranks[copy, k, m, rank] -= 1
            totals.ranks[copy, k, m, more + before] += 1
            continue
        totals.split_whole[k, m, rank] -= 1
        for c in range(more, more + equal):
            share = _UNIT // equal + (_UNIT % equal if c == more else 0)
            fraction = totals.split_fraction[k, m, c] + share
            totals.split_whole[k, m, c] += fraction >> PROBABILITY_BITS
            totals.split_fraction[k, m, c] = fraction & _MASK

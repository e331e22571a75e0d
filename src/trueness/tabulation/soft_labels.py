"""Soft labels of a block of rows: shares of the classes, such as those of annotators, instead of one true class.

A row of shares s adds r_j = s of the class of rank j to the ranks, in whole units of 2⁻⁵² that add up to exactly one.
Sums stay exact, and a one-hot row adds what its label would.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness._row_arithmetic import (
    LEAST_NORMAL,
    LN2,
    LOG_SCORE_BITS,
    UNIT,
    log2_of_positive,
    log_likelihood_units,
    log_score_units,
    underflowed_score_units,
)
from trueness._scratch import Scratch
from trueness.ranking import underflowed_log_p


class SoftBlock(NamedTuple):
    """What soft labels add to the statistics of a block of n rows."""

    rank_units: IntArray
    """r in units of 2⁻⁵², (C, n)."""
    spread: IntArray
    """1 - ‖s‖² in units of 2⁻⁵², 0 where one class has the whole share, (n,)."""

    @property
    def is_soft(self) -> NDArray[np.bool_]:
        """Which rows have more than one class with a share, (n,)."""
        return np.asarray(self.spread > 0)


def whole_units(shares: FloatArray) -> IntArray:
    """Shares in units of 2⁻⁵², rounded down; the largest, of equal ones the first, gets what is left of one. (n, C)."""
    units = np.floor(shares * UNIT).astype(np.int64)
    largest = units.argmax(axis=1)
    units[np.arange(len(units)), largest] += UNIT - units.sum(axis=1)
    return units


def share_spread(shares: FloatArray) -> IntArray:
    """1 - ‖s‖² of each row in units of 2⁻⁵², at least 1 if it is soft, 0 if it is one-hot."""
    several = np.count_nonzero(shares, axis=1) > 1
    spread = np.rint((1.0 - (shares**2).sum(axis=1)) * UNIT).astype(np.int64)
    return np.where(several, np.maximum(spread, 1), 0)


def shares_by_rank(given: NDArray[Any], shares: FloatArray, ties: str) -> tuple[FloatArray, IntArray]:
    """r of each row, (n, C), and 2 for rows in which a class with a share is tied with another, else 1, (n,).

    `given` are the numbers by which classes are ranked, (n, C). Of equal ones the lower index ranks first; with
    `ties="split"` they share what they have together equally.
    """
    order = np.argsort(-given, axis=1, kind="stable")
    ranked, values = (np.take_along_axis(each, order, axis=1) for each in (shares, given))
    same = values[:, 1:] == values[:, :-1]
    if not same.any():
        return ranked, np.ones(len(given), np.int64)
    # The number of each group of equal values, over all rows.
    group = np.cumsum(np.hstack([np.ones((len(given), 1), bool), ~same]), axis=1)
    group += (np.arange(len(given)) * given.shape[1])[:, None] - 1
    size = np.bincount(group.ravel(), minlength=given.size)
    total = np.bincount(group.ravel(), ranked.ravel(), minlength=given.size)
    tied = ((size[group] > 1) & (total[group] > 0)).any(axis=1)
    if ties == "split":
        ranked = np.where(size[group] > 1, total[group] / size[group], ranked)
    return ranked, np.where(tied, 2, 1)


def soft_log_scores(
    block: NDArray[Any], shares: FloatArray, entropy: FloatArray, logits: FloatArray | None
) -> tuple[NDArray[np.bool_], IntArray]:
    """Whether a class with a share was impossible, and Σ s·ln p + H and Σ s·ln p in units of 2⁻⁴⁰; 0 if impossible.

    A third line, for the variance, is not set. (3, n).
    """
    p = np.ascontiguousarray(block.T, dtype=np.float64)
    held = shares.T > 0
    log2_p = log2_of_positive(p.ravel(), Scratch()).reshape(p.shape).copy()
    impossible = (held & (p == 0.0)).any(axis=0)
    mean = np.where(held, shares.T * log2_p, 0.0).sum(axis=0)
    scores = np.empty((3, len(block)), np.int64)
    scores[0], scores[1] = log_score_units(mean, entropy), log_likelihood_units(mean)
    if logits is not None and (tiny := np.flatnonzero((held & (p < LEAST_NORMAL)).any(axis=0))).size:
        logs = _underflowed(logits[tiny], log2_p[:, tiny] * LN2, held[:, tiny] & (p[:, tiny] < LEAST_NORMAL))
        mean_log = np.where(held[:, tiny], shares[tiny].T * logs, 0.0).sum(axis=0)
        impossible[tiny] = mean_log == -np.inf
        scores[:2, tiny] = underflowed_score_units(mean_log, entropy[tiny])
    scores[:2, impossible] = 0
    return impossible, scores


def _underflowed(logits: FloatArray, logs: FloatArray, tiny: NDArray[np.bool_]) -> FloatArray:
    """ln p of each class, (C, n), computed from the logits where p is too small for its own logarithm."""
    found = logs.copy()
    for c in np.flatnonzero(tiny.any(axis=1)).tolist():
        rows = np.flatnonzero(tiny[c])
        found[c, rows] = underflowed_log_p(logits[rows], np.full(len(rows), c))
    return found


def squared_scores(scores: IntArray) -> IntArray:
    """The squares of scores in units of 2⁻⁴⁰, in the same units; at most 2²², since larger ones would overflow."""
    squares = np.minimum((scores * 2.0**-LOG_SCORE_BITS) ** 2, 2.0**22)
    return np.asarray(np.rint(squares * 2.0**LOG_SCORE_BITS), np.int64)


def mean_share_units(block: NDArray[Any], shares: FloatArray) -> IntArray:
    """Σ_c s_c·p_c of each row in units of 2⁻⁵²; of a one-hot row the probability of its class."""
    means = (block.astype(np.float64) * shares).sum(axis=1)
    return np.asarray(np.rint(means * UNIT), np.int64)

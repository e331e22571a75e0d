"""Order the classes of each row by probability and find the rank of the true class.

The paper's qᵢ is a column of `ordered`; its one-hot rᵢ is the index of the rank here. Ties are broken without
using the label, or the ranks would be biased: counting only the classes that are strictly more probable favours the
true one (statistics are wrong by a factor of three on two-decimal predictions over 100 classes).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arguments import require_choice
from trueness._arrays import FloatArray, column_sums
from trueness._row_arithmetic import LN2, exp, log2
from trueness._scratch import Scratch
from trueness.rows import Rows, row_sums

TIES = ("first", "split")
"""first: of equal probabilities the lower class index ranks first, as in argmax. split: they share the count."""


class _Default(str):
    """A default that can be told from the same value passed by a user."""

    __slots__ = ()


DEFAULT_TIES = _Default("first")
"""The default: "first"; if rows have options of their own, "split", because in many evaluations the right answer is
always the same option, so that the order of the options is not label-blind."""


def ties_for(ties: str, *, options: bool) -> str:
    """How ties are ranked: as chosen, or by default."""
    require_choice("ties", ties, TIES)
    return "split" if options and isinstance(ties, _Default) else str(ties)


LEAST_LOG = -(2.0**22)
"""The least ln p that is summed: logits can give smaller ones, whose sum might overflow."""

NETWORK_CLASSES = 8
"""Up to so many classes a sorting network on whole columns is faster than `np.sort` on rows."""


def ordered_rows(block: NDArray[Any], scratch: Scratch) -> FloatArray:
    """The rows of a block sorted downwards, as float64 of shape (classes, rows), in the piece "ordered".

    Each rank is contiguous in memory, so that later steps add and compare whole lines. A row with NaN is not sorted.
    """
    n_rows, n_classes = block.shape
    ordered = scratch.array("ordered", (n_classes, n_rows))
    if n_classes <= NETWORK_CLASSES:
        memory = scratch.array("work", (n_classes + 1, n_rows), block.dtype)
        for rank, line in enumerate(_sort_by_network(block, memory)):
            ordered[rank] = line
        return ordered
    upwards = scratch.array("work", block.shape, block.dtype)
    np.copyto(upwards, block)
    upwards.sort(axis=1)
    np.copyto(ordered, upwards.T[::-1])
    return ordered


def ordered_blocks(rows: Rows, scratch: Scratch | None = None) -> Iterator[tuple[int, int, FloatArray]]:
    """The first and last row and the `ordered_rows` of each block; the first bad row is refused.

    The memory of a block is used again for the next one.
    """
    memory = scratch or Scratch()
    for start, stop in rows.spans():
        with np.errstate(all="ignore"):
            ordered = ordered_rows(rows.block(start, stop), memory)
            steps = np.add(ordered, 1.0, out=memory.array("steps", ordered.shape))
        row_sums(rows, ordered, steps, start)
        yield start, stop, ordered


def _sort_by_network(block: NDArray[Any], memory: NDArray[Any]) -> list[NDArray[Any]]:
    """The columns of a block, exchanged until each row is sorted downwards; `memory` has one line more."""
    np.copyto(memory[:-1], block.T)
    *lines, spare = memory
    for upper, lower in comparators(block.shape[1]):
        larger = np.maximum(lines[upper], lines[lower], out=spare)
        np.minimum(lines[upper], lines[lower], out=lines[lower])
        lines[upper], spare = larger, lines[upper]
    return lines


@cache
def comparators(n: int) -> tuple[tuple[int, int], ...]:
    """Batcher's odd-even merge sort: Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M."""
    pairs: list[tuple[int, int]] = []
    p = 1
    while p < n:
        k = p
        while k >= 1:
            for j in range(k % p, n - k, 2 * k):
                run = range(j, min(j + k, n - k))
                pairs += [(i, i + k) for i in run if i // (2 * p) == (i + k) // (2 * p)]
            k //= 2
        p *= 2
    return tuple(pairs)


def count_above_and_tied(
    ordered: FloatArray, p_true: FloatArray
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of classes more probable than the true one, and of those exactly as probable, itself included."""
    narrow = np.min_scalar_type(len(ordered))
    more = np.add.reduce(ordered > p_true, axis=0, dtype=narrow)
    tied = np.add.reduce(ordered >= p_true, axis=0, dtype=narrow) - more
    return np.asarray(more, dtype=np.int64), np.asarray(tied, dtype=np.int64)


def count_above_and_tied_by_scores(
    scores: FloatArray, labels: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`count_above_and_tied` among logits, (rows, classes), for rows in which the probabilities are tied.

    Different logits may have the same probability, since that is rounded, or 0.
    """
    of_true = np.take_along_axis(scores, labels[:, None], axis=1)
    more = np.count_nonzero(scores > of_true, axis=1)
    tied = np.count_nonzero(scores == of_true, axis=1)
    return np.asarray(more, np.int64), np.asarray(tied, np.int64)


def underflowed_log_p(scores: FloatArray, labels: NDArray[np.intp]) -> FloatArray:
    """ln p of the true class from logits, (rows, classes), where p < 2⁻¹⁰²²; -inf if its logit is -inf.

    ln p = (s_y - max s) - L(Σ exp(s - max s))·ln2, but not less than `LEAST_LOG`; the sum is added in class order.
    """
    lines = np.array(scores.T, dtype=np.float64, order="C")  # always a copy: it is changed in place
    scratch, rows = Scratch(), np.arange(len(labels))
    with np.errstate(all="ignore"):
        lines -= np.max(lines, axis=0)
        log_p = lines[labels, rows]
        log_p -= log2(column_sums(exp(lines, scratch)), scratch) * LN2
    # The difference of finite logits may be -inf; a class is impossible only if its own logit is -inf.
    return np.where(scores[rows, labels] == -np.inf, -np.inf, np.maximum(log_p, LEAST_LOG))


def lower_tied_classes(block: NDArray[Any], labels: NDArray[np.intp]) -> NDArray[np.int64]:
    """The number of classes of a lower index with exactly the probability of the true class."""
    equal = block == np.take_along_axis(block, labels[:, None], axis=1)
    before = equal & (np.arange(block.shape[1]) < labels[:, None])
    return np.asarray(np.count_nonzero(before, axis=1), dtype=np.int64)

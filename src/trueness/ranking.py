"""Order the classes of each row by probability and find the rank at which the true class stood.

The paper's qᵢ is a column of `ordered`; its one-hot rᵢ is the index of the rank here. Ties are broken without looking
at the label, or the ranks would be biased: counting only the classes that are strictly more probable favours the
true one (statistics are wrong by a factor of three on two-decimal predictions over 100 classes).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._sums import FloatArray

TIES = ("first", "split")
"""first: of equal probabilities the lower class index ranks first, as in argmax. split: they share the count."""


NETWORK_CLASSES = 8
"""Up to so many classes a sorting network on whole columns beats `np.sort` on rows."""


class Sorter:
    """Sorts block after block in memory of its own: fresh memory for each would cost more than the sorting."""

    def __init__(self) -> None:
        self._memory: NDArray[Any] = np.empty(0)
        self._ordered = np.empty(0)

    def ordered(self, block: NDArray[Any]) -> FloatArray:
        """The rows of a block sorted downwards, as float64 of shape (classes, rows), until the next call.

        With a rank per line of memory, all that follows adds and compares whole lines. NaN spoils its row.
        """
        n_rows, n_classes = block.shape
        needed = block.size + n_rows
        if needed > self._memory.size or block.dtype != self._memory.dtype:
            self._memory, self._ordered = np.empty(needed, block.dtype), np.empty(block.size)
        ordered = self._ordered[: block.size].reshape(n_classes, n_rows)
        if n_classes <= NETWORK_CLASSES:
            memory = self._memory[:needed].reshape(n_classes + 1, n_rows)
            for rank, line in enumerate(_network_sorted(block, memory)):
                ordered[rank] = line
            return ordered
        upwards = self._memory[: block.size].reshape(n_rows, n_classes)
        np.copyto(upwards, block)
        upwards.sort(axis=1)
        np.copyto(ordered, upwards.T[::-1])
        return ordered


def _network_sorted(block: NDArray[Any], memory: NDArray[Any]) -> list[NDArray[Any]]:
    """The columns of a block, exchanged until each row is sorted downwards; `memory` has a line to spare."""
    np.copyto(memory[:-1], block.T)
    *lines, spare = memory
    for upper, lower in _comparators(block.shape[1]):
        larger = np.maximum(lines[upper], lines[lower], out=spare)
        np.minimum(lines[upper], lines[lower], out=lines[lower])
        lines[upper], spare = larger, lines[upper]
    return lines


@cache
def _comparators(n: int) -> tuple[tuple[int, int], ...]:
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


def standing(ordered: FloatArray, p_true: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The first rank that holds the true class's probability, and the rows where the next rank holds it too."""
    n_classes, n_rows = ordered.shape
    narrow = np.uint8 if n_classes < 256 else np.int64
    rank = np.add.reduce(ordered > p_true, axis=0, dtype=narrow).astype(np.int64)
    below = np.minimum(rank + 1, n_classes - 1) * n_rows + np.arange(n_rows)
    shared = (ordered.ravel().take(below) == p_true) & (rank < n_classes - 1)
    return rank, np.flatnonzero(shared)


def tied_classes(
    block: NDArray[Any], labels: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many classes have exactly the true one's probability, and how many of them come before it by index."""
    equal = block == np.take_along_axis(block, labels[:, None], axis=1)
    before = equal & (np.arange(block.shape[1]) < labels[:, None])
    return np.count_nonzero(equal, axis=1).astype(np.int64), np.count_nonzero(before, axis=1).astype(np.int64)

"""Order the classes of each row by probability and find the rank at which the true class stood.

The paper's qᵢ is a column of `ordered`; its one-hot rᵢ is the index of the rank here. Ties are broken without looking
at the label, or the ranks would be biased: counting only the classes that are strictly more probable favours the
true one (statistics are wrong by a factor of three on two-decimal predictions over 100 classes).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._sums import FloatArray

TIES = ("first", "split")
"""first: of equal probabilities the lower class index ranks first, as in argmax. split: they share the count."""


class Sorter:
    """Sorts block after block in memory of its own: fresh memory for each would cost more than the sorting."""

    def __init__(self) -> None:
        self._sorted: NDArray[Any] = np.empty(0)
        self._ordered = np.empty(0)

    def ordered(self, block: NDArray[Any]) -> FloatArray:
        """The rows of a block sorted downwards, as float64 of shape (classes, rows), until the next call.

        With a rank per line of memory, all that follows adds and compares whole lines.
        """
        if block.size > self._sorted.size or block.dtype != self._sorted.dtype:
            self._sorted, self._ordered = np.empty(block.size, block.dtype), np.empty(block.size)
        upwards = self._sorted[: block.size].reshape(block.shape)
        np.copyto(upwards, block)
        upwards.sort(axis=1)
        ordered = self._ordered[: block.size].reshape(block.shape[::-1])
        np.copyto(ordered, upwards.T[::-1])
        return ordered


def standing(ordered: FloatArray, p_true: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The first rank that holds the true class's probability, and the rows where the next rank holds it too."""
    n_classes, n_rows = ordered.shape
    rank = np.add.reduce(ordered > p_true, axis=0, dtype=np.int64)
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

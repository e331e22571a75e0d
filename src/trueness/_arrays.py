"""Types of the arrays that the library computes with, sums whose order of addition is fixed, and ratios."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]


def column_sums(lines: FloatArray) -> FloatArray:
    """The sum of each column of a contiguous array, added line by line, whatever the number of columns.

    NumPy adds up a single column pairwise, and a row's sum must not depend on how many rows are beside it.
    """
    if lines.shape[1] == 1:
        total: FloatArray = np.add.accumulate(lines, axis=0)[-1]
        return total
    return np.asarray(np.add.reduce(lines, axis=0))


def cumulated(values: FloatArray) -> FloatArray:
    """The sums of the first entries along the first axis; few and long ones take `np.cumsum` eight times as long.

    >>> cumulated(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[1.0, 2.0], [4.0, 6.0]]
    """
    sums = values.copy()
    for k in range(1, len(sums)):
        sums[k] += sums[k - 1]
    return sums


def ratio_or(above: NDArray[Any], below: NDArray[Any], empty: float = np.nan) -> FloatArray:
    """above / below, or `empty` where below is zero."""
    ratio = np.full(above.shape, empty)
    np.divide(above, below, out=ratio, where=below > 0)
    return ratio

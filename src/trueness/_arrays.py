"""Types of the arrays that the library computes with, and sums whose order of addition is fixed."""

from typing import TypeAlias

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

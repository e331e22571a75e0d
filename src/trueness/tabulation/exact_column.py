"""A running exact sum for each bin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueness._row_arithmetic import UNIT
from trueness.old_table.exact_sums import PROBABILITY_BITS, ExactSum


class ExactColumn:
    """A running exact sum per bin, in units of 2⁻⁵²."""

    def __init__(self, *shape: int) -> None:
        self.whole = np.zeros(shape, np.int64)
        self.fraction = np.zeros(shape, np.int64)

    def add(self, at: NDArray[np.intp], units: NDArray[np.integer]) -> None:
        """Add units of 2⁻⁵², below 2⁶⁴ (they may have wrapped round to negative), to the bins `at`."""
        wide = units.view(np.uint64)
        fraction = self.fraction[at] + (wide & np.uint64(UNIT - 1)).view(np.int64)
        self.whole[at] += (wide >> np.uint64(PROBABILITY_BITS)).view(np.int64) + (
            fraction >> PROBABILITY_BITS
        )
        self.fraction[at] = fraction & (UNIT - 1)

    def sum(self, columns: slice | int) -> ExactSum:
        """The sum of some columns."""
        return ExactSum(self.whole[:, columns], self.fraction[:, columns], PROBABILITY_BITS)

"""What pictures of bins share: the bins that hold rows, and the part of the axes that is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness._printing import rows_text
from trueness.old_table import AnyRankTable
from trueness.old_table.table_text import FEW_ROWS


@dataclass(frozen=True, slots=True, eq=False)
class PlottedBins:
    """The bins of a table that hold rows, (F,) each unless stated."""

    measure: str
    """The variation measure, as in a sentence."""
    number: IntArray
    """Of each bin, from 1."""
    rows: FloatArray
    """Rows of each, or the sum of their weights."""
    small: NDArray[np.bool_]
    """Bins with too few rows to conclude anything."""
    edges: FloatArray
    """Of all bins, (M + 1,)."""
    share: FloatArray
    """The share of the rows in each of all bins, (M,)."""

    @classmethod
    def of(cls, table: AnyRankTable) -> Self:
        """The filled bins of a table."""
        index = np.flatnonzero(table.row_count)
        enough = max(FEW_ROWS, table.n_cells) * (1 - 1e-9)
        return cls(
            measure=table.spec.variation.display_name,
            number=index + 1,
            rows=table.count[index].astype(np.float64),
            small=table.effective_count[index] < enough,
            edges=table.edges,
            share=table.count / table.count.sum(),
        )

    @property
    def index(self) -> IntArray:
        """Places of the filled bins in the table's arrays."""
        return self.number - 1

    @property
    def spans(self) -> list[str]:
        """The range of each, such as "(0.2, 0.3]"."""
        return [span_of(self.edges, number) for number in self.number.tolist()]

    @property
    def descriptions(self) -> list[str]:
        """The number, range and rows of each, such as "bin 3, entropy in (0.2, 0.3]: 258 rows"."""
        return [
            f"bin {number}, {self.measure} in {span}: {rows_text(rows)}"
            for number, span, rows in zip(self.number, self.spans, self.rows.tolist(), strict=True)
        ]

    @property
    def shares(self) -> list[float]:
        """The share of the rows in each."""
        return [float(share) for share in self.rows / self.rows.sum()]


def span_of(edges: FloatArray, number: int) -> str:
    """The range of a bin, by its number from 1."""
    return f"{'[' if number == 1 else '('}{edges[number - 1]:.4g}, {edges[number]:.4g}]"


def zoom_range(range: tuple[float, float], values: FloatArray) -> tuple[float, float]:
    """The range, or the part that holds the values if it is much shorter: with many classes V varies little."""
    low, high = float(values.min()), float(values.max())
    margin = 0.35 * (high - low)
    if not 0 < high - low + 2 * margin < 0.55 * (range[1] - range[0]):
        return range
    return max(range[0], low - margin), min(range[1], high + margin)


def widen_range(range: tuple[float, float], *values: FloatArray) -> tuple[float, float]:
    """The range, widened where values lie outside it: observed ranks need not be in decreasing order."""
    together = np.concatenate(values)
    return min(range[0], float(together.min())), max(range[1], float(together.max()))

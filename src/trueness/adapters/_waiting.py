"""Short batches of rows, kept until there are enough of them to be summed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Waiting:
    """Rows side by side in memory of its own, since the caller may use his again; it is made when it is needed.

    All that wait at a time are of one dtype, and of one `eps`, the rounding of what they were made of.
    """

    def __init__(self) -> None:
        self.n_rows, self.eps = 0, 0.0
        self._rows: NDArray[Any] = np.empty((0, 0))
        self._labels: NDArray[np.int64] = np.empty(0, np.int64)

    def __bool__(self) -> bool:
        return self.n_rows > 0

    def takes(self, rows: NDArray[Any], eps: float) -> bool:
        """Whether such rows may wait with those that do."""
        return self._rows.dtype == rows.dtype and self.eps == eps

    def open(self, rows: NDArray[Any], eps: float, n_values: int) -> None:
        """Make room for so many values of such rows."""
        n_rows, self.eps = max(1, n_values // rows.shape[1]), eps
        self._rows, self._labels = np.empty((n_rows, rows.shape[1]), rows.dtype), np.empty(n_rows, np.int64)

    def put(self, rows: NDArray[Any], labels: NDArray[Any]) -> int:
        """Copy rows, as many as there is room for: how many that are."""
        first = self.n_rows
        n = min(len(rows), len(self._rows) - first)
        self._rows[first : first + n], self._labels[first : first + n] = rows[:n], labels[:n]
        self.n_rows = first + n
        return n

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another row."""
        return self.n_rows == len(self._rows)

    def forget(self) -> None:
        """Let none wait any longer."""
        self.n_rows = 0

    def take(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """All that wait, valid until the next rows are put here."""
        n, self.n_rows = self.n_rows, 0
        return self._rows[:n], self._labels[:n]

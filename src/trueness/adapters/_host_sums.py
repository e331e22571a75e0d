"""Sums of rows in host memory, by the engine of `trueness.tabulate`; short batches are collected first."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import IntArray
from trueness._scratch import Scratch
from trueness.adapters._metric_input import N_REASONS, MetricInput
from trueness.adapters._state_words import words_of
from trueness.rows import Rows
from trueness.rows.containers import Contents
from trueness.table import empty_single_table
from trueness.tabulation import RunningSums

BUFFER_VALUES, BUFFER_VALUES_FOR_THREADS = 2**16, 2**20
"""Batches of fewer than half as many values are copied into a buffer of this size. Calling the engine costs as much as
summing some thousands of values, and waking threads as summing some ten thousands."""


class HostSums:
    """Sums that are not in the states of a metric yet, and a buffer of rows that are not summed yet."""

    def __init__(self, input: MetricInput) -> None:
        self.input = input
        self._running, self._buffer = RunningSums(input.specs, "auto"), _Buffer()
        self._skipped: IntArray = np.zeros(N_REASONS, np.int64)

    @property
    def n_buffered(self) -> int:
        """The number of rows in the buffer."""
        return self._buffer.n_rows

    def add(self, rows: NDArray[Any], labels: NDArray[Any], eps: float, n_threads: int) -> None:
        """Sum rows that were rounded to `eps`, on at most `n_threads` threads, or put them into the buffer."""
        room = BUFFER_VALUES if n_threads == 1 else BUFFER_VALUES_FOR_THREADS
        if rows.size >= room // 2:  # copying them would not pay off
            self._sum(rows, labels, eps, n_threads)
            return
        if not self._buffer.takes(rows, eps):
            self._sum_buffered(n_threads)
            self.input.thresholds(eps)  # raises now instead of when the rows are summed
            self._buffer.open(rows, labels, eps, room)
        while len(rows):
            n = self._buffer.put(rows, labels)
            if self._buffer.is_full:
                self._sum_buffered(n_threads)
            rows, labels = rows[n:], labels[n:]

    def take(self, n_threads: int) -> dict[str, IntArray] | None:
        """The words of each state, by its name, of the rows added since the last call; None if there were none."""
        self._sum_buffered(n_threads)
        self._buffer.close()
        sums = self._running.take()
        if sums is None and not self._skipped.any():
            return None
        nothing = (empty_single_table(spec).sums for spec in self.input.specs)
        words = words_of([*nothing] if sums is None else sums, self._skipped, self.input)
        self._skipped[:] = 0
        return words

    def forget(self) -> None:
        """Drop all rows that were added."""
        self._buffer.close()
        self._running.take()
        self._skipped[:] = 0

    def _sum_buffered(self, n_threads: int) -> None:
        if self._buffer.n_rows:
            self._sum(*self._buffer.take(), self._buffer.eps, n_threads)

    def _sum(self, rows: NDArray[Any], labels: NDArray[Any], eps: float, n_threads: int) -> None:
        """Sum the good rows; bad rows are skipped and counted, ignored rows only skipped."""
        kept = None if self.input.ignore_index is None else labels != self.input.ignore_index
        if kept is not None and not kept.all():
            rows, labels = rows[kept], labels[kept]
        if len(rows):
            these = Rows.of_arrays(
                labels,
                Contents(rows, eps=eps),
                from_logits=self.input.from_logits,
                soft_labels=self.input.soft_labels,
            )
            skipped = self._running.add(these, n_threads)
            if skipped.any():
                self._skipped += skipped[list(self.input.reasons)]


_spare: list[Scratch] = []
"""The memory of the last buffer that was closed.

A metric is often made anew for each epoch, and writing to memory that the system has just handed over takes longer than
summing the rows in it.
"""


class _Buffer:
    """A buffer of rows. They are copied, since the caller may reuse their memory; it is allocated on first use.

    All rows in it have the same dtype and the same `eps`, the rounding of the predictions.
    """

    def __init__(self) -> None:
        self.n_rows, self.eps = 0, 0.0
        self._scratch: Scratch | None = None
        self._rows: NDArray[Any] = np.empty((0, 0))
        self._labels: NDArray[Any] = np.empty(0, np.int64)

    def takes(self, rows: NDArray[Any], eps: float) -> bool:
        """Whether rows of this dtype and rounding fit into the buffer."""
        return self._rows.dtype == rows.dtype and self.eps == eps

    def open(self, rows: NDArray[Any], labels: NDArray[Any], eps: float, n_values: int) -> None:
        """Allocate room for `n_values` values of such rows, and for their labels."""
        n_rows, self.eps = max(1, n_values // rows.shape[1]), eps
        if self._scratch is None:
            self._scratch = Scratch()
            with suppress(IndexError):
                self._scratch = _spare.pop()
        self._rows = self._scratch.array("rows", (n_rows, rows.shape[1]), rows.dtype)
        self._labels = self._scratch.array("labels", (n_rows, *labels.shape[1:]), labels.dtype)

    def put(self, rows: NDArray[Any], labels: NDArray[Any]) -> int:
        """Copy as many rows as there is room for, and return their number."""
        first = self.n_rows
        n = min(len(rows), len(self._rows) - first)
        self._rows[first : first + n], self._labels[first : first + n] = rows[:n], labels[:n]
        self.n_rows = first + n
        return n

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another row."""
        return self.n_rows == len(self._rows)

    def close(self) -> None:
        """Drop all rows, and leave the memory to the next buffer that is opened."""
        self.n_rows, self.eps = 0, 0.0
        if self._scratch is not None:
            _spare[:] = [self._scratch]
            self._scratch = None

    def take(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Empty the buffer and return its rows and labels, valid until the next `put`."""
        n, self.n_rows = self.n_rows, 0
        return self._rows[:n], self._labels[:n]

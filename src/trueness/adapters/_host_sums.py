"""Sums of rows in host memory, by the engine of `trueness.tabulate`; short batches are collected first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import IntArray
from trueness.adapters._metric_input import N_REASONS, MetricInput
from trueness.adapters._state_words import words_of
from trueness.old_table import empty_single_table
from trueness.rows import Rows
from trueness.rows.containers import Contents
from trueness.tabulation import RunningSums

BUFFER_VALUES = 2**18
"""Batches of fewer than half as many values are copied into a buffer of this size: calling the engine, and waking its
threads, costs as much as summing some ten thousands of values."""


class HostSums:
    """Sums that are not in the states of a metric yet, and a buffer of rows that are not summed yet."""

    def __init__(self, input: MetricInput) -> None:
        self.input = input
        self._running = RunningSums(input.specs, "auto")
        self._buffer: _Buffer | None = None
        self._skipped: IntArray = np.zeros(N_REASONS, np.int64)

    @property
    def n_buffered(self) -> int:
        """The number of rows in the buffer."""
        return 0 if self._buffer is None else self._buffer.n_rows

    def add(self, rows: NDArray[Any], labels: NDArray[Any], eps: float, n_threads: int) -> None:
        """Sum rows that were rounded to `eps`, on at most `n_threads` threads, or put them into the buffer."""
        if rows.size >= BUFFER_VALUES // 2:  # copying them would not pay off
            self._sum(rows, labels, eps, n_threads)
            return
        if self._buffer is None or not self._buffer.takes(rows, eps):
            self._sum_buffered(n_threads)
            self.input.thresholds(eps)  # raises now instead of when the rows are summed
            self._buffer = _Buffer(rows, labels, eps)
        while len(rows):
            n = self._buffer.put(rows, labels)
            if self._buffer.is_full:
                self._sum_buffered(n_threads)
            rows, labels = rows[n:], labels[n:]

    def take(self, n_threads: int) -> dict[str, IntArray] | None:
        """The words of each state, by its name, of the rows added since the last call; None if there were none."""
        self._sum_buffered(n_threads)
        sums = self._running.take()
        if sums is None and not self._skipped.any():
            return None
        nothing = (empty_single_table(spec).sums for spec in self.input.specs)
        words = words_of([*nothing] if sums is None else sums, self._skipped, self.input)
        self._skipped[:] = 0
        return words

    def forget(self) -> None:
        """Drop all rows that were added."""
        self._buffer = None
        self._running.take()
        self._skipped[:] = 0

    def _sum_buffered(self, n_threads: int) -> None:
        if self._buffer is not None and self._buffer.n_rows:
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


class _Buffer:
    """A buffer of rows of the dtype, the number of classes and the rounding `eps` of a batch.

    Rows are copied, since the caller may reuse their memory.
    """

    def __init__(self, rows: NDArray[Any], labels: NDArray[Any], eps: float) -> None:
        room = max(1, BUFFER_VALUES // rows.shape[1])
        self._rows = np.empty((room, rows.shape[1]), rows.dtype)
        self._labels = np.empty((room, *labels.shape[1:]), labels.dtype)
        self.n_rows, self.eps = 0, eps

    def takes(self, rows: NDArray[Any], eps: float) -> bool:
        """Whether rows of this shape, dtype and rounding fit into the buffer."""
        return (self._rows.shape[1], self._rows.dtype, self.eps) == (rows.shape[1], rows.dtype, eps)

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

    def take(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Empty the buffer and return its rows and labels, valid until the next `put`."""
        n, self.n_rows = self.n_rows, 0
        return self._rows[:n], self._labels[:n]

"""Sums to which batch after batch is added; what a pass needs is prepared once and not for each batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import add
from typing import Any

import numpy as np

from trueness._arrays import IntArray
from trueness._threads import Span, in_threads
from trueness.old_table import SingleSpec
from trueness.rows import RowCode, Rows, count_codes, row_codes
from trueness.tabulation.passes import engine_for


class RunningSums:
    """The sums of one or more tables of the same rows, one for each spec; for one thread at a time."""

    def __init__(self, specs: Sequence[SingleSpec], engine: str) -> None:
        self._specs, self._engine = specs, engine
        self._engine_module: Any = None
        self._passes: list[Any] = []
        self._done: list[Any] | None = None

    def add(self, rows: Rows, n_threads: int = 1) -> IntArray:
        """Add the good rows, on several threads if there is enough to do.

        Returns the number of rows of each bad `RowCode` that were skipped, (8,).
        """
        if not self._passes or self._passes[0].form != rows.form:
            self._close()
            self._engine_module = engine_for(rows, self._specs, self._engine)
            self._open_passes(rows, 1)
        blocks = self._engine_module.spans(rows, n_threads)
        self._open_passes(rows, min(n_threads, len(blocks)))
        idle, errors = list(self._passes), []

        def work(spans: Iterable[Span]) -> IntArray:
            own, skipped = idle.pop(), np.zeros(len(RowCode), np.int64)
            for start, stop in spans:
                try:
                    skipped += _add_good_rows(own, rows, start, stop)
                except ValueError as error:  # the measure or the bins are refused, not a row
                    errors.append(error)
            return skipped

        skipped = sum(in_threads(work, blocks, n_threads), np.zeros(len(RowCode), np.int64))
        if errors:
            raise errors[0]
        return skipped

    def _open_passes(self, rows: Rows, n: int) -> None:
        while len(self._passes) < n:
            self._passes.append(self._engine_module.Pass(rows, self._specs))

    def _close(self) -> None:
        """End the passes, since others are needed or the sums are."""
        for one in self._passes:
            sums = one.sums()
            self._done = sums if self._done is None else [*map(add, self._done, sums)]
        self._passes.clear()
        self._engine_module = None

    def take(self) -> list[Any] | None:
        """The sums since the last call, one for each spec; None if no rows were added."""
        self._close()
        done, self._done = self._done, None
        return done


def _add_good_rows(own: Any, rows: Rows, start: int, stop: int) -> IntArray:
    """Add the good rows from start to stop to a pass; the number of bad ones by code."""
    try:
        own.add(rows, start, stop)
        return np.zeros(len(RowCode), np.int64)
    except ValueError:
        rest = rows.take(slice(own.reached, stop))
        codes = row_codes(rest)
        if not codes.any():
            raise
    good = np.flatnonzero(codes == RowCode.GOOD)
    if good.size:
        own.add(rest.take(good), 0, good.size)
    skipped = count_codes(codes)
    skipped[RowCode.GOOD] = 0
    return skipped

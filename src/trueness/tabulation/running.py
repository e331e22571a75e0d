"""Sums that stay open: batch after batch is added, and what a pass needs is made once and not for each of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import add
from typing import Any, NamedTuple

from trueness._threads import Span, in_threads
from trueness.rows import Rows
from trueness.table import Sums, TableSpec
from trueness.tabulation.passes import engine_for


class Refused(NamedTuple):
    """Rows that were not added, because one of them is bad."""

    start: int
    stop: int
    error: ValueError
    """About the first bad one."""


class RunningSums:
    """The sums of one or more tables of the same rows, one for each spec; for one thread at a time."""

    def __init__(self, specs: Sequence[TableSpec], engine: str) -> None:
        self._specs, self._engine = specs, engine
        self._engine_module: Any = None
        self._passes: list[Any] = []
        self._done: list[Sums] | None = None

    def add(self, rows: Rows, n_threads: int = 1) -> list[Refused]:
        """Add the rows, but for those that are told."""
        if not self._passes or self._passes[0].form != rows.form:
            self._close()
            self._engine_module = engine_for(rows, self._specs, self._engine)
        blocks = self._engine_module.spans(rows, n_threads)
        while len(self._passes) < min(n_threads, len(blocks)):
            self._passes.append(self._engine_module.Pass(rows, self._specs))
        refused: list[Refused] = []
        idle = list(self._passes)

        def work(spans: Iterable[Span]) -> None:
            own = idle.pop()
            for start, stop in spans:
                try:
                    own.add(rows, start, stop)
                except ValueError as error:
                    refused.append(Refused(own.reached, stop, error))

        in_threads(work, blocks, n_threads)
        return refused

    def _close(self) -> None:
        """End the passes, since others are needed or the sums are wanted."""
        for one in self._passes:
            sums = one.sums()
            self._done = sums if self._done is None else [*map(add, self._done, sums)]
        self._passes.clear()
        self._engine_module = None

    def take(self) -> list[Sums] | None:
        """The sums since the last call, one for each spec; None if no rows were added."""
        self._close()
        done, self._done = self._done, None
        return done

"""Rows in the order of their units: runs of rows as they lie, or a copy in which those of each unit lie together."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import IntArray
from trueness._scratch import Scratch
from trueness._threads import Span, in_threads
from trueness.tabulation.compiled.library import Job, address, require_library

LONG_RUN = 512
"""Rows of a unit that follow one another are summed where they are if there are so many on average, without sorting."""


class Runs(NamedTuple):
    """Runs of rows that belong to one unit each and lie together, in the order of the units."""

    starts: IntArray
    stops: IntArray
    units: IntArray

    @classmethod
    def long(cls, unit_of: IntArray) -> Runs | None:
        """The runs of rows as they lie, from the unit of each; None if they are short."""
        begins = unit_of[1:] != unit_of[:-1]
        if (np.count_nonzero(begins) + 1) * LONG_RUN > len(unit_of):
            return None
        starts = np.concatenate([[0], np.flatnonzero(begins) + 1])
        stops, units = np.append(starts[1:], len(unit_of)), unit_of[starts]
        by_unit = np.argsort(units, kind="stable")
        return cls(starts[by_unit], stops[by_unit], units[by_unit])

    @classmethod
    def dealt(cls, counts: IntArray) -> Runs:
        """One run for each unit, from its number of rows, which may be 0."""
        units = np.flatnonzero(counts)
        stops = np.cumsum(counts)[units]
        return cls(stops - counts[units], stops, units)

    def shares(self, n: int) -> list[Span]:
        """About n parts of the runs with as many rows each; no unit is in two of them."""
        rows = np.cumsum(self.stops - self.starts)
        nearest = np.searchsorted(rows, rows[-1] * np.arange(1, n) // n)
        inner = np.searchsorted(self.units, self.units[nearest])  # the first run of that unit
        edges = np.unique(np.concatenate([[0], inner, [len(self.units)]])).tolist()
        return list(pairwise(edges))


class Chunk(NamedTuple):
    """The probabilities and labels of some rows, and their runs."""

    block: NDArray[Any]
    labels: IntArray
    runs: Runs

    def describe(self, job: Job) -> None:
        """Say where the rows lie."""
        job.rows, job.labels = address(self.block), address(self.labels)
        job.to_next_row, job.to_next_class = self.block.strides


class Order:
    """The runs of rows, from the unit of each: as they lie if these are long, else those of a copy."""

    def __init__(self, unit_of: IntArray, n_units: int, n_threads: int) -> None:
        self.unit_of, self.n_units, self.n_threads = unit_of, n_units, n_threads
        as_they_lie = Runs.long(unit_of)
        self.is_long = as_they_lie is not None
        n = len(unit_of)
        self.spans = list(pairwise(n * k // n_threads for k in range(n_threads + 1)))
        self.counts = np.zeros((n_threads, n_units), np.int64)
        if as_they_lie is None:
            for (start, stop), of_span in zip(self.spans, self.counts, strict=True):
                require_library().count_units(unit_of[start:stop], of_span)
        self.runs = as_they_lie or Runs.dealt(self.counts.sum(axis=0))

    def is_of(self, unit_of: IntArray, n_units: int, n_threads: int) -> bool:
        """Whether these are the same units of the same rows, in the same memory."""
        same = (self.n_units, self.n_threads) == (n_units, n_threads)
        return same and is_same_memory(self.unit_of, unit_of)

    def places(self) -> dict[Span, IntArray]:
        """Where each span puts the first of its rows of each unit, (units,) each: after those of the spans before."""
        before = np.cumsum(self.counts.T).reshape(self.n_units, -1).T - self.counts
        return dict(zip(self.spans, np.ascontiguousarray(before), strict=True))

    def positions(self) -> IntArray:
        """The numbers of the rows in the order of their units."""
        return require_library().order(self.unit_of, self.n_units)[0]


class Dealer:
    """Copies rows to where those of their units lie together.

    Several models of the same rows share one dealer: the order, the labels and the memory of the copy are then made
    once, if all models have their units and labels in the same memory.
    """

    def __init__(self) -> None:
        self.scratch = Scratch()
        self._order: Order | None = None
        self._labels: tuple[IntArray, IntArray] | None = None

    def order_of(self, unit_of: IntArray, n_units: int, n_threads: int) -> Order:
        """The order of rows with these units, the last of which is kept."""
        if self._order is None or not self._order.is_of(unit_of, n_units, n_threads):
            self._order, self._labels = Order(unit_of, n_units, n_threads), None
        return self._order

    def deal(self, order: Order, block: NDArray[Any], labels: IntArray) -> Chunk:
        """A copy of rows in which those of each unit lie together, in the order that they have.

        It is valid until the next one is made.
        """
        library, places = require_library(), order.places()
        rows = self.scratch.array("rows", block.shape, block.dtype)
        known = self._labels is not None and is_same_memory(self._labels[0], labels)
        if self._labels is None or not known:
            self._labels = labels, self.scratch.array("labels", labels.shape, np.int64)
        dealt = self._labels[1]

        def deal(some: Iterable[Span]) -> None:
            for span in some:
                part = slice(*span)
                job = Job(item=block.itemsize, n_rows=span[1] - span[0], n_classes=block.shape[1])
                Chunk(block[part], labels[part], order.runs).describe(job)
                library.deal(job, order.unit_of[part], places[span], rows, None if known else dealt)

        in_threads(deal, order.spans, order.n_threads)
        return Chunk(rows, dealt, order.runs)


def is_same_memory(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two contiguous arrays of the same type are the same numbers in memory."""
    return address(one) == address(other) and len(one) == len(other)

"""Rows in clusters to the tables of all rows and the sums of each cluster, in one pass.

The sums of a cluster are those of a table whose bins are pairs of a unit and a bin; the table is their total.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from threading import Lock
from typing import Any

import numpy as np

from trueness._arrays import IntArray
from trueness._progress import Progress
from trueness._threads import Span, in_threads
from trueness.rows import Rows, refuse_bad_rows
from trueness.rows.clusters import ClustersOfRows
from trueness.table import AnySpec, AnyTable, table_of
from trueness.table.cluster_sums import ClusterSums, has_units, spec_of_units
from trueness.table.clusters import Clusters, ClusterTables
from trueness.table.tables import Tables
from trueness.tabulation import portable
from trueness.tabulation.compiled import units
from trueness.tabulation.engines import thread_count
from trueness.tabulation.passes import engine_for, tabulate_rows
from trueness.tabulation.unit_sums import UnitSums

CHUNK_ROWS, CHUNK_VALUES = 2**20, 2**22
"""The most rows, and values (32 megabytes), that are put in the order of their units at a time."""


class RowsDone:
    """Tells a progress callback the share of rows that is done, from any thread."""

    def __init__(self, n_rows: int, progress: Progress | None) -> None:
        self.n_rows, self.done, self.progress, self.lock = n_rows, 0, progress, Lock()

    def add(self, more: int) -> None:
        """Report that so many more rows are done."""
        if self.progress is None:
            return
        with self.lock:
            self.done += more
            self.progress(self.done / self.n_rows)


@dataclass(frozen=True, slots=True)
class UnitsOfRows:
    """Rows, all of them or some, with the unit of each that is to be summed."""

    rows: Rows
    unit_of: IntArray
    n_units: int
    which: IntArray | None = None
    """The numbers of the rows, if they are not all; `unit_of` is in this order."""

    @property
    def chosen(self) -> Rows:
        """These rows."""
        return self.rows if self.which is None else self.rows.take(self.which)

    def chunks(self, n_threads: int) -> list[Span]:
        """Runs of rows that are put in the order of their units and summed; several for each of several threads."""
        n = len(self.unit_of)
        step = max(1, min(CHUNK_ROWS, CHUNK_VALUES // self.rows.n_classes, -(-n // n_threads)))
        return [(start, min(start + step, n)) for start in range(0, n, step)]

    def chunk(self, start: int, stop: int) -> tuple[Rows, IntArray]:
        """The rows of a chunk, and their units."""
        chosen = slice(start, stop) if self.which is None else self.which[start:stop]
        return self.rows.take(chosen), self.unit_of[start:stop]


def tabulate_clusters(
    rows: Rows,
    specs: Sequence[AnySpec],
    found: ClustersOfRows,
    *,
    which: IntArray | None = None,
    engine: str = "auto",
    n_threads: int | None = None,
    done: RowsDone | None = None,
) -> Tables:
    """The tables of rows with the sums of their clusters, of all rows or of those that `which` names."""
    summed = [spec for spec in specs if has_units(spec)]
    clusters, unit_of = Clusters.of_rows(
        found if which is None else among(found, which), [spec_of_units(spec) for spec in summed]
    )
    some = UnitsOfRows(rows, unit_of, clusters.n_units, which)
    made = tabulate_units(some, summed, engine=engine, n_threads=n_threads, done=done)
    tables: list[AnyTable] = [of for of, _ in made]
    others = [spec for spec in specs if not has_units(spec)]
    if others:
        tables += tabulate_rows(some.chosen, others, engine, n_threads)
    return Tables.of([*tables, ClusterTables(clusters, tuple(sums for _, sums in made))])


def among(found: ClustersOfRows, which: IntArray) -> ClustersOfRows:
    """The clusters of some of the rows."""
    present, codes = np.unique(found.codes[which], return_inverse=True)
    names = tuple(found.names[k] for k in present.tolist())
    return ClustersOfRows(found.identities[present], names, codes)


def tabulate_units(
    some: UnitsOfRows,
    specs: Sequence[AnySpec],
    *,
    engine: str = "auto",
    n_threads: int | None = None,
    done: RowsDone | None = None,
) -> list[tuple[AnyTable, ClusterSums]]:
    """For each spec the table of all rows, and the sums of each unit."""
    engine_module = engine_for(some.rows, specs, engine)
    unit_pass: Any = portable.UnitPass if engine_module is portable else units.UnitPass

    def work(chunks: Iterable[Span]) -> list[UnitSums]:
        own = unit_pass(some.rows, specs, some.n_units)
        for start, stop in chunks:
            own.add(*some.chunk(start, stop))
            if done is not None:
                done.add(stop - start)
        sums: list[UnitSums] = own.sums()
        return sums

    workers = thread_count(n_threads, engine_module)
    try:
        parts = in_threads(work, some.chunks(workers), workers)
    except ValueError:
        refuse_bad_rows(some.rows, 0, some.rows.n_rows)  # with the row's number among all rows
        raise
    sums = [reduce(add, of_spec) for of_spec in zip(*parts, strict=True)]
    return [
        (table_of(spec, of.table), ClusterSums.of_dense(spec_of_units(spec), of.cells))
        for spec, of in zip(specs, sums, strict=True)
    ]

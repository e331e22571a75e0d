"""Rows in clusters to the tables of all rows and the sums of each cluster, in one pass.

The sums of a cluster are those of a table whose bins are pairs of a unit and a bin; the table is their total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from trueness._arrays import IntArray
from trueness._progress import Progress
from trueness._threads import Span
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

    def chunks(self) -> list[Span]:
        """Runs of rows that are put in the order of their units and summed at a time."""
        n = len(self.unit_of)
        step = max(1, min(CHUNK_ROWS, CHUNK_VALUES // self.rows.n_classes))
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
        tables += tabulate_rows(rows if which is None else rows.take(which), others, engine, n_threads)
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
    workers, own = thread_count(n_threads, engine_module), unit_pass(some.rows, specs, some.n_units)
    try:
        for start, stop in some.chunks():
            own.add(*some.chunk(start, stop), workers)
            if done is not None:
                done.add(stop - start)
    except ValueError:
        refuse_bad_rows(some.rows, 0, some.rows.n_rows)  # with the row's number among all rows
        raise
    return [
        (table_of(spec, of.table), ClusterSums.of_dense(spec_of_units(spec), of.cells))
        for spec, of in zip(specs, own.sums(), strict=True)
    ]

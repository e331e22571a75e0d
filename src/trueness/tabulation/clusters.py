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
from trueness.table import CalibrationTable, Sums, TableSpec
from trueness.table.cluster_sums import CellSums, ClusterSums
from trueness.table.clusters import Clusters, ClusterTables
from trueness.table.exact_sums import ExactSum, FloatSum
from trueness.table.tables import Tables
from trueness.tabulation import portable
from trueness.tabulation.engines import thread_count
from trueness.tabulation.passes import CHUNK_ROWS, CHUNK_VALUES, engine_for


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
        """Runs of rows that are summed one after the other."""
        step = max(1, min(CHUNK_ROWS, CHUNK_VALUES // self.rows.n_classes))
        n = len(self.unit_of)
        return [(start, min(start + step, n)) for start in range(0, n, step)]

    def chunk(self, start: int, stop: int) -> tuple[Rows, IntArray]:
        """The rows of a chunk, and their units."""
        chosen = slice(start, stop) if self.which is None else self.which[start:stop]
        return self.rows.take(chosen), self.unit_of[start:stop]


def tabulate_clusters(
    rows: Rows,
    specs: Sequence[TableSpec],
    found: ClustersOfRows,
    *,
    which: IntArray | None = None,
    engine: str = "auto",
    n_threads: int | None = None,
    done: RowsDone | None = None,
) -> Tables:
    """The tables of rows with the sums of their clusters, of all rows or of those that `which` names."""
    clusters, unit_of = Clusters.of_rows(among(found, which), specs)
    some = UnitsOfRows(rows, unit_of, clusters.n_units, which)
    tables, of_tables = tabulate_units(some, specs, engine=engine, n_threads=n_threads, done=done)
    return Tables.of([*tables, ClusterTables(clusters, tuple(of_tables))])


def among(found: ClustersOfRows, which: IntArray | None) -> ClustersOfRows:
    """The clusters of some of the rows."""
    if which is None:
        return found
    present, codes = np.unique(found.codes[which], return_inverse=True)
    names = None if found.names is None else tuple(found.names[k] for k in present.tolist())
    return ClustersOfRows(found.identities[present], names, codes)


def tabulate_units(
    some: UnitsOfRows,
    specs: Sequence[TableSpec],
    *,
    engine: str = "auto",
    n_threads: int | None = None,
    done: RowsDone | None = None,
) -> tuple[list[CalibrationTable], list[ClusterSums]]:
    """For each spec the table of all rows, and the sums of each unit."""
    engine_for(some.rows, specs, engine)  # refuses what the engine cannot do
    engine_module = portable

    def work(chunks: Iterable[Span]) -> list[Sums]:
        own = engine_module.Pass(some.rows, specs, some.n_units)
        for start, stop in chunks:
            rows, unit_of = some.chunk(start, stop)
            for begin, end in rows.spans():
                own.add(rows, begin, end, unit_of[begin:end])
                if done is not None:
                    done.add(end - begin)
        return own.sums()

    try:
        parts = in_threads(work, some.chunks(), thread_count(n_threads, engine_module))
    except ValueError:
        refuse_bad_rows(some.rows, 0, some.rows.n_rows)  # with the row's number among all rows
        raise
    sums = [reduce(add, of_spec) for of_spec in zip(*parts, strict=True)]
    tables = [
        CalibrationTable(spec, _total(spec, of_units)) for spec, of_units in zip(specs, sums, strict=True)
    ]
    of_units = [ClusterSums.of_dense(spec, CellSums.of(of)) for spec, of in zip(specs, sums, strict=True)]
    return tables, of_units


def _total(spec: TableSpec, of_units: Sums) -> Sums:
    """The sums of the table: over all units of each bin."""
    m = spec.bins.n_bins
    n_units = len(of_units.rows) // m
    if n_units == 1:
        return of_units
    order = np.arange(n_units * m).reshape(n_units, m).T.ravel()

    def taken(name: str, value: Any) -> Any:
        if name.startswith("predicted_"):
            return value
        if isinstance(value, ExactSum) and value.whole.ndim:
            return ExactSum(value.whole[order], value.fraction[order], value.bits)
        if isinstance(value, FloatSum) and value.value.ndim:
            return FloatSum(value.value[order])
        return value[order] if isinstance(value, np.ndarray) and value.ndim else value

    by_bin = Sums(**{name: taken(name, value) for name, value in of_units.items()})
    return by_bin.merge_runs(np.arange(m) * n_units)

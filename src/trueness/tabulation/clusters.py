"""Rows in clusters to the tables of all rows and the sums of each cluster, in one pass.

The sums of a cluster are those of a table whose bins are pairs of a unit and a bin; the table is their total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from trueness._arrays import IntArray
from trueness._progress import Progress
from trueness._threads import Span
from trueness.old_table import AnySpec, AnyTable, OptionSpec, OptionTables, SingleSpec, SingleTable, table_of
from trueness.old_table.cluster_sums import ClusterSums, has_units, spec_of_units
from trueness.old_table.clusters import Clusters, ClusterTables
from trueness.old_table.tables import Tables
from trueness.rows import OptionRows, Rows, refuse_bad_rows
from trueness.rows.clusters import ClustersOfRows
from trueness.tabulation import portable, portable_units
from trueness.tabulation.compiled import units
from trueness.tabulation.compiled.dealing import Dealer
from trueness.tabulation.compiled.library import load
from trueness.tabulation.engines import thread_count
from trueness.tabulation.options import AnyRows, refused_by_row, tabulate_rows
from trueness.tabulation.passes import engine_for

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

    rows: AnyRows
    unit_of: IntArray
    n_units: int
    which: IntArray | None = None
    """The numbers of the rows, if they are not all; `unit_of` is in this order."""
    dealer: Dealer = field(default_factory=Dealer)
    """Copies rows into the order of their units; models of the same rows share one."""

    @property
    def chosen(self) -> AnyRows:
        """These rows."""
        return self.rows if self.which is None else self.rows.take(self.which)

    def chunks(self) -> list[Span]:
        """Runs of rows that are put in the order of their units and summed at a time."""
        n = len(self.unit_of)
        step = max(1, min(CHUNK_ROWS, CHUNK_VALUES // self.rows.n_classes))
        return [(start, min(start + step, n)) for start in range(0, n, step)]

    def chunk(self, start: int, stop: int) -> tuple[AnyRows, IntArray]:
        """The rows of a chunk, and their units."""
        chosen = slice(start, stop) if self.which is None else self.which[start:stop]
        return self.rows.take(chosen), self.unit_of[start:stop]


def tabulate_clusters(
    rows: AnyRows,
    specs: Sequence[AnySpec],
    found: ClustersOfRows,
    *,
    which: IntArray | None = None,
    engine: str = "auto",
    n_threads: int | None = None,
    done: RowsDone | None = None,
) -> Tables:
    """The tables of rows with the sums of their clusters, of all rows or of those that `which` names."""
    summed = list(filter(has_unit_sums, specs))
    clusters, unit_of = Clusters.of_rows(
        found if which is None else among(found, which), unit_specs(rows, summed)
    )
    some = UnitsOfRows(rows, unit_of, clusters.n_units, which)
    tables, sums = tabulate_units(some, summed, engine=engine, n_threads=n_threads, done=done)
    others = [spec for spec in specs if not has_unit_sums(spec)]
    if others:
        tables += tabulate_rows(some.chosen, others, engine, n_threads)
    return Tables.of([*tables, ClusterTables(clusters, tuple(sums))])


def has_unit_sums(spec: AnySpec) -> bool:
    """Whether the sums of clusters are kept for a table, or for those of all numbers of options."""
    return isinstance(spec, OptionSpec) or has_units(spec)


def unit_specs(rows: AnyRows, specs: Sequence[AnySpec]) -> list[SingleSpec]:
    """The specs of the sums of clusters: one for each number of options."""
    present = np.unique(rows.n_options).tolist() if isinstance(rows, OptionRows) else []
    return [
        spec_of_units(single)
        for spec in specs
        for single in (map(spec.of, present) if isinstance(spec, OptionSpec) else [spec])
    ]


def units_of_positions(positions: IntArray | range, specs: Sequence[SingleSpec]) -> tuple[Clusters, IntArray]:
    """Each row as a cluster of its own, named by its position, and the unit of each row."""
    library, _ = load()
    return Clusters.of_single_rows(positions, specs, None if library is None else library.row_blocks)


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
) -> tuple[list[AnyTable], list[ClusterSums]]:
    """For each spec the table of all rows, and the sums of each unit: for each number of options, if they differ."""
    if not isinstance(some.rows, OptionRows):
        singles: Any = specs
        made = _tabulate_units(some, some.rows, singles, engine=engine, n_threads=n_threads, done=done)
        return [table for table, _ in made], [sums for _, sums in made]
    of_specs: list[list[tuple[Any, ClusterSums]]] = [[] for _ in specs]
    own = [spec for spec in specs if isinstance(spec, OptionSpec)]
    rows = some.chosen
    assert isinstance(rows, OptionRows)
    with refused_by_row(some.rows):
        for c, which, part in rows.parts():
            of_part = UnitsOfRows(part, some.unit_of[which], some.n_units)
            of_options = [spec.of(c) for spec in own]
            sums = _tabulate_units(of_part, part, of_options, engine=engine, n_threads=n_threads, done=done)
            for of_spec, pair in zip(of_specs, sums, strict=True):
                of_spec.append(pair)
    tables: list[AnyTable] = [
        OptionTables({table.n_classes: table for table, _ in pairs}, spec)
        for pairs, spec in zip(of_specs, own, strict=True)
    ]
    return tables, [sums for pairs in of_specs for table, sums in pairs if table.n_rows]


def _tabulate_units(
    some: UnitsOfRows,
    rows: Rows,
    specs: Sequence[SingleSpec],
    *,
    engine: str,
    n_threads: int | None,
    done: RowsDone | None,
) -> list[tuple[SingleTable, ClusterSums]]:
    """For each spec the table of all rows, which have the same number of classes, and the sums of each unit."""
    engine_module = engine_for(rows, specs, engine)
    workers, own = thread_count(n_threads, engine_module), _unit_pass(some, rows, specs, engine_module)
    try:
        for start, stop in some.chunks():
            own.add(*some.chunk(start, stop), workers)
            if done is not None:
                done.add(stop - start)
    except ValueError:
        refuse_bad_rows(rows, 0, rows.n_rows)  # with the row's number among all rows
        raise
    return [
        (table_of(spec, of.table), ClusterSums.of_dense(spec_of_units(spec), of.cells))
        for spec, of in zip(specs, own.sums(), strict=True)
    ]


def _unit_pass(some: UnitsOfRows, rows: Rows, specs: Sequence[SingleSpec], engine_module: Any) -> Any:
    """What rows are added to by an engine."""
    if engine_module is portable:
        return portable_units.UnitPass(rows, specs, some.n_units)
    return units.UnitPass(rows, specs, some.n_units, some.dealer)

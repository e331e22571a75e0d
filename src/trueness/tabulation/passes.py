"""Passes over validated rows: into tables, into tables of each group, and to find edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, overload

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness._threads import Span, in_threads
from trueness.bins import Bins, Edges, EqualMass, measure_rows
from trueness.old_table import (
    CalibrationTable,
    EventSpec,
    SingleSpec,
    SingleTable,
    TableSpec,
    empty_single_table,
    table_of,
)
from trueness.rows import Rows, refuse_bad_rows
from trueness.tabulation import portable
from trueness.tabulation.compiled import spans
from trueness.tabulation.compiled.equal_mass import equal_mass_edges, measure
from trueness.tabulation.engines import choose_engine, thread_count
from trueness.variation import Variation

CHUNK_ROWS, CHUNK_VALUES = 2**18, 2**22
"""The most rows, and values (32 megabytes), that are sorted by group at a time."""


@overload
def tabulate_rows(
    rows: Rows, specs: Sequence[TableSpec], engine: str = ..., n_threads: int | None = ...
) -> list[CalibrationTable]: ...
@overload
def tabulate_rows(
    rows: Rows, specs: Sequence[SingleSpec], engine: str = ..., n_threads: int | None = ...
) -> list[SingleTable]: ...
def tabulate_rows(
    rows: Rows, specs: Sequence[SingleSpec], engine: str = "auto", n_threads: int | None = None
) -> Any:
    """`tabulate` for validated rows, into one table for each spec; in one pass with the compiled engine."""
    engine_module = engine_for(rows, specs, engine)
    workers = thread_count(n_threads, engine_module)
    spans = engine_module.spans(rows, workers)
    parts = in_threads(lambda some: sum_rows(engine_module, rows, specs, some), spans, workers)
    return [
        table_of(spec, reduce(add, of_spec))
        for spec, of_spec in zip(specs, zip(*parts, strict=True), strict=True)
    ]


def sum_rows(engine: Any, rows: Rows, specs: Sequence[SingleSpec], spans: Iterable[Span]) -> list[Any]:
    """The sums of the blocks of rows that `spans` names, one for each spec."""
    work = engine.Pass(rows, specs)
    for start, stop in spans:
        work.add(rows, start, stop)
    sums: list[Any] = work.sums()
    return sums


def tabulate_groups(
    rows: Rows,
    specs: Sequence[SingleSpec],
    group_of: IntArray,
    n_groups: int,
    *,
    engine: str = "auto",
    n_threads: int | None = None,
) -> list[list[SingleTable]]:
    """For each group a table for each spec, in one pass; `group_of` is the number of each row's group.

    Rows are put in order of their groups chunk by chunk, so that each group is a run of rows for the engine.
    """
    engine_module = engine_for(rows, specs, engine)

    def add_up(chunks: Iterable[tuple[int, int]]) -> dict[int, list[Any]]:
        totals: dict[int, list[Any]] = {}
        for start, stop in chunks:
            codes = group_of[start:stop]
            order = np.argsort(codes, kind="stable")
            together = rows.take(order + start)
            present, first = np.unique(codes[order], return_index=True)
            for code, begin, end in zip(present.tolist(), first, [*first[1:], stop - start], strict=True):
                part = together.take(slice(begin, end))
                sums = sum_rows(engine_module, part, specs, engine_module.spans(part))
                totals[code] = [*map(add, totals[code], sums)] if code in totals else sums
        return totals

    workers = thread_count(n_threads, engine_module)
    try:
        parts = in_threads(add_up, list(rows.spans(CHUNK_ROWS, CHUNK_VALUES)), workers)
    except ValueError:
        refuse_bad_rows(rows, 0, rows.n_rows)  # with the row's number before the reordering
        raise
    empty = [empty_single_table(spec).sums for spec in specs]
    tables = []
    for code in range(n_groups):
        mine = [part[code] for part in parts if code in part] or [empty]
        tables.append(
            [
                table_of(spec, reduce(add, of_spec))
                for spec, of_spec in zip(specs, zip(*mine, strict=True), strict=True)
            ]
        )
    return tables


def engine_for(rows: Rows, specs: Sequence[SingleSpec], engine: str) -> Any:
    """The module of the engine for such rows and tables."""
    measures = [spec.variation for spec in specs if not isinstance(spec, EventSpec)]
    events = [spec for spec in specs if isinstance(spec, EventSpec)]
    soft = rows.labels is not None and rows.labels.soft
    weighted = rows.sample_weight is not None
    return choose_engine(engine, measures, events, weighted=weighted, soft=soft)


def edges_for(rows: Rows, measure: Variation, bins: Bins, engine: str, n_threads: int | None) -> Edges:
    """The bins as edges, fitted to the rows if they depend on them."""
    if not isinstance(bins, EqualMass):
        return bins.resolve(*measure.range_for(rows.n_classes))
    chosen = choose_engine(engine, [measure], weighted=rows.sample_weight is not None)
    if chosen is portable:
        return bins.fit_rows(rows, measure)
    return equal_mass_edges(rows, measure, bins, thread_count(n_threads, chosen))


def variations_of(rows: Rows, measures: Sequence[Variation], engine: str) -> list[FloatArray]:
    """V of each row by each measure."""
    if choose_engine(engine, measures, weighted=rows.sample_weight is not None) is portable:
        return measure_rows(rows, measures)
    values = [np.empty(rows.n_rows) for _ in measures]
    for variation, of_measure in zip(measures, values, strict=True):
        measure(rows, variation, spans(rows), of_measure)
    return values

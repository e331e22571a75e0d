"""Passes over validated rows: into tables, into tables of each group, and to find edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness._threads import Span, in_threads
from trueness.bins import Bins, Edges, EqualMass, measure_rows
from trueness.rows import Rows, refuse_bad_rows
from trueness.table import CalibrationTable, Sums, TableSpec
from trueness.tabulation import portable
from trueness.tabulation.engines import is_fused, thread_count
from trueness.variation import Variation

CHUNK_ROWS, CHUNK_VALUES = 2**18, 2**22
"""The most rows, and values (32 megabytes), that are sorted by group at a time."""


def tabulate_rows(
    rows: Rows, specs: Sequence[TableSpec], engine: str = "auto", n_threads: int | None = None
) -> list[CalibrationTable]:
    """`tabulate` for validated rows, into one table for each spec; in one pass with the fused engine."""
    engine_module = engine_for(rows, specs, engine)
    workers = thread_count(n_threads, engine_module is not portable)
    spans = engine_module.spans(rows, workers)
    parts = in_threads(lambda some: sum_rows(engine_module, rows, specs, some), spans, workers)
    return [
        CalibrationTable(spec, reduce(add, of_spec))
        for spec, of_spec in zip(specs, zip(*parts, strict=True), strict=True)
    ]


def sum_rows(engine: Any, rows: Rows, specs: Sequence[TableSpec], spans: Iterable[Span]) -> list[Sums]:
    """The sums of the blocks of rows that `spans` names, one for each spec."""
    work = engine.Pass(rows, specs)
    for start, stop in spans:
        work.add(rows, start, stop)
    sums: list[Sums] = work.sums()
    return sums


def tabulate_groups(
    rows: Rows,
    specs: Sequence[TableSpec],
    group_of: IntArray,
    n_groups: int,
    *,
    engine: str = "auto",
    n_threads: int | None = None,
) -> list[list[CalibrationTable]]:
    """For each group a table for each spec, in one pass; `group_of` is the number of each row's group.

    Rows are put in order of their groups chunk by chunk, so that each group is a run of rows for the engine.
    """
    engine_module = engine_for(rows, specs, engine)

    def add_up(chunks: Iterable[tuple[int, int]]) -> dict[int, list[Sums]]:
        totals: dict[int, list[Sums]] = {}
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

    workers = thread_count(n_threads, engine_module is not portable)
    try:
        parts = in_threads(add_up, list(rows.spans(CHUNK_ROWS, CHUNK_VALUES)), workers)
    except ValueError:
        refuse_bad_rows(rows, 0, rows.n_rows)  # with the row's number before the reordering
        raise
    empty = [Sums.zeros(spec) for spec in specs]
    tables = []
    for code in range(n_groups):
        mine = [part[code] for part in parts if code in part] or [empty]
        tables.append(
            [
                CalibrationTable(spec, reduce(add, of_spec))
                for spec, of_spec in zip(specs, zip(*mine, strict=True), strict=True)
            ]
        )
    return tables


def engine_for(rows: Rows, specs: Sequence[TableSpec], engine: str) -> Any:
    """The engine for such rows and tables, with its kernel compiled."""
    if not is_fused(engine, rows, [spec.variation for spec in specs]):
        return portable
    return _fused_engine(rows, specs, engine) or portable


def _fused_engine(rows: Rows, specs: Sequence[TableSpec], engine: str) -> Any:
    """The fused engine with its kernel compiled; None if that fails and `engine` is "auto"."""
    try:
        from trueness.tabulation import fused

        fused.prepare(rows, specs)
    except Exception as error:
        if engine == "fused" or isinstance(error, ValueError):  # bins that are too narrow, for any engine
            raise
        import warnings

        warnings.warn(
            f"the fused engine cannot be used on this machine ({type(error).__name__}: {error}); "
            "the portable one gives the same table, but takes longer. engine='portable' silences this warning",
            RuntimeWarning,
            stacklevel=5,
        )
        return None
    return fused


def edges_for(rows: Rows, measure: Variation, bins: Bins, engine: str, n_threads: int | None) -> Edges:
    """The bins as edges, fitted to the rows if they depend on them."""
    if not isinstance(bins, EqualMass):
        return bins.resolve(*measure.range_for(rows.n_classes))
    fused = _fused_engine(rows, [], engine) if is_fused(engine, rows, [measure]) else None
    if fused is None:
        return bins.fit_rows(rows, measure)
    edges: Edges = fused.equal_mass_edges(rows, measure, bins, thread_count(n_threads, fused=True))
    return edges


def variations_of(rows: Rows, measures: Sequence[Variation], engine: str) -> list[FloatArray]:
    """V of each row by each measure, to the last bit as `edges_for` computes it with this engine."""
    fused = _fused_engine(rows, [], engine) if is_fused(engine, rows, measures) else None
    if fused is None:
        return measure_rows(rows, measures)
    values = [np.empty(rows.n_rows) for _ in measures]
    for measure, of_measure in zip(measures, values, strict=True):
        fused.measure(rows, measure, fused.spans(rows), of_measure)
    return values

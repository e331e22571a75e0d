"""Rows with different numbers of options to tables: those of each number are handed to the engine as ordinary rows.

The functions here take rows of both kinds; those of `passes` take ordinary rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import add
from typing import Any, TypeAlias, overload

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.bins import Bins, Edges, EqualMass
from trueness.old_table import AnySpec, AnyTable, CalibrationTable, OptionSpec, OptionTables, TableSpec
from trueness.old_table.option_spec import range_over_options
from trueness.refusals import Refusal
from trueness.rows import OptionRows, Rows
from trueness.tabulation import passes
from trueness.variation import Variation

AnyRows: TypeAlias = Rows | OptionRows


@overload
def tabulate_rows(
    rows: Rows, specs: Sequence[TableSpec], engine: str = ..., n_threads: int | None = ...
) -> list[CalibrationTable]: ...
@overload
def tabulate_rows(
    rows: AnyRows, specs: Sequence[AnySpec], engine: str = ..., n_threads: int | None = ...
) -> list[AnyTable]: ...
def tabulate_rows(
    rows: AnyRows, specs: Sequence[AnySpec], engine: str = "auto", n_threads: int | None = None
) -> Any:
    """`tabulate` for validated rows, into one table for each spec."""
    if not isinstance(rows, OptionRows):
        singles: Any = specs  # of classes, as the rows are
        return passes.tabulate_rows(rows, singles, engine, n_threads)
    own = _of_options(specs)
    (tables,) = _summed(
        rows, own, 1, lambda part, of_part, _: [passes.tabulate_rows(part, of_part, engine, n_threads)]
    )
    return tables


def tabulate_groups(
    rows: AnyRows,
    specs: Sequence[AnySpec],
    group_of: IntArray,
    n_groups: int,
    *,
    engine: str = "auto",
    n_threads: int | None = None,
) -> list[list[Any]]:
    """For each group a table for each spec; `group_of` is the number of each row's group."""
    if not isinstance(rows, OptionRows):
        singles: Any = specs  # of classes, as the rows are
        return passes.tabulate_groups(rows, singles, group_of, n_groups, engine=engine, n_threads=n_threads)

    def of_part(part: Rows, own: Sequence[TableSpec], which: IntArray) -> list[list[Any]]:
        return passes.tabulate_groups(
            part, own, group_of[which], n_groups, engine=engine, n_threads=n_threads
        )

    return _summed(rows, _of_options(specs), n_groups, of_part)


def _summed(
    rows: OptionRows,
    specs: Sequence[OptionSpec],
    n_groups: int,
    tabulate_part: Callable[[Rows, Sequence[TableSpec], IntArray], list[list[Any]]],
) -> list[list[Any]]:
    """The tables of each group and spec, summed over chunks of rows and over their numbers of options."""
    found: list[list[dict[int, list[CalibrationTable]]]] = [[{} for _ in specs] for _ in range(n_groups)]
    with refused_by_row(rows):
        for first, chunk in rows.chunks():
            for c, which, part in chunk.parts():
                made = tabulate_part(part, [spec.of(c) for spec in specs], which + first)
                for of_group, tables in zip(found, made, strict=True):
                    for of_spec, table in zip(of_group, tables, strict=True):
                        of_spec.setdefault(c, []).append(table)
    return [
        [
            OptionTables({c: reduce(add, tables) for c, tables in sorted(of_spec.items())}, spec)
            for of_spec, spec in zip(of_group, specs, strict=True)
        ]
        for of_group in found
    ]


def edges_for(rows: AnyRows, measure: Variation, bins: Bins, engine: str, n_threads: int | None) -> Edges:
    """The bins as edges, fitted to the rows if they depend on them: to those of all numbers of options together."""
    if not isinstance(rows, OptionRows):
        return passes.edges_for(rows, measure, bins, engine, n_threads)
    low, high = range_over_options(measure)
    if not isinstance(bins, EqualMass):
        return bins.resolve(low, high)
    (values,) = variations_of(rows, [measure], engine)
    return bins.edges_at(bins.right_ends(values, rows.sample_weight), low, high)


def variations_of(rows: AnyRows, measures: Sequence[Variation], engine: str) -> list[FloatArray]:
    """V of each row by each measure, to the base of its own number of options."""
    if not isinstance(rows, OptionRows):
        return passes.variations_of(rows, measures, engine)
    values = [np.empty(rows.n_rows) for _ in measures]
    with refused_by_row(rows):
        for first, chunk in rows.chunks():
            for _, which, part in chunk.parts():
                for of_measure, of_part in zip(
                    values, passes.variations_of(part, measures, engine), strict=True
                ):
                    of_measure[which + first] = of_part
    return values


@contextmanager
def refused_by_row(rows: OptionRows) -> Iterator[None]:
    """A refusal inside names the first bad row among all rows, and not among those of a number of options."""
    try:
        yield
    except Refusal:
        rows.refuse_bad_rows()
        raise


def _of_options(specs: Sequence[AnySpec]) -> list[OptionSpec]:
    """The specs, all of which must be of different numbers of options."""
    own = [spec for spec in specs if isinstance(spec, OptionSpec)]
    assert len(own) == len(specs)
    return own

"""Tables of lazy queries, a batch at a time: Polars lazy frames, DuckDB relations and other streams of Arrow.

    from trueness.adapters import queries
    table = queries.tabulate(pl.scan_parquet("day-*.parquet"), label="y", probs="p_*")
    answer = queries.assess(duckdb.sql("select * from predictions"), label="y", probs="p_*", groups="hospital")

The query is run by its own library, and each batch is added to the table and forgotten: memory does not grow with the
number of rows.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import tee
from typing import Any, Unpack

from trueness import partitions
from trueness._random import Seed
from trueness.adapters._query_rows import batches_of, choose_in_query, query_of, tables_of
from trueness.bins import Bins
from trueness.old_assessment import MIN_GROUP_SIZE, Assessment, Comparison
from trueness.old_table import GroupedTables
from trueness.partitions import Options, Tabulated, Work
from trueness.partitions.comparison import CompareOptions, CompareRequest, CompareWork

__all__ = ["assess", "compare", "tabulate"]


def tabulate(
    data: Any,
    label: str | None = None,
    probs: str | Sequence[str] | None = None,
    **options: Unpack[Options],
) -> Tabulated | dict[str, Tabulated]:
    """The table that `trueness.tabulate` would make of all rows at once, to the bit; with `groups`, one for each group.

    Parameters
    ----------
    data : polars.LazyFrame, duckdb.DuckDBPyRelation, or an Arrow stream
        A stream is any object with `__arrow_c_stream__`, such as a `pyarrow.RecordBatchReader`; it is read once.
    label : str
        The column of true classes.
    probs : str or list of str
        "p_*" (by number, p_2 before p_10, else in the order of the columns), "a,b,c" (in this order), or one column of
        lists. If left out, detected where only one reading of the columns is possible. Labels that are names are
        matched to the columns by name.
    **options
        As in `trueness.partitions.Options`: names of columns for `groups`, `clusters` and `sample_weight`. Bins of
        equal mass are made from a grid of 4000 cells.
    """
    return partitions.tables_by_group(_tables(data, label, probs, options, for_assessment=False))


def assess(
    data: Any,
    label: str | None = None,
    probs: str | Sequence[str] | None = None,
    *,
    class_bins: int | Bins = 10,
    level: float = 0.95,
    tolerance: float | Mapping[str, float] | None = None,
    resamples: int = 999,
    rng: Seed = 0,
    min_group_size: int = MIN_GROUP_SIZE,
    **options: Unpack[Options],
) -> Assessment:
    """Assess all rows, with the result of `trueness.assess`; `data` and options are as in `tabulate`."""
    tables = _tables(data, label, probs, options, for_assessment=True)
    return partitions.assess_grouped(
        tables,
        class_bins=class_bins,
        level=level,
        tolerance=tolerance,
        resamples=resamples,
        rng=rng,
        min_group_size=min_group_size,
    )


def compare(
    data: Any,
    label: str | None = None,
    probs: Mapping[str, Any] | None = None,
    *,
    level: float = 0.95,
    tolerance: float | Mapping[str, float] | None = None,
    resamples: int = 999,
    rng: Seed = 0,
    min_group_size: int = MIN_GROUP_SIZE,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Compare several models on the same rows, with the result of `trueness.compare` for the rows in this order.

    Parameters
    ----------
    data
        As in `tabulate`, with the columns of all models.
    label : str
        The column of true classes.
    probs : mapping of str
        For each model its columns, as in `tabulate`: ``{"old": "old_*", "new": "new_*"}``.
    **options
        As in `trueness.partitions.comparison.CompareOptions`; the others are as in `trueness.compare`.
    """
    inference = {"level": level, "tolerance": tolerance, "resamples": resamples, "rng": rng}
    asked = CompareRequest(label, probs, options, inference | {"min_group_size": min_group_size})
    query = query_of(data)
    work = CompareWork.of(asked, choose_in_query(query))
    # The query runs once; the models take turns, so that each copy is at most a batch ahead of the others.
    copies = tee(tables_of(query, work.column_names, work.n_classes), len(work.works))
    batches = {
        name: batches_of(of_model, copy)
        for (name, of_model), copy in zip(work.works.items(), copies, strict=True)
    }
    return work.compare(batches)


def _tables(data: Any, label: Any, probs: Any, options: Options, *, for_assessment: bool) -> GroupedTables:
    partitions.require_known(options)
    plan = partitions.plan_of(options, for_assessment=for_assessment)
    request, query = partitions.request_of(label, probs, options), query_of(data)
    choice, n_classes = choose_in_query(query)(request, None)
    # Batches are summed one after the other, so each may use all cores.
    plan = replace(plan, n_threads=os.cpu_count())
    work = Work.of(request, partitions.row_options_of(options), plan, choice, n_classes)
    return work.finish(work.sum(batches_of(work, tables_of(query, choice.wanted.names, n_classes))))

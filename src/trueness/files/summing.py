"""Batches to tables: which tables, for which groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trueness._arguments import require_choice
from trueness.bins import Bins, Edges, EqualMass, EqualWidth
from trueness.files._bad_rows import no_rows_left, refusal
from trueness.files.batches import Batch, Remark
from trueness.files.source import RowSource
from trueness.old_table import (
    AnySpec,
    EventSpec,
    GroupedTables,
    OptionSpec,
    SingleSpec,
    TablePlan,
    Tables,
    empty_table,
)
from trueness.old_table.clusters import ClusterTables
from trueness.ranking import DEFAULT_TIES
from trueness.refusals import InvalidValueError, Refusal, quote
from trueness.rows.clusters import clusters_of_names
from trueness.rows.groups import in_order
from trueness.tabulation import tabulate_rows
from trueness.tabulation.clusters import tabulate_clusters
from trueness.tabulation.engines import ENGINES
from trueness.variation import Variation

GROUP_BYTES = 2**28
"""The most memory that the tables of all groups may take."""

TABLE_BYTES = 2**13
"""The memory of a table beside its numbers."""

GRID = EqualWidth(4000)
"""From which bins of equal mass are made after all rows are summed."""

DEFAULT_TABLES = TablePlan.of()


@dataclass(frozen=True, slots=True)
class Plan:
    """Which tables to make, and how."""

    tables: TablePlan = DEFAULT_TABLES
    engine: str = "auto"
    n_threads: int | None = None

    @classmethod
    def of(
        cls,
        variation: str | Variation = "entropy",
        bins: int | Bins = 10,
        confidence_bins: int | Bins | None = None,
        ties: str = DEFAULT_TIES,
        *,
        with_confidence: bool = True,
        by_class: bool = False,
        events: Sequence[str] = (),
        options: bool = False,
        engine: str = "auto",
        n_threads: int | None = None,
    ) -> Plan:
        """The plan for these arguments, or a refusal that names the argument."""
        tables = TablePlan.of(
            variation,
            bins,
            confidence_bins,
            ties,
            with_confidence=with_confidence,
            by_class=by_class,
            events=events,
            options=options,
        )
        return cls(tables, engine, n_threads)

    def __post_init__(self) -> None:
        require_choice("engine", self.engine, ENGINES)

    @property
    def by_grid(self) -> bool:
        """Whether bins of equal mass are made from a grid after all rows are summed."""
        return isinstance(self.tables.bins, EqualMass)

    def specs(
        self,
        n_classes: int,
        *,
        weighted: bool,
        class_names: tuple[str, ...] | None = None,
    ) -> list[AnySpec]:
        """The spec of each table; bins of equal mass are on a grid until all rows are summed."""

        def edges_of(measure: Variation, bins: Bins) -> Edges:
            return (GRID if isinstance(bins, EqualMass) else bins).resolve(
                *self.tables.range_of(measure, n_classes)
            )

        return self.tables.specs(n_classes, weighted=weighted, edges_of=edges_of, class_names=class_names)


@dataclass(frozen=True, slots=True)
class Summed:
    """The tables of a run, the rows that were skipped, by the code of the refusal, and what was assumed."""

    tables: GroupedTables
    skipped: Counter[str]
    remarks: tuple[Remark, ...] = ()


def sum_source(
    source: RowSource, plan: Plan, *, progress: Callable[[Batch], None] = lambda _: None
) -> Summed:
    """All rows of a source as tables; `progress` is called after each batch.

    They are on a grid if the plan has bins of equal mass; the caller coarsens them after the last row.
    """
    by, n_classes, weighted = source.choice.grouping, source.n_classes, source.choice.weight is not None
    names = source.choice.class_names(n_classes)
    specs = plan.specs(n_classes, weighted=weighted, class_names=names)
    tables, skipped = GroupedTables(by, {}), Counter[str]()
    for batch in source.batches():
        if batch.groups is not None:  # before they are summed, which takes long for a group in each row
            refuse_too_many(tables.groups.keys() | set(batch.groups.names), specs, by)
        tables += GroupedTables(by, batch_tables(batch, specs, plan.engine, plan.n_threads))
        skipped += batch.skipped
        progress(batch)
    if tables.n_rows == 0:
        raise no_rows_left(skipped, filtered=bool(source.choice.where))
    return Summed(tables, skipped)


def batch_tables(
    batch: Batch, specs: Sequence[AnySpec], engine: str, n_threads: int | None
) -> dict[str | None, Tables]:
    """The tables of each group of a batch; a bad row is refused by its number in the file."""
    return {name: _tables(part, specs, engine, n_threads) for name, part in _parts(batch)}


def _tables(batch: Batch, specs: Sequence[AnySpec], engine: str, n_threads: int | None) -> Tables:
    try:
        if batch.weight is not None and not batch.weight.any():
            return _of_no_weight(batch, specs)
        if batch.clusters is None:
            return Tables.of(tabulate_rows(batch.rows(), specs, engine, n_threads))
        found = clusters_of_names(*in_order(*batch.clusters))
        return tabulate_clusters(batch.rows(), specs, found, engine=engine, n_threads=n_threads)
    except Refusal as error:
        raise refusal(batch, error) from error


def _of_no_weight(batch: Batch, specs: Sequence[AnySpec]) -> Tables:
    """Empty tables for rows whose weights are all 0, which validation refuses as a whole; bad rows are refused."""
    rows = replace(batch, weight=None).rows()
    tabulate_rows(rows, [replace(specs[0], weighted=False)], "portable")
    empty = [empty_table(spec) for spec in specs]
    return Tables.of(
        empty if batch.clusters is None else [*empty, ClusterTables.empty(_without_options(specs))]
    )


def _without_options(specs: Sequence[AnySpec]) -> list[SingleSpec]:
    """The specs of tables for which there are sums of clusters before the first row."""
    return [spec for spec in specs if not isinstance(spec, OptionSpec)]


def refuse_too_many(groups: Collection[str | None], specs: Sequence[AnySpec], by: str | None) -> None:
    """Refuse groups whose tables would exhaust the memory; if only those of events do, the refusal says so."""
    most = _most_groups(specs)
    if len(groups) <= most:
        return
    binned = [spec for spec in specs if not isinstance(spec, EventSpec)]
    by_class = len(groups) <= _most_groups(binned)
    column = by or ""
    kind = "by class " if by_class else ""
    raise InvalidValueError(
        "too-many-groups",
        f"column {quote(column)} (`groups`) has more than {most} values, whose tables "
        f"{kind}would take more than {GROUP_BYTES >> 20} MB",
        "use `by_class=False`, or fewer groups"
        if by_class
        else "group by a column with fewer values, or use `bins` instead of a grid or `bins=EqualMass(10)`",
        argument="groups",
    )


def _most_groups(specs: Sequence[AnySpec]) -> int:
    """How many groups have room in memory; one always has."""
    return max(1, GROUP_BYTES // sum(TABLE_BYTES + spec.n_bytes for spec in specs))


def _parts(batch: Batch) -> Iterator[tuple[str | None, Batch]]:
    """The rows of each group; a batch without groups as it is."""
    if len(batch) == 0:
        return
    if batch.groups is None:
        yield None, batch
        return
    names, codes = batch.groups
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))
    for name, start, stop in zip(names, np.concatenate([[0], ends[:-1]]), ends, strict=True):
        if start < stop:  # a group may have no row left
            yield name, batch.take(order[start:stop])

"""The tables of the same rows as one value (by variation, by confidence, of events), of all rows or of each group."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Self, TypeAlias

from trueness.bins import Bins, as_bins, confidence_bins_for, group_starts
from trueness.old_table import cluster_file, event_file
from trueness.old_table import file as table_file
from trueness.old_table.calibration_table import CalibrationTable
from trueness.old_table.cluster_sums import ClusterSums, has_units, spec_of_units
from trueness.old_table.clusters import ClusterTables
from trueness.old_table.content import TableSpec
from trueness.old_table.event_content import EventSpec
from trueness.old_table.event_table import EventTable
from trueness.old_table.option_spec import OptionSpec
from trueness.old_table.option_tables import AnyRankTable, OptionTables, option_tables
from trueness.old_table.same_rows import require_as_many_rows, require_same_rows
from trueness.refusals import InvalidValueError
from trueness.variation import Variation

SingleSpec: TypeAlias = TableSpec | EventSpec
AnySpec: TypeAlias = SingleSpec | OptionSpec
SingleTable: TypeAlias = CalibrationTable | EventTable
AnyTable: TypeAlias = AnyRankTable | EventTable


def table_of(spec: SingleSpec, sums: Any) -> CalibrationTable | EventTable:
    """The table with this spec and these sums."""
    return EventTable(spec, sums) if isinstance(spec, EventSpec) else CalibrationTable(spec, sums)


def spec_difference(mine: AnySpec, theirs: AnySpec) -> str | None:
    """The first difference between two specs in words; None if they are equal."""
    if isinstance(mine, EventSpec) and isinstance(theirs, EventSpec):
        return mine.difference(theirs)
    if isinstance(mine, TableSpec) and isinstance(theirs, TableSpec):
        return mine.difference(theirs)
    if isinstance(mine, OptionSpec) and isinstance(theirs, OptionSpec):
        return mine.difference(theirs)
    if isinstance(mine, EventSpec) or isinstance(theirs, EventSpec):
        return "one is a table of events and the other is not"
    return "one is of different numbers of options and the other is not"


def named_classes(spec: AnySpec, names: tuple[str, ...] | None) -> AnySpec:
    """The spec with names of the classes, if it is one of events and has none."""
    if isinstance(spec, EventSpec) and spec.class_names is None:
        return replace(spec, class_names=names)
    return spec


def empty_table(spec: AnySpec) -> AnyTable:
    """The table of no rows."""
    return OptionTables.empty(spec) if isinstance(spec, OptionSpec) else empty_single_table(spec)


def empty_single_table(spec: SingleSpec) -> SingleTable:
    """The table of no rows with the same classes."""
    return EventTable.empty(spec) if isinstance(spec, EventSpec) else CalibrationTable.empty(spec)


def table_from_dict(content: Any, variation: Variation | None = None) -> AnyTable | ClusterTables:
    """The table of `to_dict`, of any kind, or the clusters of tables."""
    if cluster_file.is_of_clusters(content):
        return cluster_file.decode(content, variation)
    if table_file.is_of_events(content):
        return EventTable(*event_file.decode(content))
    if table_file.are_together(content):
        return OptionTables.from_dict(content, variation)
    return CalibrationTable(*table_file.decode(content, variation))


def load_tables(
    path: str | os.PathLike[str], variation: Variation | None = None
) -> list[AnyTable | ClusterTables]:
    """All tables of a file, of all kinds, and their clusters."""
    name = os.fsdecode(path)
    with open(path, encoding="utf-8") as file:
        return tables_of_content(table_file.parse_file(file.read, name), name, variation)


def tables_of_content(
    content: Any, name: str, variation: Variation | None = None
) -> list[AnyTable | ClusterTables]:
    """All tables in the content of a file, whose name is `name`, and their clusters."""
    found = table_file.read_content(content, name, lambda table: table_from_dict(table, variation))
    return _by_options(found) if table_file.are_together(content) else found


def _by_options(parts: Sequence[AnyTable | ClusterTables]) -> list[AnyTable | ClusterTables]:
    """The tables of a file with those of the same measure and different numbers of options as one value."""
    by_spec: dict[OptionSpec, list[CalibrationTable]] = {}
    for table in parts:
        if isinstance(table, CalibrationTable):
            by_spec.setdefault(OptionSpec.shared_by(table.spec), []).append(table)
    others = [table for table in parts if not isinstance(table, CalibrationTable)]
    return [*map(OptionTables.of, by_spec.values()), *others]


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of the same rows. They add, are coarsened, saved and loaded together.

    `by_confidence` is `by_variation` itself if confidence is the measure, and None without a table for ECE. `events`
    are event tables: `by_class` is the one of all classes. `others` are further tables of a file: they are added and
    saved, and no metric is computed from them.

    >>> import trueness as tn
    >>> tables = Tables(tn.tabulate([0, 1], [0.2, 0.7]), tn.tabulate([0, 1], [0.2, 0.7], variation="confidence"))
    >>> (tables + tables).n_rows
    4
    """

    by_variation: AnyRankTable
    by_confidence: AnyRankTable | None = None
    others: tuple[AnyRankTable, ...] = ()
    events: tuple[EventTable, ...] = ()
    clusters: ClusterTables | None = None
    """The sums of each cluster of rows, if rows come in clusters."""

    def __post_init__(self) -> None:
        if self.by_confidence is None and self.by_variation.spec.is_by_confidence:
            object.__setattr__(self, "by_confidence", self.by_variation)
        if self.by_confidence is not None:
            require_same_rows(self.by_variation, self.by_confidence)
        for table in self.events:
            require_as_many_rows(self.by_variation, table)

    @classmethod
    def of(cls, tables: Sequence[AnyTable | ClusterTables]) -> Self:
        """The first table, the first one by confidence among the others, those of events, the rest, and clusters."""
        events = tuple(table for table in tables if isinstance(table, EventTable))
        calibration = [table for table in tables if isinstance(table, (CalibrationTable, OptionTables))]
        if not calibration:
            raise InvalidValueError(
                "no-tables", "none of these tables is a CalibrationTable", "make one with tabulate"
            )
        first, *others = calibration
        found = None if first.spec.is_by_confidence else _first_by_confidence(others)
        clusters = next((table for table in tables if isinstance(table, ClusterTables)), None)
        return cls(first, found, tuple(table for table in others if table is not found), events, clusters)

    @classmethod
    def of_file(cls, parts: Sequence[AnyTable | ClusterTables]) -> Self:
        """The same for parts of a file, which may have been tampered with: clusters must add up to the tables."""
        tables = cls.of(parts)
        if tables.clusters is not None:
            _require_same_sums(tables.stored, tables.clusters)
        return tables

    @property
    def stored(self) -> list[AnyTable]:
        """Each distinct table once, the one by variation first and those of events last."""
        return [*self.calibration_tables, *self.events]

    @property
    def singles(self) -> list[SingleTable]:
        """The same with those of each number of options one by one."""
        return [single for table in self.stored for single in _singles(table)]

    @property
    def parts(self) -> list[AnyTable | ClusterTables]:
        """What is saved: each distinct table once, and the clusters."""
        return [*self.stored, *([] if self.clusters is None else [self.clusters])]

    @property
    def calibration_tables(self) -> list[AnyRankTable]:
        """The distinct tables that are binned by a measure, the one by variation first."""
        second = self.by_confidence
        pair = [] if second is None or second is self.by_variation else [second]
        return [self.by_variation, *pair, *self.others]

    @property
    def options(self) -> dict[int, int] | None:
        """The rows by number of options; None unless rows have options of their own."""
        return self.by_variation.options if isinstance(self.by_variation, OptionTables) else None

    def with_options(self, n_options: int) -> Tables:
        """The rows with one number of options alone, without events."""

        def only(table: AnyRankTable) -> AnyRankTable:
            assert isinstance(table, OptionTables)
            return table.only(n_options)

        tables: list[Any] = [only(table) for table in self.calibration_tables]
        if self.clusters is not None:
            tables.append(self.clusters.with_n_classes(n_options))
        return Tables.of(tables)

    @property
    def by_class(self) -> EventTable | None:
        """The event table of all classes; None if there is none."""
        return next((table for table in self.events if table.spec.is_by_class), None)

    @property
    def cluster_sums_by_class(self) -> ClusterSums | None:
        """The sums of each cluster of the event table of all classes; None without clusters or with many classes."""
        if self.clusters is None or self.by_class is None or not has_units(self.by_class.spec):
            return None
        wanted = spec_of_units(self.by_class.spec)
        return next((sums for sums in self.clusters.of_tables if sums.spec == wanted), None)

    def __iter__(self) -> Iterator[AnyTable]:
        return iter(self.stored)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.by_variation.n_rows

    @property
    def n_classes(self) -> int | None:
        """The number of classes; None if rows list the largest of an unknown number."""
        return self.by_variation.n_classes

    def __add__(self, other: object) -> Tables:
        if not isinstance(other, Tables):
            return NotImplemented
        mine, theirs = self.stored, other.stored
        if [*map(type, mine)] != [*map(type, theirs)] or (
            (self.by_confidence is None) != (other.by_confidence is None)
        ):
            cause = f"tables by {_contents(mine)} cannot be added to tables by {_contents(theirs)}"
            remedy = "add tables that were made with the same options"
            raise InvalidValueError("different-tables", cause, remedy)
        together: list[Any] = [a + b for a, b in zip(mine, theirs, strict=True)]
        return Tables.of([*together, *_add_clusters(self.clusters, other.clusters)])

    def coarsen(self, bins: int | Bins | None, confidence_bins: int | Bins | None = None) -> Tables:
        """The same rows in coarser bins.

        With `bins=None` the bins by variation stay; with `confidence_bins=None` those by confidence follow `bins`.
        """
        table = self.by_variation if bins is None else self.by_variation.coarsen(as_bins(bins))
        second = self.by_confidence
        if second is None or second is self.by_variation:
            return self._coarser(table, None)
        if bins is not None:
            second = second.coarsen(confidence_bins_for(as_bins(bins), confidence_bins))
        elif confidence_bins is not None:
            second = second.coarsen(as_bins(confidence_bins))
        return self._coarser(table, second)

    def _coarser(self, table: AnyRankTable, second: AnyRankTable | None) -> Tables:
        """These tables with the first two in coarser bins, and the sums of clusters in the same."""
        coarser = Tables(table, second, self.others, self.events)
        if self.clusters is None:
            return coarser
        pairs = zip(
            _with_units(self.stored), _with_units(coarser.stored), self.clusters.of_tables, strict=True
        )
        of_tables = tuple(_in_bins_of(fine, coarse, sums) for fine, coarse, sums in pairs)
        return replace(coarser, clusters=replace(self.clusters, of_tables=of_tables))

    def without_events(self) -> Tables:
        """The tables that are binned by a measure."""
        clusters = self.clusters
        if clusters is not None:
            binned = tuple(sums for sums in clusters.of_tables if not isinstance(sums.spec, EventSpec))
            clusters = replace(clusters, of_tables=binned)
        return replace(self, events=(), clusters=clusters)

    def in_bins_of(self, other: Tables) -> Tables:
        """The same rows in the bins of other tables, which must be coarser."""
        second = other.by_confidence
        return self.coarsen(other.by_variation.bins, None if second is None else second.bins)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tables into one file of versioned JSON, atomically."""
        together = None if self.options is None else table_file.OPTIONS
        parts = [single for part in self.parts for single in _saved_parts(part)]
        table_file.write([part.to_dict() for part in parts], path, together)

    @classmethod
    def load(cls, path: str | os.PathLike[str], variation: Variation | None = None) -> Self:
        """The tables of a file; `variation` is needed if they were made with a measure of your own."""
        return cls.of_file(load_tables(path, variation))


def _in_bins_of(fine: SingleTable, coarse: SingleTable, sums: ClusterSums) -> ClusterSums:
    """The sums of clusters in the bins of the coarser table."""
    if isinstance(fine, EventTable) or isinstance(coarse, EventTable) or fine is coarse:
        return sums
    starts, _ = group_starts(fine.bins, fine.count, coarse.bins)
    return sums.merge_bins(starts, coarse.spec)


def _with_units(tables: Sequence[AnyTable]) -> list[SingleTable]:
    """The tables for which the sums of clusters are kept, those of each number of options one by one."""
    singles = [single for table in tables for single in _singles(table)]
    return [table for table in singles if has_units(table.spec)]


def _saved_parts(part: AnyTable | ClusterTables) -> Sequence[SingleTable | ClusterTables]:
    return [part] if isinstance(part, ClusterTables) else _singles(part)


def _singles(table: AnyTable) -> Sequence[SingleTable]:
    return [table] if isinstance(table, EventTable) else option_tables(table)


def _are_sums_of(table: SingleTable, sums: ClusterSums) -> bool:
    """Whether the sums of clusters add up to a table."""
    if sums.spec != spec_of_units(table.spec):
        return False
    if isinstance(table, EventTable) and isinstance(sums.spec, EventSpec):
        table = table.coarsen(sums.spec.grid)
    return sums.adds_up_to(table.sums)


def _add_clusters(mine: ClusterTables | None, theirs: ClusterTables | None) -> list[ClusterTables]:
    """The clusters of both, if there are any; refused if only one of the two has them."""
    if mine is None and theirs is None:
        return []
    if mine is None or theirs is None:
        cause = "tables with clusters cannot be added to tables without"
        remedy = "give clusters for all rows, or for none"
        raise InvalidValueError("different-tables", cause, remedy)
    return [mine + theirs]


def _require_same_sums(tables: Sequence[AnyTable], clusters: ClusterTables) -> None:
    """Refuse clusters of other rows than those of the tables."""
    summed = _with_units(tables)
    fits = len(summed) == len(clusters.of_tables) and all(
        _are_sums_of(table, sums) for table, sums in zip(summed, clusters.of_tables, strict=True)
    )
    if not fits:
        cause = "the sums of the clusters do not add up to the table"
        raise InvalidValueError("different-rows", cause, "make both of the same rows")


def _first_by_confidence(tables: Sequence[AnyRankTable]) -> AnyRankTable | None:
    return next((table for table in tables if table.spec.is_by_confidence), None)


def _contents(tables: Sequence[AnyTable]) -> str:
    """The measures of tables, and "class" for tables of events."""
    return " and ".join(
        "class" if isinstance(table, EventTable) else table.spec.variation.name for table in tables
    )


def sum_pairwise(tables: Sequence[Tables]) -> Tables:
    """The sum of tables, neighbours first: what has clusters grows with each addition."""
    while len(tables) > 1:
        pairs = [reduce(add, tables[k : k + 2]) for k in range(0, len(tables), 2)]
        tables = pairs
    return tables[0]


@dataclass(frozen=True, slots=True)
class GroupedTables:
    """The tables of each group by its name; rows without groups are one group, named None."""

    by: str | None
    """The column or columns that the groups are values of."""
    groups: Mapping[str | None, Tables]

    @property
    def whole(self) -> Tables:
        """The tables of all rows."""
        return sum_pairwise([*self.groups.values()])

    @property
    def n_rows(self) -> int:
        """The rows of all groups."""
        return sum(tables.n_rows for tables in self.groups.values())

    def coarsen(self, bins: int | Bins | None, confidence_bins: int | Bins | None = None) -> GroupedTables:
        """The same rows in coarser bins, chosen for all rows together."""
        whole = self.whole.coarsen(bins, confidence_bins)
        return GroupedTables(
            self.by, {name: tables.in_bins_of(whole) for name, tables in self.groups.items()}
        )

    def without_events(self) -> GroupedTables:
        """The tables that are binned by a measure."""
        return replace(self, groups={name: tables.without_events() for name, tables in self.groups.items()})

    def __add__(self, other: GroupedTables) -> GroupedTables:
        groups = dict(self.groups)
        for name, tables in other.groups.items():
            groups[name] = groups[name] + tables if name in groups else tables
        return GroupedTables(self.by, groups)

"""The tables of the same rows as one value (by variation, and by confidence for ECE), of all rows or of each group."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Self

from trueness.bins import Bins, as_bins, confidence_bins_for
from trueness.refusals import InvalidValueError
from trueness.table.calibration_table import CalibrationTable
from trueness.variation import Variation


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of the same rows. They add, are coarsened, saved and loaded together.

    `by_confidence` is `by_variation` itself if confidence is the measure, and None without a table for ECE. `others`
    are further tables of a file: they are added and saved, and no metric is computed from them.

    >>> import trueness as tn
    >>> tables = Tables(tn.tabulate([0, 1], [0.2, 0.7]), tn.tabulate([0, 1], [0.2, 0.7], variation="confidence"))
    >>> (tables + tables).n_rows
    4
    """

    by_variation: CalibrationTable
    by_confidence: CalibrationTable | None = None
    others: tuple[CalibrationTable, ...] = ()

    def __post_init__(self) -> None:
        if self.by_confidence is None and self.by_variation.spec.is_by_confidence:
            object.__setattr__(self, "by_confidence", self.by_variation)
        if self.by_confidence is not None:
            _require_same_rows(self.by_variation, self.by_confidence)

    @classmethod
    def of(cls, tables: Sequence[CalibrationTable]) -> Self:
        """The first table, the first one by confidence among the others, and the rest."""
        first, *others = tables
        found = None if first.spec.is_by_confidence else _first_by_confidence(others)
        return cls(first, found, tuple(table for table in others if table is not found))

    @property
    def stored(self) -> list[CalibrationTable]:
        """Each distinct table once, the one by variation first."""
        second = self.by_confidence
        pair = [] if second is None or second is self.by_variation else [second]
        return [self.by_variation, *pair, *self.others]

    def __iter__(self) -> Iterator[CalibrationTable]:
        return iter(self.stored)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.by_variation.n_rows

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.by_variation.n_classes

    def __add__(self, other: Tables) -> Tables:
        mine, theirs = self.stored, other.stored
        if len(mine) != len(theirs) or (self.by_confidence is None) != (other.by_confidence is None):
            raise InvalidValueError(
                "different-tables",
                "tables by {mine} cannot be added to tables by {theirs}",
                "add tables that were made with the same options",
                mine=_measures(mine),
                theirs=_measures(theirs),
            )
        return Tables.of([a + b for a, b in zip(mine, theirs, strict=True)])

    def coarsen(self, bins: int | Bins | None, confidence_bins: int | Bins | None = None) -> Tables:
        """The same rows in coarser bins.

        With `bins=None` the bins by variation stay; with `confidence_bins=None` those by confidence follow `bins`.
        """
        table = self.by_variation if bins is None else self.by_variation.coarsen(as_bins(bins))
        second = self.by_confidence
        if second is None or second is self.by_variation:
            return Tables(table, others=self.others)
        if bins is not None:
            second = second.coarsen(confidence_bins_for(as_bins(bins), confidence_bins))
        elif confidence_bins is not None:
            second = second.coarsen(as_bins(confidence_bins))
        return Tables(table, second, self.others)

    def in_bins_of(self, other: Tables) -> Tables:
        """The same rows in the bins of other tables, which must be coarser."""
        second = other.by_confidence
        return self.coarsen(other.by_variation.bins, None if second is None else second.bins)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tables into one file of versioned JSON, atomically."""
        CalibrationTable.save_all(self.stored, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], variation: Variation | None = None) -> Self:
        """The tables of a file; `variation` is needed if they were made with a measure of your own."""
        return cls.of(CalibrationTable.load_all(path, variation))


def _first_by_confidence(tables: Sequence[CalibrationTable]) -> CalibrationTable | None:
    return next((table for table in tables if table.spec.is_by_confidence), None)


def _measures(tables: Sequence[CalibrationTable]) -> str:
    return " and ".join(table.spec.variation.name for table in tables)


def _require_same_rows(table: CalibrationTable, confidence_table: CalibrationTable) -> None:
    if not confidence_table.spec.is_by_confidence:
        raise InvalidValueError(
            "wrong-table",
            "confidence_table is binned by {value}",
            "tabulate with variation='confidence'",
            value=confidence_table.spec.variation.name,
        )
    if (confidence_table.n_rows, confidence_table.n_classes) != (table.n_rows, table.n_classes):
        raise InvalidValueError(
            "different-rows",
            "{argument} holds {n_rows} rows of {n_classes} classes, confidence_table {other_rows} of {other_classes}",
            "they must be of the same rows",
            argument="table",
            n_rows=table.n_rows,
            n_classes=table.n_classes,
            other_rows=confidence_table.n_rows,
            other_classes=confidence_table.n_classes,
        )


@dataclass(frozen=True, slots=True)
class GroupedTables:
    """The tables of each group by its name; rows without groups are one group, named None."""

    by: str | None
    """The column or columns that the groups are values of."""
    groups: Mapping[str | None, Tables]

    @property
    def whole(self) -> Tables:
        """The tables of all rows."""
        return reduce(add, self.groups.values())

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

    def __add__(self, other: GroupedTables) -> GroupedTables:
        groups = dict(self.groups)
        for name, tables in other.groups.items():
            groups[name] = groups[name] + tables if name in groups else tables
        return GroupedTables(self.by, groups)

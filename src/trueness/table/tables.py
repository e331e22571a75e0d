"""The tables of the same rows as one value (by variation, and by confidence for ECE), of all rows or of each group."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Self

from trueness.bins import Bins, as_bins, confidence_bins_for
from trueness.table.calibration_table import CalibrationTable
from trueness.variation import Variation


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of the same rows. They add, are coarsened, saved and loaded together.

    `by_confidence` is `by_variation` itself if confidence is the measure, and None if there is no table for ECE.

    >>> import trueness as tn
    >>> tables = Tables(tn.tabulate([0, 1], [0.2, 0.7]), tn.tabulate([0, 1], [0.2, 0.7], variation="confidence"))
    >>> (tables + tables).n_rows
    4
    """

    by_variation: CalibrationTable
    by_confidence: CalibrationTable | None = None

    def __post_init__(self) -> None:
        if self.by_confidence is None and self.by_variation.spec.is_by_confidence:
            object.__setattr__(self, "by_confidence", self.by_variation)

    @classmethod
    def of(cls, tables: Sequence[CalibrationTable]) -> Self:
        """Tables in the order of `stored`."""
        return cls(*tables)

    @property
    def stored(self) -> list[CalibrationTable]:
        """Each distinct table once, the one by variation first."""
        second = self.by_confidence
        return (
            [self.by_variation]
            if second is None or second is self.by_variation
            else [self.by_variation, second]
        )

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
        table = self.by_variation + other.by_variation
        if (
            self.by_confidence is None
            or other.by_confidence is None
            or self.by_confidence is self.by_variation
        ):
            return Tables(table)
        return Tables(table, self.by_confidence + other.by_confidence)

    def coarsened(self, bins: int | Bins | None, confidence_bins: int | Bins | None = None) -> Tables:
        """The same rows in coarser bins.

        With `bins=None` the bins by variation stay; with `confidence_bins=None` those by confidence follow `bins`.
        """
        table = self.by_variation if bins is None else self.by_variation.coarsen(as_bins(bins))
        second = self.by_confidence
        if second is None or second is self.by_variation:
            return Tables(table)
        if bins is not None:
            second = second.coarsen(confidence_bins_for(as_bins(bins), confidence_bins))
        elif confidence_bins is not None:
            second = second.coarsen(as_bins(confidence_bins))
        return Tables(table, second)

    def in_bins_of(self, other: Tables) -> Tables:
        """The same rows in the bins of other tables, which must be coarser."""
        second = other.by_confidence
        return self.coarsened(other.by_variation.bins, None if second is None else second.bins)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tables into one file of versioned JSON, atomically."""
        CalibrationTable.save_all(self.stored, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], variation: Variation | None = None) -> Self:
        """The tables of a file; `variation` is needed if they were made with a measure of your own."""
        return cls.of(CalibrationTable.load_all(path, variation)[:2])


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

    def coarsened(self, bins: int | Bins | None, confidence_bins: int | Bins | None = None) -> GroupedTables:
        """The same rows in coarser bins, chosen for all rows together."""
        whole = self.whole.coarsened(bins, confidence_bins)
        return GroupedTables(
            self.by, {name: tables.in_bins_of(whole) for name, tables in self.groups.items()}
        )

    def __add__(self, other: GroupedTables) -> GroupedTables:
        groups = dict(self.groups)
        for name, tables in other.groups.items():
            groups[name] = groups[name] + tables if name in groups else tables
        return GroupedTables(self.by, groups)

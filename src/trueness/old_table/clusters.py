"""The clusters of rows with the sums of each: a value that adds by cluster, beside the tables of the same rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trueness._arrays import IntArray
from trueness.old_table.cluster_sums import ClusterSums, bytes_of_unit, has_units, spec_of_units
from trueness.old_table.content import TableSpec
from trueness.old_table.event_content import EventSpec
from trueness.old_table.exact_sums import make_read_only, reduce_to_fields
from trueness.refusals import InvalidValueError
from trueness.rows.clusters import ClustersOfRows, Identities, row_identities

MAX_UNITS = 4096
"""Up to so many clusters are kept apart."""

MAX_BLOCKS = 2048
"""More clusters are dealt into at most so many blocks.

The variance of a sum over independent units is estimated from so many of them with a relative error of √(2/2048), 3 %;
999 replicates have 4.5 %.
"""

MAX_SINGLE_ROWS = 1024
"""Up to so many independent rows are kept apart."""

MAX_ROW_BLOCKS = 256
"""More independent rows are dealt into so many blocks.

The relative error of a variance is √(2/256), 8.8 %, that of a standard error half of it: an interval is as if it came
from the t distribution with 255 degrees of freedom, whose 97.5 % point is 1.969 instead of 1.960.
"""

MAX_BYTES = 2**27
"""The most memory that the sums of one table over all units may take, about."""


HASHED_AT_A_TIME = 2**16
"""Positions that are hashed at a time: so few stay in the cache."""


def row_blocks(positions: IntArray | range, n_blocks: int) -> IntArray:
    """The block of each row by its position, of a power of two of them."""
    blocks = np.empty(len(positions), np.int64)
    for start in range(0, len(positions), HASHED_AT_A_TIME):
        some = slice(start, start + HASHED_AT_A_TIME)
        identities = row_identities(np.asarray(positions[some], np.int64))
        blocks[some] = (identities & np.uint64(n_blocks - 1)).view(np.int64)
    return blocks


def unit_limit(specs: Sequence[TableSpec | EventSpec], *, single_rows: bool = False) -> int:
    """How many clusters, or independent rows, are kept apart, if their tables have these specs."""
    most = MAX_SINGLE_ROWS if single_rows else MAX_UNITS
    return max(256, min(most, MAX_BYTES // max(map(bytes_of_unit, specs))))


def block_count(specs: Sequence[TableSpec | EventSpec], *, single_rows: bool = False) -> int:
    """Into how many blocks more are dealt: a power of two, so that fewer blocks are unions of these."""
    most = min(MAX_ROW_BLOCKS if single_rows else MAX_BLOCKS, unit_limit(specs))
    return 1 << (most.bit_length() - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The distinct clusters of some rows, in units that are resampled: each cluster, or a block of clusters."""

    identities: Identities
    """A hash of each name, increasing, (K,); empty if single rows are in blocks."""
    names: tuple[str, ...] | None
    """In the same order; None in blocks, and if the clusters are single rows."""
    n_blocks: int | None = None
    """The number of blocks, a power of two; None if each cluster is a unit."""
    single_rows: bool = False
    """Whether each row is a cluster of its own, named by its position."""

    def __post_init__(self) -> None:
        make_read_only(self.identities)

    __reduce__ = reduce_to_fields

    @classmethod
    def of_rows(
        cls, found: ClustersOfRows, specs: Sequence[TableSpec | EventSpec]
    ) -> tuple[Clusters, IntArray]:
        """The clusters of rows whose tables have these specs, and the unit of each row."""
        return cls(found.identities, found.names).limited(specs, found.codes)

    @classmethod
    def of_single_rows(
        cls,
        positions: IntArray | range,
        specs: Sequence[TableSpec | EventSpec],
        blocks_of: Callable[[IntArray | range, int], IntArray] | None = None,
    ) -> tuple[Clusters, IntArray]:
        """Each row as a cluster of its own, named by its position, and the unit of each row.

        `blocks_of` gives the same as `row_blocks`, if there is a faster way.
        """
        if len(positions) > unit_limit(specs, single_rows=True):  # without sorting
            none = np.empty(0, np.uint64)
            blocks = cls(none, None, block_count(specs, single_rows=True), single_rows=True)
            return blocks, (blocks_of or row_blocks)(positions, blocks.n_units)
        identities = row_identities(np.asarray(positions, np.int64))
        order = np.argsort(identities)
        return cls(identities[order], None, single_rows=True), np.argsort(order)

    def limited(self, specs: Sequence[TableSpec | EventSpec], codes: IntArray) -> tuple[Clusters, IntArray]:
        """These clusters, in blocks if they are many, and the unit of each row of which `codes` is the cluster."""
        if self.n_units <= unit_limit(specs):
            return self, codes
        blocks = self.in_blocks(block_count(specs))
        return blocks, blocks.units_of(self.identities)[codes]

    @property
    def n_units(self) -> int:
        """The number of units, some of which may be empty blocks."""
        return len(self.identities) if self.n_blocks is None else self.n_blocks

    @property
    def unit_identities(self) -> Identities:
        """A number for each unit, on which its bootstrap weights depend, (units,)."""
        return self.identities if self.n_blocks is None else np.arange(self.n_blocks, dtype=np.uint64)

    def units_of(self, identities: Identities) -> IntArray:
        """The unit of each of these clusters, which must be among its own."""
        if self.n_blocks is None:
            return np.searchsorted(self.identities, identities)
        return (identities & np.uint64(self.n_blocks - 1)).view(np.int64)  # a power of two

    def in_blocks(self, n_blocks: int) -> Clusters:
        """The same clusters in so many blocks, at most as many as now."""
        kept = self.identities[:0] if self.single_rows else self.identities
        return Clusters(kept, None, n_blocks, self.single_rows)

    def places_in(self, other: Clusters) -> IntArray:
        """For each unit the number of the one it belongs to in `other`, which has all of these clusters."""
        return other.units_of(self.unit_identities)

    def __add__(self, other: Clusters) -> Clusters:
        if self.single_rows != other.single_rows:
            cause = "clusters must be given with every batch of rows, or with none"
            raise InvalidValueError("bad-argument", cause, argument="clusters")
        identities, first = np.unique(np.concatenate([self.identities, other.identities]), return_index=True)
        dealt = [it.n_blocks for it in (self, other) if it.n_blocks is not None]
        names = None
        if self.names is not None and other.names is not None:
            both = [*self.names, *other.names]
            names = tuple(both[k] for k in first.tolist())
        together = Clusters(identities, names, None, self.single_rows)
        return together.in_blocks(min(dealt)) if dealt else together

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Clusters):
            return NotImplemented
        same = (self.n_blocks, self.single_rows, self.names) == (
            other.n_blocks,
            other.single_rows,
            other.names,
        )
        return same and bool(np.array_equal(self.identities, other.identities))

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True, eq=False)
class ClusterTables:
    """The clusters of rows and their sums, one `ClusterSums` for each table of these rows.

    They add by the identity of the clusters, exactly if rows are unweighted: a cluster may be spread over batches,
    files and workers.
    """

    clusters: Clusters
    of_tables: tuple[ClusterSums, ...]
    """In the order of `Tables.calibration_tables`, followed by those of events."""

    @classmethod
    def empty(cls, specs: Sequence[TableSpec | EventSpec]) -> ClusterTables:
        """Those of no rows, for tables of these specs: adding them changes nothing."""
        summed = [spec_of_units(spec) for spec in specs if has_units(spec)]
        return cls(Clusters(np.empty(0, np.uint64), ()), tuple(map(ClusterSums.empty, summed)))

    @property
    def n_clusters(self) -> int:
        """The number of distinct clusters."""
        return len(self.clusters.identities)

    @property
    def effective_units(self) -> float:
        """(Σn)²/Σn² with n the rows of each unit, or their weight: the number of units if all have as many."""
        units = np.concatenate([sums.units for sums in self.of_tables])
        # Every row is in as many tables, so that the sum over the tables is proportional to n.
        mass = np.bincount(units, np.concatenate([sums.mass for sums in self.of_tables]))
        return float(mass.sum() ** 2 / (mass**2).sum())

    @property
    def specs(self) -> list[TableSpec | EventSpec]:
        """The spec of each table."""
        return [sums.spec for sums in self.of_tables]

    def __add__(self, other: object) -> ClusterTables:
        if not isinstance(other, ClusterTables):
            return NotImplemented
        together = self.clusters + other.clusters
        single = together.single_rows
        if together.n_blocks is None and together.n_units > unit_limit(self.specs, single_rows=single):
            together = together.in_blocks(block_count(self.specs, single_rows=single))
        mine, theirs = (
            [sums.with_units(it.clusters.places_in(together)) for sums in it.of_tables]
            for it in (self, other)
        )
        pairs = zip(*_with_all_options(mine, theirs), strict=True)
        return ClusterTables(together, tuple(a.merge(b) for a, b in pairs))

    def in_blocks(self, n_blocks: int) -> ClusterTables:
        """The same sums in so many blocks, at most as many as now."""
        dealt = self.clusters.in_blocks(n_blocks)
        places = self.clusters.places_in(dealt)
        return ClusterTables(dealt, tuple(sums.with_units(places) for sums in self.of_tables))

    def select(self, tables: slice) -> ClusterTables:
        """The sums of some of the tables."""
        return ClusterTables(self.clusters, self.of_tables[tables])

    def with_n_classes(self, n_classes: int) -> ClusterTables:
        """The sums of tables with so many classes or options, and the clusters that have such rows."""
        kept = tuple(
            sums
            for sums in self.of_tables
            if isinstance(sums.spec, TableSpec) and sums.spec.n_classes == n_classes
        )
        present = np.unique(np.concatenate([sums.units for sums in kept]))
        if self.clusters.n_blocks is not None or not kept:
            return ClusterTables(self.clusters, kept)
        names = self.clusters.names
        fewer = Clusters(
            self.clusters.identities[present],
            None if names is None else tuple(names[k] for k in present.tolist()),
            None,
            self.clusters.single_rows,
        )
        places = np.zeros(self.clusters.n_units, np.int64)
        places[present] = np.arange(len(present))
        return ClusterTables(fewer, tuple(sums.with_units(places) for sums in kept))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClusterTables):
            return NotImplemented
        return self.clusters == other.clusters and self.of_tables == other.of_tables

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings, exact."""
        from trueness.old_table import cluster_file

        return cluster_file.encode(self)

    def __repr__(self) -> str:
        blocks = "" if self.clusters.n_blocks is None else f" in {self.clusters.n_blocks} blocks"
        return f"ClusterTables: {self.n_clusters} clusters{blocks}, {len(self.of_tables)} tables"


def _with_all_options(
    mine: Sequence[ClusterSums], theirs: Sequence[ClusterSums]
) -> tuple[list[ClusterSums], list[ClusterSums]]:
    """The sums of both for the same tables in the same order: empty where one lacks a number of options."""
    if [sums.spec for sums in mine] == [sums.spec for sums in theirs]:
        return list(mine), list(theirs)
    of_mine, of_theirs = ({sums.spec: sums for sums in of} for of in (mine, theirs))
    kinds = list(dict.fromkeys(_kind_of(spec) for spec in (*of_mine, *of_theirs)))
    specs = sorted(
        {*of_mine, *of_theirs}, key=lambda spec: (kinds.index(_kind_of(spec)), spec.n_classes or 0)
    )

    def of_all(known: Mapping[Any, ClusterSums]) -> list[ClusterSums]:
        return [known.get(spec) or ClusterSums.empty(spec) for spec in specs]

    return of_all(of_mine), of_all(of_theirs)


def _kind_of(spec: TableSpec | EventSpec) -> TableSpec | EventSpec:
    """The spec without its number of options."""
    return spec if isinstance(spec, EventSpec) else replace(spec, n_classes=2)


def in_common_units(tables: Sequence[ClusterTables]) -> list[ClusterTables]:
    """The clusters of several tables, all apart or all in the same blocks: equal clusters are in equal units."""
    dealt = [it.clusters.n_blocks for it in tables if it.clusters.n_blocks is not None]
    return [it.in_blocks(min(dealt)) for it in tables] if dealt else list(tables)

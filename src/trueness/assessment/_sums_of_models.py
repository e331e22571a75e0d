"""The tables of several models on the same rows, with the sums of each unit that is resampled for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trueness._arrays import IntArray
from trueness.assessment._contrasts import Samples
from trueness.assessment._sample import Sample, replicates_of
from trueness.assessment._settings import Settings
from trueness.rows import Rows
from trueness.rows.clusters import ClustersOfRows
from trueness.table import TableSpec
from trueness.table.clusters import Clusters, ClusterTables
from trueness.table.tables import Tables
from trueness.tabulation.clusters import RowsDone, UnitsOfRows, among, tabulate_units


@dataclass(frozen=True, slots=True)
class SumsOfModels:
    """The tables of each model, and the sums of the units of all of them. Those of further rows add."""

    tables: Mapping[str, Tables]
    units: ClusterTables
    """The sums of all tables of the first model, then those of the second, …: all have the same units."""

    def __add__(self, other: SumsOfModels) -> SumsOfModels:
        tables = {name: mine + other.tables[name] for name, mine in self.tables.items()}
        return SumsOfModels(tables, self.units + other.units)

    @property
    def some_sample(self) -> Sample:
        """The sample of the first model."""
        return next(iter(self._without_replicates().values()))

    def samples(self, settings: Settings) -> Samples:
        """The sample of each model with its replicates, which have the same weights."""
        made = iter(replicates_of(self.units, settings))
        return {
            name: replace(sample, replicates=tuple(next(made) for _ in sample.tables.calibration_tables))
            for name, sample in self._without_replicates().items()
        }

    def _without_replicates(self) -> Samples:
        """The sample of each model; those of rows in clusters have the sums of their clusters."""
        samples, first = {}, 0
        for name, tables in self.tables.items():
            stop = first + len(tables.stored)
            own = None if self.units.clusters.single_rows else self.units.select(slice(first, stop))
            samples[name], first = Sample(replace(tables, clusters=own)), stop
        return samples


def sums_of_models(
    rows: Mapping[str, Rows],
    specs: Mapping[str, Sequence[TableSpec]],
    found: ClustersOfRows | int,
    which: IntArray | None,
    done: RowsDone,
) -> SumsOfModels:
    """The sums of all models over the rows, or over those that `which` names, by one pass for each model.

    `found` are their clusters, or the position of the first row if each row is independent of the others.
    """
    every = [spec for of_model in specs.values() for spec in of_model]
    clusters, unit_of = _units_of_rows(found, next(iter(rows.values())).n_rows, which, every)
    tables, of_tables = {}, []
    for name, of_model in specs.items():
        some = UnitsOfRows(rows[name], unit_of, clusters.n_units, which)
        made = tabulate_units(some, of_model, done=done)
        tables[name] = Tables.of([table for table, _ in made])
        of_tables += [sums for _, sums in made]
    return SumsOfModels(tables, ClusterTables(clusters, tuple(of_tables)))


def _units_of_rows(
    found: ClustersOfRows | int, n_rows: int, which: IntArray | None, specs: Sequence[TableSpec]
) -> tuple[Clusters, IntArray]:
    """The units that are resampled, and that of each row."""
    if not isinstance(found, int):
        return Clusters.of_rows(found if which is None else among(found, which), specs)
    return Clusters.of_single_rows(found + (np.arange(n_rows) if which is None else which), specs)

"""The tables of several models on the same rows, with the sums of each unit that is resampled for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from trueness._arrays import IntArray
from trueness.old_assessment._contrasts import Samples
from trueness.old_assessment._sample import Sample, event_replicates_of, replicates_of, weights_of
from trueness.old_assessment._settings import Settings
from trueness.old_inference.bootstrap_weights import BootstrapWeights
from trueness.old_inference.events.replicates import EventReplicates, bootstrap_event_table
from trueness.old_inference.option_replicates import by_table
from trueness.old_table import AnySpec, EventSpec, SingleSpec
from trueness.old_table.cluster_sums import has_units
from trueness.old_table.clusters import Clusters, ClusterTables
from trueness.old_table.tables import Tables
from trueness.rows.clusters import ClustersOfRows, identity
from trueness.tabulation import AnyRows, tabulate_rows
from trueness.tabulation.clusters import (
    RowsDone,
    UnitsOfRows,
    among,
    has_unit_sums,
    tabulate_units,
    unit_specs,
    units_of_positions,
)
from trueness.tabulation.compiled.dealing import Dealer
from trueness.tabulation.unit_scores import UnitScores, unit_scores

_STREAM = 11


@dataclass(frozen=True, slots=True)
class SumsOfModels:
    """The tables of each model, and the sums of the units of all of them. Those of further rows add."""

    tables: Mapping[str, Tables]
    units: ClusterTables
    """The sums of all tables of the first model, then those of the second, …: all have the same units."""
    scores: Mapping[str, UnitScores]
    """Brier score and log-loss of each model, of two classes; empty for more."""

    def __add__(self, other: SumsOfModels) -> SumsOfModels:
        tables = {name: mine + other.tables[name] for name, mine in self.tables.items()}
        units = self._units_with(other)

        def placed(it: SumsOfModels, name: str) -> UnitScores:
            places = it.units.clusters.places_in(units.clusters)
            return it.scores[name].with_units(places, units.clusters.n_units)

        scores = {name: placed(self, name) + placed(other, name) for name in self.scores}
        return SumsOfModels(tables, units, scores)

    def _units_with(self, other: SumsOfModels) -> ClusterTables:
        """The sums of the units of both."""
        if self.units.specs == other.units.specs:
            return self.units + other.units
        # Further rows have other numbers of options, for each model alike.
        units = [mine + theirs for mine, theirs in zip(self._of_models, other._of_models, strict=True)]
        of_tables = tuple(sums for of_model in units for sums in of_model.of_tables)
        return ClusterTables(units[0].clusters, of_tables)

    @property
    def _of_models(self) -> list[ClusterTables]:
        """The units of each model."""
        found, first = [], 0
        for tables in self.tables.values():
            stop = first + sum(has_units(table.spec) for table in tables.singles)
            found.append(self.units.select(slice(first, stop)))
            first = stop
        return found

    @property
    def some_sample(self) -> Sample:
        """The sample of the first model."""
        return next(iter(self._without_replicates().values()))

    def samples(self, settings: Settings) -> Samples:
        """The sample of each model with its replicates, which have the same weights."""
        weights = weights_of(self.units, settings)
        made, of_events = iter(replicates_of(self.units, weights)), self._event_replicates(weights, settings)
        return {
            name: replace(
                sample,
                replicates=by_table(made, sample.tables.calibration_tables),
                event_replicates=of_events.get(name),
            )
            for name, sample in self._without_replicates().items()
        }

    def _event_replicates(self, weights: BootstrapWeights, settings: Settings) -> dict[str, EventReplicates]:
        """The replicates of the classes of each model, if it has a table of them.

        Units have no sums of very many classes. Their replicates are then drawn from the tables, as if the models had
        different rows: what the models have in common does not cancel, and the noise of a difference is too large.
        """
        paired = event_replicates_of(self.units, weights, [it.values for it in self.scores.values()])
        if paired:
            return dict(zip(self.tables, paired, strict=True))
        return {
            name: bootstrap_event_table(
                tables.by_class, settings.resamples, [settings.seed, _STREAM, identity(name)]
            )
            for name, tables in self.tables.items()
            if tables.by_class is not None
        }

    def _without_replicates(self) -> Samples:
        """The sample of each model; those of rows in clusters have the sums of their clusters."""
        alone = self.units.clusters.single_rows
        return {
            name: Sample(replace(tables, clusters=None if alone else own))
            for (name, tables), own in zip(self.tables.items(), self._of_models, strict=True)
        }


def sums_of_models(
    rows: Mapping[str, AnyRows],
    specs: Mapping[str, Sequence[AnySpec]],
    found: ClustersOfRows | int,
    which: IntArray | None,
    done: RowsDone,
) -> SumsOfModels:
    """The sums of all models over the rows, or over those that `which` names, by one pass for each model.

    `found` are their clusters, or the position of the first row if each row is independent of the others.
    """
    every = [
        spec
        for name, of_model in specs.items()
        for spec in unit_specs(rows[name], list(filter(has_unit_sums, of_model)))
    ]
    clusters, unit_of = _units_of_rows(found, next(iter(rows.values())).n_rows, which, every)
    tables, scores, of_tables, dealer = {}, {}, [], Dealer()
    for name, of_model in specs.items():
        some = UnitsOfRows(rows[name], unit_of, clusters.n_units, which, dealer)
        made, sums = tabulate_units(some, list(filter(has_unit_sums, of_model)), done=done)
        others = [spec for spec in of_model if not has_unit_sums(spec)]
        beside = tabulate_rows(some.chosen, others) if others else []
        tables[name] = Tables.of([*made, *beside])
        of_tables += sums
        if _has_scores(of_model):
            scores[name] = unit_scores(some)
    return SumsOfModels(tables, ClusterTables(clusters, tuple(of_tables)), scores)


def _has_scores(specs: Sequence[AnySpec]) -> bool:
    return any(isinstance(spec, EventSpec) and spec.n_classes == 2 for spec in specs)


def _units_of_rows(
    found: ClustersOfRows | int, n_rows: int, which: IntArray | None, specs: Sequence[SingleSpec]
) -> tuple[Clusters, IntArray]:
    """The units that are resampled, and that of each row."""
    if not isinstance(found, int):
        return Clusters.of_rows(found if which is None else among(found, which), specs)
    return units_of_positions(range(found, found + n_rows) if which is None else found + which, specs)

"""The rows of an event as a table, with the noise of their clusters, for all rows and for each group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from trueness._arrays import IntArray
from trueness.old_assessment._sample import LEAST_CLUSTERS, reason_to_skip
from trueness.old_inference.events.clusters import ClusteredEvent, clustered_events
from trueness.old_table import EventSpec, EventTable
from trueness.old_table.cluster_sums import spec_of_units
from trueness.old_table.clusters import Clusters
from trueness.refusals import InvalidValueError
from trueness.rows import Rows
from trueness.rows.clusters import ClustersOfRows
from trueness.rows.groups import encode_groups_of_rows, rows_of_groups
from trueness.tabulation import tabulate_groups, tabulate_rows
from trueness.tabulation.clusters import UnitsOfRows, among, tabulate_units
from trueness.tabulation.events import refuse_many_groups


@dataclass(frozen=True, slots=True)
class EventSample:
    """The table of one event, and its noise if rows come in clusters."""

    table: EventTable
    noise: ClusteredEvent | None = None
    n_clusters: int | None = None

    def reason_to_skip(self, min_group_size: int) -> str | None:
        """Why a group of these rows is too small to be assessed; None if it is large enough."""
        return reason_to_skip(self.table.n_rows, self.n_clusters, min_group_size)


@dataclass(frozen=True, slots=True)
class EventRows:
    """Validated rows of which one event is tabulated, all of them or some."""

    rows: Rows
    spec: EventSpec
    found: ClustersOfRows | None
    engine: str = "auto"
    n_threads: int | None = None

    def sample(self, which: IntArray | None = None) -> EventSample:
        """The table of all rows, or of those that `which` names."""
        if self.found is None:
            rows = self.rows if which is None else self.rows.take(which)
            (table,) = tabulate_rows(rows, [self.spec], self.engine, self.n_threads)
            assert isinstance(table, EventTable)
            return EventSample(table)
        found = self.found if which is None else among(self.found, which)
        return self._in_clusters(found, which)

    def _in_clusters(self, found: ClustersOfRows, which: IntArray | None) -> EventSample:
        clusters, unit_of = Clusters.of_rows(found, [spec_of_units(self.spec)])
        some = UnitsOfRows(self.rows, unit_of, clusters.n_units, which)
        (table,), (sums,) = tabulate_units(some, [self.spec], engine=self.engine, n_threads=self.n_threads)
        assert isinstance(table, EventTable)
        assert isinstance(sums.spec, EventSpec)
        (noise,) = clustered_events(sums, table.coarsen(sums.spec.grid).weight_square_sum)
        return EventSample(table, noise, len(found.names))

    def groups(self, groups: Any) -> dict[str, EventSample]:
        """The sample of each group by name; in one pass if rows do not come in clusters."""
        names, codes = encode_groups_of_rows(groups, self.rows.n_rows, self.rows.index)
        refuse_many_groups([self.spec], len(names))
        if self.found is not None:
            each = zip(names, rows_of_groups(codes, len(names)), strict=True)
            return {name: self.sample(which) for name, which in each}
        made = tabulate_groups(
            self.rows, [self.spec], codes, len(names), engine=self.engine, n_threads=self.n_threads
        )
        return {
            name: EventSample(table)
            for name, (table,) in zip(names, made, strict=True)
            if isinstance(table, EventTable)
        }

    def whole(self, groups: Mapping[str, EventSample]) -> EventSample:
        """The sample of all rows, of which those of all groups are known."""
        if self.found is not None:
            return self.sample()
        return EventSample(reduce(add, [sample.table for sample in groups.values()]))


def require_clusters(sample: EventSample) -> None:
    """Refuse so few clusters that their noise cannot be estimated."""
    if sample.n_clusters is not None and sample.n_clusters < LEAST_CLUSTERS:
        cause = f"clusters has {sample.n_clusters} distinct values"
        remedy = f"at least {LEAST_CLUSTERS} are needed"
        raise InvalidValueError(
            "too-few-clusters", cause, remedy, argument="clusters", value=sample.n_clusters
        )

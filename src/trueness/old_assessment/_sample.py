"""The tables of some rows with their bootstrap replicates, and the resamples from which metrics are estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from trueness._arrays import FloatArray
from trueness.old_assessment._classes import (
    ClassCells,
    classwise,
    cumulative_log_score,
    gap_estimate,
    predicted_class_test,
)
from trueness.old_assessment._settings import Settings
from trueness.old_inference.bootstrap_weights import BootstrapWeights, stream_key
from trueness.old_inference.classwise.results import ClasswiseAssessment
from trueness.old_inference.estimates import ResampledTable, debiased_variation_error, variation_error
from trueness.old_inference.events.replicates import EventReplicates, bootstrap_events
from trueness.old_inference.option_replicates import AnyReplicates, by_table
from trueness.old_inference.replicates import Replicates, bootstrap
from trueness.old_inference.results import Debiased, Estimate
from trueness.old_inference.scores.cumulative import CumulativeTest
from trueness.old_inference.scores.predicted_class import PredictedClassTest
from trueness.old_table import EventSpec, TableSpec
from trueness.old_table.clusters import ClusterTables
from trueness.old_table.tables import Tables
from trueness.refusals import InvalidValueError

LEAST_CLUSTERS = 5

_BY_VARIATION, _BY_CONFIDENCE = range(2)
_STREAM = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """The tables of some rows."""

    tables: Tables
    replicates: tuple[AnyReplicates, ...] = ()
    """Of each of `tables.calibration_tables`, if several models are compared on the rows; else made when needed."""
    event_replicates: EventReplicates | None = None
    """Of the table of all classes, if models are compared."""

    @property
    def clusters(self) -> ClusterTables | None:
        """The clusters of the rows, if they come in clusters."""
        return self.tables.clusters

    def replicates_for(self, settings: Settings) -> tuple[AnyReplicates, ...]:
        """The replicates of rows in clusters."""
        if self.replicates or self.clusters is None:
            return self.replicates
        made = iter(replicates_of(self.clusters, weights_of(self.clusters, settings)))
        return by_table(made, self.tables.calibration_tables)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.tables.n_rows

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters, if rows come in clusters."""
        return None if self.clusters is None else self.clusters.n_clusters

    def reason_to_skip(self, min_group_size: int) -> str | None:
        """Why a group of these rows is too small to be assessed; None if it is large enough."""
        return reason_to_skip(self.n_rows, self.n_clusters, min_group_size)


def reason_to_skip(n_rows: int, n_clusters: int | None, min_group_size: int) -> str | None:
    """Why a group of so many rows in so many clusters is too small to be assessed; None if it is large enough."""
    if n_rows < min_group_size:
        return f"fewer than {min_group_size} rows"
    if n_clusters is not None and n_clusters < LEAST_CLUSTERS:
        return f"fewer than {LEAST_CLUSTERS} clusters"
    return None


def weights_of(clusters: ClusterTables, settings: Settings) -> BootstrapWeights:
    """The weights of all units in each replicate."""
    key = stream_key([settings.seed, _STREAM])
    return BootstrapWeights(key, clusters.clusters.unit_identities, settings.resamples)


def replicates_of(clusters: ClusterTables, weights: BootstrapWeights) -> tuple[Replicates, ...]:
    """The bootstrap replicates of all tables that are binned by a measure, of each number of options."""
    of_tables = [sums for sums in clusters.of_tables if isinstance(sums.spec, TableSpec)]
    return tuple(bootstrap(of_tables, weights))


def event_replicates_of(
    clusters: ClusterTables, weights: BootstrapWeights, scores: Sequence[FloatArray] = ()
) -> list[EventReplicates]:
    """The bootstrap replicates of all tables of classes, with the same weights; none if there are no such tables."""
    of_tables = [
        sums for sums in clusters.of_tables if isinstance(sums.spec, EventSpec) and sums.spec.is_by_class
    ]
    if not of_tables:
        return []
    return bootstrap_events(of_tables, weights, scores)


class SampleWithResamples:
    """A sample with resamples that show the noise of its metrics, made when a metric first needs them."""

    def __init__(self, sample: Sample, settings: Settings) -> None:
        self.tables: Tables = sample.tables
        self.level: float = settings.level
        self.seed: int = settings.seed
        self.sample, self.settings = sample, settings

    @cached_property
    def by_variation(self) -> ResampledTable:
        """The table by variation with its resamples."""
        return self._resampled_table(_BY_VARIATION)

    @property
    def by_confidence(self) -> ResampledTable | None:
        """The table by confidence with its resamples, which are not kept because they can take a gigabyte."""
        if self.tables.by_confidence is None:
            return None
        same = self.tables.by_confidence is self.tables.by_variation
        return self.by_variation if same else self._resampled_table(_BY_CONFIDENCE)

    @cached_property
    def variation_error(self) -> Estimate:
        """VCE."""
        return variation_error(self.by_variation, self.level, [self.seed, 3])

    @cached_property
    def confidence_error(self) -> Estimate | None:
        """ECE; None without a table by confidence, VCE if confidence is the measure."""
        resampled = self.by_confidence
        if resampled is None:
            return None
        same = self.tables.by_confidence is self.tables.by_variation
        return self.variation_error if same else variation_error(resampled, self.level, [self.seed, 4])

    @cached_property
    def debiased_variation_error(self) -> Debiased:
        """VCE, without tests and interval."""
        return debiased_variation_error(self.by_variation)

    @property
    def debiased_confidence_error(self) -> Debiased | None:
        """ECE, without tests and interval."""
        resampled = self.by_confidence
        if resampled is None or resampled is self.by_variation:
            return None if resampled is None else self.debiased_variation_error
        return debiased_variation_error(resampled)

    @cached_property
    def class_cells(self) -> ClassCells | None:
        """The cells of all classes; None without the event table of all classes."""
        return ClassCells.of(self.tables, self.settings.class_bins)

    @cached_property
    def debiased_class_errors(self) -> tuple[Debiased | None, Debiased | None]:
        """Classwise ECE and classwise total, without tests and intervals."""
        return (None, None) if self.class_cells is None else self.class_cells.debiased_errors()

    @property
    def debiased_gap_of_classes(self) -> Debiased | None:
        """The class gap, without test and interval."""
        return None if self.class_cells is None else self.class_cells.debiased_gap()

    @cached_property
    def _replicates(self) -> tuple[AnyReplicates, ...]:
        return self.sample.replicates_for(self.settings)

    @cached_property
    def classes(self) -> ClasswiseAssessment | None:
        """All classes; None without the event table of all classes."""
        return classwise(self.class_cells, self.settings)

    @property
    def gap_of_classes(self) -> Estimate | None:
        """Half the sum of |expected - observed| over the classes."""
        if self.classes is None or self.class_cells is None:
            return None
        return gap_estimate(self.classes, self.class_cells, self.settings)

    @property
    def inflation(self) -> float:
        """By how much clusters increase the variance of the log-score; 1 without clusters."""
        table, variance = self.tables.by_variation, self.by_variation.log_score_variance
        alone = table.log_score_variance
        if self.sample.clusters is None or alone <= 0:
            return 1.0
        return max(1.0, variance / alone)

    @property
    def predicted_class_test(self) -> PredictedClassTest | None:
        """The log-score by predicted class."""
        return predicted_class_test(self.tables, self.inflation)

    @property
    def cumulative_log_score(self) -> CumulativeTest:
        """The log-score cumulated over the bins of variation."""
        return cumulative_log_score(self.tables, self.by_variation, self.settings, self.inflation)

    def _resampled_table(self, place: int) -> ResampledTable:
        table, seed, n_clusters = (
            self.tables.calibration_tables[place],
            [self.seed, place],
            self.sample.n_clusters,
        )
        if n_clusters is None:
            return ResampledTable.of(table, self.settings.resamples, seed)
        if n_clusters < LEAST_CLUSTERS:
            cause = f"clusters has {n_clusters} distinct values"
            remedy = f"at least {LEAST_CLUSTERS} are needed"
            raise InvalidValueError("too-few-clusters", cause, remedy, argument="clusters", value=n_clusters)
        return ResampledTable.of_clusters(table, self._replicates[place], seed)

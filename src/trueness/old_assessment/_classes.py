"""Classes and scores of a sample: which classes are wrong, by predicted class, and cumulated over variation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trueness._arrays import FloatArray
from trueness.bins import Bins
from trueness.old_inference.classwise.assessment import assess_classes
from trueness.old_inference.classwise.errors import debiased_means
from trueness.old_inference.classwise.results import ClasswiseAssessment, ClasswiseError
from trueness.old_inference.estimates import ResampledTable, log_score_draws
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.clusters import ClusteredEvent, clustered_events
from trueness.old_inference.events.of_table import event_bins, event_cells
from trueness.old_inference.normal import debiased_total, half_normal_quantile
from trueness.old_inference.results import BinNoise, Debiased, Estimate, Interval
from trueness.old_inference.scores.cumulative import CumulativeTest, cumulative_score
from trueness.old_inference.scores.misses import Misses
from trueness.old_inference.scores.predicted_class import PredictedClassTest, by_predicted_class
from trueness.old_table import AnyRankTable, EventSpec
from trueness.old_table.cluster_sums import has_units
from trueness.old_table.label_worth import has_soft_labels
from trueness.old_table.score_sums import ScoreSums
from trueness.old_table.tables import Tables

if TYPE_CHECKING:
    from trueness.old_assessment._settings import Settings

_GAP_STREAM = 10


class ClassCells(NamedTuple):
    """The cells of all classes of some rows, each an event; of two classes those of class 1."""

    n_classes: int
    names: tuple[str, ...] | None
    cells: list[EventCells]
    bins: list[EventCells]
    """The cells merged into the bins of the calibration error."""
    clusters: list[ClusteredEvent] | None
    """The noise of rows in clusters."""

    @classmethod
    def of(cls, tables: Tables, bins: Bins) -> ClassCells | None:
        """None without the event table of all classes, or without the sums of clusters."""
        table, clusters = tables.by_class, clusters_of_classes(tables)
        if table is None or table.n_classes is None or (tables.clusters is not None and clusters is None):
            return None
        names = table.spec.class_names
        return cls(table.n_classes, names, event_cells(table), event_bins(table, bins), clusters)

    def debiased_errors(self) -> tuple[Debiased, Debiased]:
        """Classwise ECE and classwise total."""
        if self.clusters is None:
            return debiased_means(self.bins)
        return debiased_means(
            [noise.of_bins(each) for noise, each in zip(self.clusters, self.bins, strict=True)]
        )

    def debiased_gap(self) -> Debiased:
        """Half the sum of |expected - observed| over the classes, as a share of the rows; |gap| for two classes."""
        gaps = np.array([(each.predicted.sum() - each.observed.sum()) / each.total for each in self.cells])
        cells = self.cells
        if self.clusters is not None:
            cells = [noise.of_gap(each) for noise, each in zip(self.clusters, cells, strict=True)]
        sd = np.array([math.sqrt(float(each.variance.sum())) / each.total for each in cells])
        weight = self.weight_of_gaps
        return Debiased(float(weight @ np.abs(gaps)), float(debiased_total(weight, gaps, sd)), gaps, sd)

    @property
    def weight_of_gaps(self) -> FloatArray:
        """The weight of the gap of each class in their sum."""
        return np.full(len(self.cells), 1.0 if self.n_classes == 2 else 0.5)


def classwise(found: ClassCells | None, settings: Settings) -> ClasswiseAssessment | None:
    """All classes, each as an event; None without their cells."""
    if found is None:
        return None
    return assess_classes(
        found.cells,
        found.bins,
        found.n_classes,
        level=settings.level,
        resamples=settings.resamples,
        seed=settings.seed,
        names=found.names,
        clusters=found.clusters,
    )


def clusters_of_classes(tables: Tables) -> list[ClusteredEvent] | None:
    """The noise of each class if rows come in clusters; None without clusters, or if there are too many classes."""
    sums, table = tables.cluster_sums_by_class, tables.by_class
    if sums is None or table is None:
        return None
    coarse = table.coarsen(sums.spec.grid) if isinstance(sums.spec, EventSpec) else table
    return clustered_events(sums, coarse.weight_square_sum)


def are_too_many_for_clusters(tables: Tables) -> bool:
    """Whether rows come in clusters, which are not summed for each of so many classes."""
    table = tables.by_class
    return tables.clusters is not None and table is not None and not has_units(table.spec)


def predicted_class_test(tables: Tables, inflation: float) -> PredictedClassTest | None:
    """The log-score by predicted class; None for options. `inflation` is that of the variances."""
    scores = tables.by_variation.log_scores_by_predicted_class
    if scores is None:
        return None
    by_class, weighted = tables.by_class, tables.by_variation.spec.weighted
    plain = not weighted and not has_soft_labels(tables.by_variation)
    misses = None
    if by_class is not None and plain and inflation == 1:
        misses = Misses.of(event_cells(by_class), tables.by_variation.n_cells)
    variance = scores.variance * inflation * _mean_square_weight(tables.by_variation)
    return by_predicted_class(
        scores.rows,
        scores.score,
        variance,
        misses=misses,
        impossible_rows=tables.by_variation.impossible_rows,
    )


def cumulative_log_score(
    tables: Tables, resampled: ResampledTable, settings: Settings, inflation: float
) -> CumulativeTest:
    """The log-score cumulated over the bins."""
    table = tables.by_variation
    scores = table.log_scores
    return cumulative_score(
        scores.score,
        _bin_variance(table, scores) * inflation,
        settings.resamples,
        settings.seed,
        draws=log_score_draws(table, resampled),
        impossible_rows=table.impossible_rows,
    )


def _bin_variance(table: AnyRankTable, scores: ScoreSums) -> FloatArray:
    """The variance of the score of each bin; with weights, exact if these and the varentropy are uncorrelated."""
    if not table.spec.weighted:
        return scores.variance
    mass = np.where(table.count > 0, table.count, 1.0)
    return np.asarray(scores.variance * table.weight_square_sum / mass)


def _mean_square_weight(table: AnyRankTable) -> float:
    """Σw²/Σw over all rows; 1 without weights."""
    return float(table.weight_square_sum.sum() / table.count.sum()) if table.spec.weighted else 1.0


def error_estimate(error: ClasswiseError) -> Estimate:
    """A classwise error among the reported metrics."""
    assert error.interval is not None
    none = np.empty(0)
    return Estimate(
        value=error.value,
        noise_floor=error.noise_floor,
        p_value=error.p_value,
        centred_p_value=error.p_value,
        debiased=error.debiased,
        interval=error.interval,
        centred_gap=none,
        debiased_gap=none,
        bins=BinNoise(none, none, none, none, none, none),
    )


def gap_estimate(classes: ClasswiseAssessment, found: ClassCells, settings: Settings) -> Estimate:
    """The class gap with its interval. Its p-value is the smallest of the gaps, corrected for their number."""
    gap, weight = found.debiased_gap(), found.weight_of_gaps
    gaps, sd = gap.gap, gap.sd
    reach = half_normal_quantile(weight * sd, settings.level, [settings.seed, _GAP_STREAM])
    p = min((each.adjusted_gap_p_value for each in classes.classes), default=math.nan)
    return Estimate(
        value=gap.value,
        noise_floor=float(weight @ sd) * math.sqrt(2 / math.pi),
        p_value=p,
        centred_p_value=p,
        debiased=gap.debiased,
        interval=Interval.around(gap.value, reach, (0.0, 1.0), settings.level, "half-normal"),
        centred_gap=gaps,
        debiased_gap=gaps,
        bins=BinNoise(gaps, np.zeros_like(gaps), -2 * sd, 2 * sd, sd, np.full(len(gaps), np.nan)),
    )

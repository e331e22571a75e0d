"""The metrics of one model in each bootstrap replicate of the rows, by which models are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_assessment._result import Assessment
from trueness.old_assessment._sample import Sample
from trueness.old_assessment.compared import ComparedNumber
from trueness.old_assessment.reported import REPORTED, ReportedMetric
from trueness.old_inference.events.replicates import ClassNoise
from trueness.old_inference.normal import debiased_total
from trueness.old_inference.option_bins import bins_of
from trueness.old_inference.option_replicates import AnyReplicates
from trueness.old_inference.results import Debiased

_STREAM = 7

_ROUNDING = 1e-9
"""A standard deviation in the replicates that is this much smaller than the estimated one comes from rounding."""

DebiasedMetrics: TypeAlias = Mapping[str, Debiased | None]
"""The debiased metrics of one model by key; None where the tables lack what a metric needs."""


def debiased_metrics(result: Assessment) -> DebiasedMetrics:
    """Those of an assessment."""
    estimates = {key: metric.of(result) for key, metric in REPORTED.items()}
    return {key: None if found is None else Debiased.of(found) for key, found in estimates.items()}


class GapReplicates(NamedTuple):
    """The gaps of one model, summed over bins, in each replicate."""

    net: FloatArray
    """With their signs, (B,)."""
    absolute: list[FloatArray]
    """By their sizes, (B,), in two ways between which the truth lies."""


class ModelReplicates:
    """The metrics of one model in each bootstrap replicate of the rows."""

    def __init__(self, debiased: DebiasedMetrics, sample: Sample, seed: int) -> None:
        self.debiased, self.sample, self.tables, self.seed = debiased, sample, sample.tables, seed

    @cached_property
    def effective_clusters(self) -> float:
        """How many clusters of equal size have as much noise; infinite if rows are independent."""
        clusters = self.sample.clusters
        return math.inf if clusters is None else clusters.effective_units

    @cached_property
    def bins(self) -> Any:
        """The filled bins of the table by variation, of the same kind as the replicates."""
        return bins_of(self.tables.by_variation)

    @property
    def replicates(self) -> AnyReplicates:
        """The replicates of the table by variation."""
        return self.sample.replicates[0]

    @cached_property
    def by_variation(self) -> GapReplicates:
        """Of the table by variation: net gap and VCE."""
        return self._gap_replicates("vce", self.bins, self.replicates)

    @cached_property
    def by_confidence(self) -> GapReplicates:
        """Of the table by confidence: ECE."""
        if self.tables.by_confidence is self.tables.by_variation:
            return self.by_variation
        assert self.tables.by_confidence is not None
        return self._gap_replicates("ece", bins_of(self.tables.by_confidence), self.sample.replicates[1])

    def _gap_replicates(self, key: str, bins: Any, replicates: AnyReplicates) -> GapReplicates:
        debiased = self.debiased[key]
        assert debiased is not None
        return _gap_replicates(debiased, bins, replicates, self.seed)

    @cached_property
    def _by_class(self) -> ClassNoise:
        table, made = self.tables.by_class, self.sample.event_replicates
        assert table is not None
        assert made is not None
        return ClassNoise.of(table, made)

    @property
    def _half(self) -> float:
        """What the sum over all classes is multiplied with; class 1 of two stands for both."""
        return 1.0 if self.tables.n_classes == 2 else 0.5

    @cached_property
    def classes_total(self) -> list[FloatArray]:
        """The classwise total."""
        return [self._half * errors for errors in self._by_class.errors_of_bins]

    def classes_total_apart(self, other: ModelReplicates) -> FloatArray:
        """The noise of the difference of two classwise totals if gaps within noise have opposite signs."""
        return self._half * self._by_class.of_bins.opposite_errors(other._by_class.of_bins)

    @property
    def classes_mean(self) -> list[FloatArray]:
        """Classwise ECE: the total divided by half the number of classes."""
        return [errors / self._total_of_mean for errors in self.classes_total]

    def classes_mean_apart(self, other: ModelReplicates) -> FloatArray:
        """As `classes_total_apart`, of classwise ECE."""
        return self.classes_total_apart(other) / self._total_of_mean

    @property
    def _total_of_mean(self) -> float:
        """The classwise total divided by classwise ECE."""
        n_classes = self.tables.n_classes
        assert n_classes is not None  # tables of classes have their number
        return max(n_classes / 2, 1.0)

    @cached_property
    def gap_of_classes(self) -> list[FloatArray]:
        """Half the sum of the sizes of the gaps of all classes."""
        return [self._half * errors for errors in self._by_class.of_events.errors]

    def gap_of_classes_apart(self, other: ModelReplicates) -> FloatArray:
        """The noise of the difference of two class gaps if gaps within noise have opposite signs."""
        return self._half * self._by_class.of_events.opposite_errors(other._by_class.of_events)

    @property
    def event_gap(self) -> FloatArray:
        """The gap of class 1 of two, with its sign."""
        return self._by_class.of_events.noise[:, 0]

    @property
    def brier_score(self) -> FloatArray:
        """Of two classes."""
        return self._score("brier_score")

    @property
    def log_loss(self) -> FloatArray:
        """Of two classes."""
        return self._score("log_loss")

    def _score(self, name: str) -> FloatArray:
        found: FloatArray | None = getattr(self.sample.event_replicates, name)
        assert found is not None
        return found

    def has(self, number: ReportedMetric | ComparedNumber) -> bool:
        """Whether the model has a number, and replicates of it."""
        of_events = self.sample.event_replicates
        if isinstance(number, ReportedMetric):
            known = self.debiased[number.key] is not None
            return known and number.contrast is not None and (of_events is not None or not number.by_class)
        known = number.value(self.tables) is not None and of_events is not None
        return known and (number.is_calibration or getattr(of_events, number.key) is not None)


def _gap_replicates(debiased: Debiased, bins: Any, replicates: AnyReplicates, seed: int) -> GapReplicates:
    """Net and absolute gaps in each replicate.

    Where gaps are within noise, the sum of their sizes is as if they had any sign: each replicate is debiased as the
    table was. Where they all have the sign of the net gap, the sum errs as the net gap does.
    """
    noise = bins.sign * replicates.variation_gaps(bins)
    noise -= noise.mean(axis=0)
    share, gaps = replicates.shares(bins), debiased.gap[bins.index]
    # Ranks that were not observed have no noise in the replicates, or rounding errors alone.
    sd, seen = debiased.sd[bins.index], noise.std(axis=0)
    seen[seen < _ROUNDING * sd] = 0.0
    for unseen in np.flatnonzero((seen == 0) & (sd > 0)).tolist():
        # The same stream for all models of the same rows, so that what they have in common cancels.
        stream = np.random.default_rng([seed, _STREAM, int(bins.index[unseen])])
        noise[:, unseen] = sd[unseen] * stream.standard_normal(replicates.size)
    net = ((gaps + noise) * share).sum(axis=1)
    # At least as wide as in the assessment.
    noise *= np.maximum(np.divide(sd, seen, out=np.ones_like(sd), where=seen > 0), 1.0)
    one_way = math.copysign(1.0, float(bins.weight @ gaps)) * (noise * share).sum(axis=1)
    return GapReplicates(net, [debiased_total(share, gaps + noise, sd), one_way])

"""The metrics that are reported, as one list: what each is called, means, and how it is estimated and contrasted.

Assessments, printed pages, JSON, the report, `compare`, forest plots, the gate of the command, tolerances and scorers
all go over `REPORTED`. To add a metric, add an entry here and its test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from trueness import old_metrics as metrics
from trueness._arrays import FloatArray, cumulated
from trueness.old_assessment._classes import are_too_many_for_clusters, error_estimate
from trueness.old_inference.estimates import debiased_net_gap, net_gap
from trueness.old_inference.ranked_errors import debiased_ranked_error, ranked_error
from trueness.old_inference.results import Debiased, Estimate
from trueness.old_table.cluster_sums import MAX_EVENTS
from trueness.old_table.tables import Tables
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.old_assessment._model_replicates import ModelReplicates
    from trueness.old_assessment._result import Assessment
    from trueness.old_assessment._sample import SampleWithResamples


@dataclass(frozen=True, slots=True)
class ByReplicates:
    """Contrast two models by how the difference of a metric varies over bootstrap replicates of the rows."""

    values: Callable[[ModelReplicates], Sequence[FloatArray]]
    """The metric of one model in each replicate, (B,), in one or more ways; the widest noise counts."""
    between: Callable[[ModelReplicates, ModelReplicates], FloatArray] | None = None
    """The difference of two models in each replicate, (B,), in one more way."""

    method: ClassVar[str] = "bootstrap"


@dataclass(frozen=True, slots=True)
class ByNorm:
    """Contrast two models by the triangle inequality, for a metric that is a norm of the gaps of all bins and ranks."""

    norm: Callable[[FloatArray], FloatArray]
    """Maps gaps between rank frequencies, (..., C), to their norms, (...)."""
    distance: str = "tv"
    """The distance between rank frequencies: gaps of rows with fewer options are on its scale."""

    method: ClassVar[str] = "triangle"


TOO_MANY_FOR_CLUSTERS = f"with clusters at most {MAX_EVENTS} classes are assessed"


def _never(_: Tables) -> bool:
    return False


def _reported(_: Tables) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class ReportedMetric:
    """A metric: its names and meaning, how it is estimated, and which of its p-values counts as evidence."""

    key: str
    """Its attribute of an `Assessment` and of a `Pair`, and its name in options and in JSON."""
    label: str
    long_name: str
    meaning: str
    """One or two sentences; "{measure}" stands for the variation measure."""
    reveals: Literal["bins", "direction", "top-class", "ranks", "classes"]
    """The kind of miscalibration that the verdict concludes if this metric alone is beyond noise."""
    estimate: Callable[[SampleWithResamples], Estimate | None]
    """Its value, noise and interval; None if the tables lack what it needs."""
    read: Callable[..., float]
    """The plug-in value of a table."""
    debiased: Callable[[SampleWithResamples], Debiased | None] | None = None
    """What the estimate has of its debiased value, without tests and interval; None if that is not faster."""
    read_options: tuple[str, ...] = ("norm",)
    """The options that `read` takes beside the table."""
    contrast: ByReplicates | ByNorm | None = None
    """How two models are contrasted; None leaves the metric out of comparisons."""
    by_confidence: bool = False
    """Whether it is read off the table binned by confidence."""
    by_class: bool = False
    """Whether it is read off the event table of all classes."""
    is_evidence: bool = True
    """Whether its p-value counts for the verdict; not if a test of the same with more power does."""
    signed: bool = False
    """Whether it is above 0 for over-confidence and below 0 for under-confidence."""
    centred: bool = True
    """Whether its evidence is the p-value that is centred bin by bin, or that of the plug-in value."""
    bounded_by: str | None = None
    """Key of the metric that is never smaller, so that a tolerance need not be checked for this one."""
    repeats: Callable[[Tables], bool] = _never
    """Whether, for these tables, it equals another metric of the list; it is then not counted as evidence twice."""
    missing: str = "cannot be estimated from these tables"
    """Why there is no estimate where `estimate` returns None."""
    withheld: Callable[[Tables], str | None] = _reported
    """Why it is not reported for these tables, although the estimate exists; None if it is reported."""

    def debiased_of(self, sample: SampleWithResamples) -> Debiased | None:
        """The debiased value of a sample; None if the tables lack what it needs."""
        if self.withheld(sample.tables):
            return None
        if self.debiased is not None:
            return self.debiased(sample)
        estimate = self.estimate(sample)
        return None if estimate is None else Debiased.of(estimate)

    def of(self, result: Assessment) -> Estimate | None:
        """The estimate of this metric; None if the tables lack what it needs."""
        return None if self.withheld(result.tables) else result.estimates.get(self.key)

    def reason(self, result: Assessment) -> str:
        """Why `of` is None."""
        return self.withheld(result.tables) or self.missing

    def p_value(self, estimate: Estimate) -> float:
        """The p-value that counts as evidence."""
        return estimate.centred_p_value if self.centred else estimate.p_value

    @property
    def is_calibration(self) -> bool:
        """Whether a difference shows that models differ in calibration: of every metric here."""
        return True

    @property
    def is_headline(self) -> bool:
        """Whether it has a card and a column: not if another metric bounds it and it adds no sign to that."""
        return self.bounded_by is None or self.signed

    @property
    def sign(self) -> str:
        """The sign in a format specification: signed metrics are printed with + or -."""
        return "+" if self.signed else ""

    def magnitude(self, estimate: Estimate) -> tuple[float, float, float]:
        """Lower end, debiased value and upper end of the size of the error, whatever its sign."""
        low, high = estimate.interval.low, estimate.interval.high
        least = max(0.0, low, -high) if self.signed else low
        return least, abs(estimate.debiased), max(abs(low), abs(high))


def total_variation(gaps: FloatArray) -> FloatArray:
    """Σ|g|/2 over the last axis."""
    return np.asarray(np.abs(gaps).sum(axis=-1) / 2)


def wasserstein(gaps: FloatArray) -> FloatArray:
    """The Wasserstein distance over ranks, divided by C - 1: the mean of the cumulated gaps' sizes."""
    ahead = cumulated(np.moveaxis(gaps, -1, 0)[:-1])
    return np.asarray(np.abs(ahead).sum(axis=0) / len(ahead))


def _of_all_classes(tables: Tables) -> str | None:
    """Many classes are not assessed one by one with clusters."""
    return TOO_MANY_FOR_CLUSTERS if are_too_many_for_clusters(tables) else None


def _is_vce(tables: Tables) -> bool:
    """Whether ECE equals VCE, and VCE is reported."""
    return tables.by_confidence is tables.by_variation


REPORTED: dict[str, ReportedMetric] = {
    metric.key: metric
    for metric in (
        ReportedMetric(
            "vce",
            "VCE",
            "variation calibration error",
            "The distance between the {measure} that the model predicts and the {measure} of the observed ranks of the "
            "true class, averaged over the bins. It is 0 for a calibrated model. It does not depend on which rank was "
            "observed.",
            reveals="bins",
            estimate=lambda sample: sample.variation_error,
            debiased=lambda sample: sample.debiased_variation_error,
            read=metrics.variation_calibration_error,
            contrast=ByReplicates(lambda model: model.by_variation.absolute),
        ),
        ReportedMetric(
            "net",
            "net gap",
            "mean gap over the bins",
            "Above 0 the outcomes vary more than predicted: the model is over-confident. Below 0 it is "
            "under-confident.",
            reveals="direction",
            estimate=lambda sample: net_gap(sample.by_variation, sample.level),
            debiased=lambda sample: debiased_net_gap(sample.by_variation),
            read=lambda table: metrics.signed_parts(table).net,
            read_options=(),
            contrast=ByReplicates(lambda model: [model.by_variation.net]),
            signed=True,
            bounded_by="vce",
        ),
        ReportedMetric(
            "ece",
            "ECE",
            "expected calibration error",
            "The distance between confidence and accuracy. Only the top class is compared.",
            reveals="top-class",
            estimate=lambda sample: sample.confidence_error,
            debiased=lambda sample: sample.debiased_confidence_error,
            read=metrics.expected_calibration_error,
            contrast=ByReplicates(lambda model: model.by_confidence.absolute),
            by_confidence=True,
            centred=False,
            repeats=_is_vce,
            missing="needs a table binned by confidence",
        ),
        ReportedMetric(
            "rce",
            "RCE",
            "ranked calibration error, total variation",
            "How much probability is at the wrong rank. It depends on which rank was observed, unlike VCE.",
            reveals="ranks",
            estimate=lambda sample: ranked_error(sample.by_variation, "tv", sample.level),
            debiased=lambda sample: debiased_ranked_error(sample.by_variation, "tv"),
            read=metrics.ranked_calibration_error,
            read_options=("norm", "distance"),
            contrast=ByNorm(total_variation),
            centred=False,
        ),
        ReportedMetric(
            "rce_w1",
            "RCE W1",
            "ranked calibration error, Wasserstein distance",
            "The mean over k of the error of the top-k probability.",
            reveals="ranks",
            estimate=lambda sample: ranked_error(sample.by_variation, "w1", sample.level),
            debiased=lambda sample: debiased_ranked_error(sample.by_variation, "w1"),
            read=partial(metrics.ranked_calibration_error, distance="w1"),
            contrast=ByNorm(wasserstein, "w1"),
            centred=False,
            bounded_by="rce",
            repeats=lambda tables: tables.by_variation.n_cells == 2,  # the two distances are then the same
        ),
        ReportedMetric(
            "cwece_total",
            "classwise total",
            "half the sum of the calibration errors of all classes",
            "How much probability is at the wrong class, over bins of the probability of each class: from 0 to 1.",
            reveals="classes",
            estimate=lambda sample: None if sample.classes is None else error_estimate(sample.classes.total),
            debiased=lambda sample: sample.debiased_class_errors[1],
            read=metrics.classwise_total,
            read_options=("bins", "norm"),
            contrast=ByReplicates(
                lambda model: model.classes_total, lambda first, second: first.classes_total_apart(second)
            ),
            by_class=True,
            is_evidence=False,
            centred=False,
            missing="needs the event table of all classes (by_class=True)",
            withheld=_of_all_classes,
        ),
        ReportedMetric(
            "cwece",
            "classwise ECE",
            "mean of the calibration errors of all classes",
            "The mean over the classes of the distance between the probability of a class and how often it is "
            "observed; it falls like 1/C with the number of classes.",
            reveals="classes",
            estimate=lambda sample: None if sample.classes is None else error_estimate(sample.classes.mean),
            debiased=lambda sample: sample.debiased_class_errors[0],
            read=metrics.classwise_error,
            read_options=("bins", "weights", "norm"),
            contrast=ByReplicates(
                lambda model: model.classes_mean, lambda first, second: first.classes_mean_apart(second)
            ),
            by_class=True,
            is_evidence=False,
            centred=False,
            bounded_by="cwece_total",
            repeats=lambda _: True,  # the total in other units
            missing="needs the event table of all classes (by_class=True)",
            withheld=_of_all_classes,
        ),
        ReportedMetric(
            "gap",
            "class gap",
            "half the sum of |expected - observed| over the classes",
            "How far the frequencies of the classes are from their mean predictions.",
            reveals="classes",
            estimate=lambda sample: sample.gap_of_classes,
            debiased=lambda sample: sample.debiased_gap_of_classes,
            read=metrics.class_gap,
            read_options=(),
            contrast=ByReplicates(
                lambda model: model.gap_of_classes, lambda first, second: first.gap_of_classes_apart(second)
            ),
            by_class=True,
            is_evidence=False,
            centred=False,
            bounded_by="cwece_total",
            missing="needs the event table of all classes (by_class=True)",
            withheld=_of_all_classes,
        ),
    )
}
"""By key, in the order in which they are printed."""


def bounding_metrics() -> list[ReportedMetric]:
    """The metrics that bound the others: a tolerance that they meet is met by all."""
    return [metric for metric in REPORTED.values() if metric.bounded_by is None]


def headline_metrics() -> list[ReportedMetric]:
    """The metrics that have a card in the report and a column in printed tables."""
    return [metric for metric in REPORTED.values() if metric.is_headline]


def estimates_of(result: Assessment) -> list[tuple[ReportedMetric, Estimate]]:
    """The reported metrics that an assessment has, with their estimates."""
    return [(metric, estimate) for metric in REPORTED.values() if (estimate := metric.of(result)) is not None]


def as_limits(argument: str, limits: Any, bare: Sequence[str]) -> dict[str, float]:
    """Limits by metric: a mapping from metrics to numbers, or a number for each of the metrics `bare`."""
    by_key = limits if isinstance(limits, Mapping) else dict.fromkeys(bare, limits)
    if not by_key:
        remedy = "pass a number, or a mapping such as {'vce': 0.02}"
        raise InvalidValueError("bad-argument", f"`{argument}` is empty", remedy, argument=argument)
    for key, limit in by_key.items():
        if key not in REPORTED:
            metrics = ", ".join(REPORTED)
            cause = f"`{argument}` contains the unknown metric {key!r}"
            remedy = f"the metrics are {metrics}"
            raise InvalidValueError("unknown-metric", cause, remedy, argument=argument, value=key)
        if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 <= limit <= 2:
            cause = f"`{argument}` for {key} must be a number from 0 to 2, got {limit!r}"
            raise InvalidValueError("bad-argument", cause, argument=argument, value=limit)
    return {key: float(limit) for key, limit in by_key.items()}

"""The metrics that are reported: one list, over which text, JSON, gate, report and comparison go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trueness.inference.estimates import Estimate

if TYPE_CHECKING:
    from trueness.assessment._answer import Assessment


@dataclass(frozen=True, slots=True)
class ReportedMetric:
    """A metric with its words and the p-value that counts as evidence."""

    key: str
    """Its attribute of an `Assessment` and of a `Pair`, its name in options and in JSON."""
    label: str
    long_name: str
    meaning: str
    signed: bool = False
    """Whether it is above 0 for over-confidence and below 0 for under-confidence."""
    centred: bool = True
    """Whether its evidence is the p-value centred bin by bin (VCE and what is read off V), or that of the value."""
    bounded_by: str | None = None
    """Key of the metric that is never smaller, so that a tolerance need not be checked for this one."""

    def of(self, result: Assessment) -> Estimate | None:
        """The estimate of this metric, None if the tables do not have it."""
        estimate: Estimate | None = getattr(result, self.key)
        return estimate

    def p_value(self, estimate: Estimate) -> float:
        """The p-value on which the verdict rests."""
        return estimate.centred_p_value if self.centred else estimate.p_value

    def magnitude(self, estimate: Estimate) -> tuple[float, float, float]:
        """Lower end, debiased value and upper end of the size of the error, whatever its sign."""
        low, high = estimate.interval.low, estimate.interval.high
        least = max(0.0, low, -high) if self.signed else low
        return least, abs(estimate.debiased), max(abs(low), abs(high))


REPORTED = (
    ReportedMetric(
        "vce",
        "VCE",
        "variation calibration error",
        "The distance between the {measure} that the model predicts and the {measure} of the observed ranks of the "
        "true class, averaged over the bins. It is 0 for a calibrated model. It cannot see which rank was observed.",
    ),
    ReportedMetric(
        "net",
        "net gap",
        "signed variation gap",
        "Above 0 the outcomes vary more than predicted: the model is over-confident. Below 0 it is under-confident.",
        signed=True,
        bounded_by="vce",
    ),
    ReportedMetric(
        "ece",
        "ECE",
        "expected calibration error",
        "The distance between confidence and accuracy. It judges the top class alone.",
        centred=False,
    ),
    ReportedMetric(
        "rce",
        "RCE",
        "ranked calibration error, total variation",
        "How much probability stands at the wrong rank. It sees which rank was observed: read it beside VCE.",
        centred=False,
    ),
    ReportedMetric(
        "rce_w1",
        "RCE W1",
        "ranked calibration error, Wasserstein distance",
        "The mean over k of the error of the top-k probability.",
        centred=False,
        bounded_by="rce",
    ),
)
"""In the order in which they are printed."""

BY_KEY: Mapping[str, ReportedMetric] = {metric.key: metric for metric in REPORTED}

BOUNDING = tuple(metric for metric in REPORTED if metric.bounded_by is None)
"""The metrics that bound the others: a tolerance that they keep is kept by all."""


def estimates_of(result: Assessment) -> list[tuple[ReportedMetric, Estimate]]:
    """The reported metrics that an assessment has, with their estimates."""
    return [(metric, estimate) for metric in REPORTED if (estimate := metric.of(result)) is not None]


def as_limits(argument: str, limits: Any, bare: tuple[str, ...]) -> dict[str, float]:
    """A number, which holds for the metrics `bare`, or a mapping from metrics to numbers, as a checked mapping."""
    given = limits if isinstance(limits, Mapping) else dict.fromkeys(bare, limits)
    if not given:
        raise ValueError(f"{argument} is empty; pass a number, or a mapping such as {{'vce': 0.02}}")
    for key, limit in given.items():
        if key not in BY_KEY:
            raise ValueError(f"{argument} names {key!r}; the metrics are {', '.join(BY_KEY)}")
        if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 <= limit <= 2:
            raise ValueError(f"{argument} for {key} must be a number from 0 to 2, got {limit!r}")
    return {key: float(limit) for key, limit in given.items()}

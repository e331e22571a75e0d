"""All that is compared between models: the reported metrics, and numbers of two classes that only comparisons have."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trueness.assessment.reported import REPORTED, ByReplicates, ReportedMetric

if TYPE_CHECKING:
    from trueness.assessment._result import Assessment


@dataclass(frozen=True, slots=True)
class ComparedNumber:
    """A number that is compared between models, but is not a metric of calibration or has another place in a result."""

    key: str
    """Its attribute of a `Pair`, and its name in JSON."""
    label: str
    long_name: str
    value: Callable[[Assessment], float | None]
    """None if an assessment does not have it."""
    contrast: ByReplicates
    signed: bool = False
    is_calibration: bool = False
    """Whether a difference shows that the models differ in calibration."""

    @property
    def sign(self) -> str:
        """The sign in a format specification."""
        return "+" if self.signed else ""


def _of_two(number: Callable[[Assessment], float]) -> Callable[[Assessment], float | None]:
    """A number of assessments of two classes with their event table; None where it is not finite."""

    def value(result: Assessment) -> float | None:
        if result.tables.n_classes != 2 or result.classes is None:
            return None
        found = number(result)
        return found if math.isfinite(found) else None

    return value


COMPARED_ONLY: dict[str, ComparedNumber] = {
    number.key: number
    for number in (
        ComparedNumber(
            "event_gap",
            "gap of class 1",
            "(expected - observed)/rows of class 1",
            _of_two(lambda result: result.classes.classes[0].gap.value if result.classes else math.nan),
            ByReplicates(lambda model: [model.event_gap]),
            signed=True,
            is_calibration=True,
        ),
        ComparedNumber(
            "brier_score",
            "Brier score",
            "mean squared distance between prediction and outcome",
            _of_two(lambda result: result.brier_score),
            ByReplicates(lambda model: [model.brier_score]),
        ),
        ComparedNumber(
            "log_loss",
            "log-loss",
            "mean of -ln p of the true class",
            _of_two(lambda result: result.log_loss),
            ByReplicates(lambda model: [model.log_loss]),
        ),
    )
}
"""Numbers of two classes that only comparisons have, by key."""


def compared_numbers() -> dict[str, ReportedMetric | ComparedNumber]:
    """All that is compared between models, in the order in which it is printed."""
    return {**REPORTED, **COMPARED_ONLY}

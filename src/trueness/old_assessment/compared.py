"""All that is compared between models: the reported metrics, and numbers of two classes that only comparisons have."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from trueness.old_assessment.reported import REPORTED, ByReplicates, ReportedMetric
from trueness.old_inference.events.of_table import event_cells
from trueness.old_table.tables import Tables


@dataclass(frozen=True, slots=True)
class ComparedNumber:
    """A number that is compared between models, but is not a metric of calibration or has another place in a result."""

    key: str
    """Its attribute of a `Pair`, and its name in JSON."""
    label: str
    long_name: str
    value: Callable[[Tables], float | None]
    """None if the tables do not have it."""
    contrast: ByReplicates
    signed: bool = False
    is_calibration: bool = False
    """Whether a difference shows that the models differ in calibration."""

    @property
    def sign(self) -> str:
        """The sign in a format specification."""
        return "+" if self.signed else ""


def _of_two(number: Callable[[Tables], float]) -> Callable[[Tables], float | None]:
    """A number of tables of two classes with their event table; None where it is not finite."""

    def value(tables: Tables) -> float | None:
        if tables.n_classes != 2 or tables.by_class is None:
            return None
        found = number(tables)
        return found if math.isfinite(found) else None

    return value


def _gap_of_event(tables: Tables) -> float:
    """(expected - observed)/rows of class 1."""
    assert tables.by_class is not None
    (cells,) = event_cells(tables.by_class)
    return float(cells.predicted.sum() - cells.observed.sum()) / cells.total


COMPARED_ONLY: dict[str, ComparedNumber] = {
    number.key: number
    for number in (
        ComparedNumber(
            "event_gap",
            "gap of class 1",
            "(expected - observed)/rows of class 1",
            _of_two(_gap_of_event),
            ByReplicates(lambda model: [model.event_gap]),
            signed=True,
            is_calibration=True,
        ),
        ComparedNumber(
            "brier_score",
            "Brier score",
            "mean squared distance between prediction and outcome",
            _of_two(lambda tables: tables.by_variation.brier_score),
            ByReplicates(lambda model: [model.brier_score]),
        ),
        ComparedNumber(
            "log_loss",
            "log-loss",
            "mean of -ln p of the true class",
            _of_two(lambda tables: tables.by_variation.log_loss),
            ByReplicates(lambda model: [model.log_loss]),
        ),
    )
}
"""Numbers of two classes that only comparisons have, by key."""


def compared_numbers() -> dict[str, ReportedMetric | ComparedNumber]:
    """All that is compared between models, in the order in which it is printed."""
    return {**REPORTED, **COMPARED_ONLY}

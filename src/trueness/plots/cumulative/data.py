"""What the picture of the log-score shows: for which predicted class a model is over-confident."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trueness._printing import p_sentence
from trueness.old_inference.normal import normal_quantile
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.old_assessment import Assessment
    from trueness.old_inference.scores.predicted_class import PredictedClassTerm

MOST_CLASSES = 40
"""More bars are hard to read: those with the smallest p-values are shown, and the number of the others is stated."""

Y_LABEL = "log-score, in standard deviations"


@dataclass(frozen=True, slots=True)
class PredictedClassBar:
    """The rows that predict one class."""

    name: str
    rows: float
    z: float
    """Z_k, below 0 where the model is over-confident."""
    corrected: float
    """Z_k corrected for the skewness of rare misses, as the p-value is."""
    adjusted_p_value: float
    called: bool


@dataclass(frozen=True, slots=True)
class PredictedClasses:
    """The predicted classes with the smallest adjusted p-values, smallest first."""

    bars: tuple[PredictedClassBar, ...]
    n_left_out: int
    n_called: int
    """Of all predicted classes."""
    reach: float
    """Half the width of the band in which a single Z_k lies with probability `level`."""
    summary: str
    level: float

    @property
    def limit(self) -> float:
        """The largest distance from 0 that is shown."""
        return 1.12 * max(self.reach, *(abs(bar.corrected) for bar in self.bars))


def predicted_classes_of(result: Assessment, most: int = MOST_CLASSES) -> PredictedClasses:
    """The log-score by predicted class of an `Assessment`."""
    test = result.by_predicted_class
    if test is None or math.isnan(test.value):
        raise _missing("this assessment has no log-score by predicted class")
    tested = [term for term in test.terms if not math.isnan(term.corrected_value)]
    ordered = sorted(tested, key=lambda term: (term.adjusted_p_value, -abs(term.corrected_value)))
    limit = 1 - result.level + 1e-12
    bars = tuple(
        PredictedClassBar(
            name=_name(term, result),
            rows=term.rows,
            z=term.value,
            corrected=term.corrected_value,
            adjusted_p_value=term.adjusted_p_value,
            called=term.adjusted_p_value <= limit,
        )
        for term in ordered[:most]
    )
    return PredictedClasses(
        bars=bars,
        n_left_out=len(ordered) - len(bars),
        n_called=sum(term.adjusted_p_value <= limit for term in tested),
        reach=normal_quantile(result.level),
        summary=f"Q = {test.value:.1f}, {test.degrees} degrees of freedom, {p_sentence(test.safe_p_value)}",
        level=result.level,
    )


def _name(term: PredictedClassTerm, result: Assessment) -> str:
    """The name of the class; of a pooled term, how many there are."""
    if len(term.classes) > 1:
        return f"{len(term.classes)} rarer classes"
    table = result.tables.by_class
    names = None if table is None else table.spec.class_names
    return str(term.classes[0]) if names is None else names[term.classes[0]]


def _missing(cause: str) -> InvalidValueError:
    remedy = "assess rows that all have the same classes"
    return InvalidValueError("missing-table", cause, remedy, argument="result")

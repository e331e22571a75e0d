"""What the strip of classes shows: how often each class was observed per expected one, with its exact noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trueness.old_inference.events.observed_band import observed_bands
from trueness.old_inference.events.of_table import event_cells
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.old_assessment import Assessment
    from trueness.old_inference.classwise.results import ClassAssessment

MOST_CLASSES = 40
"""More lines are hard to read: those with the smallest p-values are shown, and the number of the others is stated."""

X_LABEL = "observed / expected"

_LIMITS = (1.25, 1.5, 2.0, 3.0, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class ClassLine:
    """One class: O/E, and where noise alone would put it."""

    name: str
    expected: float
    observed: float
    ratio: float
    """O/E; NaN if the class was never predicted."""
    low: float
    """Lower end of the exact band of O/E if the class were calibrated."""
    high: float
    adjusted_p_value: float
    called: bool
    """Whether its gap or its spread is significant after the correction."""
    words: str
    """What is wrong with it in a few words; empty if nothing is significant."""
    measured: bool
    """Whether at least 10 rows are expected with it, and 10 without."""


@dataclass(frozen=True, slots=True)
class ClassStrip:
    """The classes with the smallest adjusted p-values, smallest first."""

    lines: tuple[ClassLine, ...]
    n_left_out: int
    n_called: int
    """Of all classes."""
    level: float

    @property
    def limit(self) -> float:
        """The largest factor from 1 that is shown, in both directions; what is beyond is drawn at the edge."""
        ends = [x for line in self.lines for x in (line.ratio, line.low, line.high) if x > 0]
        most = max((max(x, 1 / x) for x in ends), default=1.0)
        return next((limit for limit in _LIMITS if most <= limit), _LIMITS[-1])


def class_strip_of(result: Assessment, most: int = MOST_CLASSES) -> ClassStrip:
    """The strip of the classes of an `Assessment`."""
    classes = result.classes
    table = result.tables.by_class
    if classes is None or table is None:
        raise no_classes()
    ordered = classes.by_adjusted_p_value
    shown, limit = ordered[:most], 1 - result.level + 1e-12
    cells = dict(zip((each.index for each in classes.classes), event_cells(table), strict=True))
    low, high = observed_bands([cells[each.index] for each in shown], result.level)
    return ClassStrip(
        lines=tuple(
            _line(each, a, b, limit) for each, a, b in zip(shown, low.tolist(), high.tolist(), strict=True)
        ),
        n_left_out=len(ordered) - len(shown),
        n_called=sum(each.adjusted_p_value <= limit for each in ordered),
        level=result.level,
    )


def no_classes() -> InvalidValueError:
    """The refusal of an assessment without classes."""
    return InvalidValueError(
        "no-classes", "this assessment has no classes", "pass by_class=True to assess", argument="result"
    )


def _line(each: ClassAssessment, low: float, high: float, limit: float) -> ClassLine:
    expected = each.gap.expected
    ends = (low / expected, high / expected) if expected > 0 else (math.nan, math.nan)
    return ClassLine(
        name=each.name,
        expected=expected,
        observed=each.gap.observed,
        ratio=each.gap.ratio,
        low=ends[0],
        high=ends[1],
        adjusted_p_value=each.adjusted_p_value,
        called=each.adjusted_p_value <= limit,
        words=short_words(each, limit),
        measured=each.measured,
    )


def short_words(each: ClassAssessment, limit: float) -> str:
    """The directions in which a class is called, without numbers."""
    said: list[Any] = []
    if each.gap.impossible and each.gap.expected == 0:
        said.append("impossible")
    elif each.adjusted_gap_p_value <= limit:
        said.append("too often" if each.gap.value > 0 else "too seldom")
    if each.adjusted_spread_p_value <= limit and not each.gap_explains_spread:
        spread = each.remaining_spread or each.spread
        said.append("too extreme" if spread.statistic < 0 else "too timid")
    return ", ".join(said)

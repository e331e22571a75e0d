"""What is estimated by class."""

from __future__ import annotations

import math
from dataclasses import dataclass

from trueness._printing import about_text, count_text
from trueness.old_inference.events.in_the_large import GapTest
from trueness.old_inference.events.spread import SpreadTest
from trueness.old_inference.results import Interval

TOO_EXTREME = "too extreme: high probabilities too high, low ones too low"
TOO_TIMID = "too timid: high probabilities too low, low ones too high"


@dataclass(frozen=True, slots=True)
class ClasswiseError:
    """The calibration error of a class, or its mean over classes, with its noise."""

    value: float
    """The plug-in value."""
    noise_floor: float
    """Its mean if the model were calibrated."""
    p_value: float
    """The probability of a plug-in value at least as large, if the model were calibrated, by draws."""
    debiased: float
    """An estimate of the value with unlimited data; NaN for a class that is not measured."""
    interval: Interval | None
    """The interval of the debiased value; None for a class that is not measured."""
    reason: str | None = None
    """Why there is no value, or neither debiased value nor interval."""


@dataclass(frozen=True, slots=True)
class ClassAssessment:
    """One class: its gap, its spread and its calibration error."""

    name: str
    index: int
    """The index of the class among all classes."""
    gap: GapTest
    """How often it was expected and observed."""
    spread: SpreadTest
    """Whether its probabilities are too extreme or too timid."""
    ece: ClasswiseError
    measured: bool
    """Whether at least 10 rows are expected with this class, and 10 without: enough to measure its error."""
    adjusted_gap_p_value: float
    """The p-value of the gap, corrected for the tests of all classes."""
    adjusted_spread_p_value: float
    """The p-value of the spread, corrected for the tests of all classes."""
    words: str
    """What is wrong with the class, by its corrected p-values; empty if nothing is significant."""
    remaining_spread: SpreadTest | None = None
    """The spread once the gap is removed by one factor of all odds, where both are significant; else None.

    The test of the spread also responds to a large gap: what is left shows whether the probabilities are too extreme.
    """
    gap_explains_spread: bool = False
    """Whether the spread is significant only because of the gap."""

    @property
    def adjusted_p_value(self) -> float:
        """The smaller corrected p-value; NaN if the class was not tested."""
        known = [p for p in (self.adjusted_gap_p_value, self.adjusted_spread_p_value) if not math.isnan(p)]
        return min(known, default=math.nan)

    @property
    def impossible(self) -> bool:
        """Whether it was observed in rows in which it had probability 0, as the sums of its cells show."""
        return self.gap.impossible


@dataclass(frozen=True, slots=True)
class PooledClasses:
    """The classes that are not measured, together; as if they were independent, which is on the safe side."""

    names: tuple[str, ...]
    expected: float
    observed: float
    p_value: float
    """Two-sided, of the sum of their gaps; exact."""


@dataclass(frozen=True, slots=True)
class ClasswiseAssessment:
    """All classes of a model; of two classes only class 1, whose mirror image class 0 is."""

    classes: tuple[ClassAssessment, ...]
    """In the order of the classes."""
    mean: ClasswiseError
    """Classwise ECE: the mean of the ECE of all classes, at most 2/C."""
    total: ClasswiseError
    """Half the sum of the ECE of all classes, from 0 to 1."""
    expected_weighted: ClasswiseError
    """The mean weighted by how often each class was expected, which does not depend on labels."""
    observed_weighted: ClasswiseError
    """The mean weighted by how often each class was observed."""
    pooled: PooledClasses | None
    """The classes that are not measured; None if all are."""
    evidence_p_value: float
    """The smallest corrected p-value among classes that are not impossible: for evidence beside other tests."""
    level: float

    @property
    def impossible(self) -> tuple[str, ...]:
        """The names of the classes that were observed although they had probability 0."""
        return tuple(each.name for each in self.classes if each.impossible)

    @property
    def by_adjusted_p_value(self) -> list[ClassAssessment]:
        """The classes, the clearest error first; those that were not tested last."""
        return sorted(self.classes, key=lambda each: (math.isnan(p := each.adjusted_p_value), p))


def words_of(gap: GapTest, spread: SpreadTest, adjusted: tuple[float, float], limit: float) -> str:
    """What is wrong with a class, by the corrected p-values of its gap and its spread.

    A gap that is significant is stated with its numbers, a spread with its direction. If both are, `spread` is what
    remains once the gap is removed, and has to be significant too.
    """
    said = []
    if gap.impossible and gap.expected == 0:
        said.append(f"impossible: probability 0 in every row, {count_text(gap.observed)} observed")
    elif adjusted[0] <= limit:
        numbers = f"{about_text(gap.expected)} expected, {count_text(gap.observed)} observed"
        said.append(f"predicted too {'often' if gap.value > 0 else 'seldom'}: {numbers}")
    if adjusted[1] <= limit and not (adjusted[0] <= limit and spread.p_value > limit):
        said.append(TOO_EXTREME if spread.statistic < 0 else TOO_TIMID)
    return "; ".join(said)

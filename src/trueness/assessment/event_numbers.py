"""The numbers of an event as one list, for text and report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trueness.inference.results import Interval

if TYPE_CHECKING:
    from trueness.assessment._event_result import EventAssessment, EventGroup


@dataclass(frozen=True, slots=True)
class EventNumber:
    """A number of an event, beside what a calibrated model would have."""

    label: str
    value: float
    calibrated: float
    """Its value for a calibrated event: its noise floor, if it is above 0; NaN if not known."""
    p_value: float
    """NaN if it has none of its own."""
    interval: Interval | None = None
    signed: bool = False
    reason: str | None = None
    """Why there is no value."""


def by_p_value(groups: Sequence[EventGroup]) -> list[EventGroup]:
    """The groups with the smallest adjusted p-value first; those that were not assessed last."""
    return sorted(groups, key=lambda it: it.adjusted_p_value if not math.isnan(it.adjusted_p_value) else 2.0)


def event_name(event: EventAssessment) -> str:
    """The event in a sentence: "class cat", "the top label" or "a right answer"."""
    if event.what == "right":
        return "a right answer"
    return "the top label" if event.table.events == ("top",) else f"class {event.name}"


def event_numbers(result: EventAssessment) -> Iterator[EventNumber]:
    """All numbers in the order in which they are shown; the gap in the large is the first."""
    gap, none = result.in_the_large, math.nan
    yield EventNumber("gap in the large", gap.value, 0.0, gap.p_value, gap.interval, signed=True)
    spread = result.spread
    yield EventNumber(
        "spread (signed root)", spread.signed_root, 0.0, spread.p_value, signed=True, reason=spread.reason
    )
    slope, intercept = result.cox.slope, result.cox.intercept
    yield EventNumber("Cox slope", slope.value, 1.0, none, slope.interval, reason=slope.reason)
    yield EventNumber(
        "Cox intercept", intercept.value, 0.0, result.cox.p_value, intercept.interval, signed=True
    )
    ece = result.ece
    yield EventNumber("ECE, plug-in", ece.value, ece.noise_floor, ece.p_value)
    yield EventNumber("ECE, debiased", ece.debiased, 0.0, none, ece.interval)
    yield EventNumber("RMS error, plug-in", result.rms.value, none, none)
    yield EventNumber("RMS error, debiased", result.rms.debiased, 0.0, none)
    yield EventNumber("largest gap of a bin", result.max_gap, none, none)
    distances = ((f"ICI ({result.curve.curve})", result.ici), ("E50", result.e50), ("E90", result.e90))
    for label, drawn in (*distances, ("Emax", result.e_max)):
        yield EventNumber(label, drawn.value, drawn.noise_floor, drawn.p_value)
    for label, test in (("KS", result.ks), ("Kuiper", result.kuiper)):
        yield EventNumber(label, test.value, test.noise_floor, test.p_value)
    z, hosmer = result.spiegelhalter, result.hosmer_lemeshow
    yield EventNumber("Spiegelhalter Z", z.value, 0.0, z.p_value, signed=True, reason=z.reason)
    yield EventNumber("Hosmer-Lemeshow", hosmer.value, float(hosmer.degrees), hosmer.p_value)
    score = result.log_score_z
    yield EventNumber("log-score Z", score.value, 0.0, score.p_value, signed=True, reason=score.reason)
    yield EventNumber("Brier score", result.brier_score, result.brier.calibrated_value, none)
    parts = result.brier_parts
    for label in ("reliability", "resolution", "uncertainty"):
        yield EventNumber(f"  {label}", getattr(parts, label), none, none)
    yield EventNumber("log-loss", result.log_loss, result.log.calibrated_value, none)

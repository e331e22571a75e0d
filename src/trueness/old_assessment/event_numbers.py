"""The numbers of an event as one list, for text and report."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trueness._printing import about_text, count_text
from trueness.old_inference.results import Interval

if TYPE_CHECKING:
    from trueness.old_assessment._event_result import EventAssessment


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


def frequency_heads(what: str | None) -> tuple[str, str, str]:
    """The heads of expected, observed and their difference in a table of groups."""
    return ("stated", "observed", "net gap") if what == "right" else ("expected", "observed", "gap")


def frequencies(event: EventAssessment) -> tuple[str, str]:
    """Expected and observed as text: of a stated confidence the means, otherwise the numbers of rows."""
    gap, rows = event.in_the_large, float(event.table.count.sum())
    if event.what == "right":
        return f"{gap.expected / rows:.4f}", f"{gap.observed / rows:.4f}"
    return about_text(gap.expected), count_text(gap.observed)


def has_slope(what: str | None) -> bool:
    """Whether a table of groups has the slope: not of stated confidences, often exactly 0 or 1."""
    return what is None


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

"""What a monitor says: looks, alarms, groups, and the trend."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """A look that was counted."""

    at: str
    n_rows: int
    log_e_value: float
    """ln E after this look, in order of arrival; of groups, of the mean of their E."""
    gap: float
    """The top-label gap, mean confidence less accuracy: above 0 over-confident. NaN without rows or a rank table."""
    late: bool
    """Whether a look with a later name had arrived before."""

    @property
    def e_value(self) -> float:
        """E after this look."""
        return exponential(self.log_e_value)


@dataclass(frozen=True, slots=True)
class Alarm:
    """The first look at which the evidence sufficed, and what it says. An alarm stays."""

    at: str
    """The look of the alarm."""
    e_value: float
    """E at the alarm; of groups, of the group with the largest."""
    p_value: float
    """The p-value at the alarm, valid however often one looks."""
    direction: str
    """The bet with the most evidence: "flat", "sharp", "top-", …; of a class "too often", …"""
    bin: int | None
    """The bin that it is on, counted from 0; None if it is on all."""
    began: str
    """The estimated look at which it began, in order of arrival."""
    since: str | None
    """Certainly (up to α) some look from this one to the alarm was outside the tolerance; None if none is certain."""
    groups: tuple[str, ...] = ()
    """The groups that e-BH flags as of now."""
    meaning: str = ""
    """The direction in words, such as "over-confident"."""
    event: str | None = None
    """The class that the bet is on; None if it is on ranks."""
    group: str | None = None
    """The group with the largest E at the alarm."""


@dataclass(frozen=True, slots=True)
class GroupEvidence:
    """The evidence of one group as of now."""

    name: str
    n_looks: int
    n_rows: int
    log_e_value: float
    p_value: float
    flagged: bool
    """Whether e-BH flags the group as of now."""
    meaning: str
    """The direction with the most evidence, in words."""
    began: str | None
    """The estimated start; None unless flagged."""

    @property
    def e_value(self) -> float:
        """E as of now."""
        return exponential(self.log_e_value)


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """The gap of one look with an ordinary interval, and the gap of all looks so far with a band."""

    at: str
    n_rows: int
    gap: float
    """Of this look; positive if over-confident."""
    low: float
    """Lower end of its interval, which holds for one look at one time."""
    high: float
    running_gap: float
    """Of all looks so far, in order of arrival."""
    band_low: float
    """Lower end of the band, which holds at all looks at once."""
    band_high: float


def exponential(log: float) -> float:
    """e^log, infinite beyond the largest number."""
    return math.exp(log) if log < 709.0 else math.inf

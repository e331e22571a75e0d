"""Axes of probabilities, linear over [0, 1] or by log-odds for rare events, both labelled with probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from trueness._arrays import FloatArray
from trueness.plots.svg import linear_ticks

LEAST = 1e-9
"""Smallest distance from 0 and from 1 on an axis of log-odds."""

_MOST_TICKS = 7


@dataclass(frozen=True, slots=True)
class ProbabilityAxis:
    """The part of the probabilities that both axes of a diagram show, and its scale."""

    low: float
    high: float
    by_log_odds: bool

    @classmethod
    def linear(cls) -> Self:
        """All of [0, 1]."""
        return cls(0.0, 1.0, False)

    @classmethod
    def log_odds(cls, values: FloatArray) -> Self:
        """The log-odds around these probabilities, with a margin of a factor 2 of the odds."""
        inside = values[(values > 0) & (values < 1)]
        if not len(inside):
            return cls(0.001, 0.999, True)
        low, high = max(float(inside.min()), 2 * LEAST), min(float(inside.max()), 1 - 2 * LEAST)
        return cls(low / (2 - low), 2 * high / (1 + high), True)

    @classmethod
    def common(cls, axes: Sequence[ProbabilityAxis]) -> ProbabilityAxis:
        """An axis for the probabilities of all; linear unless all are by log-odds."""
        if not all(axis.by_log_odds for axis in axes):
            return cls.linear()
        return cls(min(axis.low for axis in axes), max(axis.high for axis in axes), True)

    def place(self, p: FloatArray | float) -> FloatArray:
        """Where probabilities stand on the scale, those outside the axis at its ends."""
        inside = np.clip(np.asarray(p, np.float64), self.low, self.high)
        return np.log(inside / (1 - inside)) if self.by_log_odds else inside

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the scale."""
        return float(self.place(self.low)), float(self.place(self.high))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Places on the scale, with the probabilities that they stand for."""
        if not self.by_log_odds:
            return linear_ticks(self.low, self.high)
        shown = [p for p in _round_probabilities() if self.low <= p <= self.high]
        return [(float(self.place(p)), tick_text(p)) for p in _thinned(shown)]


def _round_probabilities() -> list[float]:
    """Powers of ten, one half, and 1 less powers of ten, in increasing order."""
    small = [10.0**-k for k in range(9, 0, -1)]
    return [*small, 0.5, *(1 - p for p in reversed(small))]


def _thinned(values: Sequence[float]) -> Sequence[float]:
    """Every second or third value, so that not too many are left."""
    return values[:: -(-len(values) // _MOST_TICKS) or 1]


def tick_text(p: float) -> str:
    """A probability as short as it can be read.

    >>> tick_text(0.001), tick_text(1e-6), tick_text(0.999), tick_text(1 - 1e-6)
    ('0.001', '10⁻⁶', '0.999', '1−10⁻⁶')
    """
    distance = min(p, 1 - p)
    if distance >= 0.9e-4:
        return f"{p:.6g}"
    power = f"10{str(round(np.log10(distance))).translate(_RAISED)}"
    return power if p < 0.5 else f"1−{power}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

"""What the pictures of a monitor show."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray
from trueness.monitoring import Monitor
from trueness.monitoring.names import order_of

ROOM_ABOVE = 8.0
"""Powers of ten above the limit that the picture shows; larger E are cut off."""


@dataclass(frozen=True, slots=True, eq=False)
class EvidencePath:
    """E after each look, in order of arrival, (t,) each."""

    names: tuple[str, ...]
    log10_e: FloatArray
    rows: FloatArray
    limit: float
    """log₁₀ of the E that alarms."""
    alarm: int | None
    """The look of the alarm."""
    began: int | None
    """The look at which it began, by the estimate."""

    @property
    def range(self) -> tuple[float, float]:
        """The powers of ten that the picture shows."""
        low, high = (float(f(self.log10_e)) if len(self.log10_e) else 0.0 for f in (np.min, np.max))
        return min(math.floor(low), -1.0), max(
            min(math.ceil(high), self.limit + ROOM_ABOVE), self.limit + 0.5
        )


def evidence_of(monitor: Monitor) -> EvidencePath:
    """E after each look, and the limit of the alarm."""
    looks, alarm = monitor.looks, monitor.alarm
    place = {look.at: k for k, look in enumerate(looks)}
    return EvidencePath(
        names=tuple(look.at for look in looks),
        log10_e=np.maximum(np.array([look.log_e_value for look in looks]) / math.log(10), -300.0),
        rows=np.array([float(look.n_rows) for look in looks]),
        limit=monitor.settings.log_limit / math.log(10),
        alarm=None if alarm is None else place[alarm.at],
        began=None if alarm is None else place[alarm.began],
    )


@dataclass(frozen=True, slots=True, eq=False)
class TrendLines:
    """The gap of each look, sorted by name, and the running gap in order of arrival, (t,) each."""

    names: tuple[str, ...]
    gap: FloatArray
    low: FloatArray
    high: FloatArray
    arrived: tuple[str, ...]
    """The names in order of arrival, in which the running gap is."""
    running: FloatArray
    band_low: FloatArray
    band_high: FloatArray
    tolerance: float
    level: float

    @property
    def range(self) -> tuple[float, float]:
        """The gaps that the picture shows: those of looks and the band, with some room."""
        shown = [self.gap, self.running, self.low, self.high, [-self.tolerance, self.tolerance, 0.0]]
        values = np.concatenate([np.asarray(column, dtype=np.float64) for column in shown])
        finite = values[np.isfinite(values)]
        reach = max(float(np.abs(finite).max()) * 1.08, 0.01)
        return -reach, reach


def trend_lines_of(monitor: Monitor) -> TrendLines:
    """The top-label gap of each look with its interval, and the running one with its band."""
    points = monitor.trend()
    by_name = sorted(points, key=lambda point: order_of(point.at))

    def column(name: str, of: object = None) -> FloatArray:
        return np.array([getattr(point, name) for point in (points if of is None else by_name)])

    return TrendLines(
        names=tuple(point.at for point in by_name),
        gap=column("gap", by_name),
        low=column("low", by_name),
        high=column("high", by_name),
        arrived=tuple(point.at for point in points),
        running=column("running_gap"),
        band_low=column("band_low"),
        band_high=column("band_high"),
        tolerance=monitor.settings.tolerance,
        level=1 - monitor.settings.alpha,
    )

"""The pictures of a monitor as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from trueness._markup import Markup, tag
from trueness._printing import rows_text, shorten
from trueness.plots.monitoring.data import EvidencePath, TrendLines
from trueness.plots.svg import Frame, chart, label, linear_ticks, mark

WIDE, LEFT, RIGHT = 940.0, 64.0, 16.0
MOST_MARKS = 200
"""Looks that can be pointed at; of more, every second or third, and always the alarm."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def evidence_chart(r: EvidencePath) -> Markup:
    """E on a logarithmic axis with the limit of the alarm, and the rows of the looks below."""
    n = max(len(r.names), 1)
    frame = Frame(LEFT, 12, WIDE - LEFT - RIGHT, 260, (0.5, n + 0.5), r.range)
    below = Frame(LEFT, frame.bottom + 8, frame.width, 44, frame.x_range, (0.0, 1.0))
    ticks = _name_ticks(r.names)
    powers = [(value, f"10{words.translate(_RAISED)}") for value, words in _whole_ticks(*r.range)]
    x = np.arange(1, n + 1)[: len(r.names)]
    parts: list[Any] = [
        frame.axes([(value, "") for value, _ in ticks], powers, "", "E"),
        _began(frame, r),
        tag("polyline", class_="curve observed", points=frame.points(x.tolist(), r.log10_e.tolist())),
        tag(
            "line", class_="diagonal", x1=frame.left, x2=frame.right, y1=frame.y(r.limit), y2=frame.y(r.limit)
        ),
        label(frame.left + 6, frame.y(r.limit) - 6, "alarm", class_="aside-text", anchor="start"),
        [_evidence_mark(r, frame, k) for k in _marked(len(r.names), r.alarm)],
        below.axes(ticks, [], "look", ""),
        _sizes(r, below),
    ]
    description = f"E after each of {len(r.names)} looks; the alarm is at 10 to the power {r.limit:.3g}."
    if r.alarm is not None:
        description += f" It was reached at {r.names[r.alarm]}."
    return chart(WIDE, below.bottom + 48, "Evidence after each look", description, parts)


def _whole_ticks(low: float, high: float) -> list[tuple[float, str]]:
    ticks = linear_ticks(low, high, 6)
    return [(value, f"{value:g}") for value, _ in ticks if float(value).is_integer()]


def _began(frame: Frame, r: EvidencePath) -> Markup | None:
    """A shade over the looks since the estimated start."""
    if r.began is None or r.alarm is None:
        return None
    left, right = frame.x(r.began + 0.5), frame.x(r.alarm + 1.5)
    return tag("rect", class_="band", x=left, y=frame.top, width=max(right - left, 1.0), height=frame.height)


def _marked(n: int, always: int | None = None) -> list[int]:
    step = max(1, -(-n // MOST_MARKS))
    chosen = set(range(0, n, step)) | ({n - 1} if n else set()) | ({always} if always is not None else set())
    return sorted(chosen)


def _evidence_mark(r: EvidencePath, frame: Frame, k: int) -> Markup:
    px, py = frame.x(k + 1.0), frame.y(float(r.log10_e[k]))
    words = f"{r.names[k]}\nE = {_power(float(r.log10_e[k]))}\n{rows_text(float(r.rows[k]))}"
    if k == r.alarm:
        words += "\nalarm"
    return mark(
        words,
        tag("circle", class_="reach", cx=px, cy=py, r=8.0),
        tag(
            "circle",
            class_="dot whole" if k == r.alarm else "dot",
            cx=px,
            cy=py,
            r=5.5 if k == r.alarm else 3.0,
        ),
    )


def _power(log10: float) -> str:
    return f"{10**log10:.3g}" if -6 < log10 < 6 else f"10{f'{log10:.0f}'.translate(_RAISED)}"


def _name_ticks(names: Sequence[str], most: int = 7) -> list[tuple[float, str]]:
    step = max(1, -(-len(names) // most))
    return [(k + 1.0, shorten(names[k], 16)) for k in range(0, len(names), step)]


def _sizes(r: EvidencePath, frame: Frame) -> list[Markup]:
    """Bars of the rows of each look; neighbours share a bar where there are many."""
    most, n = float(max(r.rows.max(initial=0.0), 1.0)), len(r.names)
    step = max(1, -(-n // MOST_MARKS))
    bars = []
    for k in range(0, n, step):
        rows = float(r.rows[k : k + step].mean())
        x, end, top = frame.x(k + 0.5), frame.x(min(k + step, n) + 0.5), frame.y(0.9 * rows / most)
        shape = tag(
            "rect", class_="rows", x=x, y=top, width=max(end - x - 0.5, 0.4), height=frame.bottom - top
        )
        words = f"{r.names[k]}: {rows_text(round(rows))}" + (" on average" if step > 1 else "")
        bars.append(tag("g", tag("title", words), shape, class_="aside"))
    axis = tag("line", class_="axis", x1=frame.left, x2=frame.right, y1=frame.bottom, y2=frame.bottom)
    return [*bars, axis]


def trend_chart(r: TrendLines) -> Markup:
    """The gap of each look with its interval, the running gap with its band, and the tolerance shaded."""
    n = max(len(r.names), 1)
    frame = Frame(LEFT, 12, WIDE - LEFT - RIGHT, 280, (0.5, n + 0.5), r.range)
    parts: list[Any] = [
        frame.axes(_name_ticks(r.names), linear_ticks(*r.range), "look", "confidence less accuracy"),
        _tolerance(frame, r.tolerance),
        _band(frame, r),
        tag("line", class_="diagonal", x1=frame.left, x2=frame.right, y1=frame.y(0), y2=frame.y(0)),
        label(frame.right - 4, frame.top + 12, "over-confident", class_="aside-text", anchor="end"),
        label(frame.right - 4, frame.bottom - 6, "under-confident", class_="aside-text", anchor="end"),
        [_gap_mark(r, frame, k) for k in _marked(len(r.names)) if np.isfinite(r.gap[k])],
    ]
    last = np.flatnonzero(np.isfinite(r.running))
    words = ""
    if last.size:
        k = int(last[-1])
        words = f" The running gap is {r.running[k]:+.4f}, in the band {r.band_low[k]:+.4f} to {r.band_high[k]:+.4f}."
    return chart(
        WIDE, frame.bottom + 48, "Top-label gap of each look", f"{len(r.names)} looks.{words}", parts
    )


def _tolerance(frame: Frame, tolerance: float) -> Markup | None:
    if tolerance <= 0:
        return None
    top, bottom = frame.y(tolerance), frame.y(-tolerance)
    return tag(
        "rect", class_="rows", x=frame.left, y=top, width=frame.width, height=bottom - top, fill_opacity=0.25
    )


def _band(frame: Frame, r: TrendLines) -> list[Markup]:
    """The band of the running gap and its line, in order of arrival."""
    at = np.flatnonzero(np.isfinite(r.running))
    if not at.size:
        return []
    x = (at + 1.0).tolist()
    band = frame.band(x, r.band_low[at].tolist(), r.band_high[at].tolist())
    line = tag("polyline", class_="curve predicted", points=frame.points(x, r.running[at].tolist()))
    return [band, line]


def _gap_mark(r: TrendLines, frame: Frame, k: int) -> Markup:
    px, py = frame.x(k + 1.0), frame.y(float(r.gap[k]))
    words = (
        f"{r.names[k]}\ngap {r.gap[k]:+.4f}\n{100 * r.level:g} % interval of this look alone: {r.low[k]:+.4f} to "
        f"{r.high[k]:+.4f}"
    )
    return mark(
        words,
        tag("circle", class_="reach", cx=px, cy=py, r=8.0),
        tag("line", class_="bar", x1=px, x2=px, y1=frame.y(float(r.low[k])), y2=frame.y(float(r.high[k]))),
        tag("circle", class_="dot", cx=px, cy=py, r=3.0),
    )

"""The diagrams of variation as SVG: reliability, signed gaps, and the small strip beside a number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from trueness.plots.readings import Gaps, Reliability, rows_text
from trueness.plots.reliability import bars
from trueness.plots.style import marker_areas
from trueness.report._frame import Frame, chart, label, linear_ticks, mark
from trueness.report._markup import Markup, tag

WIDTH, LEFT, RIGHT = 460.0, 58.0, 14.0


def reliability_chart(r: Reliability) -> Markup:
    """Predicted against observed, with the noise band, and the histogram of V under it."""
    low, high = r.view
    pad = 0.03 * (high - low)
    ends = (low - pad, high + pad)
    side = WIDTH - LEFT - RIGHT
    frame = Frame(LEFT, 12, side, side, ends, ends)
    below = Frame(LEFT, frame.bottom + 8, side, 56, ends, (0.0, 1.0))
    order = np.argsort(r.x)
    ticks = linear_ticks(low, high)
    parts: list[Any] = [
        frame.axes([(value, "") for value, _ in ticks], ticks, "", r.y_label),
        frame.band(*(column[order].tolist() for column in (r.x, r.low, r.high))),
        tag("line", class_="diagonal", x1=frame.x(low), y1=frame.y(low), x2=frame.x(high), y2=frame.y(high)),
    ]
    if r.metric == "UCE":
        line = frame.points(r.x[order].tolist(), r.expected[order].tolist())
        parts.append(tag("polyline", class_="curve predicted", points=line))
    parts += _reliability_marks(r, frame)
    parts += [below.axes(ticks, [], r.x_label, ""), _histogram(r, below)]
    name = f"Reliability diagram of {r.metric}: {r.y_label} against {r.x_label}"
    above, inside = (
        int(np.count_nonzero(r.y > r.high)),
        int(np.count_nonzero((r.y >= r.low) & (r.y <= r.high))),
    )
    description = (
        f"{len(r.x)} bins; {inside} lie in the band in which a calibrated model would be, {above} above it, "
        f"{len(r.x) - inside - above} below it. {r.summary}."
    )
    return chart(WIDTH, below.bottom + 48, name, description, parts)


def _reliability_marks(r: Reliability, frame: Frame) -> list[Markup]:
    areas = marker_areas((r.rows / r.rows.sum()).tolist(), 30, 200)
    marks = []
    for k in range(len(r.x)):
        words = (
            f"bin {r.bins[k]}, V in {r.span[k]}: {rows_text(float(r.rows[k]))}\n"
            f"{r.x_label} {r.x[k]:.4f}, {r.y_label} {r.y[k]:.4f}\n"
            f"if calibrated: {r.low[k]:.4f} to {r.high[k]:.4f}"
        )
        marks.append(
            _dot(
                frame,
                words,
                (r.x[k], r.y[k]),
                (r.bar_low[k], r.bar_high[k]),
                area=areas[k],
                small=bool(r.small[k]),
            )
        )
    return marks


def _dot(
    frame: Frame, words: str, at: tuple[float, float], ends: tuple[float, float], *, area: float, small: bool
) -> Markup:
    """A point with its bar, and room around it for a finger."""
    px, py = frame.x(at[0]), frame.y(at[1])
    return mark(
        words + ("\ntoo few rows to say much" if small else ""),
        tag("circle", class_="reach", cx=px, cy=py, r=12.0),
        tag("line", class_="bar", x1=px, x2=px, y1=frame.y(ends[0]), y2=frame.y(ends[1])),
        tag("circle", class_="dot small" if small else "dot", cx=px, cy=py, r=math.sqrt(area / math.pi)),
    )


def _histogram(r: Reliability, frame: Frame) -> list[Markup]:
    left, width, height = bars(r)
    shapes = []
    for k in np.flatnonzero(r.share):
        x = max(frame.x(left[k]), frame.left)
        end = min(frame.x(left[k] + width[k]), frame.right)
        words = f"V in {r.edges[k]:.4g} to {r.edges[k + 1]:.4g}: {100 * r.share[k]:.3g} % of the rows"
        top = frame.y(0.92 * height[k])
        if end > x:
            shape = tag(
                "rect", class_="rows", x=x, y=top, width=max(end - x - 1, 0.6), height=frame.bottom - top
            )
            shapes.append(tag("g", tag("title", words), shape, class_="aside"))
    return [
        *shapes,
        tag("line", class_="axis", x1=frame.left, x2=frame.right, y1=frame.bottom, y2=frame.bottom),
    ]


def gap_chart(r: Gaps) -> Markup:
    """Signed gaps over V, above 0 over-confident."""
    largest = max(float((np.abs(r.gap) + r.reach).max()), float(r.high.max()), float(-r.low.min())) * 1.12
    largest = largest if largest > 1e-9 else 1.0  # one row: nothing can vary
    left, right = r.view
    pad = 0.03 * (right - left)
    frame = Frame(LEFT + 6, 12, WIDTH - LEFT - RIGHT - 6, 240, (left - pad, right + pad), (-largest, largest))
    order = np.argsort(r.x)
    areas = marker_areas((r.rows / r.rows.sum()).tolist(), 30, 160)
    parts: list[Any] = [
        frame.axes(
            linear_ticks(left, right),
            linear_ticks(-largest, largest),
            f"predicted {r.measure.replace('_', ' ')}",
            "observed less expected",
        ),
        frame.band(*(column[order].tolist() for column in (r.x, r.low, r.high))),
        tag("line", class_="diagonal", x1=frame.left, x2=frame.right, y1=frame.y(0), y2=frame.y(0)),
        label(frame.right - 4, frame.top + 12, "over-confident", class_="aside-text", anchor="end"),
        label(frame.right - 4, frame.bottom - 6, "under-confident", class_="aside-text", anchor="end"),
    ]
    for k in range(len(r.x)):
        words = (
            f"bin {r.bins[k]}, V in {r.span[k]}: {rows_text(float(r.rows[k]))}\n"
            f"gap {r.gap[k]:+.4f}\nif calibrated: {r.low[k]:+.4f} to {r.high[k]:+.4f}"
        )
        ends = (r.gap[k] - r.reach[k], r.gap[k] + r.reach[k])
        parts.append(_dot(frame, words, (r.x[k], r.gap[k]), ends, area=areas[k], small=bool(r.small[k])))
    beyond = int(np.count_nonzero((r.gap > r.high) | (r.gap < r.low)))
    description = f"{beyond} of {len(r.x)} bins lie outside of the band of a calibrated model. {r.summary}."
    return chart(
        WIDTH, frame.bottom + 46, "Signed gap of each bin over its predicted variation", description, parts
    )


def strip(value: float, low: float, high: float, floor: float, end: float) -> Markup:
    """A number with its interval and what noise alone would give, on a line from 0 (or from -end) to end."""
    start = -end if min(low, floor, value) < 0 else 0.0
    frame = Frame(4, 2, 212, 18, (start, end), (0.0, 1.0))
    middle = frame.y(0.5)
    parts = [
        tag("line", class_="axis", x1=frame.left, x2=frame.right, y1=middle, y2=middle),
        tag("line", class_="diagonal", x1=frame.x(0), x2=frame.x(0), y1=frame.top, y2=frame.bottom),
        tag(
            "rect",
            class_="interval",
            x=frame.x(low),
            y=middle - 3,
            width=max(frame.x(high) - frame.x(low), 1),
            height=6,
        ),
        tag("line", class_="floor", x1=frame.x(floor), x2=frame.x(floor), y1=frame.top, y2=frame.bottom),
        tag("circle", class_="dot", cx=frame.x(value), cy=middle, r=4.5),
    ]
    return tag("svg", parts, class_="strip", viewBox="0 0 220 22", aria_hidden="true", focusable="false")

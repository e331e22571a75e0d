"""The pictures of an event as SVG."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from trueness._markup import Markup, tag
from trueness.plots.event.data import EventDiagram
from trueness.plots.event.differences import X_LABEL, Y_LABEL, Differences
from trueness.plots.style import marker_areas
from trueness.plots.svg import LEFT, RIGHT, WIDTH, Frame, bin_mark, chart, label, linear_ticks, mark


def event_chart(r: EventDiagram) -> Markup:
    """Observed against predicted frequency of an event, with the noise band, and the histogram of predictions."""
    low, high = r.axis.ends
    pad, side = 0.03 * (high - low), WIDTH - LEFT - RIGHT
    ends = (low - pad, high + pad)
    frame = Frame(LEFT, 12, side, side, ends, ends)
    below = Frame(LEFT, frame.bottom + 8, side, 56, ends, (0.0, 1.0))
    x, y_low, y_high = (r.axis.place(column).tolist() for column in (r.x, r.low, r.high))
    ticks = r.axis.ticks
    scale = ", by log-odds" if r.axis.by_log_odds else ""
    parts: list[Any] = [
        frame.axes([(at, "") for at, _ in ticks], ticks, "", f"observed frequency{scale}"),
        frame.band(x, y_low, y_high),
        tag("line", class_="diagonal", x1=frame.x(low), y1=frame.y(low), x2=frame.x(high), y2=frame.y(high)),
        _curve(r, frame),
        label(frame.left + 6, frame.top + 14, "forecast too seldom", class_="aside-text", anchor="start"),
        label(frame.right - 6, frame.bottom - 8, "forecast too often", class_="aside-text", anchor="end"),
        _marks(r, frame),
        below.axes(ticks, [], f"predicted probability of {_short(r.name)}{scale}", ""),
        _histogram(r, below),
    ]
    return chart(WIDTH, below.bottom + 48, f"Reliability diagram of {r.name}", _description(r), parts)


def _short(name: str) -> str:
    return name if len(name) <= 28 else name[:27] + "…"


def _description(r: EventDiagram) -> str:
    above, below = (int(np.count_nonzero(side)) for side in (r.y > r.high, r.y < r.low))
    inside = len(r.x) - above - below
    return (
        f"{len(r.x)} bins: {inside} inside the band expected for a calibrated model, {above} above it, {below} below "
        f"it. {r.summary}."
    )


def _curve(r: EventDiagram, frame: Frame) -> Markup | None:
    if not len(r.curve_x):
        return None
    x, y = (r.axis.place(column).tolist() for column in (r.curve_x, r.curve_y))
    return tag("polyline", class_="curve observed", points=frame.points(x, y))


def _marks(r: EventDiagram, frame: Frame) -> list[Markup]:
    areas, words = marker_areas(r.shares, 30, 200), r.descriptions
    columns = (r.x, r.y, r.bar_low, r.bar_high)
    x, y, bar_low, bar_high = (r.axis.place(column) for column in columns)
    return [
        bin_mark(
            frame,
            words[k] + ("" if r.y[k] > 0 else "\nnever observed"),
            (x[k], y[k]),
            (bar_low[k], bar_high[k]),
            area=areas[k],
            small=bool(r.small[k] or (r.axis.by_log_odds and r.y[k] <= 0)),
        )
        for k in range(len(r.x))
    ]


def _histogram(r: EventDiagram, frame: Frame) -> list[Markup]:
    left, right, height = r.histogram_bars
    edges, share, shapes = r.histogram_edges, r.histogram_share, []
    for k in np.flatnonzero(height > 0):
        x, top = frame.x(left[k]), frame.y(0.92 * height[k])
        width = max(frame.x(right[k]) - x - 1, 0.6)
        words = f"probability in {edges[k]:.4g} to {edges[k + 1]:.4g}: {100 * share[k]:.3g} % of the rows"
        shape = tag("rect", class_="rows", x=x, y=top, width=width, height=frame.bottom - top)
        shapes.append(tag("g", tag("title", words), shape, class_="aside"))
    axis = tag("line", class_="axis", x1=frame.left, x2=frame.right, y1=frame.bottom, y2=frame.bottom)
    return [*shapes, axis]


def differences_chart(r: Differences) -> Markup:
    """Observed less predicted, added up in order of the probability, with the band of a calibrated event."""
    largest = r.y_limit
    frame = Frame(LEFT + 12, 12, WIDTH - LEFT - RIGHT - 12, 300, (0.0, 1.0), (-largest, largest))
    parts: list[Any] = [frame.axes(linear_ticks(0, 1), linear_ticks(-largest, largest), X_LABEL, Y_LABEL)]
    if not math.isnan(r.reach):
        parts.append(frame.band([0.0, 1.0], [-r.reach] * 2, [r.reach] * 2))
    line = frame.points(r.share[r.drawn].tolist(), r.path[r.drawn].tolist())
    parts += [
        tag("line", class_="diagonal", x1=frame.left, x2=frame.right, y1=frame.y(0), y2=frame.y(0)),
        tag("polyline", class_="curve observed", points=line),
        label(frame.left + 6, frame.top + 14, "rising: more observed", class_="aside-text", anchor="start"),
        label(
            frame.left + 6, frame.bottom - 8, "falling: fewer observed", class_="aside-text", anchor="start"
        ),
    ]
    for k in r.marked:
        x, y = frame.x(r.share[k]), frame.y(r.path[k])
        reach = tag("rect", class_="reach", x=x - 8, y=frame.top, width=16.0, height=frame.height)
        parts.append(mark(r.describe(k), reach, tag("circle", class_="dot", cx=x, cy=y, r=3.0)))
    name = f"Cumulative differences of {r.name}"
    return chart(WIDTH, frame.bottom + 46, name, _differences_description(r), parts)


def _differences_description(r: Differences) -> str:
    left = "" if math.isnan(r.reach) else _inside(r)
    return f"The line ends at {r.path[-1]:+.4f}{left}. {r.summary}."


def _inside(r: Differences) -> str:
    stays = float(np.abs(r.path).max()) <= r.reach
    return f" and {'stays inside' if stays else 'leaves'} the band of ±{r.reach:.4f}"

"""The reliability diagram as SVG."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueness._markup import Markup, tag
from trueness.plots.reliability.data import Reliability, histogram_bars
from trueness.plots.style import marker_areas
from trueness.plots.svg import LEFT, RIGHT, WIDTH, Frame, bin_mark, chart, linear_ticks


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
    parts += _marks(r, frame)
    parts += [below.axes(ticks, [], r.x_label, ""), _histogram(r, below)]
    name = f"Reliability diagram of {r.metric}: {r.y_label} against {r.x_label}"
    return chart(WIDTH, below.bottom + 48, name, _description(r), parts)


def _description(r: Reliability) -> str:
    above = int(np.count_nonzero(r.y > r.high))
    inside = int(np.count_nonzero((r.y >= r.low) & (r.y <= r.high)))
    return (
        f"{len(r.x)} bins: {inside} inside the band expected for a calibrated model, {above} above it, "
        f"{len(r.x) - inside - above} below it. {r.summary}."
    )


def _marks(r: Reliability, frame: Frame) -> list[Markup]:
    areas, bins = marker_areas(r.bins.shares, 30, 200), r.bins.descriptions
    marks = []
    for k in range(len(r.x)):
        words = (
            f"{bins[k]}\n"
            f"{r.x_label} {r.x[k]:.4f}, {r.y_label} {r.y[k]:.4f}\n"
            f"if calibrated: {r.low[k]:.4f} to {r.high[k]:.4f}"
        )
        bar = (r.bar_low[k], r.bar_high[k])
        marks.append(
            bin_mark(frame, words, (r.x[k], r.y[k]), bar, area=areas[k], small=bool(r.bins.small[k]))
        )
    return marks


def _histogram(r: Reliability, frame: Frame) -> list[Markup]:
    left, width, height = histogram_bars(r.bins)
    edges, share = r.bins.edges, r.bins.share
    shapes = []
    for k in np.flatnonzero(share):
        x = max(frame.x(left[k]), frame.left)
        end = min(frame.x(left[k] + width[k]), frame.right)
        words = (
            f"{r.bins.measure} in {edges[k]:.4g} to {edges[k + 1]:.4g}: {100 * share[k]:.3g} % of the rows"
        )
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

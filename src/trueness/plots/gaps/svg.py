"""The diagram of signed gaps as SVG."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueness._markup import Markup, tag
from trueness.plots.gaps.data import Y_LABEL, Gaps
from trueness.plots.style import marker_areas
from trueness.plots.svg import LEFT, RIGHT, WIDTH, Frame, bin_mark, chart, label, linear_ticks


def gap_chart(r: Gaps) -> Markup:
    """Signed gaps over V, above 0 over-confident."""
    left, right = r.view
    pad = 0.03 * (right - left)
    largest = r.y_limit
    frame = Frame(LEFT + 6, 12, WIDTH - LEFT - RIGHT - 6, 240, (left - pad, right + pad), (-largest, largest))
    order = np.argsort(r.x)
    parts: list[Any] = [
        frame.axes(linear_ticks(left, right), linear_ticks(-largest, largest), r.x_label, Y_LABEL),
        frame.band(*(column[order].tolist() for column in (r.x, r.low, r.high))),
        tag("line", class_="diagonal", x1=frame.left, x2=frame.right, y1=frame.y(0), y2=frame.y(0)),
        label(frame.right - 4, frame.top + 12, "over-confident", class_="aside-text", anchor="end"),
        label(frame.right - 4, frame.bottom - 6, "under-confident", class_="aside-text", anchor="end"),
        _marks(r, frame),
    ]
    outside = int(np.count_nonzero((r.gap > r.high) | (r.gap < r.low)))
    description = (
        f"{outside} of {len(r.x)} bins lie outside the band expected for a calibrated model. {r.summary}."
    )
    return chart(
        WIDTH, frame.bottom + 46, "Signed gap of each bin over its predicted variation", description, parts
    )


def _marks(r: Gaps, frame: Frame) -> list[Markup]:
    areas, bins = marker_areas(r.bins.shares, 30, 160), r.bins.descriptions
    marks = []
    for k in range(len(r.x)):
        words = f"{bins[k]}\ngap {r.gap[k]:+.4f}\nif calibrated: {r.low[k]:+.4f} to {r.high[k]:+.4f}"
        bar = (r.gap[k] - r.reach[k], r.gap[k] + r.reach[k])
        marks.append(
            bin_mark(frame, words, (r.x[k], r.gap[k]), bar, area=areas[k], small=bool(r.bins.small[k]))
        )
    return marks

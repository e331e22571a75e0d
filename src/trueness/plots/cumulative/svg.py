"""The pictures of the log-score as SVG."""

from __future__ import annotations

import math
from typing import Any

from trueness._markup import Markup, tag
from trueness._printing import p_text, rows_text, shorten
from trueness.plots.cumulative.data import Y_LABEL, CumulativeScore, PredictedClassBar, PredictedClasses
from trueness.plots.svg import LEFT, RIGHT, WIDTH, Frame, chart, label, linear_ticks, mark

WIDE, NAMES, LINE = 620.0, 150.0, 20.0


def cumulative_chart(r: CumulativeScore) -> Markup:
    """Bars: the log-score of each bin. Line: cumulated from the lowest bin, with the band of a calibrated model."""
    largest, (left, right) = r.y_limit, r.view
    pad = 0.03 * (right - left)
    frame = Frame(LEFT, 12, WIDTH - LEFT - RIGHT, 260, (left - pad, right + pad), (-largest, largest))
    line = frame.points([float(r.left[0]), *r.right.tolist()], [0.0, *r.cumulated.tolist()])
    parts: list[Any] = [
        frame.axes(linear_ticks(left, right), linear_ticks(-largest, largest), r.x_label, Y_LABEL),
        tag(
            "rect",
            class_="band",
            x=frame.left,
            y=frame.y(r.reach),
            width=frame.width,
            height=frame.y(-r.reach) - frame.y(r.reach),
        ),
        tag("line", class_="diagonal", x1=frame.left, x2=frame.right, y1=frame.y(0), y2=frame.y(0)),
        label(frame.right - 4, frame.top + 12, "under-confident", class_="aside-text", anchor="end"),
        label(frame.right - 4, frame.bottom - 6, "over-confident", class_="aside-text", anchor="end"),
        [_bin(r, frame, k) for k in range(len(r.z))],
        tag("polyline", class_="curve whole", points=line),
    ]
    description = f"{len(r.z)} bins; {r.summary}."
    return chart(WIDTH, frame.bottom + 46, "Log-score over the bins", description, parts)


def _bin(r: CumulativeScore, frame: Frame, k: int) -> Markup:
    known = not math.isnan(r.z[k])
    words = f"{r.bins.descriptions[k]}\nZ {r.z[k]:+.2f}, cumulated {r.cumulated[k]:+.2f}".replace("-", "−")
    if not known:
        words = f"{r.bins.descriptions[k]}\nwithout variance"
    x, end = frame.x(r.left[k]) + 0.5, frame.x(r.right[k]) - 0.5
    width = max(end - x, 1.5)
    shapes = [tag("rect", class_="reach", x=x, y=frame.top, width=width, height=frame.height)]
    if known:
        shapes.append(_bar_rect(frame.y(0), frame.y(r.z[k]), x, width, over=r.z[k] < 0))
    return mark(words, *shapes)


def _bar_rect(zero: float, end: float, x: float, width: float, *, over: bool) -> Markup:
    kind = "score over" if over else "score under"
    return tag("rect", class_=kind, x=x, y=min(zero, end), width=width, height=max(abs(end - zero), 1.0))


def predicted_class_chart(r: PredictedClasses) -> Markup:
    """A bar for each predicted class: below 0 the model is over-confident where it predicts it."""
    limit = r.limit
    frame = Frame(NAMES, 24, WIDE - NAMES - 14, LINE * len(r.bars) + 6, (-limit, limit), (0.0, 1.0))
    left, right, zero = frame.x(-r.reach), frame.x(r.reach), frame.x(0)
    parts: list[Any] = [
        frame.axes(linear_ticks(-limit, limit), [], f"Z: {Y_LABEL}", ""),
        label(frame.left + 2, 14, "← over-confident", class_="aside-text", anchor="start"),
        label(frame.right - 2, 14, "under-confident →", class_="aside-text", anchor="end"),
        tag("rect", class_="band", x=left, y=frame.top, width=right - left, height=frame.height),
        tag("line", class_="diagonal", x1=zero, x2=zero, y1=frame.top, y2=frame.bottom),
    ]
    parts += [_class_bar(frame, bar, frame.top + 3 + LINE * (k + 0.5)) for k, bar in enumerate(r.bars)]
    description = (
        f"{r.n_called} of {len(r.bars) + r.n_left_out} predicted classes are significant. {r.summary}."
    )
    return chart(WIDE, frame.bottom + 44, "Log-score by predicted class", description, parts)


def _class_bar(frame: Frame, bar: PredictedClassBar, y: float) -> Markup:
    words = (
        f"{bar.name}: {rows_text(bar.rows)}\nZ {bar.corrected:+.2f}, adjusted p {p_text(bar.adjusted_p_value)}"
    ).replace("-", "−")
    zero, end = frame.x(0), frame.x(bar.corrected)
    kind = "score over" if bar.corrected < 0 else "score under"
    return mark(
        words,
        tag("rect", class_="reach", x=0, y=y - LINE / 2, width=WIDE, height=LINE),
        label(
            frame.left - 8,
            y + 4,
            shorten(bar.name, 21),
            class_="tick called" if bar.called else "tick",
            anchor="end",
        ),
        tag("rect", class_=kind, x=min(zero, end), y=y - 6, width=max(abs(end - zero), 1.0), height=12.0),
    )

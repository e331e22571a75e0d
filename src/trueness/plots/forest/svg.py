"""The forest plot as SVG."""

from __future__ import annotations

from typing import Any

from trueness._markup import Markup, tag
from trueness._printing import p_text, rows_text
from trueness.plots.forest.data import Forest, Line, short_name
from trueness.plots.svg import Frame, chart, label, linear_ticks, mark

WIDTH, NAMES, LINE = 620.0, 170.0, 22.0


def forest_chart(r: Forest) -> Markup:
    """The debiased metric of each group with its interval; the last line is that of all rows."""
    shown = r.all_lines
    low, high = min(0.0, *(line.low for line in shown)), max(0.0, *(line.high for line in shown))
    pad = 0.04 * (high - low) or 0.1
    frame = Frame(NAMES, 8, WIDTH - NAMES - 14, LINE * len(shown) + 6, (low - pad, high + pad), (0.0, 1.0))
    parts: list[Any] = [frame.axes(linear_ticks(low - pad, high + pad), [], r.x_label, "")]
    if r.whole:
        left, right = frame.x(r.whole.low), frame.x(r.whole.high)
        parts.append(
            tag("rect", class_="band", x=left, y=frame.top, width=max(right - left, 1), height=frame.height)
        )
    parts.append(tag("line", class_="diagonal", x1=frame.x(0), x2=frame.x(0), y1=frame.top, y2=frame.bottom))
    for place, line in enumerate(shown):
        parts.append(_line(frame, line, frame.top + 3 + LINE * (place + 0.5), whole=line is r.whole))
    left_out = f" The table lists {r.n_left_out} more." if r.n_left_out else ""
    description = f"{len(r.lines)} {r.what} with {100 * r.level:g} % intervals.{left_out}"
    return chart(WIDTH, frame.bottom + 44, f"{r.what.capitalize()}: {r.x_label}", description, parts)


def _line(frame: Frame, line: Line, y: float, *, whole: bool) -> Markup:
    words = (
        f"{line.name}: {rows_text(line.n_rows)}\n{line.value:+.4f} [{line.low:+.4f}, {line.high:+.4f}]\n"
        f"adjusted p {p_text(line.p_value)}"
    )
    kind = "whole" if whole else "part"
    return mark(
        words,
        tag("rect", class_="reach", x=0, y=y - LINE / 2, width=WIDTH, height=LINE),
        label(frame.left - 8, y + 4, short_name(line.name, 24), class_="tick", anchor="end"),
        tag("line", class_=f"bar {kind}", x1=frame.x(line.low), x2=frame.x(line.high), y1=y, y2=y),
        tag("circle", class_=f"dot {kind}", cx=frame.x(line.value), cy=y, r=4.5),
    )

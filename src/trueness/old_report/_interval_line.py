"""The small strip under a number: the value, its interval and its noise floor on a line, as SVG."""

from __future__ import annotations

from trueness._markup import Markup, tag
from trueness.plots.svg import Frame


def strip(value: float, low: float, high: float, floor: float, end: float) -> Markup:
    """A value with its interval and its noise floor, on a line from 0 (or from -end) to end."""
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

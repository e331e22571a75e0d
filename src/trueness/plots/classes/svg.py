"""The strip of classes as SVG."""

from __future__ import annotations

import math
from typing import Any

from trueness._markup import Markup, tag
from trueness._printing import about_text, count_text, p_text, shorten
from trueness.plots.classes.data import X_LABEL, ClassLine, ClassStrip
from trueness.plots.svg import Frame, chart, label, mark

WIDTH, NAMES, WORDS, LINE = 620.0, 130.0, 120.0, 20.0

_TICKS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
_SPARSE = {1.25: (0.8, 0.9, 1.0, 1.1, 1.25), 1.5: (0.7, 0.8, 1.0, 1.25, 1.5), 2.0: (0.5, 0.7, 1.0, 1.5, 2.0)}


def ratio_ticks(limit: float) -> list[tuple[float, str]]:
    """Round factors from 1/limit to limit, with their labels.

    >>> [words for _, words in ratio_ticks(10.0)]
    ['0.1', '0.2', '0.5', '1', '2', '5', '10']
    """
    chosen = _SPARSE.get(limit, (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0))
    inside = [factor for factor in chosen if 1 / limit * (1 - 1e-9) <= factor <= limit * (1 + 1e-9)]
    return [(factor, f"{factor:g}") for factor in inside]


def class_chart(r: ClassStrip) -> Markup:
    """O/E of each class beside the band in which noise alone would put it."""
    limit = r.limit
    frame = Frame(
        NAMES, 24, WIDTH - NAMES - WORDS, LINE * len(r.lines) + 6, (1 / limit, limit), (0.0, 1.0), log_x=True
    )
    one = frame.x(1.0)
    parts: list[Any] = [
        frame.axes(ratio_ticks(limit), [], f"{X_LABEL}, logarithmic", ""),
        label(frame.left + 2, 14, "← predicted too often", class_="aside-text", anchor="start"),
        label(frame.right - 2, 14, "predicted too seldom →", class_="aside-text", anchor="end"),
        tag("line", class_="diagonal", x1=one, x2=one, y1=frame.top, y2=frame.bottom),
    ]
    parts += [_line(frame, line, frame.top + 3 + LINE * (k + 0.5), limit) for k, line in enumerate(r.lines)]
    return chart(WIDTH, frame.bottom + 44, "Classes: observed per expected", _description(r), parts)


def _description(r: ClassStrip) -> str:
    left_out = f" The table lists {r.n_left_out} more." if r.n_left_out else ""
    n_classes = len(r.lines) + r.n_left_out
    return f"{r.n_called} of {n_classes} classes are significantly wrong after the correction.{left_out}"


def line_words(line: ClassLine) -> str:
    """The numbers of a class in words."""
    numbers = f"{about_text(line.expected)} expected, {count_text(line.observed)} observed"
    if math.isnan(line.ratio):
        return f"{line.name}: {numbers}"
    return (
        f"{line.name}: {numbers}, O/E {line.ratio:.3g}\nif calibrated: {line.low:.3g} to {line.high:.3g}\n"
        f"adjusted p {p_text(line.adjusted_p_value)}" + (f": {line.words}" if line.words else "")
    )


def _line(frame: Frame, line: ClassLine, y: float, limit: float) -> Markup:
    shapes = [
        tag("rect", class_="reach", x=0, y=y - LINE / 2, width=WIDTH, height=LINE),
        label(
            frame.left - 8,
            y + 4,
            shorten(line.name, 18),
            class_="tick called" if line.called else "tick",
            anchor="end",
        ),
    ]
    if not math.isnan(line.ratio):
        left, right = frame.x(line.low), frame.x(line.high)
        beyond = not 1 / limit <= line.ratio <= limit
        kind = "dot" if line.measured and not beyond else "dot small"
        shapes += [
            tag("rect", class_="band", x=left, y=y - 6, width=max(right - left, 1.5), height=12.0),
            tag("circle", class_=kind, cx=frame.x(line.ratio), cy=y, r=4.5),
        ]
    if line.words:
        shapes.append(label(frame.right + 8, y + 4, line.words, class_="tick", anchor="start"))
    return mark(line_words(line), *shapes)

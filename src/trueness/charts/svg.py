"""A chart as SVG: lines and colours as attributes, so that it can be used anywhere as it is.

Ink has the colour of the text around it, and a page may change the others by its style sheet: marks
have their role as a class. Words are <title> elements: tooltips, which screen readers read too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any, NamedTuple

import numpy as np

from trueness.charts.chart import Axis, Chart, Mark
from trueness.exact_sums import FloatArray
from trueness.formatting import columns, shortened, visible

WIDTH, TOP, NAME_LINE, STRIP_HEIGHT = 400.0, 10.0, 22.0, 40.0
MOST_LETTERS, LETTER = 26, 6.4  # of a name beside an axis; about how wide one is

_INK = {"observed": "#D55E00", "predicted": "#0072B2", "band": "#8FA6BD"}
_LINE, _DASHED = 'fill="none" stroke="{0}" stroke-width="1.6"', ' stroke-dasharray="4 3"'
_STYLE = dict.fromkeys(("line", "spans", "rule"), _LINE)
_STYLE |= dict.fromkeys(("points", "cells"), 'fill="{0}"')
_STYLE |= dict.fromkeys(("band", "bars"), 'fill="{0}" fill-opacity=".4"')


def draw(chart: Chart) -> str:
    """The SVG element."""
    named = chart.y.scale == "names"
    names = [shortened(name, MOST_LETTERS) for name in chart.y.names]
    left = 18.0 + LETTER * max(map(columns, names), default=5) + 14.0 * bool(chart.y.label)
    right = 14.0 + LETTER * max((columns(text) + 1 for text in chart.right), default=0)
    whole = max(WIDTH, left + right + 180.0)
    width = whole - left - right
    height = NAME_LINE * len(names) if named else width if chart.square else 0.62 * width
    panel = _Panel(chart.x, chart.y, left, TOP, width, height)
    parts = [*panel.axes(bottom=not chart.strip), *_marks(chart.marks, panel)]
    beside, end = left + width + 8, TOP + height
    parts += (_text(beside, panel.y(k) + 4, it, "start") for k, it in enumerate(chart.right))
    if chart.strip:
        strip = _Panel(chart.x, Axis("", (0, 1)), left, end + 6, width, STRIP_HEIGHT)
        parts += [*strip.axes(bottom=True), *_marks(chart.strip, strip)]
        end += STRIP_HEIGHT + 6
    entries: list[str] = []
    x, y = left, end + 54
    for mark, text in chart.legend():
        if x > left and x + LETTER * columns(text) + 26 > whole:
            x, y = left, y + 17
        box = _Panel(Axis("", (0, 1)), Axis("", (0, 1)), x, y - 9, 16, 10)
        kind = {"line": "spans", "rule": "spans", "band": "bars"}.get(mark.kind, mark.kind)
        ends = {"points": (0.5, 0.5, 0.5, 0.5), "spans": (0, 0.5, 1, 0.5)}.get(kind, (0, 0, 1, 1))
        at, low, at2, high = (np.array([end]) for end in ends)
        entries += _marks([Mark(kind, at, low, mark.role, at2, high)], box)
        entries.append(_text(x + 22, y, text, "start"))
        x += LETTER * columns(text) + 38
    bottom = y + 8 if entries else end + 44
    return (
        f'<svg class="chart" viewBox="0 0 {_n(whole)} {_n(bottom)}" width="100%" role="group"'
        f' aria-label="{safe(chart.title)}" font-family="system-ui, sans-serif" font-size="12" overflow="visible"'
        f' fill="currentColor">{"".join(parts)}<g aria-hidden="true">{"".join(entries)}</g></svg>'
    )


class _Panel(NamedTuple):
    """A rectangle of the picture with its axes."""

    across: Axis
    up: Axis
    left: float
    top: float
    width: float
    height: float

    def x(self, values: object) -> FloatArray:
        return np.asarray(self.left + self.width * self.across.place(values))

    def y(self, values: object) -> FloatArray:
        share = self.up.place(values)
        return self.top + self.height * (share if self.up.scale == "names" else 1 - share)

    def axes(self, *, bottom: bool) -> Iterator[str]:
        """Lines of the grid, numbers and labels."""
        left, right, low = self.left, self.left + self.width, self.top + self.height
        ticks = [(float(self.x(v)), text) for v, text in self.across.ticks(self.width / LETTER)]
        named = self.up.scale == "names"
        levels = [(float(self.y(v)), text) for v, text in self.up.ticks(math.inf if named else 48)]
        grid = "".join(f"M{_n(x)} {_n(self.top)}V{_n(low)}" for x, _ in ticks)
        if self.up.label or named:
            grid += "".join(f"M{_n(left)} {_n(y)}H{_n(right)}" for y, _ in levels)
            shown = ((y, shortened(text, MOST_LETTERS)) for y, text in levels)
            yield from (_text(left - 7, y + 4, text, "end") for y, text in shown)
        yield f'<path d="{grid}" stroke="currentColor" stroke-opacity=".14" fill="none"/>'
        if bottom:
            yield from (_text(x, low + 17, text, "middle") for x, text in ticks)
            yield _text(left + self.width / 2, low + 35, self.across.label, "middle")
        if self.up.label:
            x, y = 12, self.top + self.height / 2
            yield _text(x, y, self.up.label, "middle", f' transform="rotate(-90 {x} {_n(y)})"')


def _marks(marks: Iterable[Mark], panel: _Panel) -> Iterator[str]:
    for mark in marks:
        shapes = list(_shapes(mark, panel))
        role = "observed" if mark.kind == "points" else mark.role  # hollow points are quiet
        ink = _INK.get(role, "currentColor")
        style = (_LINE if mark.is_hollow else _STYLE[mark.kind]).format(ink)
        style += ' opacity=".6"' if mark.role == "quiet" and not mark.is_hollow else ""
        style += _DASHED if mark.role == "ink" else ""
        role, title = ' aria-hidden="true"' if not mark.words else "", ""
        if mark.is_named and mark.words:
            role, title = ' role="img"', f"<title>{safe(mark.words[0])}</title>"
        body = "".join(f"<{shape}/>" for shape in shapes)
        if not mark.is_named and mark.words:
            body = "".join(
                f'<{shape} role="img"><title>{safe(words)}</title></{shape.split(" ", 1)[0]}>'
                for shape, words in zip(shapes, mark.words, strict=True)
            )
        yield f'<g class="{mark.kind} {mark.role}" {style}{role}>{title}{body}</g>'


def _shapes(mark: Mark, panel: _Panel) -> Iterator[str]:
    """The elements of a mark without their brackets."""
    x, y, x2, y2 = (at(it) for at, it in zip((panel.x, panel.y) * 2, mark.corners, strict=True))
    if mark.kind == "rule":
        yield from (f'path d="M{_n(a)} {_n(panel.top)}v{_n(panel.height)}"' for a in x)
        level = y if not len(x) else ()
        yield from (f'path d="M{_n(panel.left)} {_n(b)}h{_n(panel.width)}"' for b in level)
    elif mark.kind == "line":
        yield f'polyline points="{_points(x, y)}"'
    elif mark.kind == "band":
        yield f'polygon points="{_points(x, y)} {_points(x[::-1], y2[::-1])}"'
    else:
        for a, b, c, d in zip(*(each.tolist() for each in (x, y, x2, y2)), strict=True):
            if mark.kind == "points":
                yield f'circle cx="{_n(a)}" cy="{_n(b)}" r="4"'
            elif mark.kind == "spans":
                yield f'path d="M{_n(a)} {_n(b)}L{_n(c)} {_n(d)}"'
            else:
                size = f'width="{_n(abs(c - a))}" height="{_n(abs(d - b))}"'
                yield f'rect x="{_n(min(a, c))}" y="{_n(min(b, d))}" {size}'


def _text(x: float, y: Any, text: str, anchor: str, turned: str = "") -> str:
    return f'<text x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}"{turned}>{safe(text)}</text>'


def _points(x: FloatArray, y: FloatArray) -> str:
    return " ".join(f"{_n(a)},{_n(b)}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def safe(text: str) -> str:
    """Text for HTML and SVG: markup escaped, what is invisible or changes directions visible."""
    return escape("\n".join(map(visible, text.split("\n"))))

"""A chart as SVG: lines and colours as attributes, so that it can be used anywhere as it is.

Ink has the colour of the text around it, and a page may change the others by its style sheet: marks
have their role as a class. Words are <title> elements: tooltips, which screen readers read too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from html import escape

import numpy as np

from trueness.charts.chart import Axis, Chart, Mark
from trueness.exact_sums import FloatArray
from trueness.formatting import shortened, visible

WIDTH, TOP, LINE = 400.0, 10.0, 15.0
NAME_LINE, STRIP_HEIGHT = 22.0, 40.0
MOST_LETTERS = 26
"""Of a name beside an axis."""

_INK = {
    "observed": "#D55E00",
    "predicted": "#0072B2",
    "band": "#8FA6BD",
    "ink": "currentColor",
    "quiet": "currentColor",
}
_STYLE = {
    "points": 'fill="{0}"',
    "line": 'fill="none" stroke="{0}" stroke-width="1.6"',
    "band": 'fill="{0}" fill-opacity=".4"',
    "bars": 'fill="{0}" fill-opacity=".4"',
    "spans": 'stroke="{0}" stroke-width="1.8"',
    "cells": 'fill="{0}"',
    "rule": 'stroke="{0}" stroke-width="1.2" stroke-dasharray="4 3"',
}
_HOLLOW = 'fill="none" stroke="{0}" stroke-width="1.6"'


def draw(chart: Chart) -> str:
    """The SVG element."""
    named = chart.y.scale == "names"
    names = [shortened(name, MOST_LETTERS) for name in chart.y.names]
    left = 18.0 + max((length(text) for text in names), default=28.0) * (1.0 if named else 1.1)
    left += 0.0 if named and not chart.y.label else 14.0
    right = 14.0 + max((length(text) + 6 for text in chart.right), default=0.0)
    whole = max(WIDTH, left + right + 180.0)
    width = whole - left - right
    height = NAME_LINE * len(names) if named else width if chart.square else 0.62 * width
    panel = _Panel(chart.x, chart.y, left, TOP, width, height)
    parts = [*panel.axes(bottom=not chart.strip, most=8), *_marks(chart.marks, panel)]
    parts += (
        _text(left + width + 8, panel.y(k) + 4, visible(text), "start")
        for k, text in enumerate(chart.right)
    )
    end = TOP + height
    if chart.strip:
        strip = _Panel(chart.x, Axis("", (0, 1)), left, end + 6, width, STRIP_HEIGHT)
        parts += [*strip.axes(bottom=True, most=8), *_marks(chart.strip, strip)]
        end += STRIP_HEIGHT + 6
    entries, x, y = [], left, end + 54
    for mark, text in chart.legend():
        if x > left and x + length(text) + 26 > whole:
            x, y = left, y + LINE + 2
        entries += [_key(mark, x, y - 4), _text(x + 22, y, text, "start")]
        x += length(text) + 38
    bottom = y + 8 if entries else end + 44
    return (
        f'<svg class="chart" viewBox="0 0 {_n(whole)} {_n(bottom)}" width="100%" role="group"'
        f' aria-label="{safe(chart.title)}" font-family="system-ui, sans-serif" font-size="12"'
        f' fill="currentColor">{"".join(parts)}<g aria-hidden="true">{"".join(entries)}</g></svg>'
    )


class _Panel:
    """A rectangle of the picture with its axes."""

    def __init__(
        self, across: Axis, up: Axis, left: float, top: float, width: float, height: float
    ) -> None:
        self.across, self.up = across, up
        self.left, self.top, self.width, self.height = left, top, width, height

    def x(self, values: object) -> FloatArray:
        return np.asarray(self.left + self.width * self.across.place(values))

    def y(self, values: object) -> FloatArray:
        share = self.up.place(values)
        return self.top + self.height * (share if self.up.scale == "names" else 1 - share)

    def axes(self, *, bottom: bool, most: int) -> Iterator[str]:
        """Lines of the grid, numbers and labels; names are left out where there is no room."""
        longest = max(map(length, self.across.names), default=0.0)
        most = max(2, int(self.width / (longest + 12))) if longest else most
        left, right, low = self.left, self.left + self.width, self.top + self.height
        ticks = [(float(self.x(v)), text) for v, text in self.across.ticks(most)]
        named = self.up.scale == "names"
        levels = [(float(self.y(v)), text) for v, text in self.up.ticks(999 if named else 6)]
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
            yield _text(0, 0, self.up.label, "middle", f"translate({x} {_n(y)}) rotate(-90)")


def _marks(marks: Iterable[Mark], panel: _Panel) -> Iterator[str]:
    for mark in marks:
        shapes = list(_shapes(mark, panel))
        if mark.is_named or len(mark.words) != len(shapes):
            title = f"<title>{safe(mark.words[0])}</title>" if mark.words else ""
            role = ' role="img"' if title else ' aria-hidden="true"'
            body = "".join(f"<{shape}/>" for shape in shapes)
        else:
            title, role = "", ""
            body = "".join(
                f'<{shape} role="img"><title>{safe(words)}</title></{shape.split(" ", 1)[0]}>'
                for shape, words in zip(shapes, mark.words, strict=True)
            )
        yield f"<g {_style(mark)}{role}>{title}{body}</g>"


def _style(mark: Mark) -> str:
    hollow = (mark.kind, mark.role) in (("points", "quiet"), ("cells", "predicted"))
    style = (_HOLLOW if hollow else _STYLE[mark.kind]).format(_INK[mark.role])
    if hollow and mark.kind == "points":
        style = _HOLLOW.format(_INK["observed"])
    if mark.role == "quiet" and not hollow:
        style += ' opacity=".6"'
    if (mark.kind, mark.role) == ("line", "ink"):
        style += ' stroke-dasharray="4 3"'
    return f'class="{mark.kind} {mark.role}" {style}'


def _shapes(mark: Mark, panel: _Panel) -> Iterator[str]:
    """The elements of a mark without their brackets."""
    if mark.kind == "rule":
        top, right = panel.top, panel.left + panel.width
        for x in panel.x(mark.x):
            yield f'path d="M{_n(x)} {_n(top)}V{_n(top + panel.height)}"'
        for y in panel.y(mark.y) if not len(mark.x) else ():
            yield f'path d="M{_n(panel.left)} {_n(y)}H{_n(right)}"'
        return
    x, y = panel.x(mark.x), panel.y(mark.y)
    x2 = x if mark.x2 is None else panel.x(mark.x2)
    y2 = y if mark.y2 is None else panel.y(mark.y2)
    if mark.kind == "line":
        yield f'polyline points="{_points(x, y)}"'
    elif mark.kind == "band":
        yield f'polygon points="{_points(x, y)} {_points(x[::-1], y2[::-1])}"'
    for a, b, c, d in zip(*(each.tolist() for each in (x, y, x2, y2)), strict=True):
        if mark.kind == "points":
            yield f'circle cx="{_n(a)}" cy="{_n(b)}" r="4"'
        elif mark.kind == "spans":
            yield f'path d="M{_n(a)} {_n(b)}L{_n(c)} {_n(d)}"'
        elif mark.kind in ("bars", "cells"):
            size = f'width="{_n(abs(c - a))}" height="{_n(abs(d - b))}"'
            yield f'rect x="{_n(min(a, c))}" y="{_n(min(b, d))}" {size}'


_KEYS: dict[str, tuple[list[float] | None, ...]] = {
    "points": ([0.5], [0.5], None, None),
    "line": ([0, 1], [0.5, 0.5], None, None),
    "band": ([0, 1], [0, 0], None, [1, 1]),
    "bars": ([0], [0], [1], [1]),
    "cells": ([0], [0], [1], [1]),
    "spans": ([0], [0.5], [1], None),
    "rule": ([], [0.5], None, None),
}


def _key(mark: Mark, x: float, y: float) -> str:
    """What a mark looks like, in a legend."""
    box = _Panel(Axis("", (0, 1)), Axis("", (0, 1)), x, y - 5, 16, 10)
    ends = (None if end is None else np.array(end) for end in _KEYS[mark.kind])
    at = dict(zip(("x", "y", "x2", "y2"), ends, strict=True))
    return "".join(_marks([Mark(mark.kind, role=mark.role, **at)], box))


def _text(x: float, y: float, text: str, anchor: str, transform: str = "") -> str:
    place = f'transform="{transform}"' if transform else f'x="{_n(x)}" y="{_n(y)}"'
    return f'<text {place} text-anchor="{anchor}">{safe(text)}</text>'


def _points(x: FloatArray, y: FloatArray) -> str:
    return " ".join(f"{_n(a)},{_n(b)}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def length(text: str) -> float:
    """About how wide a text of 12 pixels is."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return 6.4 * (len(text) - wide) + 12.0 * wide


def safe(text: str) -> str:
    """Text for HTML and SVG: markup escaped, what is invisible or changes directions visible."""
    return escape("\n".join(map(visible, text.split("\n"))))

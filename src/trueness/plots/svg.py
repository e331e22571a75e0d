"""Parts of charts as SVG: scales, ticks, axes and marks.

Colours come from the style sheet of the report, so that one chart serves light, dark and print. The <title> of a mark
describes it: it is the tooltip where scripts are off, and what a screen reader reads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trueness._markup import Markup, escape, tag

WIDTH, LEFT, RIGHT = 460.0, 58.0, 14.0
"""Of a picture of normal width, and the room for its names and numbers on both sides."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Frame:
    """A rectangle of the picture with a scale on each side; SVG counts pixels downwards."""

    left: float
    top: float
    width: float
    height: float
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    log_x: bool = False
    log_y: bool = False

    def x(self, value: float) -> float:
        """Pixels from the left, clipped to the frame: shapes must not run into the text around it."""
        return self.left + self.width * _place(value, self.x_range, self.log_x)

    def y(self, value: float) -> float:
        """Pixels from the top, clipped to the frame."""
        return self.top + self.height * (1 - _place(value, self.y_range, self.log_y))

    @property
    def bottom(self) -> float:
        """The y of its lower side, in pixels."""
        return self.top + self.height

    @property
    def right(self) -> float:
        """The x of its right side, in pixels."""
        return self.left + self.width

    def points(self, xs: Sequence[float], ys: Sequence[float]) -> str:
        """Coordinates of a line."""
        return " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in zip(xs, ys, strict=True))

    def band(self, xs: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> Markup:
        """The area between two lines; a bar for a single point, where such an area has no width."""
        if len(xs) == 1:
            top, bottom = self.y(highs[0]), self.y(lows[0])
            return tag(
                "rect", class_="band", x=self.x(xs[0]) - 7, y=top, width=14.0, height=max(bottom - top, 1.0)
            )
        there, back = self.points(xs, highs), self.points(xs[::-1], lows[::-1])
        return tag("polygon", class_="band", points=f"{there} {back}")

    def axes(
        self,
        x_ticks: Sequence[tuple[float, str]],
        y_ticks: Sequence[tuple[float, str]],
        x_label: str,
        y_label: str,
    ) -> list[Markup]:
        """Grid lines, numbers and names of both axes."""
        parts = []
        for value, words in x_ticks:
            x = self.x(value)
            parts.append(tag("line", class_="grid", x1=x, x2=x, y1=self.top, y2=self.bottom))
            parts.append(label(x, self.bottom + 16, words, class_="tick"))
        for value, words in y_ticks:
            y = self.y(value)
            parts.append(tag("line", class_="grid", x1=self.left, x2=self.right, y1=y, y2=y))
            parts.append(label(self.left - 6, y + 4, words, class_="tick", anchor="end"))
        parts.append(label(self.left + self.width / 2, self.bottom + 36, x_label))
        middle = self.top + self.height / 2
        parts.append(label(14, middle, y_label, transform=f"rotate(-90 14 {middle:.1f})"))
        return parts


def _place(value: float, ends: tuple[float, float], logarithmic: bool) -> float:
    low, high = ends
    if logarithmic:
        value, low, high = math.log(max(value, low / 10)), math.log(low), math.log(high)
    share = (value - low) / (high - low) if high > low else 0.5
    return min(max(share, 0.0), 1.0)


def label(
    x: float,
    y: float,
    words: object,
    *,
    class_: str = "name",
    anchor: str = "middle",
    transform: str | None = None,
) -> Markup:
    """Text at a position."""
    return tag("text", escape(words), class_=class_, x=x, y=y, text_anchor=anchor, transform=transform)


def mark(words: str, *shapes: Markup) -> Markup:
    """Shapes that show numbers, with the numbers in words."""
    return tag("g", tag("title", words), *shapes, class_="mark")


def bin_mark(
    frame: Frame, words: str, at: tuple[float, float], bar: tuple[float, float], *, area: float, small: bool
) -> Markup:
    """The point of a bin with its bar, and room around it for a finger; hollow if the bin has too few rows."""
    px, py = frame.x(at[0]), frame.y(at[1])
    return mark(
        words + ("\ntoo few rows for a conclusion" if small else ""),
        tag("circle", class_="reach", cx=px, cy=py, r=12.0),
        tag("line", class_="bar", x1=px, x2=px, y1=frame.y(bar[0]), y2=frame.y(bar[1])),
        tag("circle", class_="dot small" if small else "dot", cx=px, cy=py, r=math.sqrt(area / math.pi)),
    )


def chart(
    width: float, height: float, name: str, description: str, *parts: object, columns: int | None = None
) -> Markup:
    """A picture with a name and a description; `columns` is the number of marks in a line, for the arrow keys."""
    return tag(
        "svg",
        tag("desc", description),
        list(parts),
        xmlns="http://www.w3.org/2000/svg",
        class_="chart",
        width=f"{width:g}",
        viewBox=f"0 0 {width:g} {height:g}",
        role="group",
        aria_label=name,
        data_columns=columns,
    )


def linear_ticks(low: float, high: float, about: int = 5) -> list[tuple[float, str]]:
    """Round numbers from low to high, about so many, with their labels.

    >>> [words for _, words in linear_ticks(0, 1)]
    ['0', '0.2', '0.4', '0.6', '0.8', '1']
    >>> [words for _, words in linear_ticks(-0.31, 0.31, 4)]
    ['−0.2', '0', '0.2']
    """
    span = high - low
    raw = span / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(k * step, f"{round(k * step, 12):g}".replace("-", "−")) for k in range(first, last + 1)]


def log_ticks(low: float, high: float, most: int = 7) -> list[tuple[float, str]]:
    """Powers of ten from low to high, with their labels.

    >>> [words for _, words in log_ticks(0.002, 30)]
    ['0.01', '0.1', '1', '10']
    """
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    step = -(-(last - first + 1) // most)
    powers = range(last, first - 1, -step) if last >= first else range(0)
    return [
        (10.0**k, f"{10.0**k:g}" if -4 <= k <= 5 else f"10{str(k).translate(_RAISED)}")
        for k in sorted(powers)
    ]

"""A chart as a value: marks on axes, with words on every mark. SVG, matplotlib and text draw it.

There are seven kinds of marks and four scales. What cannot be said with them is drawn elsewhere,
from the numbers. Tests read the numbers of a chart from its marks, not from a picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from trueness.exact_sums import FloatArray
from trueness.formatting import visible

STRIP = 0.17
"""The share of the height that the strip takes where both are on the same axes."""

KINDS = ("points", "line", "band", "bars", "spans", "cells", "rule")
SCALES = ("linear", "log", "logit", "names")
ROLES = ("observed", "predicted", "band", "ink", "quiet")


class Axis(NamedTuple):
    """An axis: what it shows, from where to where, and how numbers become places on it."""

    label: str
    range: tuple[float, float]
    scale: str = "linear"
    """ "linear", "log", "logit" (log-odds of a probability), or "names": 0 is the first name."""
    names: tuple[str, ...] = ()

    @classmethod
    def of_names(cls, label: str, names: list[str]) -> Axis:
        """An axis with a place for each name."""
        return cls(label, (-0.5, len(names) - 0.5), "names", tuple(map(visible, names)))

    def place(self, values: Any) -> FloatArray:
        """The share of the axis that lies below these numbers, from 0 to 1."""
        low, high = scaled(self.scale, self.range).tolist()
        inside = np.clip(np.asarray(values, np.float64), *self.range)
        return np.asarray((scaled(self.scale, inside) - low) / ((high - low) or 1.0))

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """At most so many round numbers with their texts; names are left out evenly."""
        if self.scale == "names":
            step = -(-len(self.names) // most)
            return [(k, self.names[k]) for k in range(0, len(self.names), step)]
        low, high = self.range
        if self.scale == "linear":
            return _linear_ticks(low, high, most)
        powers = [10.0**k for k in range(-12, 13)]
        if self.scale == "logit":
            small = [power for power in powers if power < 0.5]
            powers = [*small, 0.5, *(1 - power for power in reversed(small))]
        finer = [] if self.scale == "logit" else [k * power for power in powers for k in (1, 2, 5)]
        for ticks in (finer, powers):
            shown = [it for it in ticks if low * (1 - 1e-9) <= it <= high * (1 + 1e-9)]
            if 1 < len(shown) <= most:
                break
        return [(tick, _short(tick)) for tick in shown[:: -(-len(shown) // most) or 1]]


class Mark(NamedTuple):
    """Shapes of one kind, in the coordinates of the axes.

    points
        at (x, y); those of the role "quiet" are hollow: they rest on few rows.
    line, band
        through (x, y); between (x, y) and (x, y2).
    bars, cells
        rectangles from (x, y) to (x2, y2). Bars stand on an axis; cells of the role "predicted"
        are hollow, so that two kinds of cells can be told apart without colours.
    spans
        from (x, y) to (x2, y), or to (x, y2).
    rule
        across the whole chart, at each x; at each y if there is no x.
    """

    kind: str
    x: FloatArray
    y: FloatArray
    role: str
    x2: FloatArray | None = None
    y2: FloatArray | None = None
    words: tuple[str, ...] = ()
    """What each point, bar or cell says; of the other kinds one text, which a legend shows."""

    @property
    def is_named(self) -> bool:
        """Whether the words are a name of the entire mark."""
        return self.kind in ("line", "band", "spans", "rule")

    @property
    def legend(self) -> str:
        """What a legend calls it; empty if it explains itself."""
        if self.is_named:
            return self.words[0] if self.words else ""
        if self.role == "quiet":
            return "few rows" if self.kind == "points" else ""
        cells = {"observed": "more often than predicted", "predicted": "less often"}
        return cells.get(self.role, "") if self.kind == "cells" else self.role


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """A picture of numbers. `svg()`, `text()` and `plot()` draw it."""

    title: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    strip: tuple[Mark, ...] = ()
    """Bars of height 0 to 1 beneath: how many rows there are."""
    right: tuple[str, ...] = ()
    """A text at the right of each name of the y-axis."""
    square: bool = False

    def svg(self) -> str:
        """As SVG, in the colours of the text around it."""
        from trueness.charts import svg

        return svg.draw(self)

    def lines(self, width: int = 80) -> list[str]:
        """In characters: lines of at most `width` columns."""
        from trueness.charts import terminal

        return terminal.draw(self, width)

    def text(self, width: int = 80) -> str:
        """In characters."""
        return "\n".join(self.lines(width))

    def plot(self, ax: Any = None, label: str | None = None, color: Any = None) -> Any:
        """Draw with matplotlib, on new axes or on these, and return the axes.

        Charts drawn on the same axes are overlaid: reference lines and counts are drawn once.
        `label` is what the legend calls what was observed, `color` its colour.
        """
        from trueness.charts import matplotlib_axes

        return matplotlib_axes.draw(self, ax, label, color)

    def _repr_html_(self) -> str:
        return f'<div style="max-width:30em">{self.svg()}</div>'

    def legend(self) -> Iterator[tuple[Mark, str]]:
        """The marks that a legend explains, each text once."""
        found = {mark.legend: mark for mark in reversed(self.marks) if mark.legend}
        yield from ((mark, text) for text, mark in reversed(found.items()))


def scaled(scale: str, values: Any) -> FloatArray:
    """The numbers on a scale: their logarithms, log-odds, or themselves."""
    numbers = np.asarray(values, np.float64)
    if scale == "logit":
        return np.asarray(np.log(numbers) - np.log1p(-numbers))
    return np.asarray(np.log(numbers)) if scale == "log" else numbers


def _linear_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    raw = (high - low) / most or 1.0
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(k * power for k in (1, 2, 2.5, 5, 10) if k * power >= raw * (1 - 1e-9))
    places = next(k for k in range(13) if abs(step * 10**k - round(step * 10**k)) < 1e-6)
    first, last = math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6)
    return [(k * step, f"{k * step:z,.{places}f}") for k in range(first, last + 1)]


def _short(value: float) -> str:
    """A number of a log or logit axis: "0.001", "10⁻⁶", "1−10⁻⁶", "2,000", "10⁷"."""
    near = min(value, 1 - value) if 0.5 < value < 1 else value
    power = round(math.log10(near), 6)
    if not -3.01 <= power < 7 and power.is_integer():
        raised = f"10{f'{power:.0f}'.translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
        return raised if near == value else f"1−{raised}"
    return f"{value:,.0f}" if value >= 1 else f"{value:.6g}"

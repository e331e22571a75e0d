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
from trueness.formatting import columns, shortened


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
        shown = tuple(shortened(name, 60) for name in names)
        return cls(label, (-0.5, len(names) - 0.5), "names", shown)

    def place(self, values: Any) -> FloatArray:
        """The share of the axis that lies below these numbers, from 0 to 1."""
        low, high = scaled(self.scale, self.range).tolist()
        inside = np.clip(np.asarray(values, np.float64), *self.range)
        return np.asarray((scaled(self.scale, inside) - low) / ((high - low) or 1.0))

    def ticks(self, room: float = math.inf) -> list[tuple[float, str]]:
        """Round numbers with their texts, or names: as many as an axis of so many letters holds."""
        if self.scale == "names":
            longest = max(map(columns, self.names), default=0) + 1
            step = -(-len(self.names) // max(2, int(min(room, 1e9) // longest)))
            return [(k, self.names[k]) for k in range(0, len(self.names), step)]
        most = max(2, int(min(room, 64) // 8))
        low, high = self.range
        if self.scale == "linear":
            return _linear_ticks(low, high, most)
        powers = [10.0**k for k in range(-12, 13)]
        finer = [k * power for power in powers for k in (1, 2, 5)]
        if self.scale == "logit":
            powers = finer = [*powers[:12], 0.5, *(1 - power for power in powers[11::-1])]
        for ticks in (finer, powers):
            shown = [it for it in ticks if low * (1 - 1e-9) <= it <= high * (1 + 1e-9)]
            if 1 < len(shown) <= most:
                break
        return [(tick, _short(tick)) for tick in shown[:: -(-len(shown) // most) or 1]]


class Mark(NamedTuple):
    """Shapes of one kind.

    Points are at (x, y), a line goes through them, a band from y to y2; bars and cells from (x, y)
    to (x2, y2); spans from (x, y) to (x2, y) or (x, y2); a rule across the whole chart at each x,
    or at each y if there is no x. Points of the role "quiet", which rest on few rows, and cells of
    the role "predicted" are hollow: they can be told from the others without colours.
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
    def is_hollow(self) -> bool:
        """Whether its shapes are drawn as outlines."""
        return (self.kind, self.role) in (("points", "quiet"), ("cells", "predicted"))

    @property
    def corners(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """x, y, x2 and y2; where a second one is not given it is the first."""
        x2, y2 = (self.x if self.x2 is None else self.x2), (self.y if self.y2 is None else self.y2)
        return self.x, self.y, x2, y2

    @property
    def legend(self) -> str:
        """What a legend calls it; empty if it explains itself."""
        if self.is_named:
            return self.words[0] if self.words else ""
        if self.kind == "cells":
            return "less often" if self.is_hollow else "more often than predicted"
        return self.role if self.role != "quiet" else "few rows" if self.is_hollow else ""


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
    """A number of a log or logit axis: "0.001", "2,000", "10⁻⁶"."""
    power = round(math.log10(value), 6)
    if not -3 <= power < 7 and power.is_integer():
        return f"10{f'{power:.0f}'.translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    return f"{value:,.0f}" if value >= 1 else f"{value:.12g}"

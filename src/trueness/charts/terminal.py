"""A chart in characters."""

from __future__ import annotations

import math

import numpy as np

from trueness.charts.chart import Axis, Chart, Mark
from trueness.exact_sums import IntArray
from trueness.formatting import columns, shortened, visible, wrapped

HEIGHT, MOST_LETTERS = 16, 24  # of the chart, and of a name beside it

_ORDER = ("rule", "band", "bars", "cells", "line", "spans", "points")
_SIGNS = dict(zip(_ORDER, "·░██·│●", strict=True))
"""What is drawn later hides what is drawn earlier."""


def draw(chart: Chart, width: int) -> list[str]:
    """The chart as lines of at most `width` characters, with its legend."""
    named = chart.y.scale == "names"
    height = len(chart.y.names) if named else HEIGHT
    ticks = chart.y.ticks(math.inf if named else 40)
    names = {int(_rows(chart.y, v, height)): shortened(it, MOST_LETTERS) for v, it in ticks}
    left = max(map(columns, names.values()), default=0)
    room = width - left - 3
    beside = [f"  {visible(text)}" for text in chart.right] or [""] * height
    if room - max(map(columns, beside)) < 20:
        beside = [""] * height
    panel = max(20, min(room - max(map(columns, beside)), 64))
    lines, margin = [shortened(chart.title, width), shortened(chart.y.label, width)], " " * left
    for k, row in enumerate(_grid(chart.x, chart.y, chart.marks, panel, height)):
        name = names.get(k, "")
        lines.append(f"{margin[columns(name) :]}{name} │{row}{beside[k]}")
    lines.append(f"{margin} └{'─' * panel}")
    for mark in chart.strip:
        rows = np.zeros(panel)
        ends = (_columns(chart.x, each, panel) for each in mark.corners[::2])
        for first, last, share in zip(*ends, mark.corners[3], strict=True):
            rows[first : last + 1] = np.maximum(rows[first : last + 1], share)
        blocks = "".join(" ▁▂▃▄▅▆▇█"[math.ceil(8 * share - 1e-9)] for share in rows)
        lines.append(f"{'rows'[:left]:>{left}}  {blocks}")
    numbers = " " * (panel + 1)
    for value, text in chart.x.ticks(panel):
        middle = int(_columns(chart.x, value, panel)) - len(text) // 2
        at = max(0, min(middle, len(numbers) - len(text)))
        if not numbers[max(at - 1, 0) : at + len(text) + 1].strip():
            numbers = f"{numbers[:at]}{text}{numbers[at + len(text) :]}"
    lines += [f"{margin}  {numbers}", f"{margin}  {chart.x.label}"]
    legend = (f"{_sign(mark)} {text}".replace(" ", "\0") for mark, text in chart.legend())
    lines += [line.replace("\0", " ") for line in wrapped("   ".join(legend), width)]
    return [line.rstrip() for line in lines if line.strip()]


def _sign(mark: Mark) -> str:
    if mark.is_hollow:
        return "○" if mark.kind == "points" else "▒"
    return "─" if mark.kind == "spans" and mark.x2 is not None else _SIGNS[mark.kind]


def _grid(x: Axis, y: Axis, marks: tuple[Mark, ...], width: int, height: int) -> list[str]:
    grid = np.full((height, width), " ")
    for mark in sorted(marks, key=lambda mark: _ORDER.index(mark.kind)):
        if mark.kind == "rule":
            grid[:, _columns(x, mark.x, width)] = "┊"
            grid[_rows(y, mark.y[: 0 if len(mark.x) else None], height)] = _sign(mark)
            continue
        at, low, at2, high = mark.corners
        if mark.kind in ("line", "band") and len(at) > 1:
            order = np.argsort(at, kind="stable")
            fine = np.linspace(at.min(), at.max(), 2 * width)
            low, high = (np.interp(fine, at[order], each[order]) for each in (low, high))
            at = at2 = fine
        across = np.sort([_columns(x, at, width), _columns(x, at2, width)], axis=0)
        down = np.sort([_rows(y, low, height), _rows(y, high, height)], axis=0)
        for a, b, top, bottom in zip(*across, *down, strict=True):
            grid[top : bottom + 1, a : b + 1] = _sign(mark)
    return ["".join(row) for row in grid.tolist()]


def _columns(axis: Axis, values: object, width: int) -> IntArray:
    return np.rint(axis.place(values) * (width - 1)).astype(np.int64)


def _rows(axis: Axis, values: object, height: int) -> IntArray:
    if axis.scale == "names":
        return np.floor(axis.place(values) * height).astype(np.int64).clip(0, height - 1)
    return np.rint((1 - axis.place(values)) * (height - 1)).astype(np.int64)

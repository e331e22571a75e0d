"""A chart in characters."""

from __future__ import annotations

import unicodedata

import numpy as np

from trueness.charts.chart import Axis, Chart, Mark
from trueness.exact_sums import IntArray
from trueness.formatting import shortened, visible, wrapped

HEIGHT = 16
MOST_LETTERS = 24
"""Of a name beside an axis."""

_SIGNS = {"rule": "·", "band": "░", "bars": "█", "cells": "█", "line": "·", "spans": "│", "points": "●"}
_OTHER = {("cells", "predicted"): "▒", ("points", "quiet"): "○", ("bars", "quiet"): "▄"}
_ORDER = tuple(_SIGNS)
"""What is drawn later is seen."""


def draw(chart: Chart, width: int) -> list[str]:
    """The chart as lines of at most `width` characters, with its legend."""
    named = chart.y.scale == "names"
    height = len(chart.y.names) if named else HEIGHT
    ticks = chart.y.ticks(999 if named else 5)
    texts = {_row(chart.y, k, height): shortened(name, MOST_LETTERS) for k, name in ticks}
    left, right = max(map(_wide, texts.values())), max(map(len, chart.right), default=-2) + 2
    panel = max(20, min(width - left - 3 - right, 64))
    lines = [shortened(chart.title, width), shortened(chart.y.label, width)]
    grid = _grid(chart.x, chart.y, chart.marks, panel, height)
    for k, row in enumerate(grid):
        end = visible(chart.right[k]) if k < len(chart.right) and named else ""
        name = texts.get(k, "")
        space = " " * (left - _wide(name))
        lines.append(f"{space}{name} │{row}{'  ' * bool(end)}{end}".rstrip())
    lines.append(f"{'':>{left}} └{'─' * panel}")
    if chart.strip:
        lines.append(f"{'rows'[:left]:>{left}}  {_heights(chart, panel)}".rstrip())
    numbers = [" "] * (panel + 2)
    for value, text in chart.x.ticks(max(2, panel // 9)):
        start = max(0, min(_column(chart.x, value, panel) - len(text) // 2, panel + 2 - len(text)))
        if all(letter == " " for letter in numbers[max(start - 1, 0) : start + len(text) + 1]):
            numbers[start : start + len(text)] = text
    lines += [f"{'':>{left}}  {''.join(numbers)}".rstrip(), f"{'':>{left}}  {chart.x.label}"]
    entries = (f"{_sign(mark)} {text}" for mark, text in chart.legend())
    legend = "   ".join(entry.replace(" ", "\0") for entry in entries)
    lines += [line.replace("\0", " ") for line in wrapped(legend, width)]
    return [line for line in lines if line.strip()]


def _heights(chart: Chart, width: int) -> str:
    """The strip as one line: the higher a block, the more rows."""
    row = np.zeros(width)
    for mark in chart.strip:
        assert mark.x2 is not None and mark.y2 is not None
        ends = (_columns(chart.x, each, width) for each in (mark.x, mark.x2))
        for first, last, height in zip(*ends, mark.y2, strict=True):
            row[first : last + 1] = np.maximum(row[first : last + 1], height)
    return "".join(" ▁▂▃▄▅▆▇█"[int(np.ceil(8 * height - 1e-9))] for height in row)


def _wide(text: str) -> int:
    """How many columns a terminal needs for a text."""
    return len(text) + sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)


def _sign(mark: Mark) -> str:
    sign = _OTHER.get((mark.kind, mark.role), _SIGNS[mark.kind])
    return "─" if sign == "│" and mark.x2 is not None else sign


def _grid(x: Axis, y: Axis, marks: tuple[Mark, ...], width: int, height: int) -> list[str]:
    grid = np.full((height, width), " ")
    for mark in sorted(marks, key=lambda mark: _ORDER.index(mark.kind)):
        if mark.kind == "rule":
            grid[:, _columns(x, mark.x, width)] = "┊" if len(mark.x) else " "
            grid[_rows(y, mark.y, height) if not len(mark.x) else []] = _SIGNS["rule"]
            continue
        at, low = mark.x, mark.y
        at2, high = (other if mine is None else mine for mine, other in ((mark.x2, at), (mark.y2, low)))
        if mark.kind in ("line", "band") and len(at) > 1:
            order = np.argsort(at, kind="stable")
            fine = np.linspace(at.min(), at.max(), 2 * width)
            low, high = (np.interp(fine, at[order], each[order]) for each in (low, high))
            at = at2 = fine
        columns = np.sort([_columns(x, at, width), _columns(x, at2, width)], axis=0)
        rows = np.sort([_rows(y, low, height), _rows(y, high, height)], axis=0)
        for (a, b), (top, bottom) in zip(columns.T, rows.T, strict=True):
            grid[top : bottom + 1, a : b + 1] = _sign(mark)
    return ["".join(row) for row in grid.tolist()]


def _columns(axis: Axis, values: object, width: int) -> IntArray:
    return np.rint(axis.place(values) * (width - 1)).astype(np.int64)


def _column(axis: Axis, value: float, width: int) -> int:
    return int(_columns(axis, [value], width)[0])


def _rows(axis: Axis, values: object, height: int) -> IntArray:
    share = axis.place(values)
    if axis.scale == "names":
        return np.floor(share * height).astype(np.int64).clip(0, height - 1)
    return np.rint((1 - share) * (height - 1)).astype(np.int64)


def _row(axis: Axis, value: float, height: int) -> int:
    return int(_rows(axis, [value], height)[0])

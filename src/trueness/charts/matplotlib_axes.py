"""A chart on matplotlib axes; further charts on the same axes are overlaid.

Nothing global is changed. Names are drawn as they are: `$` starts no formula, and letters that the
usual font lacks are taken from a font for their script, if one is installed.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from trueness.charts.chart import STRIP, Chart, Mark, scaled
from trueness.exact_sums import FloatArray
from trueness.formatting import shortened, visible
from trueness.refusals import MissingLibraryError

COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's, of overlaid charts in their order; readers of all kinds tell them apart."""
MARKERS = "os^Dvp"

_INK = {"observed": COLOURS[0], "predicted": COLOURS[1], "band": "#9FB3C8"}
_INK |= {"ink": "#1F2933", "quiet": "#616E7C"}
_BESIDE = (0.0, 0.2, -0.2, 0.35, -0.35)
"""How far overlaid marks on an axis of names are moved, so that they do not hide one another."""
_SCRIPTS = re.compile(r"Noto Sans|Microsoft YaHei|PingFang|Hiragino|Arial Unicode|WenQuanYi|Source Han")
_NARROW = 4.5
"""Inches of a figure below which texts are shorter and fewer."""


def draw(chart: Chart, ax: Any, label: str | None, color: Any) -> Any:
    """Draw a chart on these axes, or on new ones, and return them."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        remedy = 'pip install "trueness[plots]"'
        raise MissingLibraryError("missing-library", "plots need matplotlib", remedy) from error
    if ax is None:
        figure, ax = pyplot.subplots(layout="constrained")
        wide = figure.get_figwidth()
        height = min(wide, 4.6) if chart.square else 0.55 * wide
        if chart.y.scale == "names":
            height = max(0.27 * len(chart.y.names), 0.7)
        figure.set_figheight(height + 0.65 + 0.2 * len(list(chart.legend())))
    number = 1 + max((int(it.get_gid().split("-")[1]) for it in _drawn(ax)), default=-1)
    color = color if color is not None else COLOURS[number % len(COLOURS)] if number else None
    marks = [mark for mark in chart.marks if not number or not _is_reference(mark)]
    for k, mark in enumerate(marks):
        for artist in _mark(ax, _moved(mark, chart, number), number, color):
            artist.set_gid(f"trueness-{number}-{k}")
            text = label if label and mark.role == "observed" else mark.legend
            named = not (number and label and (mark.role != "observed" or mark.is_named))
            show = named and not (label and mark.is_named and mark.role == "observed")
            artist.set_label(_shown(text) if text and show else "_")
    if not number:
        _frame(ax, chart)
        for mark in chart.strip:
            corners = _corners(mark._replace(y=mark.y * STRIP * 0.8, y2=mark.y2 * STRIP * 0.8))
            _boxes(ax, corners, ax.get_xaxis_transform(), facecolor=_INK["quiet"], alpha=0.5)
    _ranges(ax, chart, number)
    _legend(ax)
    return ax


def _drawn(ax: Any) -> list[Any]:
    """What earlier charts drew on these axes."""
    return [it for it in ax.get_children() if str(it.get_gid() or "").startswith("trueness-")]


def _is_reference(mark: Mark) -> bool:
    return mark.role == "ink" and mark.kind in ("rule", "line")


def _moved(mark: Mark, chart: Chart, number: int) -> Mark:
    shift = _BESIDE[number % len(_BESIDE)]
    if chart.y.scale == "names" and mark.kind in ("points", "spans"):
        return mark._replace(y=mark.y + shift)
    if chart.x.scale == "names" and mark.kind in ("points", "spans"):
        return mark._replace(x=mark.x + shift)
    return mark


def _mark(ax: Any, mark: Mark, number: int, color: Any) -> list[Any]:
    """The artists of a mark."""
    own = color if color is not None and (number or mark.role in ("observed", "quiet")) else None
    hollow = (mark.kind, mark.role) == ("points", "quiet")
    ink = own if own is not None else _INK["observed" if hollow else mark.role]
    if mark.kind == "rule":
        at, draw_line = (mark.x, ax.axvline) if len(mark.x) else (mark.y, ax.axhline)
        return [draw_line(v, color=ink, lw=1.0, ls=(0, (4, 3)), zorder=1.5) for v in at]
    if mark.kind == "line":
        dashes = (0, (4, 3)) if mark.role in ("ink", "quiet") else "-"
        return [ax.plot(mark.x, mark.y, color=ink, lw=1.2, ls=dashes, zorder=2)[0]]
    if mark.kind == "band":
        shade = 0.18 if own is not None else 0.45
        return [ax.fill_between(mark.x, mark.y, mark.y2, color=ink, alpha=shade, lw=0, zorder=1)]
    if mark.kind == "points":
        style = {"marker": MARKERS[number % len(MARKERS)], "s": 30, "zorder": 4, "lw": 1.0}
        return [ax.scatter(mark.x, mark.y, color="white" if hollow else ink, ec=ink, **style)]
    if mark.kind == "spans":
        x2 = mark.x if mark.x2 is None else mark.x2
        y2 = mark.y if mark.y2 is None else mark.y2
        lines = np.stack([np.stack([mark.x, mark.y], 1), np.stack([x2, y2], 1)], 1)
        from matplotlib.collections import LineCollection

        return [ax.add_collection(LineCollection(lines, colors=[ink], lw=1.6, zorder=3))]
    filled = not number and (mark.kind, mark.role) != ("cells", "predicted")
    style = {"facecolor": ink if filled else "none", "edgecolor": ink, "lw": 0.8, "zorder": 2}
    if mark.kind == "bars" and filled:
        style |= {"facecolor": _pale(ink), "edgecolor": "white"}
    return [_boxes(ax, _corners(mark), ax.transData, **style)]


def _corners(mark: Mark) -> FloatArray:
    """The corners of rectangles, (n, 4, 2)."""
    x, y, x2, y2 = mark.x, mark.y, mark.x2, mark.y2
    assert x2 is not None and y2 is not None
    return np.stack([np.stack(it, 1) for it in ((x, y), (x2, y), (x2, y2), (x, y2))], 1)


def _boxes(ax: Any, corners: FloatArray, transform: Any, **style: Any) -> Any:
    from matplotlib.collections import PolyCollection

    boxes = PolyCollection(corners, transform=transform, **style)
    return ax.add_collection(boxes, autolim=False)


def _pale(color: Any) -> Any:
    from matplotlib.colors import to_rgb

    return tuple(0.55 + 0.45 * part for part in to_rgb(color))


def _frame(ax: Any, chart: Chart) -> None:
    """Scales, labels, ticks and grid of the first chart."""
    narrow = _is_narrow(ax)
    small, letters = (7.5, 20) if narrow else (8.5, 36)
    for axis, which in ((chart.x, ax.xaxis), (chart.y, ax.yaxis)):
        if axis.scale in ("log", "logit"):
            getattr(ax, f"set_{which.axis_name}scale")(axis.scale)
        which.set_label_text(axis.label)
        _write(which.label, small + 0.5)
    ax.minorticks_off()
    ax.tick_params(labelsize=small, color="#9AA5B1", labelcolor=_INK["ink"])
    ax.grid(color="#D9DEE3", lw=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color("#9AA5B1")
    if chart.y.scale == "names":
        names = [shortened(name, letters) for name in chart.y.names]
        ax.set_yticks(range(len(names)), names)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
    if chart.x.scale == "names":
        inches = ax.get_figure().get_figwidth() * ax.get_position().width
        longest = min(max(map(len, chart.x.names), default=1), 12)
        ticks = chart.x.ticks(max(2, int(72 * inches / (0.62 * small * longest + 8))))
        ax.set_xticks(*zip(*((k, shortened(name, 12)) for k, name in ticks), strict=True))
    for text in [*ax.get_xticklabels(), *ax.get_yticklabels()]:
        _write(text, small)
    place = {"xycoords": ("axes fraction", "data"), "va": "center"}
    for k, words in enumerate(() if narrow else chart.right):
        _write(ax.annotate(_shown(words), (1.01, k), parse_math=False, **place), small)


def _ranges(ax: Any, chart: Chart, number: int) -> None:
    """Both axes show this chart and earlier ones; beneath is room for the strip."""
    rooms = {"x": 0.0, "y": STRIP if chart.strip else 0.0}
    for axis, name in ((chart.x, "x"), (chart.y, "y")):
        low, high = axis.range
        if axis.scale == "names":
            getattr(ax, f"set_{name}lim")(*((low, high) if name == "x" else (high, low)))
            continue
        if number:
            known = getattr(ax, f"get_{name}lim")()
            low, high = min(low, _moved_end(axis.scale, *known, rooms[name])), max(high, known[1])
        shown = axis._replace(range=(low, high))
        ticks, texts = zip(*shown.ticks(4 if _is_narrow(ax) else 6), strict=True)
        getattr(ax, f"set_{name}ticks")(ticks, texts)
        start = _moved_end(axis.scale, low, high, -rooms[name] / (1 - rooms[name]))
        getattr(ax, f"set_{name}lim")(start, high)
    if chart.square:
        ax.set_box_aspect(1 / (1 - rooms["y"]))


def _is_narrow(ax: Any) -> bool:
    return bool(ax.get_figure().get_figwidth() * ax.get_position().width / 0.8 < _NARROW)


def _moved_end(scale: str, low: float, high: float, share: float) -> float:
    """The low end of an axis, moved up by this share of its length."""
    first, last = (scaled(scale, end) for end in (low, high))
    moved = float(first + share * (last - first))
    if scale == "logit":
        return 1 / (1 + math.exp(-moved))
    return math.exp(moved) if scale == "log" else moved


def _legend(ax: Any) -> None:
    """A legend below the label of the x-axis, where it covers nothing."""
    from matplotlib.transforms import ScaledTranslation

    handles = {it.get_label(): it for it in _drawn(ax) if it.get_label() != "_"}
    if not handles:
        return
    columns = 1 if _is_narrow(ax) else 2
    below = ax.transAxes + ScaledTranslation(0, -36 / 72, ax.get_figure().dpi_scale_trans)
    place = {"loc": "upper left", "bbox_to_anchor": (0, 0), "bbox_transform": below}
    style = {"frameon": False, "borderpad": 0, "borderaxespad": 0, "ncols": columns}
    blank = [str(k) for k in range(len(handles))]
    made = ax.legend([*handles.values()], blank, **place, **style)
    for text, words in zip(made.get_texts(), handles, strict=True):
        text.set_text(words)
        _write(text, 8.0)


def _shown(text: str) -> str:
    return visible(text)


def _write(text: Any, size: float) -> None:
    """A text as it is, in fonts that have its letters."""
    text.set_parse_math(False)
    text.set_fontsize(size)
    if any(ord(letter) > 0x24F for letter in text.get_text()):
        from matplotlib import font_manager, rcParams

        known = {font.name for font in font_manager.fontManager.ttflist}
        others = sorted(filter(_SCRIPTS.match, known))
        text.set_fontfamily([*rcParams["font.family"], *others])

"""A chart on matplotlib axes; further charts on the same axes are overlaid.

Nothing global is changed. Names are drawn as they are: `$` starts no formula, and letters that the
usual font lacks are taken from a font for their script, if one is installed.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from trueness.charts.chart import Chart, Mark
from trueness.formatting import shortened, visible
from trueness.refusals import MissingLibraryError

COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's, of overlaid charts in their order; readers of all kinds tell them apart."""
MARKERS = "os^Dvp"

_INK = {"observed": COLOURS[0], "predicted": COLOURS[1], "band": "#9FB3C8"}
_INK |= {"ink": "#1F2933", "quiet": "#616E7C"}
_BESIDE = (0.0, 0.2, -0.2, 0.35, -0.35)  # moves overlaid marks on an axis of names apart
_SCRIPTS = re.compile("Noto Sans|Microsoft YaHei|PingFang|Hiragino|Arial Unicode|WenQuanYi")
STRIP = 0.17  # the share of the height that the strip takes, beneath the chart on the same axes
WIDE = 52  # letters beside one another; texts on narrower axes are shorter and fewer


def draw(chart: Chart, ax: Any, label: str | None, color: Any) -> Any:
    """Draw a chart on these axes, or on new ones, and return them."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        remedy = 'pip install "trueness[plots]"'
        raise MissingLibraryError("missing-library", "plots need matplotlib", remedy) from error
    if ax is None:
        figure, ax = plt.subplots(layout="constrained")
        figure.set_gid("trueness")
        wide = figure.get_figwidth()
        tall = max(0.27 * len(chart.y.names), 0.7) if chart.y.names else 0.55 * wide
        figure.set_figheight(0.65 + (min(wide, 4.6) if chart.square else tall))
    number = 1 + max((int(it.get_gid().split("-")[1]) for it in _drawn(ax)), default=-1)
    color = color if color is not None else COLOURS[number % len(COLOURS)] if number else None
    for k, mark in enumerate(it for it in chart.marks if not number or it.role != "ink"):
        text = label if label and mark.role == "observed" and not mark.is_named else ""
        for artist in _mark(ax, _moved(mark, chart, number), number, color):
            artist.set_gid(f"trueness-{number}-{k}")
            artist.set_label(visible(text or ("" if number else mark.legend)) or "_")
    if not number:
        _frame(ax, chart)
        for mark in chart.strip:
            low = mark._replace(y2=0.8 * STRIP * mark.corners[3])
            _boxes(ax, low, ax.get_xaxis_transform(), facecolor=_INK["quiet"], alpha=0.5)
    _ranges(ax, chart, number)
    _legend(ax)
    return ax


def _drawn(ax: Any) -> list[Any]:
    """What earlier charts drew on these axes."""
    return [it for it in ax.get_children() if str(it.get_gid() or "").startswith("trueness-")]


def _moved(mark: Mark, chart: Chart, number: int) -> Mark:
    shift = _BESIDE[number % len(_BESIDE)] if mark.kind in ("points", "spans") else 0.0
    if chart.y.scale == "names":
        return mark._replace(y=mark.y + shift)
    return mark._replace(x=mark.x + shift) if chart.x.scale == "names" else mark


def _mark(ax: Any, mark: Mark, number: int, color: Any) -> list[Any]:
    """The artists of a mark."""
    own = color is not None and (number or mark.role in ("observed", "quiet"))
    ink = color if own else _INK["observed" if mark.kind == "points" else mark.role]
    x, y, x2, y2 = mark.corners
    dashes = (0, (4, 3)) if mark.role == "ink" else "-"
    if mark.kind == "rule":
        at, draw_line = (x, ax.axvline) if len(x) else (y, ax.axhline)
        return [draw_line(v, color=ink, lw=1.0, ls=dashes, zorder=1.5) for v in at]
    if mark.kind == "line":
        return [ax.plot(x, y, color=ink, lw=1.2, ls=dashes, zorder=2)[0]]
    if mark.kind == "band":
        return [ax.fill_between(x, y, y2, color=ink, alpha=0.18 if own else 0.45, lw=0, zorder=1)]
    if mark.kind == "points":
        style = {"marker": MARKERS[number % len(MARKERS)], "s": 30, "zorder": 4, "lw": 1.0}
        return [ax.scatter(x, y, color="white" if mark.is_hollow else ink, ec=ink, **style)]
    if mark.kind == "spans":
        vertical = mark.x2 is None
        draw_lines, ends = (ax.vlines, (x, y, y2)) if vertical else (ax.hlines, (y, x, x2))
        return [draw_lines(*ends, color=ink, lw=1.6, zorder=3)]
    style = {"facecolor": "none" if number or mark.is_hollow else ink, "edgecolor": ink, "lw": 0.8}
    if mark.kind == "bars" and not number:
        style |= {"alpha": 0.45, "edgecolor": "white"}
    return [_boxes(ax, mark, ax.transData, zorder=2, **style)]


def _boxes(ax: Any, mark: Mark, transform: Any, **style: Any) -> Any:
    """Rectangles, on scales of any kind."""
    from matplotlib.collections import PolyCollection

    x, y, x2, y2 = mark.corners
    corners: Any = np.stack([np.stack(it, 1) for it in ((x, y), (x2, y), (x2, y2), (x, y2))], 1)
    return ax.add_collection(PolyCollection(corners, transform=transform, **style), autolim=False)


def _frame(ax: Any, chart: Chart) -> None:
    """Scales, labels, ticks and grid of the first chart."""
    narrow = _letters(ax) < WIDE
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
        ax.set_yticks(range(len(chart.y.names)), [shortened(it, letters) for it in chart.y.names])
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center"}
    for k, words in enumerate(() if narrow else chart.right):
        _write(ax.annotate(visible(words), (1.01, k), parse_math=False, **place), small)


def _ranges(ax: Any, chart: Chart, number: int) -> None:
    """Both axes show this chart and earlier ones; beneath is room for the strip."""
    share = STRIP if chart.strip else 0.0
    for axis, which, room in ((chart.x, ax.xaxis, 0.0), (chart.y, ax.yaxis, share)):
        low, high = axis.range
        if axis.scale == "names":
            if which is ax.xaxis:
                which.set_ticks(*zip(*axis.ticks(_letters(ax)), strict=True))
            which.set_view_interval(low, high, ignore=True)
            which.set_inverted(which is ax.yaxis)
            continue
        if number:
            first, last = which.get_view_interval()
            low, high = min(low, _moved_end(which, first, last, room)), max(high, last)
        which.set_ticks(*zip(*axis._replace(range=(low, high)).ticks(_letters(ax)), strict=True))
        start = _moved_end(which, low, high, -room / (1 - room))
        which.set_view_interval(start, high, ignore=True)
    for text in [*ax.get_xticklabels(), *ax.get_yticklabels()]:
        _write(text, 8.5 if _letters(ax) >= WIDE else 7.5)
    ax.autoscale(False)
    if chart.square:
        ax.set(box_aspect=1 / (1 - share), anchor="N")


def _letters(ax: Any) -> float:
    """How many letters fit along the axes."""
    return float(14.5 * ax.get_figure().get_figwidth() * ax.get_position().width)


def _moved_end(which: Any, low: float, high: float, share: float) -> float:
    """The low end of an axis, moved up by this share of its length."""
    scale = which.get_transform()
    first, last = scale.transform([low, high])
    return float(scale.inverted().transform([first + share * (last - first)])[0])


def _legend(ax: Any) -> None:
    """A legend below the label of the x-axis, where it covers nothing."""
    from matplotlib.transforms import ScaledTranslation

    figure, known = ax.get_figure(), len(ax.get_legend().get_texts()) if ax.get_legend() else 0
    handles = {it.get_label(): it for it in _drawn(ax) if it.get_label() != "_"}
    columns = 1 if _letters(ax) < WIDE else 2
    if figure.get_gid() == "trueness":
        more = -(-len(handles) // columns) + known // -columns
        figure.set_figheight(figure.get_figheight() + 0.2 * more)
    below = ax.transAxes + ScaledTranslation(0, -36 / 72, figure.dpi_scale_trans)
    style: dict[str, Any] = {"frameon": False, "borderpad": 0, "borderaxespad": 0, "ncols": columns}
    style |= {"loc": "upper left", "bbox_to_anchor": (0, 0), "bbox_transform": below}
    made = ax.legend([*handles.values()], [str(k) for k in range(len(handles))], **style)
    for text, words in zip(made.get_texts(), handles, strict=True):
        text.set_text(words)
        _write(text, 8.0)


def _write(text: Any, size: float) -> None:
    """A text as it is, in fonts that have its letters."""
    text.set_parse_math(False)
    text.set_fontsize(size)
    if any(ord(letter) > 0x24F for letter in text.get_text()):
        from matplotlib import font_manager, rcParams

        known = {font.name for font in font_manager.fontManager.ttflist}
        others = sorted(filter(_SCRIPTS.match, known))
        text.set_fontfamily([*rcParams["font.family"], *others])

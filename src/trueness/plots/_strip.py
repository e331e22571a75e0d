"""The strip below a diagram, in the same axes, with the histogram of its rows: it then fits any layout."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trueness._arrays import FloatArray
from trueness.plots._layers import Layer
from trueness.plots.style import QUIET


class Strip(NamedTuple):
    """Where the strip is, in the units of the axes."""

    left: float
    foot: float
    height: float

    def label(self, ax: Any, words: str) -> None:
        """Write what the histogram shows."""
        ax.text(self.left, self.foot + self.height, words, va="center", fontsize=7.5, color=QUIET)


def draw_strip(ax: Any, view: tuple[float, float]) -> Strip:
    """Make room for the histogram below a square diagram that shows `view` on both axes."""
    low, high = view
    span = high - low
    pad, height = 0.03 * span, 0.17 * span
    foot = low - 2 * pad - height
    ax.axhline(low - pad, color=QUIET, linewidth=0.6)
    ax.set(xlim=(low - pad, high + pad), ylim=(foot, high + pad), aspect="equal")
    return Strip(low, foot, height)


def draw_histogram(
    ax: Any, bars: tuple[FloatArray, FloatArray, FloatArray], strip: Strip, layer: Layer[Any]
) -> None:
    """Draw left edges, right edges and heights as grey bars, or as the outline of one of several models."""
    left, right, height = bars
    tops = strip.foot + height * 0.76 * strip.height  # leaves room for the label above them
    if layer.alone:
        look: dict[str, Any] = {"color": QUIET, "alpha": 0.5, "edgecolor": "white", "linewidth": 0.6}
        ax.bar(left, tops - strip.foot, width=right - left, bottom=strip.foot, align="edge", **look)
        return
    x, y = np.stack([left, right], axis=1).ravel(), np.repeat(tops, 2)
    order = np.argsort(x, kind="stable")
    ax.plot(x[order], y[order], color=layer.colour, linewidth=1.1)

"""The strip of classes with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._printing import shorten
from trueness.old_assessment import assess
from trueness.plots._display import Display, draw_points, light_grid
from trueness.plots._layers import Layer
from trueness.plots._legend import place_legend
from trueness.plots.classes.data import MOST_CLASSES, X_LABEL, ClassLine, ClassStrip, class_strip_of
from trueness.plots.classes.svg import ratio_ticks
from trueness.plots.style import BAND, INK, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ClassDisplay(Display[ClassStrip]):
    """How often each class was observed per expected one, with the exact band of a calibrated model.

    The classes with the smallest adjusted p-values come first. Below 1 a class is predicted too often. Hollow points
    are classes of which fewer than 10 rows are expected, or lie beyond the axis.
    """

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        most: int = MOST_CLASSES,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw from rows, as `assess` takes them."""
        return cls.from_assessment(
            assess(y_true, y_prob, **options), most=most, ax=ax, label=label, color=color
        )

    @classmethod
    def from_assessment(
        cls,
        result: Any,
        *,
        most: int = MOST_CLASSES,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw from the result of `assess`."""
        return cls(class_strip_of(result, most)).plot(ax, label=label, color=color)

    def _size(self) -> tuple[float, float]:
        return 7.2, 1.4 + 0.25 * len(self.data.lines)

    @property
    def _shows(self) -> str:
        return X_LABEL

    def _draw(self, ax: Any, layers: Sequence[Layer[ClassStrip]]) -> None:
        r, names = layers[0].data, list(dict.fromkeys(line.name for it in layers for line in it.data.lines))
        height = {name: len(names) - place for place, name in enumerate(names)}
        limit = max(it.data.limit for it in layers)
        ax.axvline(1, color=INK, linestyle="--", linewidth=1, zorder=1)
        for layer in layers:
            for place, line in enumerate(layer.data.lines):
                _draw_line(ax, height[line.name], line, limit, layer, named=place == 0)
        ax.set_yticks(list(height.values()), [shorten(name, 30).replace("$", r"\$") for name in names])
        called = {line.name for it in layers for line in it.data.lines if line.called}
        for name, words in zip(names, ax.get_yticklabels(), strict=True):
            words.set_fontweight("bold" if name in called else "normal")
        ax.set(xscale="log", xlim=(1 / limit, limit), ylim=(0.3, len(names) + 0.7))
        ax.minorticks_off()
        ax.set_xticks(*zip(*ratio_ticks(limit), strict=True))
        left_out = f"\n({r.n_left_out} more classes not shown)" if r.n_left_out else ""
        ax.set_xlabel(f"{X_LABEL}; left of 1 predicted too often, right too seldom{left_out}", fontsize=9)
        light_grid(ax)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        if not layers[0].alone or layers[0].label is not None:
            place_legend(ax)


def _draw_line(
    ax: Any, height: float, line: ClassLine, limit: float, layer: Layer[ClassStrip], *, named: bool
) -> None:
    if not math.isnan(line.ratio):
        y = height - layer.shift(0.8)
        ends = [min(max(x, 1 / limit), limit) for x in (line.low, line.high, line.ratio)]
        hollow = not line.measured or ends[2] != line.ratio
        ax.hlines(y, *ends[:2], color=BAND, alpha=0.8, linewidth=8 / layer.count)
        draw_points(
            ax,
            (np.array(ends[2:]), np.array([y])),
            np.array([hollow]),
            layer,
            area=np.array([34.0]),
            labels=(layer.words("") if named else "", ""),
            clip_on=False,
        )
    if line.words and layer.alone:
        at: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "annotation_clip": False}
        ax.annotate(line.words, (1.02, height), va="center", fontsize=8, color=QUIET, **at)

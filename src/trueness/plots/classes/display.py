"""The strip of classes with matplotlib."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

from trueness._printing import shorten
from trueness.assessment import assess
from trueness.plots._display import Display, light_grid
from trueness.plots.classes.data import MOST_CLASSES, X_LABEL, ClassLine, ClassStrip, class_strip_of
from trueness.plots.classes.svg import ratio_ticks
from trueness.plots.style import BAND, INK, OBSERVED, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ClassDisplay(Display[ClassStrip]):
    """How often each class was observed per expected one, with the exact band of a calibrated model.

    The classes with the smallest adjusted p-values come first. Below 1 a class is predicted too often. Hollow points
    are classes of which fewer than 10 rows are expected, or lie beyond the axis.
    """

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_prob: Any, *, most: int = MOST_CLASSES, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Draw from rows, as `assess` takes them."""
        return cls.from_assessment(assess(y_true, y_prob, **options), most=most, ax=ax)

    @classmethod
    def from_assessment(cls, result: Any, *, most: int = MOST_CLASSES, ax: Axes | None = None) -> Self:
        """Draw from the result of `assess`."""
        return cls(class_strip_of(result, most)).plot(ax)

    def _size(self) -> tuple[float, float]:
        return 7.2, 1.4 + 0.25 * len(self.data.lines)

    def _draw(self, ax: Any) -> None:
        r, n = self.data, len(self.data.lines)
        ax.axvline(1, color=INK, linestyle="--", linewidth=1, zorder=1)
        for place, line in enumerate(r.lines):
            _draw_line(ax, n - place, line, r.limit)
        heights = [n - place for place in range(n)]
        ax.set_yticks(heights, [shorten(line.name, 30).replace("$", r"\$") for line in r.lines])
        for line, words in zip(r.lines, ax.get_yticklabels(), strict=True):
            words.set_fontweight("bold" if line.called else "normal")
        ax.set(xscale="log", xlim=(1 / r.limit, r.limit), ylim=(0.3, n + 0.7))
        ax.minorticks_off()
        places, words = zip(*ratio_ticks(r.limit), strict=True)
        ax.set_xticks(places, words)
        left_out = f"\n({r.n_left_out} more classes not shown)" if r.n_left_out else ""
        ax.set_xlabel(f"{X_LABEL}; left of 1 predicted too often, right too seldom{left_out}", fontsize=9)
        light_grid(ax)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)


def _draw_line(ax: Any, y: float, line: ClassLine, limit: float) -> None:
    if not math.isnan(line.ratio):
        ends = [min(max(x, 1 / limit), limit) for x in (line.low, line.high, line.ratio)]
        hollow = not line.measured or ends[2] != line.ratio
        ax.hlines(y, *ends[:2], color=BAND, alpha=0.8, linewidth=8)
        face, edge = ("white", OBSERVED) if hollow else (OBSERVED, "white")
        ax.scatter(
            [ends[2]], [y], s=34, facecolor=face, edgecolor=edge, linewidth=1.2, zorder=3, clip_on=False
        )
    if line.words:
        at: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "annotation_clip": False}
        ax.annotate(line.words, (1.02, y), va="center", fontsize=8, color=QUIET, **at)

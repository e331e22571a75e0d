"""The pictures of the log-score with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._printing import shorten
from trueness.plots._display import Display, light_grid, small_legend
from trueness.plots.cumulative.data import (
    MOST_CLASSES,
    Y_LABEL,
    CumulativeScore,
    PredictedClasses,
    cumulative_score_of,
    predicted_classes_of,
)
from trueness.plots.style import BAND, INK, OBSERVED, PREDICTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class CumulativeScoreDisplay(Display[CumulativeScore]):
    """The log-score of each bin of V as bars, and cumulated as a line, with the band of a calibrated model.

    Bars below 0 are bins where the model is over-confident. The cumulated score of a calibrated model stays in the band
    with at least the level of the assessment.
    """

    SIZE = (5.6, 4.2)

    @classmethod
    def from_assessment(cls, result: Any, *, ax: Axes | None = None) -> Self:
        """Draw from the result of `assess`."""
        return cls(cumulative_score_of(result)).plot(ax)

    def _draw(self, ax: Any) -> None:
        r = self.data
        words = f"{100 * r.level:g} % of calibrated models stay inside"
        ax.axhspan(-r.reach, r.reach, color=BAND, alpha=0.4, linewidth=0, label=words)
        ax.axhline(0, color=INK, linestyle="--", linewidth=1)
        z = np.nan_to_num(r.z)
        colours = [OBSERVED if value < 0 else PREDICTED for value in z]
        look: dict[str, Any] = {"align": "edge", "color": colours, "alpha": 0.45, "edgecolor": "white"}
        ax.bar(r.left, z, width=r.right - r.left, linewidth=0.6, label="each bin", **look)
        line = [r.left[0], *r.right], [0.0, *r.cumulated]
        ax.plot(*line, "o-", color=INK, markersize=3, linewidth=1.6, label=f"cumulated: {r.summary}")
        low, high = r.view
        pad = 0.03 * (high - low)
        ax.set(xlim=(low - pad, high + pad), ylim=(-r.y_limit, r.y_limit), xlabel=r.x_label)
        ax.set_ylabel(f"{Y_LABEL}\n(below 0: over-confident)")
        light_grid(ax)
        small_legend(ax, loc="upper left" if r.cumulated.sum() < 0 else "lower left")


class PredictedClassDisplay(Display[PredictedClasses]):
    """The log-score of the rows that predict each class: below 0 the model is over-confident there."""

    @classmethod
    def from_assessment(cls, result: Any, *, most: int = MOST_CLASSES, ax: Axes | None = None) -> Self:
        """Draw from the result of `assess`."""
        return cls(predicted_classes_of(result, most)).plot(ax)

    def _size(self) -> tuple[float, float]:
        return 6.4, 1.4 + 0.25 * len(self.data.bars)

    def _draw(self, ax: Any) -> None:
        r, n = self.data, len(self.data.bars)
        ax.axvspan(-r.reach, r.reach, color=BAND, alpha=0.4, linewidth=0)
        ax.axvline(0, color=INK, linestyle="--", linewidth=1)
        heights, z = [n - place for place in range(n)], [bar.corrected for bar in r.bars]
        colours = [OBSERVED if value < 0 else PREDICTED for value in z]
        ax.barh(heights, z, height=0.66, color=colours, alpha=0.75)
        ax.set_yticks(heights, [shorten(bar.name, 30).replace("$", r"\$") for bar in r.bars])
        for bar, words in zip(r.bars, ax.get_yticklabels(), strict=True):
            words.set_fontweight("bold" if bar.called else "normal")
        ax.set(xlim=(-r.limit, r.limit), ylim=(0.3, n + 0.7))
        left_out = f"\n({r.n_left_out} more classes not shown)" if r.n_left_out else ""
        ax.set_xlabel(f"Z: {Y_LABEL}; below 0 over-confident\n{r.summary}{left_out}", fontsize=9)
        light_grid(ax)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)

"""The pictures of the log-score with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._printing import shorten
from trueness.plots._display import Display, light_grid
from trueness.plots._layers import Layer
from trueness.plots._legend import place_legend
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

    SIZE = (5.6, 4.6)

    @classmethod
    def from_assessment(
        cls, result: Any, *, ax: Axes | None = None, label: str | None = None, color: str | None = None
    ) -> Self:
        """Draw from the result of `assess`."""
        return cls(cumulative_score_of(result)).plot(ax, label=label, color=color)

    @property
    def _shows(self) -> str:
        return f"{Y_LABEL} against {self.data.x_label}"

    def _draw(self, ax: Any, layers: Sequence[Layer[CumulativeScore]]) -> None:
        r = layers[0].data
        reach, words = (
            max(it.data.reach for it in layers),
            f"{100 * r.level:g} % of calibrated models stay inside",
        )
        ax.axhspan(-reach, reach, color=BAND, alpha=0.4, linewidth=0, label=words)
        ax.axhline(0, color=INK, linestyle="--", linewidth=1)
        if layers[0].alone:
            _draw_score_bars(ax, r)
        for layer in layers:
            it = layer.data
            colour = layer.colour if layer.chosen_colour or not layer.alone else INK
            look: dict[str, Any] = {"color": colour, "markersize": 3, "linewidth": 1.6}
            name = layer.words(f"cumulated: {it.summary}", it.summary)
            ax.plot([it.left[0], *it.right], [0.0, *it.cumulated], f"{layer.marker}-", label=name, **look)
        low, high = min(it.data.view[0] for it in layers), max(it.data.view[1] for it in layers)
        pad, limit = 0.03 * (high - low), max(it.data.y_limit for it in layers)
        ax.set(xlim=(low - pad, high + pad), ylim=(-limit, limit), xlabel=r.x_label)
        ax.set_ylabel(f"{Y_LABEL}{'' if layers[0].alone else ', cumulated'}\n(below 0: over-confident)")
        light_grid(ax)
        place_legend(ax)


def _draw_score_bars(ax: Any, r: CumulativeScore) -> None:
    z = np.nan_to_num(r.z)
    colours = [OBSERVED if value < 0 else PREDICTED for value in z]
    look: dict[str, Any] = {"align": "edge", "color": colours, "alpha": 0.45, "edgecolor": "white"}
    ax.bar(r.left, z, width=r.right - r.left, linewidth=0.6, label="each bin", **look)


class PredictedClassDisplay(Display[PredictedClasses]):
    """The log-score of the rows that predict each class: below 0 the model is over-confident there."""

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
        return cls(predicted_classes_of(result, most)).plot(ax, label=label, color=color)

    def _size(self) -> tuple[float, float]:
        return 6.4, 1.4 + 0.25 * len(self.data.bars)

    @property
    def _shows(self) -> str:
        return f"{Y_LABEL} by predicted class"

    def _draw(self, ax: Any, layers: Sequence[Layer[PredictedClasses]]) -> None:
        r, names = layers[0].data, list(dict.fromkeys(bar.name for it in layers for bar in it.data.bars))
        height = {name: len(names) - place for place, name in enumerate(names)}
        reach, limit = (max(getattr(it.data, name) for it in layers) for name in ("reach", "limit"))
        ax.axvspan(-reach, reach, color=BAND, alpha=0.4, linewidth=0)
        ax.axvline(0, color=INK, linestyle="--", linewidth=1)
        for layer in layers:
            _draw_class_bars(ax, layer, height)
        ax.set_yticks(list(height.values()), [shorten(name, 30).replace("$", r"\$") for name in names])
        called = {bar.name for it in layers for bar in it.data.bars if bar.called}
        for name, words in zip(names, ax.get_yticklabels(), strict=True):
            words.set_fontweight("bold" if name in called else "normal")
        ax.set(xlim=(-limit, limit), ylim=(0.3, len(names) + 0.7))
        left_out = f"\n({r.n_left_out} more classes not shown)" if r.n_left_out else ""
        summary = f"\n{r.summary}" if layers[0].alone else ""
        ax.set_xlabel(f"Z: {Y_LABEL}; below 0 over-confident{summary}{left_out}", fontsize=9)
        light_grid(ax)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        if not layers[0].alone or layers[0].label is not None:
            place_legend(ax)


def _draw_class_bars(ax: Any, layer: Layer[PredictedClasses], height: Mapping[str, int]) -> None:
    """Draw the bars of one model, coloured by their sign; of several models each in its colour."""
    r = layer.data
    z = [bar.corrected for bar in r.bars]
    colours: Any = layer.chosen_colour or [OBSERVED if value < 0 else PREDICTED for value in z]
    places = [height[bar.name] - layer.shift(0.8) for bar in r.bars]
    look: dict[str, Any] = {"color": colours if layer.alone else layer.colour, "alpha": 0.75}
    ax.barh(places, z, height=0.66 / layer.count, label=layer.words("", r.summary), **look)

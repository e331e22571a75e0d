"""The picture of the log-score with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from trueness._printing import shorten
from trueness.plots._display import Display, light_grid
from trueness.plots._layers import Layer
from trueness.plots._legend import place_legend
from trueness.plots.cumulative.data import (
    MOST_CLASSES,
    Y_LABEL,
    PredictedClasses,
    predicted_classes_of,
)
from trueness.plots.style import BAND, INK, OBSERVED, PREDICTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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

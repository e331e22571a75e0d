"""The rank diagram with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._random import Seed
from trueness.bins import Bins
from trueness.old_table import AnyRankTable
from trueness.plots._display import Display, light_grid
from trueness.plots._layers import Layer
from trueness.plots._legend import place_legend
from trueness.plots._rank_groups import X_LABEL
from trueness.plots.ranks.data import MOST_BARS, Ranks, ranks_of
from trueness.plots.style import BAND, PREDICTED
from trueness.plots.table_estimates import Drawable, TableEstimates
from trueness.tabulation import tabulate
from trueness.variation import Variation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class RankDisplay(Display[Ranks]):
    """Mean ordered probabilities beside the observed frequencies of the ranks, with the band of a calibrated model.

    Shows errors of the variation (too much probability at rank 1) and also errors of the order of the ranks, which do
    not change VCE.
    """

    SIZE = (6.0, 4.6)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        bin: int | None = None,
        variation: str | Variation = "entropy",
        bins: int | Bins = 10,
        level: float = 0.95,
        rng: Seed = 0,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
        **row_options: Any,
    ) -> Self:
        """Draw from rows, as `assess` takes them; `bin` is a number from 1, or None for all rows."""
        table = tabulate(y_true, y_prob, variation=variation, bins=bins, **row_options)
        return cls.from_table(table, bin=bin, level=level, rng=rng, ax=ax, label=label, color=color)

    @classmethod
    def from_table(
        cls,
        table: AnyRankTable,
        *,
        bin: int | None = None,
        level: float = 0.95,
        rng: Seed = 0,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw from a table. The band is exact: `rng` has no effect and is accepted as in the other Displays."""
        estimates = TableEstimates.of(table, level=level, resamples=1, rng=rng)
        return cls(ranks_of(estimates, bin)).plot(ax, label=label, color=color)

    @classmethod
    def from_assessment(
        cls,
        result: Drawable,
        *,
        bin: int | None = None,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw from the result of `assess`."""
        return cls(ranks_of(result, bin)).plot(ax, label=label, color=color)

    @property
    def _shows(self) -> str:
        return "shares per rank on logarithmic axes" if self.data.logarithmic else "shares per rank"

    def _draw(self, ax: Any, layers: Sequence[Layer[Ranks]]) -> None:
        (_draw_logarithmic if layers[0].data.logarithmic else _draw_bars)(ax, layers)
        ax.set_title(" | ".join(dict.fromkeys(it.data.title for it in layers)), fontsize=10)
        ax.set_xlabel(f"{X_LABEL} (1: the class predicted as most likely)")
        light_grid(ax)
        place_legend(ax)


def _predicted_words(layer: Layer[Ranks], kind: str) -> str | None:
    if layer.alone:
        return layer.words("predicted: mean ordered probability")
    return f"{kind}: predicted, mean ordered probability" if layer.first else None


def _band_words(layer: Layer[Ranks]) -> str | None:
    return f"calibrated model: {100 * layer.data.level:g} % band" if layer.first else None


def _draw_bars(ax: Any, layers: Sequence[Layer[Ranks]]) -> None:
    for layer in layers:
        _draw_bar_layer(ax, layer)
    r = max((it.data for it in layers), key=lambda data: len(data.first))
    x = r.first.astype(float)
    turned = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"} if len(x) > MOST_BARS else {}
    ax.set_xticks(x, r.labels, **turned)
    tops = [np.maximum(np.maximum(it.data.predicted, it.data.observed), it.data.high) for it in layers]
    ax.set_ylim(0, 1.08 * max(float(top.max()) for top in tops))
    ax.set_ylabel("share of rows")


def _draw_bar_layer(ax: Any, layer: Layer[Ranks]) -> None:
    r = layer.data
    x, half = r.first + layer.shift(0.72), 0.36 / layer.count
    line = PREDICTED if layer.alone else layer.colour
    words = _predicted_words(layer, "bars")
    ax.bar(x, r.predicted, width=2 * half, color=line, alpha=0.3, label=words)
    look: dict[str, Any] = {"color": BAND, "linewidth": 9 / layer.count, "alpha": 0.8, "zorder": 3}
    ax.vlines(x, r.low, r.high, label=_band_words(layer), **look)
    ax.hlines(r.predicted, x - half, x + half, color=line, linewidth=1.6, zorder=3)
    ax.plot(
        x,
        r.observed,
        layer.marker,
        color=layer.colour,
        markeredgecolor="white",
        markersize=7,
        label="observed" if layer.alone else f"{layer.name}: observed",
        zorder=5,
    )


def _draw_logarithmic(ax: Any, layers: Sequence[Layer[Ranks]]) -> None:
    floor = min(it.data.smallest_shown for it in layers)
    for layer in layers:
        _draw_logarithmic_layer(ax, layer, floor)
    n_classes = max(it.data.n_classes for it in layers)
    ax.set(xscale="log", yscale="log", ylim=(floor, 1.5), xlim=(0.9, n_classes * 1.1))
    grouped = any(it.data.grouped for it in layers)
    ax.set_ylabel("share of rows per rank" if grouped else "share of rows")


def _draw_logarithmic_layer(ax: Any, layer: Layer[Ranks], floor: float) -> None:
    r = layer.data
    x = np.sqrt(r.first * r.last.astype(float))
    colour, alpha = (BAND, 0.5) if layer.alone else (layer.colour, 0.14)
    low, high = (np.maximum(column, floor) for column in (r.low, r.high))
    ax.fill_between(x, low, high, color=colour, alpha=alpha, linewidth=0, label=_band_words(layer))
    shown = np.where(r.predicted > 0, r.predicted, np.nan)
    line = PREDICTED if layer.alone else layer.colour
    ax.plot(x, shown, color=line, linewidth=1.6, label=_predicted_words(layer, "lines"))
    seen = r.observed > 0
    points: dict[str, Any] = {"color": layer.colour, "markersize": 6}
    words = "observed" if layer.alone else f"{layer.name}: observed"
    ax.plot(x[seen], r.observed[seen], layer.marker, markeredgecolor="white", label=words, **points)
    if not seen.all():
        below, never = np.full(int((~seen).sum()), floor), "never observed" if layer.first else None
        ax.plot(x[~seen], below, "v", markerfacecolor="white", clip_on=False, label=never, **points)

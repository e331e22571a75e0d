"""The reliability diagram with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._arrays import FloatArray
from trueness._random import Seed
from trueness.bins import Bins
from trueness.old_table import AnyRankTable
from trueness.plots._display import Display, draw_band, draw_bin_points, light_grid
from trueness.plots._layers import Layer
from trueness.plots._legend import place_legend
from trueness.plots._plotted_bins import PlottedBins
from trueness.plots._strip import draw_histogram, draw_strip
from trueness.plots.reliability.data import Reliability, histogram_bars, reliability_of
from trueness.plots.style import INK, PREDICTED
from trueness.plots.table_estimates import Drawable, TableEstimates
from trueness.tabulation import tabulate
from trueness.variation import Variation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ReliabilityDisplay(Display[Reliability]):
    """Predicted against observed variation, with the band expected for a calibrated model.

    Each bin that holds rows is a point at (𝒫_m, 𝒪_m), its area in proportion to the rows, hollow if they are too few.
    With few rows even a calibrated model lies below the diagonal, and so does the band: the observed ranks of few rows
    vary less than those of many.

    With `metric="ece"` accuracy against confidence; with `metric="uce"` error rate against entropy, where a calibrated
    model follows the blue curve, not the diagonal.
    """

    SIZE = (5.2, 6.4)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        metric: str = "vce",
        variation: str | Variation = "entropy",
        bins: int | Bins = 10,
        level: float = 0.95,
        resamples: int = 999,
        rng: Seed = 0,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
        **row_options: Any,
    ) -> Self:
        """Draw from rows, as `assess` takes them. ECE and UCE fix the variation measure."""
        measure = {"ece": "confidence", "uce": "entropy"}.get(metric, variation)
        table = tabulate(y_true, y_prob, variation=measure, bins=bins, **row_options)
        return cls.from_table(
            table, metric=metric, level=level, resamples=resamples, rng=rng, ax=ax, label=label, color=color
        )

    @classmethod
    def from_table(
        cls,
        table: AnyRankTable,
        *,
        metric: str = "vce",
        level: float = 0.95,
        resamples: int = 999,
        rng: Seed = 0,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw from a table."""
        estimates = TableEstimates.of(table, level=level, resamples=resamples, rng=rng)
        return cls(reliability_of(estimates, metric)).plot(ax, label=label, color=color)

    @classmethod
    def from_assessment(
        cls,
        result: Drawable,
        *,
        metric: str = "vce",
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw from the result of `assess`."""
        return cls(reliability_of(result, metric)).plot(ax, label=label, color=color)

    @property
    def _shows(self) -> str:
        return f"{self.data.metric}, {self.data.y_label} against {self.data.x_label}"

    def _draw(self, ax: Any, layers: Sequence[Layer[Reliability]]) -> None:
        view = min(it.data.view[0] for it in layers), max(it.data.view[1] for it in layers)
        ax.plot(view, view, color=INK, linestyle="--", linewidth=1, label="observed = predicted")
        for layer in layers:
            _draw_layer(ax, layer, view)
        strip = draw_strip(ax, view)
        for layer in layers:
            draw_histogram(ax, histogram_steps(layer.data.bins), strip, layer)
        strip.label(ax, layers[0].data.rows_label)
        ax.set_yticks([tick for tick in ax.get_yticks() if view[0] - 1e-9 <= tick <= view[1] + 1e-9])
        ax.set(xlabel=layers[0].data.x_label, ylabel=layers[0].data.y_label)
        light_grid(ax)
        place_legend(ax)


def _draw_layer(ax: Any, layer: Layer[Reliability], view: tuple[float, float]) -> None:
    """Draw the band, the bars and the points of one model."""
    r = layer.data
    # Where only part of the range is shown, bands and bars end there instead of in the strip below.
    band_low, band_high, bar_low, bar_high = (
        np.clip(ends, *view) for ends in (r.low, r.high, r.bar_low, r.bar_high)
    )
    draw_band(ax, r.x, (band_low, band_high), r.level, layer)
    if r.metric == "UCE":
        order, first = np.argsort(r.x), "calibrated model: mean" if layer.first else None
        colour = PREDICTED if layer.alone else layer.colour
        ax.plot(r.x[order], r.expected[order], color=colour, linewidth=1.4, label=first)
    ax.vlines(r.x, bar_low, bar_high, color=layer.colour, linewidth=1.2, zorder=4)
    words = layer.words(f"{r.value_text},\n{r.test_text}", r.value_text)
    draw_bin_points(ax, r.x, r.y, r.bins, layer, largest=170, label=words)


def histogram_steps(bins: PlottedBins) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Left edges, right edges and heights of the histogram of V over all bins."""
    left, width, height = histogram_bars(bins)
    return left, left + width, height

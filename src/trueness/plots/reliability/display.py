"""The reliability diagram with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._random import Seed
from trueness.bins import Bins
from trueness.plots._display import Display, draw_band, draw_bin_points, light_grid, small_legend
from trueness.plots.reliability.data import Reliability, histogram_bars, reliability_of
from trueness.plots.style import INK, OBSERVED, PREDICTED, QUIET
from trueness.plots.table_estimates import Drawable, TableEstimates
from trueness.table import AnyRankTable
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

    SIZE = (5.2, 5.6)

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
        **row_options: Any,
    ) -> Self:
        """Draw from rows, as `assess` takes them. ECE and UCE fix the variation measure."""
        measure = {"ece": "confidence", "uce": "entropy"}.get(metric, variation)
        table = tabulate(y_true, y_prob, variation=measure, bins=bins, **row_options)
        return cls.from_table(table, metric=metric, level=level, resamples=resamples, rng=rng, ax=ax)

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
    ) -> Self:
        """Draw from a table."""
        estimates = TableEstimates.of(table, level=level, resamples=resamples, rng=rng)
        return cls(reliability_of(estimates, metric)).plot(ax)

    @classmethod
    def from_assessment(cls, result: Drawable, *, metric: str = "vce", ax: Axes | None = None) -> Self:
        """Draw from the result of `assess`."""
        return cls(reliability_of(result, metric)).plot(ax)

    def _draw(self, ax: Any) -> None:
        r = self.data
        low, high = r.view
        # Where only part of the range is shown, bands and bars end there instead of in the strip below.
        band_low, band_high, bar_low, bar_high = (
            np.clip(ends, low, high) for ends in (r.low, r.high, r.bar_low, r.bar_high)
        )
        draw_band(ax, r.x, band_low, band_high, r.level)
        ax.plot(
            [low, high], [low, high], color=INK, linestyle="--", linewidth=1, label="observed = predicted"
        )
        if r.metric == "UCE":
            order = np.argsort(r.x)
            ax.plot(
                r.x[order], r.expected[order], color=PREDICTED, linewidth=1.4, label="calibrated model: mean"
            )
        ax.vlines(r.x, bar_low, bar_high, color=OBSERVED, linewidth=1.2, zorder=4)
        # In two lines: a legend as wide as the axes would cover points wherever it stood.
        draw_bin_points(ax, r.x, r.y, r.bins, largest=170, label=f"{r.value_text},\n{r.test_text}")
        self._draw_histogram(ax)
        ax.set(xlabel=r.x_label, ylabel=r.y_label)
        light_grid(ax)
        above_strip = (0.0, 0.16, 1.0, 0.84)
        small_legend(ax, loc=_free_corner(r), bbox_to_anchor=above_strip)

    def _draw_histogram(self, ax: Any) -> None:
        """Draw the rows per bin in a strip below the diagram, in the same axes: it then fits any layout."""
        r = self.data
        low, high = r.view
        span = high - low
        pad, strip = 0.03 * span, 0.17 * span
        foot = low - 2 * pad - strip
        left, width, height = histogram_bars(r.bins)
        ax.bar(
            left,
            height * 0.76 * strip,  # leaves room for the label above them
            width=width,
            bottom=foot,
            align="edge",
            color=QUIET,
            alpha=0.5,
            edgecolor="white",
            linewidth=0.6,
        )
        ax.axhline(low - pad, color=QUIET, linewidth=0.6)
        ax.set(xlim=(low - pad, high + pad), ylim=(foot, high + pad), aspect="equal")
        ax.set_yticks([tick for tick in ax.get_yticks() if low - 1e-9 <= tick <= high + 1e-9])
        ax.text(low, foot + strip, r.rows_label, va="center", fontsize=7.5, color=QUIET)


def _free_corner(r: Reliability) -> str:
    """The corner where a legend covers fewer points: above the diagonal or below it."""
    low, high = r.view
    x, y, top = ((values - low) / (high - low) for values in (r.x, r.y, r.bar_high))
    bottom = (r.bar_low - low) / (high - low)
    above = np.count_nonzero((x < 0.75) & ((y > 0.75) | (top > 0.85)))
    below = np.count_nonzero((x > 0.25) & ((y < 0.25) | (bottom < 0.15)))
    return "upper left" if above <= below else "lower right"

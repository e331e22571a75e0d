"""Predicted against observed, bin by bin: the reliability diagram, and the signed gaps over V."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._random import Seed
from trueness.bins import Bins
from trueness.plots._display import Display, even_markers, light_grid, points
from trueness.plots.readings import Gaps, Judged, Judgement, Reliability, gaps, reliability
from trueness.plots.style import BAND, INK, OBSERVED, PREDICTED, QUIET, marker_areas
from trueness.table import CalibrationTable
from trueness.tabulation import tabulate
from trueness.variation import Variation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ReliabilityDisplay(Display):
    """Predicted against observed variation, with the band in which a calibrated model would be.

    Points are at (𝒫_m, 𝒪_m), their area in proportion to the rows of the bin, hollow where these are too few; empty
    bins are absent. Below the diagonal is the noise of small bins, which the band shows too: observed ranks of few rows
    vary less than those of many.

    The same for ECE (accuracy against confidence) and for UCE (error rate against entropy, where a calibrated model
    follows the blue curve, not the diagonal).
    """

    SIZE = (5.2, 5.6)

    def __init__(self, reading: Reliability) -> None:
        self.reading = reading

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
        """From rows, as `assess` takes them; `metric` is "vce", "ece" or "uce", which have their measures fixed."""
        measure = {"ece": "confidence", "uce": "entropy"}.get(metric, variation)
        table = tabulate(y_true, y_prob, variation=measure, bins=bins, **row_options)
        return cls.from_table(table, metric=metric, level=level, resamples=resamples, rng=rng, ax=ax)

    @classmethod
    def from_table(
        cls,
        table: CalibrationTable,
        *,
        metric: str = "vce",
        level: float = 0.95,
        resamples: int = 999,
        rng: Seed = 0,
        ax: Axes | None = None,
    ) -> Self:
        """From a table alone."""
        judgement = Judgement.of(table, level=level, resamples=resamples, rng=rng)
        return cls(reliability(judgement, metric)).plot(ax)

    @classmethod
    def from_assessment(cls, result: Judged, *, metric: str = "vce", ax: Axes | None = None) -> Self:
        """From what `assess` returned."""
        return cls(reliability(result, metric)).plot(ax)

    def _draw(self, ax: Any) -> None:
        r = self.reading
        low, high = r.view
        order = np.argsort(r.x)
        calibrated = f"calibrated: {100 * r.level:g} % of bins"
        # Where only a part of the range is shown, bands and bars end with it, and not in the strip below.
        band_low, band_high, bar_low, bar_high = (
            np.clip(ends, low, high) for ends in (r.low, r.high, r.bar_low, r.bar_high)
        )
        if len(order) > 1:
            ax.fill_between(
                r.x[order],
                band_low[order],
                band_high[order],
                color=BAND,
                alpha=0.45,
                linewidth=0,
                label=calibrated,
            )
        else:  # a band of one bin has no width
            ax.vlines(r.x, band_low, band_high, color=BAND, alpha=0.45, linewidth=14, label=calibrated)
        ax.plot(
            [low, high], [low, high], color=INK, linestyle="--", linewidth=1, label="observed = predicted"
        )
        if r.metric == "UCE":
            ax.plot(r.x[order], r.expected[order], color=PREDICTED, linewidth=1.4, label="calibrated: mean")
        ax.vlines(r.x, bar_low, bar_high, color=OBSERVED, linewidth=1.2, zorder=4)
        area = np.array(marker_areas((r.rows / r.rows.sum()).tolist(), 18, 170))
        # In two lines: a legend as wide as the axes would cover points wherever it stood.
        words = r.summary.replace("), ", "),\n")
        points(ax, r.x, r.y, area=area, hollow=r.small, colour=OBSERVED, label=words)
        self._draw_histogram(ax)
        ax.set_xlabel(r.x_label)
        ax.set_ylabel(r.y_label)
        light_grid(ax)
        above_strip = (0.0, 0.16, 1.0, 0.84)
        even_markers(
            ax.legend(
                loc=free_corner(r), bbox_to_anchor=above_strip, fontsize=8, framealpha=0.85, edgecolor="none"
            )
        )

    def _draw_histogram(self, ax: Any) -> None:
        """Where V lies, in a strip below the diagram: in the same axes, so that it fits wherever they stand."""
        r = self.reading
        low, high = r.view
        span = high - low
        pad, strip = 0.03 * span, 0.17 * span
        foot = low - 2 * pad - strip
        left, width, height = bars(r)
        ax.bar(
            left,
            height * 0.76 * strip,  # the words stand above them
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
        ax.text(low, foot + strip, "rows by their own V", va="center", fontsize=7.5, color=QUIET)


def free_corner(r: Reliability) -> str:
    """Where a legend covers fewer points: above the diagonal or, if these are there, below it."""
    low, high = r.view
    x, y, top = ((values - low) / (high - low) for values in (r.x, r.y, r.bar_high))
    bottom = (r.bar_low - low) / (high - low)
    above = np.count_nonzero((x < 0.75) & ((y > 0.75) | (top > 0.85)))
    below = np.count_nonzero((x > 0.25) & ((y < 0.25) | (bottom < 0.15)))
    return "upper left" if above <= below else "lower right"


def bars(r: Reliability) -> tuple[Any, Any, Any]:
    """Left edges, widths and heights of the histogram of V: densities, the tallest 1."""
    span = float(r.edges[-1] - r.edges[0])
    width = np.maximum(np.diff(r.edges), 0.004 * span)  # a bin may hold its lowest value alone
    density = r.share / width
    return r.edges[:-1], width, density / density.max()


class GapDisplay(Display):
    """The signed gap of each bin over its predicted variation: above 0 over-confident, below 0 under-confident.

    Gaps are centred: each is what was observed less the mean that a calibrated model would show on as many rows.
    """

    SIZE = (6.0, 3.8)

    def __init__(self, reading: Gaps) -> None:
        self.reading = reading

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        variation: str | Variation = "entropy",
        bins: int | Bins = 10,
        level: float = 0.95,
        resamples: int = 999,
        rng: Seed = 0,
        ax: Axes | None = None,
        **row_options: Any,
    ) -> Self:
        """From rows, as `assess` takes them."""
        table = tabulate(y_true, y_prob, variation=variation, bins=bins, **row_options)
        return cls.from_table(table, level=level, resamples=resamples, rng=rng, ax=ax)

    @classmethod
    def from_table(
        cls,
        table: CalibrationTable,
        *,
        level: float = 0.95,
        resamples: int = 999,
        rng: Seed = 0,
        ax: Axes | None = None,
    ) -> Self:
        """From a table alone."""
        return cls(gaps(Judgement.of(table, level=level, resamples=resamples, rng=rng))).plot(ax)

    @classmethod
    def from_assessment(cls, result: Judged, *, ax: Axes | None = None) -> Self:
        """From what `assess` returned."""
        return cls(gaps(result)).plot(ax)

    def _draw(self, ax: Any) -> None:
        r = self.reading
        order = np.argsort(r.x)
        band = {"color": BAND, "alpha": 0.45, "label": f"calibrated: {100 * r.level:g} % of bins"}
        if len(order) > 1:
            ax.fill_between(r.x[order], r.low[order], r.high[order], linewidth=0, **band)
        else:
            ax.vlines(r.x, r.low, r.high, linewidth=14, **band)
        ax.axhline(0, color=INK, linestyle="--", linewidth=1)
        ax.vlines(r.x, r.gap - r.reach, r.gap + r.reach, color=OBSERVED, linewidth=1.2, zorder=4)
        area = np.array(marker_areas((r.rows / r.rows.sum()).tolist(), 18, 150))
        points(ax, r.x, r.gap, area=area, hollow=r.small, colour=OBSERVED, label=r.summary)
        reach = 1.12 * max(
            float(np.abs(r.gap).max() + r.reach.max()), float(r.high.max()), float(-r.low.min())
        )
        reach = reach or 1.0
        left, right = r.view
        pad = 0.03 * (right - left)
        ax.set(ylim=(-reach, reach), xlim=(left - pad, right + pad))
        for height, words, side in ((0.99, "over-confident", "top"), (0.01, "under-confident", "bottom")):
            ax.text(
                0.99, height, words, transform=ax.transAxes, ha="right", va=side, fontsize=8.5, color=QUIET
            )
        ax.set_xlabel(f"predicted {r.measure.replace('_', ' ')}")
        ax.set_ylabel("observed less expected")
        light_grid(ax)
        even_markers(
            ax.legend(loc=_free_left_corner(r, reach), fontsize=8, framealpha=0.85, edgecolor="none")
        )


def _free_left_corner(r: Gaps, reach: float) -> str:
    """Where a legend covers fewer points; right, there are words."""
    left, right = r.view
    there = r.x < left + 0.6 * (right - left)
    above = np.count_nonzero(there & (r.gap + r.reach > reach / 2))
    below = np.count_nonzero(there & (r.gap - r.reach < -reach / 2))
    return "upper left" if above <= below else "lower left"

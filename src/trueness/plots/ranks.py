"""Which rank came true, and how often it was predicted to: for one bin, for all rows, and for all bins at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._random import Seed
from trueness.bins import Bins
from trueness.plots._display import Display, light_grid
from trueness.plots.rank_readings import HeatMap, Ranks, heat_map, ranks
from trueness.plots.readings import Judged, Judgement
from trueness.plots.style import BAND, INK, LARGEST_GAP, OBSERVED, PAPER, PREDICTED, QUIET
from trueness.table import CalibrationTable
from trueness.tabulation import tabulate
from trueness.variation import Variation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BARS = 12
"""With more ranks than this the axes are logarithmic: most probabilities are small."""


class RankDisplay(Display):
    """Mean ordered probabilities beside the observed frequencies of the ranks, with the band of a calibrated model.

    A model may be wrong in its variation (too much mass at rank 1) or only in the order of its ranks, which VCE does
    not see: here both are seen.
    """

    SIZE = (6.0, 4.0)

    def __init__(self, reading: Ranks) -> None:
        self.reading = reading

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
        **row_options: Any,
    ) -> Self:
        """From rows, as `assess` takes them; `bin` is a number from 1, or None for all rows."""
        table = tabulate(y_true, y_prob, variation=variation, bins=bins, **row_options)
        return cls.from_table(table, bin=bin, level=level, rng=rng, ax=ax)

    @classmethod
    def from_table(
        cls,
        table: CalibrationTable,
        *,
        bin: int | None = None,
        level: float = 0.95,
        rng: Seed = 0,
        ax: Axes | None = None,
    ) -> Self:
        """From a table alone. The band is exact; `rng` changes nothing and is taken as elsewhere."""
        judgement = Judgement.of(table, level=level, resamples=1, rng=rng)
        return cls(ranks(judgement, bin)).plot(ax)

    @classmethod
    def from_assessment(cls, result: Judged, *, bin: int | None = None, ax: Axes | None = None) -> Self:
        """From what `assess` returned."""
        return cls(ranks(result, bin)).plot(ax)

    def _draw(self, ax: Any) -> None:
        many = self.reading.n_classes > MOST_BARS
        (self._draw_logarithmic if many else self._draw_bars)(ax)
        ax.set_title(self.reading.title, fontsize=10)
        ax.set_xlabel("rank of the true class (1: the class predicted as most likely)")
        light_grid(ax)
        ax.legend(loc="upper right", fontsize=8, framealpha=0.85, edgecolor="none")

    def _draw_bars(self, ax: Any) -> None:
        r = self.reading
        x = r.first.astype(float)
        ax.bar(
            x,
            r.predicted,
            width=0.72,
            color=PREDICTED,
            alpha=0.3,
            label="predicted: mean ordered probability",
        )
        ax.vlines(
            x,
            r.low,
            r.high,
            color=BAND,
            linewidth=9,
            alpha=0.8,
            label=f"calibrated: {100 * r.level:g} %",
            zorder=3,
        )
        ax.hlines(r.predicted, x - 0.36, x + 0.36, color=PREDICTED, linewidth=1.6, zorder=3)
        ax.plot(
            x,
            r.observed,
            "o",
            color=OBSERVED,
            markeredgecolor="white",
            markersize=7,
            label="came true",
            zorder=5,
        )
        ax.set_xticks(x, r.labels)
        tops = np.maximum(np.maximum(r.predicted, r.observed), r.high)
        # The legend stands at the right, where bars are low unless predictions are near uniform.
        room = 1.3 if tops[1:].max() > 0.75 * tops.max() else 1.08
        ax.set_ylim(0, room * float(tops.max()))
        ax.set_ylabel("share of rows")

    def _draw_logarithmic(self, ax: Any) -> None:
        r = self.reading
        x = np.sqrt(r.first * r.last.astype(float))
        floor = floor_of(r)
        ax.fill_between(
            x,
            np.maximum(r.low, floor),
            np.maximum(r.high, floor),
            color=BAND,
            alpha=0.5,
            linewidth=0,
            label=f"calibrated: {100 * r.level:g} %",
        )
        shown = np.where(r.predicted > 0, r.predicted, np.nan)
        ax.plot(x, shown, color=PREDICTED, linewidth=1.6, label="predicted: mean ordered probability")
        seen = r.observed > 0
        ax.plot(
            x[seen],
            r.observed[seen],
            "o",
            color=OBSERVED,
            markeredgecolor="white",
            markersize=6,
            label="came true",
        )
        if not seen.all():
            below = np.full(int((~seen).sum()), floor)
            ax.plot(
                x[~seen],
                below,
                "v",
                color=OBSERVED,
                markerfacecolor="white",
                markersize=6,
                clip_on=False,
                label="never came true",
            )
        ax.set(xscale="log", yscale="log", ylim=(floor, 1.5), xlim=(0.9, r.n_classes * 1.1))
        ax.set_ylabel("share of rows per rank" if r.grouped else "share of rows")


def floor_of(r: Ranks) -> float:
    """The lower end of a logarithmic axis: a third of what one row at the widest group of ranks would be."""
    return 1 / (3 * max(r.rows, 1.0) * float((r.last - r.first + 1).max()))


class RankHeatMapDisplay(Display):
    """Bins × ranks, coloured by the standardised gap: where the distribution is wrong, at a glance.

    Orange ranks came true more often than predicted, blue ones less often; if the model is calibrated the numbers are
    like standard normal ones.
    """

    def __init__(self, reading: HeatMap) -> None:
        self.reading = reading

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        variation: str | Variation = "entropy",
        bins: int | Bins = 10,
        ax: Axes | None = None,
        **row_options: Any,
    ) -> Self:
        """From rows, as `assess` takes them."""
        return cls.from_table(tabulate(y_true, y_prob, variation=variation, bins=bins, **row_options), ax=ax)

    @classmethod
    def from_table(cls, table: CalibrationTable, *, ax: Axes | None = None) -> Self:
        """From a table alone."""
        return cls(heat_map(Judgement.of(table, resamples=1, rng=0))).plot(ax)

    @classmethod
    def from_assessment(cls, result: Judged, *, ax: Axes | None = None) -> Self:
        """From what `assess` returned."""
        return cls(heat_map(result)).plot(ax)

    def _size(self) -> tuple[float, float]:
        n_bins, n_ranks = self.reading.gap.shape
        return min(11.0, 2.6 + 0.44 * n_ranks), min(9.0, 1.5 + 0.36 * n_bins)

    def _draw(self, ax: Any) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        r = self.reading
        colours = LinearSegmentedColormap.from_list("gaps", [PREDICTED, PAPER, OBSERVED])
        shown = np.clip(r.gap, -LARGEST_GAP, LARGEST_GAP)
        image = ax.imshow(
            shown, cmap=colours, vmin=-LARGEST_GAP, vmax=LARGEST_GAP, aspect="auto", origin="lower"
        )
        n_bins, n_ranks = r.gap.shape
        step = -(-n_bins // 25)
        ax.set_yticks(range(0, n_bins, step), [f"{r.span[m]}" for m in range(0, n_bins, step)])
        turned = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"} if n_ranks > 14 else {}
        ax.set_xticks(range(n_ranks), r.labels, **turned)
        if n_bins * n_ranks <= 320:
            self._write_numbers(ax)
        ax.set_xlabel("rank of the true class")
        ax.set_ylabel("bin of V")
        ax.tick_params(labelsize=8.5, color=QUIET, length=2)
        ax.spines[:].set_visible(False)
        bar = ax.get_figure(root=True).colorbar(image, ax=ax, extend="both", fraction=0.05, pad=0.02)
        bar.set_label("came true less / more often than predicted\n(standard deviations)", fontsize=8.5)
        bar.ax.tick_params(labelsize=8)
        bar.outline.set_visible(False)

    def _write_numbers(self, ax: Any) -> None:
        for (m, c), gap in np.ndenumerate(self.reading.gap):
            ax.text(
                c,
                m,
                gap_text(gap),
                ha="center",
                va="center",
                fontsize=7,
                color=INK if abs(gap) < 4.5 else "white",
            )


def gap_text(gap: float) -> str:
    """A standardised gap in two or three characters.

    >>> [gap_text(x) for x in (-0.04, 1.26, -3.0, 14.2, float("inf"))]
    ['0', '+1.3', '−3', '+14', '+∞']
    """
    if np.isinf(gap):
        return "+∞" if gap > 0 else "−∞"
    rounded = round(float(gap), 1 if abs(gap) < 9.95 else 0)
    return "0" if rounded == 0 else f"{rounded:+g}".replace("-", "−")

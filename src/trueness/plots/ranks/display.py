"""The rank diagram with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._random import Seed
from trueness.bins import Bins
from trueness.plots._display import Display, light_grid, small_legend
from trueness.plots._rank_groups import X_LABEL
from trueness.plots.ranks.data import MOST_BARS, Ranks, ranks_of
from trueness.plots.style import BAND, OBSERVED, PREDICTED
from trueness.plots.table_estimates import Drawable, TableEstimates
from trueness.table import AnyRankTable
from trueness.tabulation import tabulate
from trueness.variation import Variation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class RankDisplay(Display[Ranks]):
    """Mean ordered probabilities beside the observed frequencies of the ranks, with the band of a calibrated model.

    Shows errors of the variation (too much probability at rank 1) and also errors of the order of the ranks, which do
    not change VCE.
    """

    SIZE = (6.0, 4.0)

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
        """Draw from rows, as `assess` takes them; `bin` is a number from 1, or None for all rows."""
        table = tabulate(y_true, y_prob, variation=variation, bins=bins, **row_options)
        return cls.from_table(table, bin=bin, level=level, rng=rng, ax=ax)

    @classmethod
    def from_table(
        cls,
        table: AnyRankTable,
        *,
        bin: int | None = None,
        level: float = 0.95,
        rng: Seed = 0,
        ax: Axes | None = None,
    ) -> Self:
        """Draw from a table. The band is exact: `rng` has no effect and is accepted as in the other Displays."""
        estimates = TableEstimates.of(table, level=level, resamples=1, rng=rng)
        return cls(ranks_of(estimates, bin)).plot(ax)

    @classmethod
    def from_assessment(cls, result: Drawable, *, bin: int | None = None, ax: Axes | None = None) -> Self:
        """Draw from the result of `assess`."""
        return cls(ranks_of(result, bin)).plot(ax)

    def _draw(self, ax: Any) -> None:
        (self._draw_logarithmic if self.data.logarithmic else self._draw_bars)(ax)
        ax.set_title(self.data.title, fontsize=10)
        ax.set_xlabel(f"{X_LABEL} (1: the class predicted as most likely)")
        light_grid(ax)
        small_legend(ax, loc="upper right")

    def _draw_bars(self, ax: Any) -> None:
        r = self.data
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
            label=f"calibrated model: {100 * r.level:g} % band",
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
            label="observed",
            zorder=5,
        )
        turned = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"} if len(x) > MOST_BARS else {}
        ax.set_xticks(x, r.labels, **turned)
        tops = np.maximum(np.maximum(r.predicted, r.observed), r.high)
        # The legend is at the right, where bars are low unless predictions are nearly uniform.
        room = 1.3 if tops[1:].max() > 0.75 * tops.max() else 1.08
        ax.set_ylim(0, room * float(tops.max()))
        ax.set_ylabel("share of rows")

    def _draw_logarithmic(self, ax: Any) -> None:
        r = self.data
        x = np.sqrt(r.first * r.last.astype(float))
        floor = r.smallest_shown
        ends = slice(len(x) - r.beyond)  # the band of the ranks ends before what is beyond them
        ax.fill_between(
            x[ends],
            np.maximum(r.low, floor)[ends],
            np.maximum(r.high, floor)[ends],
            color=BAND,
            alpha=0.5,
            linewidth=0,
            label=f"calibrated model: {100 * r.level:g} % band",
        )
        shown = np.where(r.predicted > 0, r.predicted, np.nan)
        if r.beyond:
            shown[-1] = np.nan
        ax.plot(x, shown, color=PREDICTED, linewidth=1.6, label="predicted: mean ordered probability")
        seen = r.observed > 0
        ax.plot(
            x[seen],
            r.observed[seen],
            "o",
            color=OBSERVED,
            markeredgecolor="white",
            markersize=6,
            label="observed",
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
                label="never observed",
            )
        ax.set(xscale="log", yscale="log", ylim=(floor, 1.5), xlim=(0.9, r.n_classes * 1.1))
        ax.set_ylabel("share of rows per rank" if r.grouped else "share of rows")

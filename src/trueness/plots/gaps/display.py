"""The diagram of signed gaps with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._random import Seed
from trueness.bins import Bins
from trueness.plots._display import Display, draw_band, draw_bin_points, light_grid, small_legend
from trueness.plots.gaps.data import Y_LABEL, Gaps, gaps_of
from trueness.plots.style import INK, OBSERVED, QUIET
from trueness.plots.table_estimates import Drawable, TableEstimates
from trueness.table import AnyRankTable
from trueness.tabulation import tabulate
from trueness.variation import Variation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class GapDisplay(Display[Gaps]):
    """The signed gap of each bin over its predicted variation: above 0 over-confident, below 0 under-confident.

    Gaps are centred: each is the observed variation minus its mean for a calibrated model with as many rows.
    """

    SIZE = (6.0, 3.8)

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
        """Draw from rows, as `assess` takes them."""
        table = tabulate(y_true, y_prob, variation=variation, bins=bins, **row_options)
        return cls.from_table(table, level=level, resamples=resamples, rng=rng, ax=ax)

    @classmethod
    def from_table(
        cls,
        table: AnyRankTable,
        *,
        level: float = 0.95,
        resamples: int = 999,
        rng: Seed = 0,
        ax: Axes | None = None,
    ) -> Self:
        """Draw from a table."""
        return cls(gaps_of(TableEstimates.of(table, level=level, resamples=resamples, rng=rng))).plot(ax)

    @classmethod
    def from_assessment(cls, result: Drawable, *, ax: Axes | None = None) -> Self:
        """Draw from the result of `assess`."""
        return cls(gaps_of(result)).plot(ax)

    def _draw(self, ax: Any) -> None:
        r = self.data
        draw_band(ax, r.x, r.low, r.high, r.level)
        ax.axhline(0, color=INK, linestyle="--", linewidth=1)
        ax.vlines(r.x, r.gap - r.reach, r.gap + r.reach, color=OBSERVED, linewidth=1.2, zorder=4)
        draw_bin_points(ax, r.x, r.gap, r.bins, largest=150, label=r.summary)
        left, right = r.view
        pad = 0.03 * (right - left)
        ax.set(ylim=(-r.y_limit, r.y_limit), xlim=(left - pad, right + pad), xlabel=r.x_label, ylabel=Y_LABEL)
        for height, words, side in ((0.99, "over-confident", "top"), (0.01, "under-confident", "bottom")):
            ax.text(
                0.99, height, words, transform=ax.transAxes, ha="right", va=side, fontsize=8.5, color=QUIET
            )
        light_grid(ax)
        small_legend(ax, loc=_free_left_corner(r))


def _free_left_corner(r: Gaps) -> str:
    """The left corner where a legend covers fewer points; the right corners have labels."""
    left, right = r.view
    beside = r.x < left + 0.6 * (right - left)
    above = np.count_nonzero(beside & (r.gap + r.reach > r.y_limit / 2))
    below = np.count_nonzero(beside & (r.gap - r.reach < -r.y_limit / 2))
    return "upper left" if above <= below else "lower left"

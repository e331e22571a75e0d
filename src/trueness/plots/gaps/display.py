"""The diagram of signed gaps with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from trueness._random import Seed
from trueness.bins import Bins
from trueness.old_table import AnyRankTable
from trueness.plots._display import Display, draw_band, draw_bin_points, light_grid
from trueness.plots._layers import Layer
from trueness.plots._legend import place_legend
from trueness.plots.gaps.data import Y_LABEL, Gaps, gaps_of
from trueness.plots.style import INK, QUIET
from trueness.plots.table_estimates import Drawable, TableEstimates
from trueness.tabulation import tabulate
from trueness.variation import Variation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class GapDisplay(Display[Gaps]):
    """The signed gap of each bin over its predicted variation: above 0 over-confident, below 0 under-confident.

    Gaps are centred: each is the observed variation minus its mean for a calibrated model with as many rows.
    """

    SIZE = (6.0, 4.4)

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
        label: str | None = None,
        color: str | None = None,
        **row_options: Any,
    ) -> Self:
        """Draw from rows, as `assess` takes them."""
        table = tabulate(y_true, y_prob, variation=variation, bins=bins, **row_options)
        return cls.from_table(
            table, level=level, resamples=resamples, rng=rng, ax=ax, label=label, color=color
        )

    @classmethod
    def from_table(
        cls,
        table: AnyRankTable,
        *,
        level: float = 0.95,
        resamples: int = 999,
        rng: Seed = 0,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw from a table."""
        return cls(gaps_of(TableEstimates.of(table, level=level, resamples=resamples, rng=rng))).plot(
            ax, label=label, color=color
        )

    @classmethod
    def from_assessment(
        cls, result: Drawable, *, ax: Axes | None = None, label: str | None = None, color: str | None = None
    ) -> Self:
        """Draw from the result of `assess`."""
        return cls(gaps_of(result)).plot(ax, label=label, color=color)

    @property
    def _shows(self) -> str:
        return f"{Y_LABEL} against {self.data.x_label}"

    def _draw(self, ax: Any, layers: Sequence[Layer[Gaps]]) -> None:
        ax.axhline(0, color=INK, linestyle="--", linewidth=1)
        for layer in layers:
            r = layer.data
            draw_band(ax, r.x, (r.low, r.high), r.level, layer)
            ax.vlines(r.x, r.gap - r.reach, r.gap + r.reach, color=layer.colour, linewidth=1.2, zorder=4)
            draw_bin_points(ax, r.x, r.gap, r.bins, layer, largest=150, label=layer.words(r.summary))
        left, right = min(it.data.view[0] for it in layers), max(it.data.view[1] for it in layers)
        pad, limit = 0.03 * (right - left), max(it.data.y_limit for it in layers)
        ax.set(ylim=(-limit, limit), xlim=(left - pad, right + pad))
        ax.set(xlabel=layers[0].data.x_label, ylabel=Y_LABEL)
        for height, words, side in ((0.99, "over-confident", "top"), (0.01, "under-confident", "bottom")):
            ax.text(
                0.99, height, words, transform=ax.transAxes, ha="right", va=side, fontsize=8.5, color=QUIET
            )
        light_grid(ax)
        place_legend(ax)

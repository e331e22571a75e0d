"""The map of bins and ranks with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness.bins import Bins
from trueness.old_table import AnyRankTable
from trueness.plots._display import MapDisplay
from trueness.plots._rank_groups import X_LABEL, gap_text
from trueness.plots.rank_map.data import LARGEST_GAP, RankMap, rank_map_of
from trueness.plots.style import INK, OBSERVED, PAPER, PREDICTED, QUIET
from trueness.plots.table_estimates import Drawable, TableEstimates
from trueness.tabulation import tabulate
from trueness.variation import Variation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class RankHeatMapDisplay(MapDisplay[RankMap]):
    """Bins × ranks, coloured by the standardised gap between observed and predicted frequency.

    Orange ranks were observed more often than predicted, blue ones less often. If the model is calibrated the numbers
    are approximately standard normal.
    """

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        variation: str | Variation = "entropy",
        bins: int | Bins = 10,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
        **row_options: Any,
    ) -> Self:
        """Draw from rows, as `assess` takes them."""
        return cls.from_table(
            tabulate(y_true, y_prob, variation=variation, bins=bins, **row_options),
            ax=ax,
            label=label,
            color=color,
        )

    @classmethod
    def from_table(
        cls,
        table: AnyRankTable,
        *,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw from a table."""
        return cls(rank_map_of(TableEstimates.of(table, resamples=1, rng=0))).plot(
            ax, label=label, color=color
        )

    @classmethod
    def from_assessment(
        cls, result: Drawable, *, ax: Axes | None = None, label: str | None = None, color: str | None = None
    ) -> Self:
        """Draw from the result of `assess`."""
        return cls(rank_map_of(result)).plot(ax, label=label, color=color)

    def _size(self) -> tuple[float, float]:
        n_bins, n_ranks = self.data.gap.shape
        return min(11.0, 2.6 + 0.44 * n_ranks), min(9.0, 1.5 + 0.36 * n_bins)

    def _draw_map(self, ax: Any) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        r, spans = self.data, self.data.bins.spans
        colours = LinearSegmentedColormap.from_list("gaps", [PREDICTED, PAPER, OBSERVED])
        shown = np.clip(r.gap, -LARGEST_GAP, LARGEST_GAP)
        image = ax.imshow(
            shown, cmap=colours, vmin=-LARGEST_GAP, vmax=LARGEST_GAP, aspect="auto", origin="lower"
        )
        n_bins, n_ranks = r.gap.shape
        step = -(-n_bins // 25)
        ax.set_yticks(range(0, n_bins, step), [spans[m] for m in range(0, n_bins, step)])
        turned = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"} if n_ranks > 14 else {}
        ax.set_xticks(range(n_ranks), r.labels, **turned)
        if n_bins * n_ranks <= 320:
            self._write_numbers(ax)
        ax.set_xlabel(X_LABEL)
        ax.set_ylabel(r.bins.measure)
        ax.tick_params(labelsize=8.5, color=QUIET, length=2)
        ax.spines[:].set_visible(False)
        bar = ax.get_figure(root=True).colorbar(image, ax=ax, extend="both", fraction=0.05, pad=0.02)
        bar.set_label("observed less / more often than predicted\n(standard deviations)", fontsize=8.5)
        bar.ax.tick_params(labelsize=8)
        bar.outline.set_visible(False)

    def _write_numbers(self, ax: Any) -> None:
        for (m, c), gap in np.ndenumerate(self.data.gap):
            ax.text(
                c,
                m,
                gap_text(gap),
                ha="center",
                va="center",
                fontsize=7,
                color=INK if abs(gap) < 4.5 else "white",
            )

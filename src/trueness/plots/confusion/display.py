"""The expected and observed confusion matrix with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._printing import shorten
from trueness.plots._display import MapDisplay
from trueness.plots.rank_map.data import LARGEST_GAP
from trueness.plots.style import INK, OBSERVED, PAPER, PREDICTED, QUIET
from trueness.predicted_class import ConfusionTable, tabulate_confusion

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NUMBERS = 15
"""Classes of which both numbers are written into the cells."""


class ConfusionDisplay(MapDisplay[ConfusionTable]):
    """Predicted × true class, coloured by the standardised gap between observed and expected number.

    Orange confusions were observed more often than the predictions say, blue ones less often. There is no p-value: as
    a test, the log-score by predicted class detects more.
    """

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
        **row_options: Any,
    ) -> Self:
        """Draw from rows, as `tabulate_confusion` takes them."""
        return cls.from_table(
            tabulate_confusion(y_true, y_prob, **row_options), ax=ax, label=label, color=color
        )

    @classmethod
    def from_table(
        cls,
        table: ConfusionTable,
        *,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw from a table."""
        return cls(table).plot(ax, label=label, color=color)

    def _size(self) -> tuple[float, float]:
        n = self.data.n_classes
        side = min(11.0, 2.4 + (0.62 if n <= MOST_NUMBERS else 0.18) * n)
        return side + 1.4, side

    def _draw_map(self, ax: Any) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        table, n = self.data, self.data.n_classes
        colours = LinearSegmentedColormap.from_list("gaps", [PREDICTED, PAPER, OBSERVED])
        shown = np.clip(table.gap, -LARGEST_GAP, LARGEST_GAP)
        image = ax.imshow(shown, cmap=colours, vmin=-LARGEST_GAP, vmax=LARGEST_GAP)
        names = [shorten(table.name_of(c), 14) for c in range(n)]
        turned = (
            {"rotation": 60, "ha": "right", "rotation_mode": "anchor"}
            if n > 6 and max(map(len, names)) > 2
            else {}
        )
        ax.set_xticks(range(n), names, **turned)
        ax.set_yticks(range(n), names)
        if n <= MOST_NUMBERS:
            self._write_numbers(ax)
        ax.set_xlabel("true class")
        ax.set_ylabel("predicted class")
        ax.tick_params(labelsize=8.5 if n <= 30 else 6, color=QUIET, length=2)
        ax.spines[:].set_visible(False)
        bar = ax.get_figure(root=True).colorbar(image, ax=ax, extend="both", fraction=0.045, pad=0.02)
        bar.set_label("observed less / more often than expected\n(standard deviations)", fontsize=8.5)
        bar.ax.tick_params(labelsize=8)
        bar.outline.set_visible(False)

    def _write_numbers(self, ax: Any) -> None:
        """Observed over expected number in each cell."""
        gaps = np.nan_to_num(self.data.gap)
        for (k, c), observed in np.ndenumerate(self.data.observed):
            if not self.data.observed[k].any():
                continue
            text = f"{observed}\n({_short(float(self.data.expected[k, c]))})"
            colour = INK if abs(gaps[k, c]) < 4.5 else "white"
            ax.text(c, k, text, ha="center", va="center", fontsize=7, color=colour)


def _short(number: float) -> str:
    return f"{number:.1f}" if number < 100 else f"{number:.0f}"

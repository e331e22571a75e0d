"""A calibration error against the number of bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._printing import plain_name
from trueness.plots._curves import CURVES, draw_curves
from trueness.plots._display import Display, light_grid, small_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SweepDisplay(Display[Any]):
    """A calibration error and its noise floor against the number of bins: how much of the value is due to the bins."""

    SIZE = (6.0, 3.8)

    @classmethod
    def from_sweep(cls, sweep: Any, *, ax: Axes | None = None) -> Self:
        """Draw the result of `sweep_bins`."""
        return cls(sweep).plot(ax)

    def _draw(self, ax: Any) -> None:
        s = self.data
        order = np.argsort(s.n_bins)
        x = s.n_bins[order]
        draw_curves(ax, x, {name: getattr(s, name)[order] for name in CURVES}, s.level)
        ax.set_xscale("log", base=2)
        ax.set_xticks(x, [str(number) for number in x])
        ax.minorticks_off()
        ax.set_ylim(bottom=0)
        ax.set_xlabel(f"number of bins, of equal {s.bins_of_equal}")
        by = f" by {plain_name(s.variation)}" if s.metric == "VCE" else ""
        ax.set_ylabel(f"{s.metric}{by}")
        light_grid(ax)
        small_legend(ax)

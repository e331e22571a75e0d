"""A calibration error against the number of bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._printing import plain_name
from trueness.plots._curves import CURVES, draw_curves
from trueness.plots._display import Display, light_grid
from trueness.plots._layers import Layer
from trueness.plots._legend import place_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SweepDisplay(Display[Any]):
    """A calibration error and its noise floor against the number of bins: how much of the value is due to the bins."""

    SIZE = (6.0, 4.4)

    @classmethod
    def from_sweep(
        cls, sweep: Any, *, ax: Axes | None = None, label: str | None = None, color: str | None = None
    ) -> Self:
        """Draw the result of `sweep_bins`."""
        return cls(sweep).plot(ax, label=label, color=color)

    @property
    def _shows(self) -> str:
        return f"{self.data.metric} against the number of bins of equal {self.data.bins_of_equal}"

    def _draw(self, ax: Any, layers: Sequence[Layer[Any]]) -> None:
        s = layers[0].data
        for layer in layers:
            order = np.argsort(layer.data.n_bins)
            curves = {name: getattr(layer.data, name)[order] for name in CURVES}
            draw_curves(ax, layer.data.n_bins[order], curves, layer.data.level, layer)
        ticks = sorted({int(number) for layer in layers for number in layer.data.n_bins})
        ax.set_xscale("log", base=2)
        ax.set_xticks(ticks, [str(number) for number in ticks])
        ax.minorticks_off()
        ax.set_ylim(bottom=0)
        ax.set_xlabel(f"number of bins, of equal {s.bins_of_equal}")
        by = f" by {plain_name(s.variation)}" if s.metric == "VCE" else ""
        ax.set_ylabel(f"{s.metric}{by}")
        light_grid(ax)
        place_legend(ax)

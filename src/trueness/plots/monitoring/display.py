"""The pictures of a monitor with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness.plots._display import Display, light_grid
from trueness.plots._layers import Layer
from trueness.plots._legend import place_legend
from trueness.plots.monitoring.data import EvidencePath, TrendLines, evidence_of, trend_lines_of
from trueness.plots.style import BAND, INK, PREDICTED, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trueness.monitoring import Monitor


class EvidenceDisplay(Display[EvidencePath]):
    """E after each look on a logarithmic axis, with the limit of the alarm and the looks since the estimated start."""

    SIZE = (8.0, 4.0)

    @classmethod
    def from_monitor(
        cls, monitor: Monitor, *, ax: Axes | None = None, label: str | None = None, color: str | None = None
    ) -> Self:
        """Draw from a monitor."""
        return cls(evidence_of(monitor)).plot(ax, label=label, color=color)

    @property
    def _shows(self) -> str:
        return "E after each look"

    def _draw(self, ax: Any, layers: Sequence[Layer[EvidencePath]]) -> None:
        for layer in layers:
            _draw_path(ax, layer)
        low, high = min(it.data.range[0] for it in layers), max(it.data.range[1] for it in layers)
        ax.set(yscale="log", ylim=(10.0**low, 10.0**high), xlabel="look", ylabel="E")
        _name_looks(ax, max((it.data.names for it in layers), key=len))
        light_grid(ax)
        place_legend(ax)


def _draw_path(ax: Any, layer: Layer[EvidencePath]) -> None:
    r, name = layer.data, layer.words("") or None
    x, e = np.arange(1, len(r.names) + 1), 10.0 ** np.clip(r.log10_e, -300, 300)
    ax.plot(x, e, color=layer.colour, marker=layer.marker, markersize=3, linewidth=1.2, label=name)
    words = f"alarm at E = {10**r.limit:.4g}"
    if layer.alone:
        ax.axhline(10.0**r.limit, color=INK, linestyle="--", linewidth=1, label=words)
    else:
        ax.axhline(
            10.0**r.limit, color=layer.colour, linestyle="--", linewidth=1, label=f"{layer.name}: {words}"
        )
    if r.alarm is not None and r.began is not None:
        colour, alpha = (BAND, 0.45) if layer.alone else (layer.colour, 0.1)
        start = "estimated start to alarm" if layer.first else None
        ax.axvspan(r.began + 0.5, r.alarm + 1.5, color=colour, alpha=alpha, label=start)


class TrendDisplay(Display[TrendLines]):
    """The top-label gap of each look with its interval, and the running gap with its band; above 0 over-confident."""

    SIZE = (8.0, 4.2)

    @classmethod
    def from_monitor(
        cls, monitor: Monitor, *, ax: Axes | None = None, label: str | None = None, color: str | None = None
    ) -> Self:
        """Draw from a monitor."""
        return cls(trend_lines_of(monitor)).plot(ax, label=label, color=color)

    @property
    def _shows(self) -> str:
        return "the top-label gap of each look"

    def _draw(self, ax: Any, layers: Sequence[Layer[TrendLines]]) -> None:
        tolerance = max(it.data.tolerance for it in layers)
        if tolerance > 0:
            ax.axhspan(-tolerance, tolerance, color=QUIET, alpha=0.15, linewidth=0, label="tolerance")
        for layer in layers:
            _draw_trend(ax, layer)
        ax.axhline(0, color=INK, linestyle="--", linewidth=1)
        low, high = min(it.data.range[0] for it in layers), max(it.data.range[1] for it in layers)
        ax.set(ylim=(low, high), xlabel="look", ylabel="confidence less accuracy")
        _name_looks(ax, max((it.data.names for it in layers), key=len))
        light_grid(ax)
        place_legend(ax, ncols=2)


def _draw_trend(ax: Any, layer: Layer[TrendLines]) -> None:
    r, alone, first = layer.data, layer.alone, layer.first
    x = np.arange(1, len(r.names) + 1)
    band, alpha = (BAND, 0.45) if alone else (layer.colour, 0.14)
    words = "band of the running gap" if first else None
    ax.fill_between(x, r.band_low, r.band_high, color=band, alpha=alpha, linewidth=0, label=words)
    line = PREDICTED if alone else layer.colour
    ax.plot(x, r.running, color=line, linewidth=1.6, label=layer.words("running gap"))
    beside = x + layer.shift(0.3)
    ax.vlines(beside, r.low, r.high, color=layer.colour, linewidth=1)
    look: dict[str, Any] = {"color": layer.colour, "marker": layer.marker, "markersize": 3}
    ax.plot(beside, r.gap, linestyle="none", label="each look alone" if first else None, **look)


def _name_looks(ax: Any, names: tuple[str, ...]) -> None:
    """Names of some looks on the axis."""
    step = max(1, -(-len(names) // 8))
    ax.set_xticks(range(1, len(names) + 1, step), names[::step])

"""The pictures of a monitor with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness.plots._display import Display, light_grid, small_legend
from trueness.plots.monitoring.data import EvidencePath, TrendLines, evidence_of, trend_lines_of
from trueness.plots.style import BAND, INK, OBSERVED, PREDICTED, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trueness.monitoring import Monitor


class EvidenceDisplay(Display[EvidencePath]):
    """E after each look on a logarithmic axis, with the limit of the alarm and the looks since the estimated start."""

    SIZE = (8.0, 3.6)

    @classmethod
    def from_monitor(cls, monitor: Monitor, *, ax: Axes | None = None) -> Self:
        """Draw from a monitor."""
        return cls(evidence_of(monitor)).plot(ax)

    def _draw(self, ax: Any) -> None:
        r = self.data
        x, (low, high) = np.arange(1, len(r.names) + 1), r.range
        with np.errstate(over="ignore"):
            ax.plot(
                x,
                10.0 ** np.clip(r.log10_e, -300, 300),
                color=OBSERVED,
                marker="o",
                markersize=3,
                linewidth=1.2,
            )
        ax.axhline(
            10.0**r.limit, color=INK, linestyle="--", linewidth=1, label=f"alarm at E = {10**r.limit:.4g}"
        )
        if r.alarm is not None and r.began is not None:
            ax.axvspan(r.began + 0.5, r.alarm + 1.5, color=BAND, alpha=0.45, label="estimated start to alarm")
        ax.set(yscale="log", ylim=(10.0**low, 10.0**high), xlabel="look", ylabel="E")
        _name_looks(ax, r.names)
        light_grid(ax)
        small_legend(ax, loc="upper left")


class TrendDisplay(Display[TrendLines]):
    """The top-label gap of each look with its interval, and the running gap with its band; above 0 over-confident."""

    SIZE = (8.0, 3.8)

    @classmethod
    def from_monitor(cls, monitor: Monitor, *, ax: Axes | None = None) -> Self:
        """Draw from a monitor."""
        return cls(trend_lines_of(monitor)).plot(ax)

    def _draw(self, ax: Any) -> None:
        r = self.data
        x = np.arange(1, len(r.names) + 1)
        if r.tolerance > 0:
            ax.axhspan(-r.tolerance, r.tolerance, color=QUIET, alpha=0.15, linewidth=0, label="tolerance")
        look = {"color": BAND, "alpha": 0.45, "linewidth": 0, "label": "band of the running gap"}
        ax.fill_between(x, r.band_low, r.band_high, **look)
        ax.plot(x, r.running, color=PREDICTED, linewidth=1.6, label="running gap")
        ax.vlines(x, r.low, r.high, color=OBSERVED, linewidth=1)
        ax.plot(x, r.gap, color=OBSERVED, marker="o", markersize=3, linestyle="none", label="each look alone")
        ax.axhline(0, color=INK, linestyle="--", linewidth=1)
        ax.set(ylim=r.range, xlabel="look", ylabel="confidence less accuracy")
        _name_looks(ax, r.names)
        light_grid(ax)
        small_legend(ax, loc="lower left", ncols=2)


def _name_looks(ax: Any, names: tuple[str, ...]) -> None:
    """Names of some looks on the axis."""
    step = max(1, -(-len(names) // 8))
    ax.set_xticks(range(1, len(names) + 1, step), names[::step])

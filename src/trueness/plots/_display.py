"""What all Displays share: data first, drawn on request, on the axes that are passed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np

from trueness._arrays import FloatArray
from trueness.plots._plotted_bins import PlottedBins
from trueness.plots.style import BAND, FAINT, OBSERVED, QUIET, marker_areas
from trueness.refusals import InvalidTypeError, MissingLibraryError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Data = TypeVar("Data")


class Display(Generic[Data]):
    """Abstract. A picture whose data are computed: `plot` draws it, any number of times.

    Attributes
    ----------
    data
        What is drawn.
    ax_, figure_
        Where it was drawn last.
    """

    SIZE = (5.0, 5.0)
    """Of a new figure, in inches."""

    ax_: Axes
    figure_: Figure

    def __init__(self, data: Data) -> None:
        self.data = data

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on these axes, or on new ones from pyplot if None, and return the Display."""
        axes = self._new_axes() if ax is None else _require_axes(ax)
        self._draw(axes)
        self.ax_, self.figure_ = axes, axes.get_figure(root=True)
        return self

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError

    def _size(self) -> tuple[float, float]:
        return self.SIZE

    @property
    def size(self) -> tuple[float, float]:
        """The size that a figure of it alone should have, in inches."""
        return self._size()

    def _new_axes(self) -> Any:
        with refuse_missing_matplotlib():
            import matplotlib.pyplot as plt
        return plt.subplots(figsize=self._size(), layout="constrained")[1]


@contextmanager
def refuse_missing_matplotlib() -> Iterator[None]:
    """Raise a refusal if matplotlib is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "matplotlib":
            raise
        raise MissingLibraryError(
            "missing-library",
            "plots need matplotlib",
            "pip install 'trueness[plots]' (the HTML report of write_html does not need it)",
            library="matplotlib",
        ) from error


def _require_axes(ax: Any) -> Any:
    if not hasattr(ax, "plot") or not hasattr(ax, "get_figure"):
        raise InvalidTypeError(
            "wrong-type",
            "ax must be matplotlib Axes, such as plt.subplots()[1], got {kind}",
            argument="ax",
            kind=type(ax).__name__,
        )
    return ax


def light_grid(ax: Any, tick_colour: str = QUIET) -> None:
    """Draw a pale grid behind the data, small tick labels, and no spines at the top and right."""
    ax.grid(color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=8.5, color=tick_colour)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def draw_band(ax: Any, x: FloatArray, low: FloatArray, high: FloatArray, level: float) -> None:
    """Shade where the bins of a calibrated model would be."""
    order = np.argsort(x)
    look: dict[str, Any] = {
        "color": BAND,
        "alpha": 0.45,
        "label": f"calibrated model: {100 * level:g} % of bins",
    }
    if len(order) > 1:
        ax.fill_between(x[order], low[order], high[order], linewidth=0, **look)
    else:  # a band of one bin has no width
        ax.vlines(x, low, high, linewidth=14, **look)


def draw_bin_points(
    ax: Any, x: FloatArray, y: FloatArray, bins: PlottedBins, *, largest: float, label: str
) -> None:
    """Draw a marker for each bin, its area in proportion to its rows; hollow if it has too few."""
    area = np.array(marker_areas(bins.shares, 18, largest))
    for which, face in ((~bins.small, OBSERVED), (bins.small, "white")):
        if which.any():
            ax.scatter(
                x[which],
                y[which],
                s=area[which],
                facecolor=face,
                edgecolor="white" if face == OBSERVED else OBSERVED,
                linewidth=0.7 if face == OBSERVED else 1.4,
                zorder=5,
                label=label if face == OBSERVED or bins.small.all() else "bins with too few rows",
            )


def small_legend(ax: Any, **options: Any) -> None:
    """Draw a legend in small print, with markers of one size: in it, areas do not mean numbers of rows."""
    legend = ax.legend(fontsize=8, framealpha=0.85, edgecolor="none", **options)
    for handle in legend.legend_handles:
        if hasattr(handle, "set_sizes"):
            handle.set_sizes([36])

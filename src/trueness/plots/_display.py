"""What all Displays share: data first, drawn on request, on the axes that are passed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np

from trueness._arrays import FloatArray
from trueness.plots._layers import Layer, erase, layers_on, remember
from trueness.plots._plotted_bins import PlottedBins
from trueness.plots.style import BAND, FAINT, QUIET, marker_areas
from trueness.refusals import InvalidTypeError, InvalidValueError, MissingLibraryError

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

    def plot(self, ax: Axes | None = None, *, label: str | None = None, color: str | None = None) -> Self:
        """Draw on these axes, or on new ones from pyplot if None, and return the Display.

        Displays of the same kind on the same axes are drawn over one another, with one legend that covers no point.
        `label` names this one in it, and `color` is any colour of matplotlib (by default the next of seven that
        colour-blind readers can distinguish).
        """
        axes = self._new_axes() if ax is None else _require_axes(ax)
        earlier = [layer for layer in layers_on(axes, type(self)) if layer.data is not self.data]
        self._refuse_layer(earlier, label, color)
        layers = [*earlier, Layer(self.data, label, color)]
        erase(axes, type(self))
        before = set(axes.get_children())
        self._draw(axes, [layer.at(place, len(layers)) for place, layer in enumerate(layers)])
        remember(axes, type(self), layers, [it for it in axes.get_children() if it not in before])
        self.ax_, self.figure_ = axes, axes.get_figure(root=True)
        return self

    def _draw(self, ax: Any, layers: Sequence[Layer[Data]]) -> None:
        raise NotImplementedError

    @property
    def _shows(self) -> str:
        """What the axes show: pictures that show something else cannot be drawn over this one."""
        return f"a picture of {type(self).__name__}"

    def _refuse_layer(self, earlier: Sequence[Layer[Data]], label: str | None, color: str | None) -> None:
        for name, value in (("label", label), ("color", color)):
            if value is not None and not isinstance(value, str):
                raise InvalidTypeError(
                    "wrong-type", f"`{name}` must be a string, got {type(value).__name__}", argument=name
                )
        _refuse_colour(color)
        other = type(self)(earlier[0].data) if earlier else self
        if other._shows != self._shows:
            cause = f"ax shows {other._shows}, and this picture shows {self._shows}"
            remedy = "pass other axes, such as plt.subplots()[1]"
            raise InvalidValueError("different-pictures", cause, remedy, argument="ax")

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


def _refuse_colour(color: str | None) -> None:
    """Refuse what matplotlib does not know as a colour, before anything is erased to be drawn again."""
    from matplotlib.colors import is_color_like

    if color is not None and not is_color_like(color):
        cause = f"color={color!r} is not a colour of matplotlib"
        remedy = "pass a name such as 'tab:blue', or '#0072b2'"
        raise InvalidValueError("bad-argument", cause, remedy, argument="color", value=color)


class MapDisplay(Display[Data]):
    """Abstract. A picture whose colours are numbers, so that nothing can be drawn over it; `label` is its title."""

    @property
    def _shows(self) -> str:
        return "a map"

    def _refuse_layer(self, earlier: Sequence[Layer[Data]], label: str | None, color: str | None) -> None:
        super()._refuse_layer((), label, color)
        if color is not None:
            cause = f"color={color!r}: the colours of a map are those of its scale"
            remedy = "leave it out"
            raise InvalidValueError("bad-argument", cause, remedy, argument="color", value=color)
        if earlier:
            cause = "ax shows a map, over which nothing can be drawn"
            remedy = "pass other axes, such as plt.subplots(1, 2)[1][1]"
            raise InvalidValueError("different-pictures", cause, remedy, argument="ax")

    def _draw(self, ax: Any, layers: Sequence[Layer[Data]]) -> None:
        self._draw_map(ax)
        if layers[0].label is not None:
            ax.set_title(layers[0].name, fontsize=10)

    def _draw_map(self, ax: Any) -> None:
        raise NotImplementedError


@contextmanager
def refuse_missing_matplotlib() -> Iterator[None]:
    """Raise a refusal if matplotlib is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "matplotlib":
            raise
        remedy = "pip install 'trueness[plots]' (the HTML report of write_html does not need it)"
        raise MissingLibraryError("missing-library", "plots need matplotlib", remedy) from error


def _require_axes(ax: Any) -> Any:
    if not hasattr(ax, "plot") or not hasattr(ax, "get_figure"):
        raise InvalidTypeError(
            "wrong-type",
            f"ax must be matplotlib Axes, such as plt.subplots()[1], got {type(ax).__name__}",
            argument="ax",
        )
    return ax


def light_grid(ax: Any, tick_colour: str = QUIET) -> None:
    """Draw a pale grid behind the data, small tick labels, and no spines at the top and right."""
    ax.grid(color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=8.5, color=tick_colour)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def draw_band(
    ax: Any, x: FloatArray, ends: tuple[FloatArray, FloatArray], level: float, layer: Layer[Any]
) -> None:
    """Shade where the bins of a calibrated model would be; of several models each in its colour."""
    order, (low, high) = np.argsort(x), ends
    look: dict[str, Any] = {
        "color": BAND if layer.alone else layer.colour,
        "alpha": 0.45 if layer.alone else 0.14,
        "label": f"{'' if layer.alone else 'shaded: '}calibrated model: {100 * level:g} % of bins"
        if layer.first
        else None,
    }
    if len(order) > 1:
        ax.fill_between(x[order], low[order], high[order], linewidth=0, **look)
    else:  # a band of one bin has no width
        ax.vlines(x, low, high, linewidth=14, **look)


def draw_bin_points(
    ax: Any,
    x: FloatArray,
    y: FloatArray,
    bins: PlottedBins,
    layer: Layer[Any],
    *,
    largest: float,
    label: str,
) -> None:
    """Draw a marker for each bin, its area in proportion to its rows; hollow if it has too few."""
    area = np.array(marker_areas(bins.shares, 18, largest))
    words = (label, "hollow: bins with too few rows")
    draw_points(ax, (x, y), bins.small, layer, area=area, labels=words)


def draw_points(
    ax: Any,
    at: tuple[Any, Any],
    hollow: Any,
    layer: Layer[Any],
    *,
    area: FloatArray,
    labels: tuple[str, str],
    **look: Any,
) -> None:
    """Draw filled and hollow markers; the legend has the filled ones, and the hollow ones of one layer alone."""
    for which, filled in ((~hollow, True), (hollow, False)):
        if which.any():
            words = labels[0] if filled or hollow.all() else (labels[1] if layer.alone else None)
            ax.scatter(
                at[0][which],
                at[1][which],
                s=area[which],
                marker=layer.marker,
                facecolor=layer.colour if filled else "white",
                edgecolor="white" if filled else layer.colour,
                linewidth=0.7 if filled else 1.4,
                zorder=5,
                label=words,
                **look,
            )

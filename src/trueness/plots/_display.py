"""What all Displays have in common: numbers first, drawn when asked, on the axes that are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from trueness.plots.style import FAINT, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NO_MATPLOTLIB = (
    "pictures need matplotlib: pip install 'trueness[plots]' (the HTML report of write_html does without)"
)


class Display:
    """Abstract. A picture whose numbers are known: `plot` draws it, as often as you like.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn last.
    """

    SIZE = (5.0, 5.0)
    """Of a new figure, in inches."""

    ax_: Axes
    figure_: Figure

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on these axes, or on new ones of pyplot's if there are none, and return the Display."""
        axes = self._new_axes() if ax is None else _checked(ax)
        self._draw(axes)
        self.ax_, self.figure_ = axes, axes.get_figure(root=True)
        return self

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError

    def _size(self) -> tuple[float, float]:
        return self.SIZE

    def _new_axes(self) -> Any:
        try:
            import matplotlib.pyplot as plt
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith("matplotlib"):
                raise
            raise ModuleNotFoundError(NO_MATPLOTLIB, name="matplotlib") from error
        return plt.subplots(figsize=self._size(), layout="constrained")[1]


def _checked(ax: Any) -> Any:
    if not hasattr(ax, "plot") or not hasattr(ax, "get_figure"):
        raise TypeError(f"ax must be matplotlib Axes, such as plt.subplots()[1], got {type(ax).__name__}")
    return ax


def light_grid(ax: Any) -> None:
    """A grid that stays behind what matters, and no frame above and right."""
    ax.grid(color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=8.5, color=QUIET)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def points(ax: Any, x: Any, y: Any, *, area: Any, hollow: Any, colour: str, label: str) -> None:
    """Markers as large as `area` says; hollow ones stand for too few rows."""
    for those, face in ((~hollow, colour), (hollow, "white")):
        if those.any():
            ax.scatter(
                x[those],
                y[those],
                s=area[those],
                facecolor=face,
                edgecolor="white" if face == colour else colour,
                linewidth=0.7 if face == colour else 1.4,
                zorder=5,
                label=label if face == colour or not (~hollow).any() else "too few rows",
            )


def even_markers(legend: Any) -> None:
    """Markers of one size in a legend: there they stand for no number of rows."""
    for handle in legend.legend_handles:
        if hasattr(handle, "set_sizes"):
            handle.set_sizes([36])

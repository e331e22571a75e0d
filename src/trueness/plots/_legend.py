"""A legend that covers no point: it stands below the axes, which make room for it."""

from __future__ import annotations

from typing import Any

GAP = 5.0
"""Points between the labels of the horizontal axis and the legend."""

_ORIGINAL = "_trueness_position"
"""The attribute of axes that holds their position before they made room."""


def place_legend(ax: Any, **options: Any) -> None:
    """Draw a legend in small print below the axes, where it covers no point.

    Figures with a layout engine make room for it, whatever their size. In other figures the axes give up as much of
    their height, as they do for a colour bar. Markers have one size: in a legend, areas do not mean numbers of rows.
    """
    look: dict[str, Any] = {"fontsize": 8, "frameon": False, "borderaxespad": 0, "borderpad": 0}
    legend = ax.legend(loc="upper left", **look, **options)
    for handle in legend.legend_handles:
        if hasattr(handle, "set_sizes"):
            handle.set_sizes([36])
    figure = ax.get_figure(root=True)
    if figure.get_layout_engine() is None:
        _make_room(ax, legend.get_window_extent().height + 2 * GAP * figure.dpi / 72)
    _put_below(ax, legend)


def _make_room(ax: Any, pixels: float) -> None:
    """Raise the lower end of the axes from where they were at first."""
    figure = ax.get_figure(root=True)
    position = getattr(ax, _ORIGINAL, None) or ax.get_position(original=True)
    setattr(ax, _ORIGINAL, position)
    room = min(pixels / figure.bbox.height, 0.7 * position.height)
    ax.set_position((position.x0, position.y0 + room, position.width, position.height - room))


def _put_below(ax: Any, legend: Any) -> None:
    """Put it under the labels of the axis; their height in points does not depend on the size of the figure."""
    from matplotlib.transforms import ScaledTranslation

    figure = ax.get_figure(root=True)
    ax.apply_aspect()
    labels = ax.xaxis.get_tightbbox()
    height = 0.0 if labels is None else max(ax.bbox.y0 - labels.y0, 0.0) / figure.dpi
    down = ScaledTranslation(0, -height - GAP / 72, figure.dpi_scale_trans)
    legend.set_bbox_to_anchor((0.0, 0.0), ax.transAxes + down)

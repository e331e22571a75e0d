"""The forest plot with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from trueness._printing import p_text
from trueness.plots._display import Display, light_grid
from trueness.plots._layers import Layer
from trueness.plots._legend import place_legend
from trueness.plots.forest.data import (
    MOST_LINES,
    Forest,
    Line,
    forest_of_event_groups,
    forest_of_groups,
    forest_of_pairs,
    short_name,
)
from trueness.plots.style import INK, PREDICTED, QUIET, marker_areas

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ForestDisplay(Display[Forest]):
    """One line for each group, or for each pair of models: the debiased metric with its interval."""

    @classmethod
    def from_assessment(
        cls,
        result: Any,
        *,
        metric: str = "net",
        most: int = MOST_LINES,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw the groups of the result of `assess(groups=...)`."""
        return cls(forest_of_groups(result, metric, most)).plot(ax, label=label, color=color)

    @classmethod
    def from_event(
        cls,
        event: Any,
        *,
        most: int = MOST_LINES,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw the groups of the result of `assess_event(groups=...)`."""
        return cls(forest_of_event_groups(event, most)).plot(ax, label=label, color=color)

    @classmethod
    def from_comparison(
        cls,
        comparison: Any,
        *,
        metric: str = "vce",
        most: int = MOST_LINES,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw the pairs of models of the result of `compare`."""
        return cls(forest_of_pairs(comparison, metric, most)).plot(ax, label=label, color=color)

    def _size(self) -> tuple[float, float]:
        return 7.2, 1.4 + 0.27 * len(self.data.all_lines)

    @property
    def _shows(self) -> str:
        return f"{self.data.x_label} of {self.data.what}"

    def _draw(self, ax: Any, layers: Sequence[Layer[Forest]]) -> None:
        r, alone = layers[0].data, layers[0].alone
        names = list(dict.fromkeys(line.name for it in layers for line in it.data.all_lines))
        height = {name: len(names) - place for place, name in enumerate(names)}
        for layer in layers:
            _draw_layer(ax, layer, height)
        ax.axvline(0, color=INK, linestyle="--", linewidth=1, zorder=1)
        ax.set_yticks(list(height.values()), [_tick_text(name) for name in names])
        ax.set_ylim(0.3, len(names) + 0.7)
        if alone:
            _annotate(ax, [(height[line.name], line) for line in r.all_lines])
        left_out = f"\n({r.n_left_out} more not shown)" if r.n_left_out else ""
        ax.set_xlabel(f"{r.x_label}, with {100 * r.level:g} % interval{left_out}", fontsize=9)
        light_grid(ax)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        if not alone or layers[0].label is not None:
            place_legend(ax)


def _draw_layer(ax: Any, layer: Layer[Forest], height: Mapping[str, int]) -> None:
    """Draw the lines of one model; of several, each a little above the next."""
    r = layer.data
    areas = marker_areas([line.n_rows / sum(x.n_rows for x in r.lines) for line in r.lines], 16, 60)
    whole = [] if r.whole is None else [r.whole]
    colour = PREDICTED if layer.alone else layer.colour
    if r.whole is not None:
        ax.axvspan(r.whole.low, r.whole.high, color=colour, alpha=0.12, linewidth=0)
    marks = [*zip(r.lines, areas, [layer.colour] * len(r.lines), strict=True)]
    marks += [(line, 60.0, colour) for line in whole]
    for place, (line, area, shade) in enumerate(marks):
        y, words = height[line.name] - layer.shift(0.8), layer.words("") or None
        ax.hlines(y, line.low, line.high, color=shade, linewidth=1.6)
        look: dict[str, Any] = {"marker": layer.marker, "color": shade, "edgecolor": "white", "zorder": 3}
        ax.scatter([line.value], [y], s=area, linewidth=0.7, label=None if place else words, **look)


def _annotate(ax: Any, lines: Iterable[tuple[float, Line]]) -> None:
    """Write the rows and the p-value of each line at the right."""
    ax.annotate(
        "rows, adjusted p",
        (1.01, 1.0),
        xycoords="axes fraction",
        va="bottom",
        fontsize=8,
        color=QUIET,
        annotation_clip=False,
    )
    for y, line in lines:
        p = "" if math.isnan(line.p_value) else f"   p {p_text(line.p_value)}"
        ax.annotate(
            f"{line.n_rows:,}{p}",
            (1.01, y),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=8,
            color=QUIET,
            annotation_clip=False,
        )


def _tick_text(name: str) -> str:
    """A name cut to a length that leaves room for the picture; in matplotlib, a bare dollar sign starts a formula."""
    return short_name(name, 44).replace("$", r"\$")

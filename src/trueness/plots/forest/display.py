"""The forest plot with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from trueness._printing import p_text
from trueness.plots._display import Display, light_grid
from trueness.plots.forest.data import (
    MOST_LINES,
    Forest,
    Line,
    forest_of_event_groups,
    forest_of_groups,
    forest_of_pairs,
    short_name,
)
from trueness.plots.style import INK, OBSERVED, PREDICTED, QUIET, marker_areas

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ForestDisplay(Display[Forest]):
    """One line for each group, or for each pair of models: the debiased metric with its interval."""

    @classmethod
    def from_assessment(
        cls, result: Any, *, metric: str = "net", most: int = MOST_LINES, ax: Axes | None = None
    ) -> Self:
        """Draw the groups of the result of `assess(groups=...)`."""
        return cls(forest_of_groups(result, metric, most)).plot(ax)

    @classmethod
    def from_event(cls, event: Any, *, most: int = MOST_LINES, ax: Axes | None = None) -> Self:
        """Draw the groups of the result of `assess_event(groups=...)`."""
        return cls(forest_of_event_groups(event, most)).plot(ax)

    @classmethod
    def from_comparison(
        cls, comparison: Any, *, metric: str = "vce", most: int = MOST_LINES, ax: Axes | None = None
    ) -> Self:
        """Draw the pairs of models of the result of `compare`."""
        return cls(forest_of_pairs(comparison, metric, most)).plot(ax)

    def _size(self) -> tuple[float, float]:
        return 7.2, 1.4 + 0.27 * len(self.data.all_lines)

    def _draw(self, ax: Any) -> None:
        r = self.data
        n = len(r.lines)
        areas = marker_areas([line.n_rows / sum(x.n_rows for x in r.lines) for line in r.lines], 16, 60)
        for place, (line, area) in enumerate(zip(r.lines, areas, strict=True)):
            _draw_line(ax, n - place, line, area, OBSERVED)
        if r.whole is not None:
            ax.axvspan(r.whole.low, r.whole.high, color=PREDICTED, alpha=0.12, linewidth=0)
            _draw_line(ax, 0, r.whole, 60, PREDICTED)
        ax.axvline(0, color=INK, linestyle="--", linewidth=1, zorder=1)
        heights = [n - place for place in range(len(r.all_lines))]
        ax.set_yticks(heights, [_tick_text(line.name) for line in r.all_lines])
        ax.set_ylim(-0.7 if r.whole is not None else 0.3, n + 0.7)
        _annotate(ax, zip(heights, r.all_lines, strict=True))
        left_out = f"\n({r.n_left_out} more not shown)" if r.n_left_out else ""
        ax.set_xlabel(f"{r.x_label}, with {100 * r.level:g} % interval{left_out}", fontsize=9)
        light_grid(ax)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)


def _draw_line(ax: Any, y: float, line: Line, area: float, colour: str) -> None:
    ax.hlines(y, line.low, line.high, color=colour, linewidth=1.6)
    ax.scatter([line.value], [y], s=area, color=colour, edgecolor="white", linewidth=0.7, zorder=3)


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

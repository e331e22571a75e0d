"""Estimates with their intervals, one line each: groups of rows, or pairs of models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from trueness._arguments import require_choice
from trueness._printing import p_text
from trueness.plots._display import Display, light_grid
from trueness.plots.style import INK, OBSERVED, PREDICTED, QUIET, marker_areas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 40
"""More lines cannot be read: those that stand out most are shown, and it is said how many are not."""


@dataclass(frozen=True, slots=True)
class Line:
    """An estimate with its interval."""

    name: str
    n_rows: int
    value: float
    low: float
    high: float
    p_value: float
    """Corrected for the number of groups or pairs."""


@dataclass(frozen=True, slots=True)
class Forest:
    """Lines of a forest plot, and the same number for all rows if there is one."""

    number: str
    x_label: str
    lines: tuple[Line, ...]
    whole: Line | None
    n_left_out: int
    level: float


def of_groups(result: Any, number: str = "net", most: int = MOST_LINES) -> Forest:
    """The groups of an `Assessment`: the debiased number of each, those furthest from the whole first to be kept."""
    require_choice("number", number, tuple(result.metrics))
    if not result.groups:
        raise ValueError("this assessment has no groups: pass groups= to assess")
    lines = [
        _line(group.name, group.n_rows, getattr(group.assessment, number), group.adjusted_p_value)
        for group in result.groups
        if group.assessment is not None and getattr(group.assessment, number) is not None
    ]
    if not lines:
        raise ValueError("no group was large enough to be assessed: lower min_group_size")
    whole = _line("all rows", result.n_rows, getattr(result, number), result.p_value)
    kept = most_telling(lines, whole.value, most)
    metric = result.metrics[number]
    label = f"{metric.label}, debiased" + (" (above 0: over-confident)" if metric.signed else "")
    return Forest(number, label, tuple(kept), whole, len(lines) - len(kept), result.level)


def _line(name: str, n_rows: int, estimate: Any, p_value: float) -> Line:
    return Line(name, n_rows, estimate.debiased, estimate.interval.low, estimate.interval.high, p_value)


def most_telling(lines: Sequence[Line], centre: float, most: int) -> list[Line]:
    """At most so many lines, in their order: smallest p-value first, then furthest from the centre."""
    if len(lines) <= most:
        return list(lines)
    ordered = sorted(
        range(len(lines)),
        key=lambda k: (
            1.0 if math.isnan(lines[k].p_value) else lines[k].p_value,
            -abs(lines[k].value - centre),
        ),
    )
    return [lines[k] for k in sorted(ordered[:most])]


def of_pairs(comparison: Any, number: str = "vce", most: int = MOST_LINES) -> Forest:
    """The pairs of a `Comparison`: by how much the debiased number of the first exceeds that of the second."""
    require_choice("number", number, tuple(comparison.metrics))
    n_rows = next(iter(comparison.assessments.values())).n_rows
    lines = [
        Line(
            f"{pair.first} − {pair.second}",
            n_rows,
            contrast.difference,
            contrast.interval.low,
            contrast.interval.high,
            contrast.adjusted_p_value,
        )
        for pair in comparison.pairs
        for contrast in (getattr(pair, number),)
    ]
    kept = most_telling(lines, 0.0, most)
    label = f"difference in {comparison.metrics[number].label}, debiased"
    return Forest(number, label, tuple(kept), None, len(lines) - len(kept), comparison.level)


class ForestDisplay(Display):
    """One line for each group, or for each pair of models: the debiased number with its interval."""

    def __init__(self, reading: Forest) -> None:
        self.reading = reading

    @classmethod
    def from_assessment(
        cls, result: Any, *, number: str = "net", most: int = MOST_LINES, ax: Axes | None = None
    ) -> Self:
        """The groups of what `assess(groups=...)` returned."""
        return cls(of_groups(result, number, most)).plot(ax)

    @classmethod
    def from_comparison(
        cls, comparison: Any, *, number: str = "vce", most: int = MOST_LINES, ax: Axes | None = None
    ) -> Self:
        """The pairs of models of what `compare` returned."""
        return cls(of_pairs(comparison, number, most)).plot(ax)

    def _size(self) -> tuple[float, float]:
        return 7.2, 1.4 + 0.27 * (len(self.reading.lines) + (self.reading.whole is not None))

    def _draw(self, ax: Any) -> None:
        r = self.reading
        n = len(r.lines)
        areas = marker_areas([line.n_rows / sum(x.n_rows for x in r.lines) for line in r.lines], 16, 60)
        for place, (line, area) in enumerate(zip(r.lines, areas, strict=True)):
            _draw_line(ax, n - place, line, area, OBSERVED)
        names = [(n - place, line) for place, line in enumerate(r.lines)]
        if r.whole is not None:
            ax.axvspan(r.whole.low, r.whole.high, color=PREDICTED, alpha=0.12, linewidth=0)
            _draw_line(ax, 0, r.whole, 60, PREDICTED)
            names.append((0, r.whole))
        ax.axvline(0, color=INK, linestyle="--", linewidth=1, zorder=1)
        ax.set_yticks([y for y, _ in names], [short(line.name) for _, line in names])
        ax.set_ylim(-0.7 if r.whole is not None else 0.3, n + 0.7)
        _note(ax, names)
        left_out = f"\n({r.n_left_out} more are not shown)" if r.n_left_out else ""
        ax.set_xlabel(f"{r.x_label}, with {100 * r.level:g} % interval{left_out}", fontsize=9)
        light_grid(ax)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)


def _draw_line(ax: Any, y: float, line: Line, area: float, colour: str) -> None:
    ax.hlines(y, line.low, line.high, color=colour, linewidth=1.6)
    ax.scatter([line.value], [y], s=area, color=colour, edgecolor="white", linewidth=0.7, zorder=3)


def _note(ax: Any, names: Iterable[tuple[float, Line]]) -> None:
    """Rows and p-value of each line at the right border."""
    ax.annotate(
        "rows, corrected p",
        (1.01, 1.0),
        xycoords="axes fraction",
        va="bottom",
        fontsize=8,
        color=QUIET,
        annotation_clip=False,
    )
    for y, line in names:
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


def short(name: str, most: int = 44) -> str:
    """A name that leaves room for the picture, with what matplotlib would take for mathematics made harmless.

    >>> short("x" * 40, 8)
    'xxxxxxx…'
    """
    cut = name if len(name) <= most else name[: most - 1] + "…"
    return " ".join(cut.split()).replace("$", r"\$")

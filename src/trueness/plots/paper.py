"""The figures of the paper, drawn from plain numbers.

Colours are Okabe and Ito's, which colour-blind readers can distinguish; markers differ as well, for print in grey.
Figures are made without pyplot, and no setting of matplotlib is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from trueness.plots._display import light_grid
from trueness.plots.style import INK, OBSERVED, PREDICTED

FORMATS = ("png", "svg", "pdf")

BLUE, ORANGE, GREEN, PINK, YELLOW, SKY = PREDICTED, OBSERVED, "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
QUIET = "#7b8794"

MOST_BANDS = 4
"""More curves than this are drawn without bands, which would overlap."""

STYLES = (
    (BLUE, "o"),
    (ORANGE, "s"),
    (GREEN, "^"),
    (PINK, "D"),
    (YELLOW, "v"),
    (SKY, "P"),
    (INK, "X"),
    (QUIET, "*"),
)


class Curve(NamedTuple):
    """A metric against the number of rows: observed, and expected by theory."""

    label: str
    style: int
    """Index into STYLES; a metric has the same style in every figure."""
    sizes: Sequence[int]
    mean: Sequence[float]
    sd: Sequence[float]
    """Observed over the repeats of each size; NaN for a single run."""
    expected: Sequence[float]
    spread: Sequence[float]


class Panel(NamedTuple):
    """The curves of one scenario."""

    title: str
    curves: Sequence[Curve]


class PaperReliability(NamedTuple):
    """Observed against predicted in each bin that has rows."""

    title: str
    style: int
    legend: str
    x_label: str
    y_label: str
    predicted: Sequence[float]
    observed: Sequence[float]
    share: Sequence[float]
    """The share of the rows in each bin."""
    low: float


class Ratios(NamedTuple):
    """Each metric on a miscalibrated copy of the data, divided by its calibrated value, against the number of rows."""

    title: str
    sizes: Sequence[int]
    curves: Mapping[tuple[str, int], Sequence[float]]
    """By the metric's title and style."""


def metric_panels(panels: Sequence[Panel], title: str) -> Figure:
    """Metrics against N on log axes, one panel for each scenario, with the theory lines and their spread.

    Points are means over repeats with their standard deviation; the curves of a panel are shifted a little sideways.
    """
    figure, axes = panel_grid(len(panels), columns=2, size=(4.2, 3.3))
    shows_bands = len(panels[0].curves) <= MOST_BANDS
    for axis, panel in zip(axes, panels, strict=False):
        for curve, shift in zip(panel.curves, _shifts(len(panel.curves)), strict=True):
            _draw_curve(axis, curve, shift, shows_bands)
        axis.set(xscale="log", yscale="log", title=panel.title)
        axis.set_xlabel("number of rows N")
        axis.set_ylabel("metric")
        panel_style(axis)
    handles: list[Any] = [
        Line2D([], [], **_marker_style(curve.style), linestyle="none", label=curve.label)
        for curve in panels[0].curves
    ]
    handles.append(Line2D([], [], color=INK, linewidth=1, label="theory: mean"))
    if shows_bands:
        handles.append(Patch(facecolor=QUIET, alpha=0.35, label="theory: ± one sd of a run"))
    _add_heading(figure, title, handles, columns=5 if shows_bands else 4)
    return figure


def _shifts(n_curves: int) -> Any:
    """Factors on N that place the points of so many curves side by side."""
    return 1.08 ** (np.arange(n_curves) - (n_curves - 1) / 2)


def _draw_curve(axis: Any, curve: Curve, shift: float, shows_band: bool) -> None:
    colour = STYLES[curve.style][0]
    sizes, mean = np.array(curve.sizes), np.array(curve.mean)
    # Shifted points must not lie beyond their line: it is extended a little at both ends.
    line = np.concatenate([[sizes[0] / 1.35], sizes, [sizes[-1] * 1.35]])
    expected, spread = (
        _extrapolate(sizes, np.array(values), line) for values in (curve.expected, curve.spread)
    )
    axis.plot(line, expected, color=colour, linewidth=1)
    if shows_band:
        low = np.maximum(expected - spread, 1e-12)
        axis.fill_between(line, low, expected + spread, color=colour, alpha=0.18, linewidth=0)
    axis.errorbar(
        sizes * shift,
        mean,
        yerr=np.minimum(np.nan_to_num(np.array(curve.sd)), 0.999 * mean),
        **_marker_style(curve.style),
        linestyle="none",
        elinewidth=1.1,
        capsize=2.5,
    )


def _extrapolate(sizes: Any, values: Any, wanted: Any) -> Any:
    """A power law through the points, extrapolated beyond them; a constant if there is one point."""
    if len(sizes) == 1:
        return np.full(len(wanted), values[0])
    x, y = np.log(sizes), np.log(values)
    slopes = np.diff(y)[[0, -1]] / np.diff(x)[[0, -1]]
    ends = y[[0, -1]] + slopes * (np.log(wanted[[0, -1]]) - x[[0, -1]])
    return np.exp(np.concatenate([ends[:1], y, ends[1:]]))


def _marker_style(style: int) -> dict[str, Any]:
    colour, marker = STYLES[style]
    return {
        "color": colour,
        "marker": marker,
        "markersize": 9 if marker == "*" else 5.5,
        "markeredgecolor": "white",
        "markeredgewidth": 0.6,
    }


def reliability_panels(diagrams: Sequence[PaperReliability], title: str) -> Figure:
    """Reliability diagrams side by side; the area of a point shows its share of the rows."""
    figure, axes = panel_grid(len(diagrams), columns=len(diagrams), size=(3.5, 3.2))
    for axis, diagram in zip(axes, diagrams, strict=True):
        colour, marker = STYLES[diagram.style]
        ends = np.array([diagram.low, 1.0])
        pad = 0.03 * (1 - diagram.low)
        axis.plot(
            ends, ends, color="black", linestyle="--", linewidth=1, label="perfect calibration", zorder=4
        )
        axis.plot(diagram.predicted, diagram.observed, color=colour, linewidth=1.8, alpha=0.6, zorder=2)
        area = 14 + 320 * np.array(diagram.share)
        axis.scatter(
            diagram.predicted,
            diagram.observed,
            s=area,
            color=colour,
            marker=marker,
            edgecolor="white",
            linewidth=0.7,
            label=diagram.legend,
            zorder=3,
        )
        axis.set(xlim=(diagram.low - pad, 1 + pad), ylim=(diagram.low - pad, 1 + pad), title=diagram.title)
        axis.set_xlabel(diagram.x_label)
        axis.set_ylabel(diagram.y_label)
        axis.set_aspect("equal")
        panel_style(axis)
        legend = axis.legend(loc="upper left", fontsize=8.5, frameon=True)
        for handle in legend.legend_handles[1:]:
            handle.set_sizes([36])
    _add_heading(figure, title, [], columns=1)
    return figure


def ratio_panels(rows: Sequence[Sequence[Ratios]], title: str) -> Figure:
    """A row of panels for each scenario, a column for each fault; a metric that stays at 1 does not detect it."""
    figure, axes = panel_grid(sum(map(len, rows)), columns=max(map(len, rows)), size=(3.3, 2.4), share_y=True)
    for axis, ratios in zip(axes, (ratios for row in rows for ratios in row), strict=False):
        axis.axhline(1, color=INK, linewidth=0.8, linestyle="--")
        for ((_, style), values), shift in zip(
            ratios.curves.items(), _shifts(len(ratios.curves)), strict=True
        ):
            # Shifted twice as far: metrics that do not detect the fault all lie on one line.
            axis.plot(np.array(ratios.sizes) * shift**2, values, **_marker_style(style), linewidth=1.2)
        axis.set(xscale="log", yscale="log")
        axis.set_title(ratios.title)
        panel_style(axis)
        axis.title.set_fontsize(9)
    for axis in axes[-max(map(len, rows)) :]:
        axis.set_xlabel("number of rows N")
    for axis in axes[:: max(map(len, rows))]:
        axis.set_ylabel("times the calibrated value", fontsize=8.5)
    handles = [Line2D([], [], **_marker_style(style), label=name) for name, style in rows[0][0].curves]
    handles.append(Line2D([], [], color=INK, linestyle="--", linewidth=0.8, label="as if calibrated"))
    _add_heading(figure, title, handles, columns=len(handles))
    return figure


def panel_grid(
    n_panels: int, columns: int, size: tuple[float, float], share_y: bool = False
) -> tuple[Figure, list[Any]]:
    """A figure with so many panels, each of this size in inches."""
    columns = min(columns, n_panels)
    lines = -(-n_panels // columns)
    figure = Figure(figsize=(size[0] * columns, size[1] * lines + 0.7), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False, sharey=share_y).ravel().tolist()
    for axis in axes[n_panels:]:
        axis.set_visible(False)
    return figure, axes


def panel_style(axis: Any) -> None:
    """Draw what all panels share: a pale grid behind the data, small print, no box."""
    light_grid(axis, tick_colour="black")
    axis.title.set_fontsize(10)


def _add_heading(figure: Figure, title: str, handles: Sequence[Any], columns: int) -> None:
    figure.suptitle(title, fontsize=11.5)
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize=8.5, frameon=False)


def save(figure: Figure, stem: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write a figure in each format, without dates: equal numbers give equal bytes."""
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    paths = [stem.with_name(f"{stem.name}.{suffix}") for suffix in formats]
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once for all formats
    with rc_context({"svg.hashsalt": "trueness", "svg.fonttype": "none", "pdf.fonttype": 42}):
        for suffix, path in zip(formats, paths, strict=True):
            figure.savefig(path, dpi=160, metadata=dates[suffix])
    return paths

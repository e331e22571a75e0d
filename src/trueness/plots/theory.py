"""The figures of docs/background/theory.md, drawn from plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from trueness.plots.paper import BLUE, ORANGE, QUIET, panel_grid, panel_style
from trueness.plots.style import INK


class BoundCurve(NamedTuple):
    """Simulated means of one measure's VCE beside its bound and its limit, against the number of rows."""

    label: str
    bound_label: str
    mean: Sequence[float]
    bound: Sequence[float]
    limit: Sequence[float]


class BoundPanel(NamedTuple):
    """The measures of one scenario."""

    title: str
    sizes: Sequence[int]
    curves: Sequence[BoundCurve]


class LimitPanel(NamedTuple):
    """Simulated √N·VCE beside draws from its limit."""

    title: str
    simulated: Any
    limit: Any


def bound_panels(panels: Sequence[BoundPanel]) -> Figure:
    """Simulation, bound and limit of VCE on calibrated rows, on log axes."""
    figure, axes = panel_grid(len(panels), columns=2, size=(4.4, 3.9))
    for axis, panel in zip(axes, panels, strict=True):
        for curve, colour, marker in zip(panel.curves, (BLUE, ORANGE), ("o", "s"), strict=False):
            axis.plot(panel.sizes, curve.bound, color=colour, linestyle="--", label=curve.bound_label)
            axis.plot(
                panel.sizes, curve.limit, color=colour, linewidth=0.9, label=f"{curve.label}: limit a/√N"
            )
            axis.plot(
                panel.sizes,
                curve.mean,
                color=colour,
                marker=marker,
                linestyle="none",
                label=f"{curve.label}: simulated mean",
            )
        axis.set(xscale="log", yscale="log", title=panel.title, xlabel="number of rows N", ylabel="VCE")
        axis.legend(fontsize=7.5, frameon=False)
        panel_style(axis)
    return figure


def limit_panels(panels: Sequence[LimitPanel]) -> Figure:
    """Histograms of √N·VCE with the density of the limit, and the normal one of the same mean and spread."""
    figure, axes = panel_grid(len(panels), columns=2, size=(4.4, 3.3))
    for axis, panel in zip(axes, panels, strict=True):
        edges = np.linspace(0, np.quantile(panel.limit, 0.9995), 51)
        axis.hist(panel.simulated, edges, density=True, color=BLUE, alpha=0.35, label="simulated")
        density, _ = np.histogram(panel.limit, edges, density=True)
        centres = (edges[1:] + edges[:-1]) / 2
        axis.plot(centres, density, color=INK, linewidth=1.4, label="limit: Σ √π σ |Z|")
        mean, sd = panel.limit.mean(), panel.limit.std()
        bell = np.exp(-(((centres - mean) / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi))
        axis.plot(
            centres, bell, color=ORANGE, linestyle="--", linewidth=1.2, label="normal, same mean and sd"
        )
        axis.set(title=panel.title, xlabel="√N · VCE", ylabel="density", ylim=(0, 1.35 * density.max()))
        axis.legend(fontsize=8, frameon=False)
        panel_style(axis)
    return figure


class BlindSpots(NamedTuple):
    """Numbers of the picture of errors that entropy does not detect."""

    swapped: tuple[Sequence[float], Sequence[float]]
    """A mean prediction and observed frequencies that are a permutation of it."""
    same_entropy: tuple[Any, Any]
    """First and second rank of vectors with the entropy of the first of `pair`."""
    pair: tuple[Sequence[float], Sequence[float]]
    cloud: tuple[Any, Any]
    """RCE and VCE of random pairs of a prediction and frequencies."""
    bound: tuple[Any, Any]


def blind_spot_panels(spots: BlindSpots) -> Figure:
    """Swapped ranks, frequencies on a curve of equal entropy, and VCE against RCE with the bound between them."""
    figure, (left, middle, right) = panel_grid(3, columns=3, size=(3.6, 3.4))
    _draw_swapped(left, *spots.swapped)
    _draw_same_entropy(middle, spots)
    right.scatter(
        *spots.cloud,
        s=3,
        color=BLUE,
        alpha=0.25,
        linewidth=0,
        label="random pairs of q̄ and r̄",
        rasterized=True,
    )
    right.plot(*spots.bound, color=INK, linewidth=1.4, label="(R ln 2 + h₂(R))/ln 3")
    right.set(
        title="RCE bounds VCE from above",
        xlabel="RCE (TV)",
        ylabel="VCE (entropy), one bin, C = 3",
    )
    right.set(ylim=(-0.03, 1.32))
    handles = right.legend(fontsize=8, frameon=False, loc="upper center").legend_handles
    handles[0].set(sizes=[25], alpha=1.0)
    for axis in (left, middle, right):
        panel_style(axis)
    return figure


def _draw_swapped(axis: Any, predicted: Sequence[float], observed: Sequence[float]) -> None:
    ranks = np.arange(1, len(predicted) + 1)
    axis.bar(ranks - 0.2, predicted, 0.38, color=BLUE, label="mean prediction")
    axis.bar(ranks + 0.2, observed, 0.38, color=ORANGE, label="observed")
    axis.set(
        title="Ranks swapped: VCE 0, RCE 0.8", xlabel="rank", ylabel="share", xticks=ranks, ylim=(0, 1.25)
    )
    axis.legend(fontsize=8, frameon=False, loc="upper center", ncols=2)


def _draw_same_entropy(axis: Any, spots: BlindSpots) -> None:
    axis.fill([1 / 3, 0.5, 1], [1 / 3, 0.5, 0], color=QUIET, alpha=0.15, label="ranks in order")
    axis.plot(*spots.same_entropy, color=INK, linewidth=1.2, label="same entropy")
    (predicted, observed), colours = spots.pair, (BLUE, ORANGE)
    for point, name, colour, marker in zip(
        (predicted, observed), ("predicted", "observed"), colours, "os", strict=True
    ):
        axis.plot(point[0], point[1], color=colour, marker=marker, linestyle="none", label=name)
    axis.set(title="In order, same entropy: VCE 0", xlabel="share of rank 1", ylabel="share of rank 2")
    axis.set(xlim=(0.3, 1.02), ylim=(-0.02, 0.7))
    axis.legend(fontsize=8, frameon=False, loc="upper right")

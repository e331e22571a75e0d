"""The curves of VCE that the sweep over bins and the convergence over rows share."""

from __future__ import annotations

from typing import Any

from trueness.plots.style import BAND, INK, OBSERVED, PREDICTED

CURVES = ("value", "noise_floor", "debiased", "low", "high")


def draw_curves(ax: Any, x: Any, curves: dict[str, Any], level: float) -> None:
    """Draw the plug-in value, its noise floor, and the debiased value with its interval."""
    ax.fill_between(
        x,
        curves["low"],
        curves["high"],
        color=BAND,
        alpha=0.4,
        linewidth=0,
        label=f"{100 * level:g} % interval",
    )
    ax.plot(
        x, curves["debiased"], "s-", color=PREDICTED, markeredgecolor="white", linewidth=1.6, label="debiased"
    )
    ax.plot(x, curves["value"], "o-", color=OBSERVED, markeredgecolor="white", linewidth=1.6, label="plug-in")
    floor = "noise floor: plug-in of a calibrated model"
    ax.plot(x, curves["noise_floor"], ":", color=INK, linewidth=1.4, label=floor)

"""The curves of VCE that the sweep over bins and the convergence over rows share."""

from __future__ import annotations

from typing import Any

from trueness.plots._layers import Layer
from trueness.plots.style import BAND, INK, OBSERVED, PREDICTED, QUIET

CURVES = ("value", "noise_floor", "debiased", "low", "high")

_LOOKS: dict[str, dict[str, Any]] = {
    "debiased": {"linestyle": "-", "linewidth": 1.6},
    "value": {"linestyle": "--", "linewidth": 1.4},
    "noise_floor": {"linestyle": ":", "linewidth": 1.4},
}
"""How the curves of several models are told apart: by their lines, and the models by colour and marker."""

_WORDS = {
    "debiased": "debiased",
    "value": "plug-in",
    "noise_floor": "noise floor: plug-in of a calibrated model",
}


def draw_curves(ax: Any, x: Any, curves: dict[str, Any], level: float, layer: Layer[Any]) -> None:
    """Draw the plug-in value, its noise floor, and the debiased value with its interval."""
    colour, alpha = (BAND, 0.4) if layer.alone else (layer.colour, 0.14)
    words = f"{100 * level:g} % interval" if layer.first else None
    ax.fill_between(x, curves["low"], curves["high"], color=colour, alpha=alpha, linewidth=0, label=words)
    (_draw_one if layer.alone else _draw_some)(ax, x, curves, layer)


def _draw_one(ax: Any, x: Any, curves: dict[str, Any], layer: Layer[Any]) -> None:
    """Draw the curves of one model, each in its colour; the plug-in value has that of the layer."""
    colours = {"debiased": ("s-", PREDICTED), "value": ("o-", layer.chosen_colour or OBSERVED)}
    for key, (line, colour) in colours.items():
        look: dict[str, Any] = {"color": colour, "markeredgecolor": "white", "linewidth": 1.6}
        ax.plot(x, curves[key], line, label=layer.words(_WORDS[key]), **look)
    ax.plot(x, curves["noise_floor"], ":", color=INK, linewidth=1.4, label=_WORDS["noise_floor"])


def _draw_some(ax: Any, x: Any, curves: dict[str, Any], layer: Layer[Any]) -> None:
    """Draw the curves of one of several models in its colour; the kinds of lines are in the legend once."""
    for key, look in _LOOKS.items():
        marker = None if key == "noise_floor" else layer.marker
        words = layer.name if key == "debiased" else None
        ax.plot(
            x, curves[key], color=layer.colour, marker=marker, markeredgecolor="white", label=words, **look
        )
    for key, look in _LOOKS.items() if layer.last else ():
        ax.plot([], [], color=QUIET, label=_WORDS[key], **look)

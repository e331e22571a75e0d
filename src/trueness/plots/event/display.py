"""The pictures of an event with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._random import Seed
from trueness.bins import Bins
from trueness.old_assessment import EventAssessment, assess_event
from trueness.plots._display import Display, draw_band, draw_points, light_grid
from trueness.plots._layers import Layer
from trueness.plots._legend import place_legend
from trueness.plots._strip import draw_histogram, draw_strip
from trueness.plots.event.axis import ProbabilityAxis
from trueness.plots.event.data import EventDiagram, event_diagram_of
from trueness.plots.event.differences import X_LABEL, Y_LABEL, Differences, differences_of
from trueness.plots.style import BAND, INK, marker_areas

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class EventDisplay(Display[EventDiagram]):
    """Observed against predicted frequency of an event over [0, 1], with the exact band of a calibrated model.

    Each bin that holds rows is a point at (p̄, ȳ), its area in proportion to the rows, hollow if they are too few or if
    the event was never observed in it. The line is the smooth calibration curve from which ICI is measured. If nine
    tenths of the rows lie below 0.05 or above 0.95, both axes are by log-odds, labelled with probabilities.
    """

    SIZE = (5.2, 6.4)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        positive: Any = None,
        event: Any = None,
        bins: int | Bins = 10,
        level: float = 0.95,
        resamples: int = 999,
        rng: Seed = 0,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
        **row_options: Any,
    ) -> Self:
        """Draw from rows, as `assess_event` takes them."""
        return cls.from_event(
            _assessed(
                y_true,
                y_prob,
                positive=positive,
                event=event,
                bins=bins,
                level=level,
                resamples=resamples,
                rng=rng,
                **row_options,
            ),
            ax=ax,
            label=label,
            color=color,
        )

    @classmethod
    def from_event(
        cls,
        result: EventAssessment,
        *,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw from the result of `assess_event`."""
        return cls(event_diagram_of(result)).plot(ax, label=label, color=color)

    @property
    def _shows(self) -> str:
        return "observed against predicted frequency"

    def _draw(self, ax: Any, layers: Sequence[Layer[EventDiagram]]) -> None:
        axis = ProbabilityAxis.common([it.data.axis for it in layers])
        layers = [replace(it, data=replace(it.data, axis=axis)) for it in layers]
        r, view = layers[0].data, axis.ends
        ax.plot(view, view, color=INK, linestyle="--", linewidth=1, label="observed = predicted")
        for layer in layers:
            _draw_layer(ax, layer)
        strip = draw_strip(ax, view)
        for layer in layers:
            draw_histogram(ax, layer.data.histogram_bars, strip, layer)
        strip.label(ax, "rows per probability bin")
        ax.set_xticks(*zip(*axis.ticks, strict=True))
        ax.set_yticks(*zip(*axis.ticks, strict=True))
        names = " and ".join(dict.fromkeys(it.data.name.replace("$", r"\$") for it in layers))
        ax.set(xlabel=f"predicted probability of {names}{_scale(r)}", ylabel=f"observed frequency{_scale(r)}")
        titles = [it.data.summary.replace("; ", "\n") for it in layers]
        if layers[0].alone or ax.get_title(loc="left") in titles:  # of several, the legend has them
            ax.set_title(titles[0] if layers[0].alone else "", fontsize=9, loc="left")
        light_grid(ax)
        place_legend(ax)


def _scale(r: EventDiagram) -> str:
    return ", by log-odds" if r.axis.by_log_odds else ""


def _draw_layer(ax: Any, layer: Layer[EventDiagram]) -> None:
    """Draw the band, the curve, the bars and the points of one model."""
    r = layer.data
    x, y, low, high = (r.axis.place(column) for column in (r.x, r.y, r.low, r.high))
    draw_band(ax, x, (low, high), r.level, layer)
    if len(r.curve_x):
        curve = (r.axis.place(column) for column in (r.curve_x, r.curve_y))
        words = "smooth curve" if layer.first else None
        ax.plot(*curve, color=layer.colour, linewidth=1.4, alpha=0.75, label=words)
    ends = (r.axis.place(column) for column in (r.bar_low, r.bar_high))
    ax.vlines(x, *ends, color=layer.colour, linewidth=1.2, zorder=4)
    hollow = r.small | ((r.y <= 0) & r.axis.by_log_odds)
    labels = layer.words("bins", r.summary.partition("; ")[0]), "hollow: few rows, or none observed"
    area = np.array(marker_areas(r.shares, 18, 170))
    draw_points(ax, (x, y), hollow, layer, area=area, labels=labels, clip_on=False)


class DifferencesDisplay(Display[Differences]):
    """Observed less predicted, added up in order of the probability, with the band of a calibrated event.

    The slope of the line is the gap at that place: it falls where the event is forecast too often. No bins are chosen.
    """

    SIZE = (5.6, 4.6)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        positive: Any = None,
        event: Any = None,
        level: float = 0.95,
        resamples: int = 999,
        rng: Seed = 0,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
        **row_options: Any,
    ) -> Self:
        """Draw from rows, as `assess_event` takes them."""
        options = {"level": level, "resamples": resamples, "rng": rng, **row_options}
        return cls.from_event(
            _assessed(y_true, y_prob, positive=positive, event=event, **options),
            ax=ax,
            label=label,
            color=color,
        )

    @classmethod
    def from_event(
        cls,
        result: EventAssessment,
        *,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw from the result of `assess_event`."""
        return cls(differences_of(result)).plot(ax, label=label, color=color)

    @property
    def _shows(self) -> str:
        return f"{Y_LABEL} against {X_LABEL}"

    def _draw(self, ax: Any, layers: Sequence[Layer[Differences]]) -> None:
        for layer in layers:
            _draw_differences(ax, layer)
        ax.axhline(0, color=INK, linestyle="--", linewidth=1)
        names = " and ".join(dict.fromkeys(it.data.name.replace("$", r"\$") for it in layers))
        limit = max(it.data.y_limit for it in layers)
        ax.set(xlim=(0, 1), ylim=(-limit, limit), xlabel=X_LABEL, ylabel=f"{Y_LABEL},\n{names}")
        light_grid(ax)
        place_legend(ax)


def _draw_differences(ax: Any, layer: Layer[Differences]) -> None:
    r = layer.data
    if not math.isnan(r.reach):
        words = f"{'' if layer.alone else 'shaded: '}{100 * r.level:g} % of calibrated models stay inside"
        colour, alpha = (BAND, 0.45) if layer.alone else (layer.colour, 0.1)
        ax.axhspan(
            -r.reach, r.reach, color=colour, alpha=alpha, linewidth=0, label=words if layer.first else None
        )
    ax.plot(
        r.share[r.drawn], r.path[r.drawn], color=layer.colour, linewidth=1.6, label=layer.words(r.summary)
    )


def _assessed(y_true: Any, y_prob: Any, **options: Any) -> EventAssessment:
    result = assess_event(y_true, y_prob, **options)
    assert isinstance(result, EventAssessment)
    return result

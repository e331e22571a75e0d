"""The pictures of an event with matplotlib."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._random import Seed
from trueness.assessment import EventAssessment, assess_event
from trueness.bins import Bins
from trueness.plots._display import Display, light_grid, small_legend
from trueness.plots.event.data import EventDiagram, event_diagram_of
from trueness.plots.event.differences import X_LABEL, Y_LABEL, Differences, differences_of
from trueness.plots.style import BAND, INK, OBSERVED, QUIET, marker_areas

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class EventDisplay(Display[EventDiagram]):
    """Observed against predicted frequency of an event over [0, 1], with the exact band of a calibrated model.

    Each bin that holds rows is a point at (p̄, ȳ), its area in proportion to the rows, hollow if they are too few or if
    the event was never observed in it. The line is the smooth calibration curve from which ICI is measured. If nine
    tenths of the rows lie below 0.05 or above 0.95, both axes are by log-odds, labelled with probabilities.
    """

    SIZE = (5.2, 5.6)

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
        )

    @classmethod
    def from_event(cls, result: EventAssessment, *, ax: Axes | None = None) -> Self:
        """Draw from the result of `assess_event`."""
        return cls(event_diagram_of(result)).plot(ax)

    def _draw(self, ax: Any) -> None:
        r = self.data
        low, high = r.axis.ends
        x, y, band_low, band_high = (r.axis.place(column) for column in (r.x, r.y, r.low, r.high))
        band = f"calibrated model: {100 * r.level:g} % of bins"
        if len(x) > 1:
            ax.fill_between(x, band_low, band_high, color=BAND, alpha=0.45, linewidth=0, label=band)
        else:  # a band of one bin has no width
            ax.vlines(x, band_low, band_high, color=BAND, alpha=0.45, linewidth=14, label=band)
        ax.plot(
            [low, high], [low, high], color=INK, linestyle="--", linewidth=1, label="observed = predicted"
        )
        if len(r.curve_x):
            curve = (r.axis.place(column) for column in (r.curve_x, r.curve_y))
            ax.plot(*curve, color=OBSERVED, linewidth=1.4, alpha=0.75, label="smooth curve")
        ends = (r.axis.place(column) for column in (r.bar_low, r.bar_high))
        ax.vlines(x, *ends, color=OBSERVED, linewidth=1.2, zorder=4)
        self._draw_points(ax, x, y)
        self._draw_histogram(ax)
        ax.set_title(r.summary.replace("; ", "\n"), fontsize=9, loc="left")
        light_grid(ax)
        small_legend(ax, loc=_free_corner(x, y, (low, high)), bbox_to_anchor=(0.0, 0.16, 1.0, 0.84))

    def _draw_points(self, ax: Any, x: Any, y: Any) -> None:
        r = self.data
        hollow = r.small | ((r.y <= 0) & r.axis.by_log_odds)
        area = np.array(marker_areas(r.shares, 18, 170))
        for which, colours, words in (
            (~hollow, (OBSERVED, "white"), "bins"),
            (hollow, ("white", OBSERVED), "few rows, or none observed"),
        ):
            if which.any():
                look: dict[str, Any] = {"facecolor": colours[0], "edgecolor": colours[1], "linewidth": 1.0}
                ax.scatter(x[which], y[which], s=area[which], label=words, zorder=5, clip_on=False, **look)

    def _draw_histogram(self, ax: Any) -> None:
        """Draw the predictions in a strip below the diagram, in the same axes: it then fits any layout."""
        r = self.data
        low, high = r.axis.ends
        span = high - low
        pad, strip = 0.03 * span, 0.17 * span
        foot = low - 2 * pad - strip
        left, right, height = r.histogram_bars
        ax.bar(
            left,
            height * 0.76 * strip,
            width=right - left,
            bottom=foot,
            align="edge",
            color=QUIET,
            alpha=0.5,
            edgecolor="white",
            linewidth=0.6,
        )
        ax.axhline(low - pad, color=QUIET, linewidth=0.6)
        ax.set(xlim=(low - pad, high + pad), ylim=(foot, high + pad), aspect="equal")
        places, words = zip(*r.axis.ticks, strict=True)
        ax.set_xticks(places, words)
        ax.set_yticks(places, words)
        scale = ", by log-odds" if r.axis.by_log_odds else ""
        name = r.name.replace("$", r"\$")
        ax.set(xlabel=f"predicted probability of {name}{scale}", ylabel=f"observed frequency{scale}")
        ax.text(low, foot + strip, "rows per probability", va="center", fontsize=7.5, color=QUIET)


class DifferencesDisplay(Display[Differences]):
    """Observed less predicted, added up in order of the probability, with the band of a calibrated event.

    The slope of the line is the gap at that place: it falls where the event is forecast too often. No bins are chosen.
    """

    SIZE = (5.6, 4.2)

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
        **row_options: Any,
    ) -> Self:
        """Draw from rows, as `assess_event` takes them."""
        options = {"level": level, "resamples": resamples, "rng": rng, **row_options}
        return cls.from_event(_assessed(y_true, y_prob, positive=positive, event=event, **options), ax=ax)

    @classmethod
    def from_event(cls, result: EventAssessment, *, ax: Axes | None = None) -> Self:
        """Draw from the result of `assess_event`."""
        return cls(differences_of(result)).plot(ax)

    def _draw(self, ax: Any) -> None:
        r = self.data
        if not math.isnan(r.reach):
            words = f"{100 * r.level:g} % of calibrated models stay inside"
            ax.axhspan(-r.reach, r.reach, color=BAND, alpha=0.45, linewidth=0, label=words)
        ax.axhline(0, color=INK, linestyle="--", linewidth=1)
        ax.plot(r.share[r.drawn], r.path[r.drawn], color=OBSERVED, linewidth=1.6, label=r.summary)
        name = r.name.replace("$", r"\$")
        ax.set(xlim=(0, 1), ylim=(-r.y_limit, r.y_limit), xlabel=X_LABEL, ylabel=f"{Y_LABEL},\n{name}")
        light_grid(ax)
        small_legend(ax, loc="upper right" if r.path.sum() < 0 else "lower right")


def _assessed(y_true: Any, y_prob: Any, **options: Any) -> EventAssessment:
    result = assess_event(y_true, y_prob, **options)
    assert isinstance(result, EventAssessment)
    return result


def _free_corner(x: Any, y: Any, ends: tuple[float, float]) -> str:
    """The corner where a legend covers fewer points: above the diagonal or below it."""
    low, high = ends
    across, up = (x - low) / (high - low), (y - low) / (high - low)
    above, below = (
        np.count_nonzero((across < 0.75) & (up > 0.72)),
        np.count_nonzero((across > 0.25) & (up < 0.28)),
    )
    return "upper left" if above <= below else "lower right"

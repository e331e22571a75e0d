"""What the reliability diagram of an event shows: predicted and observed frequency in each bin of its probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray
from trueness._printing import about_text, count_text, p_sentence, rows_text
from trueness.bins import Bins, Edges
from trueness.old_inference.binomial import frequency_band
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.in_the_large import frequency_sd
from trueness.old_inference.events.of_table import event_bins, event_cells
from trueness.old_inference.normal import normal_quantile
from trueness.old_table import EventTable
from trueness.old_table.table_text import FEW_ROWS
from trueness.plots.event.axis import ProbabilityAxis

if TYPE_CHECKING:
    from trueness.old_assessment import EventAssessment

RARE, RARE_SHARE = 0.05, 0.9
"""An event is shown by log-odds if this share of the rows lies below this probability, or as far from 1."""

_LOWER = (*(2.0**-j for j in (17, 13, 10, 9, 8, 7)), *(k / 60 for k in (1, 2, 4, 8, 16)))
ODDS_BINS = Edges((0.0, *_LOWER, 0.5, *(1 - p for p in reversed(_LOWER)), 1.0))
"""Bins of nearly equal width in log-odds, whose edges are those of all grids of probabilities."""

HISTOGRAM_BINS = Edges(tuple(k / 30 for k in range(31)))

MOST_CURVE_POINTS = 200


@dataclass(frozen=True, slots=True, eq=False)
class EventDiagram:
    """Predicted and observed frequency of an event in each bin that holds rows, (F,) each."""

    name: str
    """The event in a sentence: "class cat", or "the top label"."""
    x: FloatArray
    """p̄, the mean predicted probability."""
    y: FloatArray
    """ȳ, the observed frequency."""
    rows: FloatArray
    """Rows of each bin, or the sum of their weights."""
    small: NDArray[np.bool_]
    """Bins with too few rows to conclude anything."""
    low: FloatArray
    """Lower end of the exact binomial band in which ȳ would lie if the event were calibrated."""
    high: FloatArray
    bar_low: FloatArray
    """Lower end of the bar around ȳ: the interval for its value with unlimited data, for each bin alone."""
    bar_high: FloatArray
    axis: ProbabilityAxis
    histogram_edges: FloatArray
    """Edges of the histogram of predictions, (H + 1,), as probabilities."""
    histogram_share: FloatArray
    """The share of the rows in each of its bins, (H,)."""
    curve_x: FloatArray
    """Probabilities at which the smooth curve is drawn, (K,); empty without a curve."""
    curve_y: FloatArray
    summary: str
    """Expected and observed number, and the p-value."""
    level: float

    @property
    def shares(self) -> list[float]:
        """The share of the rows in each bin."""
        return [float(share) for share in self.rows / self.rows.sum()]

    @property
    def descriptions(self) -> list[str]:
        """The numbers of each bin in words."""
        columns = (
            self.rows.tolist(),
            self.x.tolist(),
            self.y.tolist(),
            self.low.tolist(),
            self.high.tolist(),
        )
        return [
            f"{rows_text(n)}\npredicted {p:.4g}, observed {y:.4g}\nif calibrated: {low:.4g} to {high:.4g}"
            for n, p, y, low, high in zip(*columns, strict=True)
        ]

    @property
    def histogram_bars(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Left and right ends on the scale of the axis, and heights: densities on that scale, the tallest 1."""
        ends = self.axis.place(self.histogram_edges)
        left, right = ends[:-1], ends[1:]
        shown = (right > left) & (self.histogram_share > 0)
        density = np.divide(self.histogram_share, right - left, out=np.zeros(len(left)), where=shown)
        return left, right, density / (density.max() or 1.0)


def event_diagram_of(event: EventAssessment) -> EventDiagram:
    """The reliability diagram of an event, in the bins of its ECE; of a rare event in bins of log-odds."""
    (cells,) = event_cells(event.table)
    gap = event.in_the_large
    summary = (
        f"{about_text(gap.expected)} expected, {count_text(gap.observed)} observed, {p_sentence(gap.p_value)}"
    )
    name = event.label_in_sentence
    return diagram_of(
        event.table,
        event.bins,
        event.level,
        name=name,
        summary=summary,
        curve=(cells.mean_predicted, event.curve.fitted),
    )


def diagram_of(
    table: EventTable,
    bins: EventCells | int | Bins,
    level: float,
    *,
    name: str,
    summary: str,
    curve: tuple[FloatArray, FloatArray] | None = None,
) -> EventDiagram:
    """The reliability diagram of the only event of a table; rare events are shown in bins of log-odds."""
    (cells,) = event_cells(table)
    rare = is_rare(cells)
    if rare:
        bins = merge_empty(event_bins(table, ODDS_BINS)[0])
    elif not isinstance(bins, EventCells):
        (bins,) = event_bins(table, bins)
    n, x, y = bins.effective_count, bins.mean_predicted, bins.mean_observed
    low, high = frequency_band(n, x, level)
    reach = normal_quantile(level) * frequency_sd(bins)
    cut = table.coarsen(ODDS_BINS if rare else HISTOGRAM_BINS)
    axis = ProbabilityAxis.log_odds(np.concatenate([x, y, high])) if rare else ProbabilityAxis.linear()
    shown = (np.empty(0), np.empty(0)) if curve is None else _shown_curve(axis, *curve)
    return EventDiagram(
        name=name,
        x=x,
        y=y,
        rows=bins.count,
        small=n < FEW_ROWS * (1 - 1e-9),
        low=low,
        high=high,
        bar_low=np.maximum(y - reach, 0.0),
        bar_high=np.minimum(y + reach, 1.0),
        axis=axis,
        histogram_edges=cut.edges,
        histogram_share=cut.count[0] / cut.count[0].sum(),
        curve_x=shown[0],
        curve_y=shown[1],
        summary=summary,
        level=level,
    )


def is_rare(cells: EventCells) -> bool:
    """Whether nine tenths of the rows have a probability below 0.05, or above 0.95."""
    p, share = cells.mean_predicted, cells.count / cells.total
    return max(float(share[p < RARE].sum()), float(share[p > 1 - RARE].sum())) >= RARE_SHARE


def merge_empty(bins: EventCells, least: float = 1.0) -> EventCells:
    """The bins, the lowest merged until at least one row is expected in each, the highest likewise without the event.

    Depends on predictions only. A bin in which nothing is expected is not informative, and would make the axis long.
    """
    expected, others = np.cumsum(bins.predicted), np.cumsum((bins.count - bins.predicted)[::-1])
    first = int(np.searchsorted(expected, least))
    last = len(bins.count) - 1 - int(np.searchsorted(others, least))
    if first >= last:
        return bins
    starts = np.array([0, *range(first + 1, last + 1)])
    sums = (bins.count, bins.predicted, bins.observed, bins.weight_square)
    count, predicted, observed, square = (np.add.reduceat(each, starts) for each in sums)
    return EventCells(count, predicted, observed, square, bins.weighted)


def _shown_curve(axis: ProbabilityAxis, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """At most so many points of a curve, evenly chosen among those within the axis."""
    inside = np.flatnonzero((x >= axis.low) & (x <= axis.high) & (y >= axis.low) & (y <= axis.high))
    if len(inside) > MOST_CURVE_POINTS:
        inside = inside[np.linspace(0, len(inside) - 1, MOST_CURVE_POINTS).round().astype(np.int64)]
    return x[inside], y[inside]

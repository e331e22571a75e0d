"""Reliability diagrams: predicted against observed in each bin, with the noise to expect.

Bins without rows are left out: nothing was observed there, and a point on the diagonal would say
that the model is right. The band holds what would be observed if the model were calibrated; the
bars are intervals of each bin alone. Beneath are the rows, as density.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.arguments import Settings
from trueness.bins import Edges
from trueness.charts.chart import Axis, Chart, Mark
from trueness.exact_sums import FloatArray
from trueness.formatting import counted, number, shortened
from trueness.inference.binomial import frequency_band
from trueness.inference.debiasing import variation_gaps
from trueness.inference.noise import Streams, draw_ranks
from trueness.inference.sample import Events, Sample
from trueness.refusals import InvalidValueError, nearest
from trueness.table import Table

FEW_ROWS = 10
"""Bins of fewer rows show little, and are drawn hollow."""

RARE, RARE_SHARE = 0.05, 0.9
"""An event is shown by log-odds if this share of the rows is below this probability, or as far
from 1."""

MOST_CLASSES = 4
"""Small multiples beside one another."""

_LOWER = (*(2.0**-j for j in (17, 13, 10, 9, 8, 7)), *(k / 60 for k in (1, 2, 4, 8, 16)))
ODDS_EDGES = (0.0, *_LOWER, 0.5, *(1 - p for p in reversed(_LOWER)), 1.0)
"""About equally wide in log-odds."""


class _Bins(NamedTuple):
    """What a diagram shows, of each bin with rows."""

    title: str
    labels: tuple[str, str]  # of the axes
    x: FloatArray
    y: FloatArray
    low: FloatArray  # the band of a calibrated model
    high: FloatArray
    reach: FloatArray  # half the bar
    rows: FloatArray
    few: NDArray[np.bool_]


def reliability_chart(
    table: Table, settings: Settings | None = None, *, group: str | None = None, gap: bool = False
) -> Chart:
    """Predicted and observed variation in the bins of VCE.

    A point above the diagonal means that outcomes vary more than the model says: with entropy, that
    it is over-confident there. The band comes from `settings.resamples` draws of a calibrated model
    with as many rows; a bar is the point with its own noise. `group` is the name of the group that
    the rows are, for draws of its own.

    With `gap` the difference is shown: above 0 outcomes vary more than predicted.
    """
    its, sample = settings or Settings(), Sample.of(table)
    streams = Streams(its.seed, group)
    draws = draw_ranks(sample, its.resamples, streams)
    found = variation_gaps(sample, draws, streams)
    sums = sample.ranks.rows.sum(axis=0)
    filled = np.flatnonzero(sums > 0)
    low, high = np.quantile(found.null, [(1 - its.level) / 2, (1 + its.level) / 2], axis=0)
    measure, edges = table.measure, table.spec.bins
    assert edges is not None
    few = sums[filled] < max(FEW_ROWS, table.n_classes)
    reach = sample.quantile(its.level) * found.sd
    parts = (found.predicted, found.observed, low, high, reach, sums[filled], few)
    name = measure.display_name
    bins = _Bins(f"Reliability by {name}", (f"predicted {name}", f"observed {name}"), *parts)
    limits = tuple(map(float, measure.range_for(table.n_classes)))
    return _chart(bins, edges, sums, (limits[0], limits[1]), its.level, gap=gap)


def confidence_chart(table: Table, settings: Settings | None = None, *, gap: bool = False) -> Chart:
    """Mean confidence and accuracy in the bins of ECE.

    A point below the diagonal means that the predicted class is right less often than the model
    says: it is over-confident there.
    """
    sample = Sample.of(table)
    if sample.top is None or table.spec.top_bins is None:
        raise InvalidValueError("wrong-table", "this table has no bins of confidence")
    effect = float(sample.rank_effects()[1][0])
    return _event(sample, sample.top, table.spec.top_bins, effect, settings, None, gap=gap)


def class_chart(
    table: Table, of: int | str, settings: Settings | None = None, *, gap: bool = False
) -> Chart:
    """Probability and frequency of one class, by its name or index.

    If nearly all probabilities are below 0.05, or above 0.95, both axes are of log-odds, on which
    0.001 and 0.002 are as far apart as 0.2 and 0.33. The lowest bins are then joined until a row is
    expected in each: they depend on predictions alone.
    """
    sample = Sample.of(table)
    if sample.classes is None or table.spec.class_bins is None:
        raise InvalidValueError("wrong-table", "this table has no bins of single classes")
    names = [sample.class_names[k] for k in sample.class_index]
    if of not in (*names, *sample.class_index):
        remedy = nearest(str(of), names)
        raise InvalidValueError("unknown-name", f"there is no class {of!r} of its own", remedy)
    k = names.index(of) if isinstance(of, str) else sample.class_index.index(of)
    event = Events(*(each[k : k + 1] for each in sample.classes))
    effect = float(sample.class_effects()[k])
    return _event(sample, event, table.spec.class_bins, effect, settings, names[k], gap=gap)


def class_charts(
    table: Table, of: Sequence[int | str], settings: Settings | None = None
) -> tuple[Chart, ...]:
    """Small multiples of the first classes in `of`, at most four."""
    return tuple(class_chart(table, each, settings) for each in of[:MOST_CLASSES])


def _event(
    sample: Sample,
    cells: Events,
    edges: Edges,
    effect: float,
    settings: Settings | None,
    name: str | None,
    *,
    gap: bool,
) -> Chart:
    """The diagram of one class, or of confidence, in cells of the probability."""
    level = (settings or Settings()).level
    rare = is_rare(cells)
    ends, shown, sums = edges, cells, cells.rows[0]
    if rare or name is not None:
        wanted = ODDS_EDGES if rare else np.linspace(edges.edges[0], edges.edges[-1], 11)
        starts = _starts(edges, np.asarray(wanted))
        ends = Edges((*(edges.edges[k] for k in starts.tolist()), edges.edges[-1]))
        shown = _added(cells, starts)
        sums = shown.rows[0]
        if rare:
            shown = _added(shown, _merged(shown))
    kept = shown.rows[0] > 0
    n, expected, observed, square = (each[0, kept] for each in shown)
    effective, p, y = n**2 / square / effect, np.clip(expected / n, 0, 1), observed / n
    low, high = frequency_band(np.maximum(np.rint(effective), 1.0), p, level)
    r = (effective * y + p) / (effective + 1)
    sd = np.sqrt(np.maximum(p * (1 - p), r * (1 - r)) / effective)
    few = effective < FEW_ROWS * (1 - 1e-9)
    title, labels = "Reliability by confidence", ("mean confidence", "accuracy")
    if name is not None:
        title, labels = f"Class {shortened(name, 40)}", ("predicted probability", "frequency")
    bins = _Bins(title, labels, p, y, low, high, sample.quantile(level) * sd, n, few)
    limits = (0.0 if name else float(edges.edges[0]), 1.0)
    return _chart(bins, ends, sums, limits, level, gap=gap, odds=rare)


def is_rare(cells: Events) -> bool:
    """Whether nine tenths of the rows have a probability below 0.05, or above 0.95."""
    share, p = cells.rows[0] / cells.rows[0].sum(), cells.mean[0]
    return max(float(share[p < RARE].sum()), float(share[p > 1 - RARE].sum())) >= RARE_SHARE


def _starts(edges: Edges, wanted: FloatArray) -> NDArray[np.int64]:
    """The first cells of coarser bins, whose edges are the nearest that the cells have."""
    fine = np.asarray(edges.edges[:-1])
    return np.unique(np.abs(fine[:, None] - wanted[:-1]).argmin(axis=0))


def _added(cells: Events, starts: NDArray[np.int64]) -> Events:
    return Events(*(np.add.reduceat(each, starts, axis=1) for each in cells))


def _merged(cells: Events, least: float = 1.0) -> NDArray[np.int64]:
    """Starts of bins in whose lowest and highest at least so many rows are expected, and not.

    They depend on predictions alone. A bin in which nothing is expected shows nothing.
    """
    rows, expected = cells.rows[0], cells.predicted[0]
    first = int(np.searchsorted(np.cumsum(expected), least))
    last = len(rows) - 1 - int(np.searchsorted(np.cumsum((rows - expected)[::-1]), least))
    return np.array([0, *range(first + 1, last + 1)], np.int64) if first < last else np.arange(1)


def _chart(
    bins: _Bins,
    edges: Edges,
    sums: FloatArray,
    limits: tuple[float, float],
    level: float,
    *,
    gap: bool,
    odds: bool = False,
) -> Chart:
    """Marks and axes of a diagram."""
    order, (label, up) = np.argsort(bins.x, kind="stable"), bins.labels
    x, y, low, high, reach, rows = (each[order] for each in bins[2:8])
    few = bins.few[order]
    view = axis = _odds_range(x, y, high) if odds else _zoomed(limits, x, y)
    words = tuple(
        f"{counted(n, 'row')}\npredicted {number(p)}, observed {number(o)}\n"
        f"if calibrated: {number(a)} to {number(b)}"
        for n, p, o, a, b in zip(*(each.tolist() for each in (rows, x, y, low, high)), strict=True)
    )
    named = ("observed = predicted",)
    right = Mark("line", np.array(axis), np.array(axis), "ink", words=named)
    lowest, highest = np.minimum(limits[0], y), np.maximum(limits[1], y)
    ends = [np.maximum(y - reach, lowest), np.minimum(y + reach, highest)]
    if gap:
        y, low, high, *ends = (each - x for each in (y, low, high, *ends))
        most = 1.08 * max(float(np.abs([*ends, low, high]).max()), 1e-3)
        view, up = (-most, most), "observed − predicted"
        right = Mark("rule", np.empty(0), np.zeros(1), "ink", words=named)
    low, high, *ends = (np.clip(each, *view) for each in (low, high, *ends))
    share = f"{100 * level:g} %"
    marks = [
        Mark("band", x, low, "band", None, high, (f"{share} of calibrated models",)),
        right,
        Mark("spans", x, ends[0], "observed", None, ends[1], (f"{share} interval of a bin",)),
    ]
    for some, role in ((~few, "observed"), (few, "quiet")):
        if some.any():
            its = tuple(word for word, one in zip(words, some.tolist(), strict=True) if one)
            marks.append(Mark("points", x[some], y[some], role, words=its))
    scale = "logit" if odds else "linear"
    across, above = Axis(label, axis, scale), Axis(up, view, "linear" if gap else scale)
    strip = _strip(across, edges, sums)
    return Chart(bins.title, across, above, tuple(marks), strip, square=not gap)


def _strip(axis: Axis, edges: Edges, sums: FloatArray) -> tuple[Mark, ...]:
    """The rows of all bins as bars whose areas are their shares."""
    low, high = axis.range
    left, right = (np.clip(each, low, high) for each in (edges.edges[:-1], edges.edges[1:]))
    if axis.scale == "linear":  # a bin may hold its lowest value alone
        right = np.minimum(np.maximum(right, left + 0.004 * (high - low)), high)
    width = axis.place(right) - axis.place(left)
    shown = (width > 0) & (sums > 0)
    left, right, height = left[shown], right[shown], sums[shown] / width[shown]
    words = tuple(counted(n, "row") for n in sums[shown].tolist())
    height = height / height.max(initial=1e-300)
    return (Mark("bars", left, np.zeros(len(left)), "quiet", right, height, words),)


def _zoomed(limits: tuple[float, float], x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """The range, or the part around the values if that is much shorter."""
    values = np.concatenate([x, y])
    low, high = float(values.min()), float(values.max())
    margin, (first, last) = 0.35 * (high - low), limits
    first, last = min(first, low), max(last, high)
    if 0 < high - low + 2 * margin < 0.55 * (last - first):
        first, last = max(first, low - margin), min(last, high + margin)
    pad = 0.02 * (last - first)
    return first - pad, last + pad


def _odds_range(*values: FloatArray) -> tuple[float, float]:
    """The probabilities around these, with a margin of a factor 2 of the odds."""
    known = np.concatenate(values)
    inside = known[(known > 1e-9) & (known < 1 - 1e-9)]
    low, high = (float(inside.min()), float(inside.max())) if len(inside) else (0.001, 0.999)
    return low / (2 - low), 2 * high / (1 + high)

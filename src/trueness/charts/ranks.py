"""How often each rank was predicted to be that of the true class, and was.

If the model is calibrated, the most probable class is true as often as its mean probability says,
the second as often as its own, and so on. Many ranks are shown in groups that widen towards the
last, with logarithmic axes, since most probabilities are small.
"""

from __future__ import annotations

import numpy as np

from trueness.arguments import Settings, whole_number
from trueness.bins import Edges
from trueness.charts.chart import Axis, Chart, Mark
from trueness.exact_sums import FloatArray, IntArray
from trueness.formatting import counted, listed, number
from trueness.inference.binomial import frequency_band
from trueness.inference.sample import Sample
from trueness.refusals import InvalidValueError
from trueness.table import Table

MOST_BARS = 12
"""With more ranks than this the axes are logarithmic."""

MOST_RANKS, RANK_GROUPS = 30, 24
"""Up to this number of classes each rank stands alone; more are in about so many groups."""

STRONGEST = 5.0
"""So many standard deviations fill a cell of the map."""

X_LABEL = "rank of the true class"


def rank_starts(n_ranks: int) -> IntArray:
    """First ranks of the groups, from 0: each by itself, or groups as wide as the rank is large.

    >>> rank_starts(4).tolist(), rank_starts(1000)[:12].tolist()
    ([0, 1, 2, 3], [0, 1, 2, 3, 4, 6, 8, 10, 14, 18, 23, 30])
    """
    if n_ranks <= MOST_RANKS:
        return np.arange(n_ranks)
    ends = np.geomspace(1, n_ranks + 1, RANK_GROUPS + 5)[:-1]
    return np.unique(np.floor(ends).astype(np.int64)) - 1


def rank_chart(table: Table, settings: Settings | None = None, *, bin: int | None = None) -> Chart:
    """The ranks of all rows, or of those in one bin of variation, by its number from 1.

    If the first rank is observed less often than predicted and later ones more often, the model is
    over-confident; if two ranks are exchanged, the columns of two classes may be. The band is that
    of a binomial with as many rows as these are worth.
    """
    sample, level = Sample.of(table), (settings or Settings()).level
    chosen, title = slice(None), "Ranks of the true class"
    if bin is not None:
        chosen, title = _only(table, sample, bin)
    rows = sample.ranks.rows[:, chosen]
    predicted, observed = (
        each[:, chosen].sum(axis=(0, 1)) / rows.sum() for each in sample.ranks[1:3]
    )
    starts, ends = _groups(len(predicted))
    wide = ends - starts
    p, y = (np.minimum(np.add.reduceat(it, starts), 1.0) for it in (predicted, observed))
    effective = rows.sum() / (sample.row_weight * sample.design.effect)
    low, high = frequency_band(np.full(len(p), np.rint(max(effective, 1.0))), p, level)
    names = _names(starts, ends)
    words = tuple(
        f"rank {name}: predicted {number(a)}, observed {number(b)}\n"
        f"if calibrated: {number(c)} to {number(d)}"
        for name, *its in zip(names, p, y, low, high, strict=True)
        for a, b, c, d in [map(float, its)]
    )
    p, y, low, high = (each / wide for each in (p, y, low, high))
    top, share = 1.06 * float(np.max([p, y, high])), f"{100 * level:g} % of calibrated models"
    if len(predicted) <= MOST_BARS:
        x, none = np.arange(len(p), dtype=np.float64), np.zeros(len(p))
        across, up = Axis.of_names(X_LABEL, names), Axis("share of rows", (0.0, top))
        bars = Mark("bars", x - 0.38, none, "predicted", x + 0.38, p, words)
        spans = Mark("spans", x, low, "quiet", None, high, (share,))
        return Chart(
            title, across, up, (bars, spans, Mark("points", x, y, "observed", words=words))
        )
    x = np.sqrt((starts + 1.0) * ends)
    least = 0.4 / (max(float(rows.sum()), 1.0) * float(wide.max()))
    least = max(least, 0.5 * float(p[p > 0].min(initial=top)), 1e-9 * top)
    least = min(least, 0.5 * float(y[y > 0].min(initial=top)))
    across = Axis(X_LABEL, (0.9, 1.1 * len(predicted)), "log")
    up = Axis("share of rows a rank", (least, 1.3 * top), "log")
    seen = y > 0
    marks = (
        Mark("band", x, np.maximum(low, least), "band", None, np.maximum(high, least), (share,)),
        Mark("line", x, np.maximum(p, least), "predicted", words=("predicted",)),
        Mark("points", x[seen], y[seen], "observed", words=_some(words, seen.tolist())),
    )
    return Chart(title, across, up, marks)


def rank_map(table: Table) -> Chart:
    """For each bin of variation and rank, how much more or less often the true class had it.

    The larger a cell the clearer the difference; filled if the rank was observed more often than
    predicted, hollow if less often. A cell of full size is five standard deviations or more.
    """
    sample, edges = Sample.of(table), table.spec.bins
    assert edges is not None
    rows = sample.ranks.rows.sum(axis=0)
    filled = np.flatnonzero(rows > 0)
    starts, ends = _groups(sample.ranks.predicted.shape[-1])
    p, y = (
        np.minimum(np.add.reduceat(its.sum(axis=0)[filled] / rows[filled, None], starts, axis=1), 1)
        for its in sample.ranks[1:3]
    )
    n = rows[filled, None] / (sample.row_weight * sample.design.effect)
    gap = _standardised(n, y, p)
    side = 0.46 * np.sqrt(np.minimum(np.abs(gap), STRONGEST) / STRONGEST)
    names, spans = _names(starts, ends), [_span(edges, m) for m in filled.tolist()]
    marks = []
    for role, chosen in (("observed", gap > 0.05), ("predicted", gap < -0.05)):
        down, across = np.nonzero(chosen)
        half = side[chosen]
        words = tuple(
            f"{spans[i]}, rank {names[k]}: predicted {number(float(p[i, k]))}, "
            f"observed {number(float(y[i, k]))}\n"
            f"{number(float(gap[i, k]), 1, sign=True)} standard deviations"
            for i, k in zip(down.tolist(), across.tolist(), strict=True)
        )
        ends_of = (across - half, down - half, role, across + half, down + half)
        marks.append(Mark("cells", *ends_of, words))
    right = tuple(f"{rows[m]:,.0f}" for m in filled.tolist())
    x, y_axis = Axis.of_names(X_LABEL, names), Axis.of_names(table.measure.display_name, spans)
    return Chart("Ranks in each bin", x, y_axis, tuple(marks), (), right)


def _only(table: Table, sample: Sample, bin: int) -> tuple[slice, str]:
    edges, rows = table.spec.bins, sample.ranks.rows.sum(axis=0)
    assert edges is not None
    m = whole_number("bin", bin, 1, edges.n_bins) - 1
    if not rows[m]:
        filled = listed([str(k + 1) for k in np.flatnonzero(rows).tolist()], 12)
        cause = f"bin {bin} of {edges.n_bins} has no rows"
        raise InvalidValueError("empty-bin", cause, f"bins with rows are {filled}", argument="bin")
    held = counted(float(rows[m]), "row")
    return slice(m, m + 1), f"Ranks where {table.measure.display_name} is {_span(edges, m)}: {held}"


def _span(edges: Edges, m: int) -> str:
    low, high = edges.edges[m], edges.edges[m + 1]
    return f"{low:.3g} to {high:.3g}"


def _groups(n_ranks: int) -> tuple[IntArray, IntArray]:
    """First ranks from 0, and the ends."""
    starts = rank_starts(n_ranks)
    return starts, np.append(starts[1:], n_ranks)


def _names(starts: IntArray, ends: IntArray) -> list[str]:
    pairs = zip((starts + 1).tolist(), ends.tolist(), strict=True)
    return [str(a) if a == b else f"{a}–{b}" for a, b in pairs]


def _some(words: tuple[str, ...], chosen: list[bool]) -> tuple[str, ...]:
    return tuple(text for text, one in zip(words, chosen, strict=True) if one)


def _standardised(n: FloatArray, observed: FloatArray, predicted: FloatArray) -> FloatArray:
    """The signed root ±√(2n·KL(y‖p)) of the likelihood ratio: nearly normal even for few rows."""
    y, p = np.clip(observed, 0.0, 1.0), np.clip(predicted, 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = np.where(y > 0, y * np.log(y / p), 0.0)
        miss = np.where(y < 1, (1 - y) * np.log((1 - y) / (1 - p)), 0.0)
    return np.asarray(np.sign(y - p) * np.sqrt(2 * n * np.maximum(hit + miss, 0.0)))

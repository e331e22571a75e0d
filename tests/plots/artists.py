"""What was drawn, read back from matplotlib's artists, and the rows that are drawn in the tests of pictures."""

from functools import cache

import numpy as np

import trueness as tn


def over_confident_rows(n_rows=3000, alpha=(4, 2, 1, 1), exponent=1.6, seed=0):
    y_true, y_prob = tn.simulate.calibrated(n_rows, alpha, rng=seed)
    return y_true, tn.simulate.sharpen(y_prob, exponent)


@cache
def over_confident_assessment():
    """Over-confident rows in four groups, with a bin of few rows and an empty one."""
    y_true, y_prob = over_confident_rows()
    edges = tn.Edges([0, 0.2, 0.4, 0.6, 0.8, 0.98, 0.999999, 1])
    result = tn.assess(y_true, y_prob, bins=edges, rng=0, groups=np.arange(3000) % 4)
    assert 0 < result.table.row_count[-2] < 10
    assert result.table.row_count[-1] == 0
    return result


NAMES = ("ape", "bat", "cat", "dog", "elk", "fox", "gnu", "hen")


@cache
def wrong_classes():
    """Eight classes with names, all of which are predicted too often or too seldom."""
    y_true, y_prob = tn.simulate.calibrated(4000, [0.6] * 8, rng=1)
    factor = np.where(np.arange(8) % 2, 1.5, 0.6)
    moved = y_prob * factor / (y_prob * factor).sum(axis=1, keepdims=True)
    return tn.assess(np.array(NAMES)[y_true], moved, classes=list(NAMES), rng=0, resamples=199)


@cache
def event_rows(n_rows=6000, shift=0.0):
    """Outcomes of a rare event (about 1 %) with its probabilities, whose log-odds are shifted."""
    rng = np.random.default_rng(0)
    log_odds = -5.4 + 1.4 * rng.normal(size=n_rows)
    y_true = (rng.random(n_rows) < 1 / (1 + np.exp(-log_odds))).astype(int)
    return y_true, 1 / (1 + np.exp(-(log_odds + shift)))


@cache
def rare_event():
    """A calibrated rare event."""
    return tn.assess_event(*event_rows(), rng=0, resamples=99)


@cache
def class_weighted_event():
    """The same event by a model that was trained as if it were as frequent as its opposite: odds times 99."""
    return tn.assess_event(*event_rows(shift=np.log(99)), rng=0, resamples=99)


def scattered(ax):
    """Offsets, areas and whether filled of all points with a marker."""
    from matplotlib.collections import PathCollection

    found = [c for c in ax.collections if isinstance(c, PathCollection)]
    offsets = np.concatenate([c.get_offsets() for c in found])
    sizes = np.concatenate([c.get_sizes() for c in found])
    filled = np.concatenate(
        [np.full(len(c.get_offsets()), not np.allclose(c.get_facecolor()[0], 1)) for c in found]
    )
    order = np.argsort(offsets[:, 0])
    return offsets[order], sizes[order], filled[order]


def band_of(ax):
    """x -> (low, high) of the filled band."""
    from matplotlib.collections import FillBetweenPolyCollection

    (band,) = [c for c in ax.collections if isinstance(c, FillBetweenPolyCollection)]
    ends = {}
    for x, y in band.get_paths()[0].vertices:
        low, high = ends.get(x, (y, y))
        ends[x] = min(low, y), max(high, y)
    return ends


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]

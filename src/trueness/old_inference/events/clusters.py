"""The noise of events whose rows come in clusters, from the sums of each cluster in ten bins of the probability.

A sum over clusters has, in a Poisson bootstrap, the variance Σ_k S_k²: no replicates are needed. It is not centred,
since the mean of S_k is 0 for a calibrated event; with few clusters a centred one would be too small. The larger of it
and the variance of independent rows is used, so that of two p-values the larger counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.tilt import clipped, log_odds
from trueness.old_table.cluster_sums import ClusterSums, EventCellSums
from trueness.old_table.event_content import EventSpec


@dataclass(frozen=True, slots=True)
class ClusteredEvent:
    """By how much clusters increase the variances of one event; at least 1."""

    gap: float
    """Of the gap over all rows."""
    spread: float
    """Of the statistic of the spread."""
    edges: FloatArray
    """Upper edges of the bins, (G,)."""
    bins: FloatArray
    """Of the observed number of each bin, (G,)."""
    around_observed: FloatArray
    """The same around its observed frequency, which may be far from the predicted one, (G,)."""
    brier: float = 1.0
    """Of Σ(y - p)(1 - 2p), the statistic of Spiegelhalter's test."""
    log_score: float = 1.0
    """Of Σ(y - p)·logit(p)."""

    def of_gap(self, cells: EventCells) -> EventCells:
        """Cells whose variance is that of the gap."""
        return inflated(cells, self.gap)

    def gap_p_value(self, cells: EventCells) -> float:
        """The two-sided p-value of the gap: by a normal tail with the skewness of as many independent clusters.

        P(Z ≥ z) + γ(z² - 1)φ(z)/6, the first terms of Edgeworth's expansion, where that is larger than P(Z ≥ z): the
        observed number is a sum of few weighty outcomes.
        """
        variance = float(cells.variance.sum()) * self.gap
        if variance <= 0:
            return math.nan
        p, unit = cells.mean_predicted, self.gap * cells.weight_square / cells.count
        third = float((unit**2 * cells.count * p * (1 - p) * (1 - 2 * p)).sum())
        z = float(cells.observed.sum() - cells.predicted.sum()) / math.sqrt(variance)
        skewness = math.copysign(1.0, z) * third / variance**1.5
        density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        tail = math.erfc(abs(z) / math.sqrt(2)) / 2
        return float(min(1.0, 2 * max(tail, tail + skewness * (z * z - 1) * density / 6)))

    def of_spread(self, cells: EventCells) -> EventCells:
        """Cells whose variance is that of the spread."""
        return inflated(cells, self.spread)

    def of_bins(self, cells: EventCells) -> EventCells:
        """Cells with the variance of the bin in which their mean prediction is."""
        return inflated(cells, self.bins[self._bin_of(cells)])

    def of_fit(self, cells: EventCells) -> EventCells:
        """Cells with the variance around what was observed, for a curve that is fitted to it.

        The variance around predictions of 0 and 1, which have none themselves, would be many times too large.
        """
        return inflated(cells, self.around_observed[self._bin_of(cells)])

    def _bin_of(self, cells: EventCells) -> IntArray:
        at = np.searchsorted(self.edges, cells.mean_predicted - 1e-9)
        return np.asarray(np.minimum(at, len(self.bins) - 1))


def inflated(cells: EventCells, factor: FloatArray | float) -> EventCells:
    """The cells with so many times the variance, as if they held fewer rows of larger weight."""
    if np.all(np.asarray(factor) <= 1):
        return cells
    return replace(cells, weight_square=cells.weight_square * factor, weighted=True)


def clustered_events(sums: ClusterSums, weight_square: FloatArray | None = None) -> list[ClusteredEvent]:
    """By how much clusters increase the variances of each event of a table.

    `weight_square` is Σw² of each event and bin, (K, G), if rows have weights.
    """
    spec, of_cells = sums.spec, sums.sums
    assert isinstance(spec, EventSpec)
    assert isinstance(of_cells, EventCellSums)
    k, g = spec.shape
    event, at = np.divmod(sums.bins, g)
    apart = of_cells.observed.value - of_cells.predicted.value
    count, predicted = (
        np.asarray(np.bincount(sums.bins, values, k * g).reshape(k, g), np.float64)
        for values in (sums.mass, of_cells.predicted.value)
    )
    square = count if weight_square is None else weight_square
    p = clipped(np.divide(predicted, count, out=np.full((k, g), 0.5), where=count > 0))
    variance = square * p * (1 - p)
    d = _distances(p, variance)
    n_units = int(sums.units.max(initial=-1)) + 1
    place = event * n_units + sums.units

    def of_units(factor: FloatArray) -> FloatArray:
        """Σ_k S_k² of each event, with S_k the sum over the bins of a cluster times the factor of each bin."""
        totals = np.asarray(np.bincount(place, apart * factor[event, at], k * n_units), np.float64)
        return _safe_variance(totals.reshape(k, n_units))

    gap = _pooled_ratio(of_units(np.ones((k, g))), variance.sum(axis=1))
    spread = _pooled_ratio(of_units(d), (variance * d**2).sum(axis=1))
    brier, log_score = (
        _pooled_ratio(of_units(factor), (variance * factor**2).sum(axis=1))
        for factor in (1 - 2 * p, log_odds(p))
    )
    seen = np.asarray(np.bincount(sums.bins, apart**2, k * g).reshape(k, g), np.float64)
    # The few clusters of a bin estimate its noise badly: at least the mean over all bins is used.
    of_events = _pooled_ratio(seen.sum(axis=1), variance.sum(axis=1))
    bins = np.maximum(_ratio(seen, variance), of_events[:, None])
    around = _around_observed(sums, count, square, p)
    edges = np.array(spec.grid.edges[1:])
    return [
        ClusteredEvent(
            float(gap[i]), float(spread[i]), edges, bins[i], around[i], float(brier[i]), float(log_score[i])
        )
        for i in range(k)
    ]


def _around_observed(sums: ClusterSums, count: FloatArray, square: FloatArray, p: FloatArray) -> FloatArray:
    """By how much clusters increase the variance of the observed number of each bin around its mean, (K, G).

    With r = (n·ȳ + p̄)/(n + 1), as in `frequency_sd`: Σ_k(y_k - n_k·r)² against Σw²·r(1 - r). It is at least that of
    the sums over all bins, in which the rows of a cluster that are in different bins are correlated too.
    """
    of_cells = sums.sums
    assert isinstance(of_cells, EventCellSums)
    observed = np.bincount(sums.bins, of_cells.observed.value, count.size).reshape(count.shape)
    r = (observed + p) / (count + 1)
    apart = of_cells.observed.value - sums.mass * r.ravel()[sums.bins]
    seen = np.asarray(np.bincount(sums.bins, apart**2, count.size).reshape(count.shape), np.float64)
    variance = square * r * (1 - r)
    n_units = int(sums.units.max(initial=-1)) + 1
    place = sums.bins // count.shape[1] * n_units + sums.units
    of_units = np.bincount(place, apart, len(count) * n_units).reshape(len(count), n_units)
    together = np.maximum(seen.sum(axis=1), (of_units**2).sum(axis=1))
    return np.maximum(_ratio(seen, variance), _pooled_ratio(together, variance.sum(axis=1))[:, None])


def _safe_variance(of_units: FloatArray) -> FloatArray:
    """Σ_k S_k² of each line, times d/(d - 2), which is the variance of Student's distribution with d degrees.

    d = 2(Σ S²)²/Σ S⁴, at least 4, is Satterthwaite's number for the sum of squares: a few clusters, or a few that have
    most of the variance, estimate it badly.
    """
    square = of_units**2
    total, fourth = square.sum(axis=1), (square**2).sum(axis=1)
    degrees = np.maximum(np.divide(2 * total**2, fourth, out=np.full_like(total, 4.0), where=fourth > 0), 4.0)
    return np.asarray(total * degrees / (degrees - 2))


def _distances(p: FloatArray, variance: FloatArray) -> FloatArray:
    """d of `SpreadTest` in these bins: log-odds less their mean weighted by the variance, (K, G)."""
    x, total = log_odds(p), variance.sum(axis=1, keepdims=True)
    centre = np.divide(
        (variance * x).sum(axis=1, keepdims=True), total, out=np.zeros_like(total), where=total > 0
    )
    return np.asarray(x - centre)


def _ratio(seen: FloatArray, independent: FloatArray) -> FloatArray:
    """The ratio of variances, at least 1; 1 where rows have no variance."""
    ratio = np.divide(seen, independent, out=np.ones_like(seen), where=independent > 1e-12)
    return np.maximum(ratio, 1.0)


def _pooled_ratio(seen: FloatArray, independent: FloatArray) -> FloatArray:
    """The ratio of variances of each event, at least that of all events together.

    An event that is observed in few clusters, or in none, has too little noise in its own sums.
    """
    together = _ratio(seen.sum(keepdims=True), independent.sum(keepdims=True))
    return np.maximum(_ratio(seen, independent), together)

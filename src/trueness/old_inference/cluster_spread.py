"""How much clusters differ in their net gap: the variance of a random effect, and the clusters that are furthest off.

The metrics of a single cluster are mostly noise: with few rows its VCE or ECE is far above 0 whatever the model does.
Its net gap is a mean, and so is compared with others after its noise is taken off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.old_inference.chi_square import chi_square_tail
from trueness.old_inference.normal import normal_quantile
from trueness.old_inference.null import NullBins
from trueness.old_inference.results import Interval
from trueness.old_table import AnyRankTable, CalibrationTable, option_tables
from trueness.old_table.cluster_sums import CellSums, ClusterSums
from trueness.old_table.clusters import ClusterTables

STEP = 1e-4
"""Of the directional derivative of 𝒱, towards a single rank."""

DEALT = "the clusters are too many to be kept apart"


@dataclass(frozen=True, slots=True)
class ClusterGap:
    """The net gap of one cluster, to first order, and an estimate in which its noise is reduced."""

    name: str
    n_rows: int
    gap: float
    """Σ over its rows of the influence of the observed rank, by row; above 0 over-confident."""
    shrunk: float
    """The best linear prediction: between the gap and the mean over clusters, the nearer to the mean the noisier."""
    interval: Interval
    """Of the expected gap of this cluster."""


@dataclass(frozen=True, slots=True)
class ClusterSpread:
    """The spread of the net gap between clusters; NaN with the reason if it cannot be computed."""

    mean: float
    """The mean over clusters."""
    sd: float
    """The standard deviation of the expected gap between clusters, without the noise of their rows."""
    p_value: float
    """Of Cochran's Q: that all clusters have the same gap and rows are independent."""
    clusters: tuple[ClusterGap, ...]
    """All clusters, the one furthest from 0 first."""
    reason: str | None = None


def cluster_spread(table: AnyRankTable, clusters: ClusterTables, level: float) -> ClusterSpread:
    """The spread of the net gap between clusters, from their sums in the bins of the table.

    The variance between clusters is that of DerSimonian and Laird (1986): the excess of Cochran's Q over its mean.
    """
    names = clusters.clusters.names
    if names is None:
        return ClusterSpread(math.nan, math.nan, math.nan, (), DEALT)
    gap, variance, rows = _gaps(table, clusters)
    if not np.any(variance > 0):
        return ClusterSpread(math.nan, math.nan, math.nan, (), "every prediction is certain or uniform")
    variance = np.maximum(variance, variance[variance > 0].min())
    precision = 1 / variance
    mean = float(precision @ gap / precision.sum())
    q = float(precision @ (gap - mean) ** 2)
    scale = float(precision.sum() - (precision**2).sum() / precision.sum())
    between = max(0.0, (q - (len(gap) - 1)) / scale) if scale > 0 else 0.0
    centre = float((gap / (between + variance)).sum() / (1 / (between + variance)).sum())
    share = between / (between + variance)
    shrunk, sd = centre + share * (gap - centre), np.sqrt(share * variance)
    reach = normal_quantile(level) * sd
    largest = max(own.spec.variation.largest_gap_for(own.spec.n_cells) for own in option_tables(table))
    found = [
        ClusterGap(
            names[k],
            int(rows[k]),
            float(gap[k]),
            float(shrunk[k]),
            Interval.around(float(shrunk[k]), float(reach[k]), (-largest, largest), level, "normal"),
        )
        for k in np.argsort(-np.abs(shrunk), kind="stable").tolist()
    ]
    p_value = chi_square_tail(q, len(gap) - 1) if len(gap) > 1 else math.nan
    return ClusterSpread(centre, math.sqrt(between), p_value, tuple(found))


def _gaps(table: AnyRankTable, clusters: ClusterTables) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The net gap of each cluster to first order, its variance if rows are independent, and its rows.

    The variance is that of rows as they were observed, Σ_m n_km·(σ_m² + (μ_m - μ)²) with the mean μ_m and variance σ_m²
    of the influence in bin m and the mean μ of all rows. That of a calibrated model would be too small for one that is
    over-confident: clusters of independent rows would seem to differ.
    """
    totals = np.zeros((5, clusters.clusters.n_units))
    for own, sums in zip(option_tables(table), clusters.of_tables, strict=False):
        totals += _unit_sums(own, sums, totals.shape[1])
    mass, total, expected, square, rows = totals
    mean = expected.sum() / mass.sum()
    variance = square - 2 * mean * expected + mean**2 * mass
    return np.asarray(total / mass), np.asarray(variance / mass**2), rows


def _unit_sums(table: CalibrationTable, sums: ClusterSums, n_units: int) -> FloatArray:
    """The weight of each unit, its summed influence, the sums of μ_m and of σ_m² + μ_m², and its rows, (5, units)."""
    of_cells = sums.sums
    assert isinstance(of_cells, CellSums)
    bins = NullBins.of(table)
    place = np.zeros(table.n_bins, np.int64)
    place[bins.index] = np.arange(len(bins.index))
    at, influence = place[sums.bins], _influence(bins)
    apart = of_cells.rank.value - of_cells.ordered.value
    expected, square = _moments(bins, influence)

    def of_units(values: FloatArray | IntArray) -> FloatArray:
        return np.asarray(np.bincount(sums.units, values, n_units), np.float64)

    return np.array(
        [
            of_units(sums.mass),
            of_units((apart * influence[at]).sum(axis=1)),
            of_units(sums.mass * expected[at]),
            of_units(sums.mass * square[at]),
            of_units(of_cells.rows),
        ]
    )


def _moments(bins: NullBins, influence: FloatArray) -> tuple[FloatArray, FloatArray]:
    """μ_m and σ_m² + μ_m² of a row of each bin, with r = (n·r̄ + q̄)/(n + 1) in place of the few ranks of a bin."""
    n, q = bins.count[:, None], bins.predicted
    r = (n * bins.observed + q) / (n + 1)
    mean = (influence * (r - q)).sum(axis=1)
    variance = (r * influence**2).sum(axis=1) - (r * influence).sum(axis=1) ** 2
    return np.asarray(mean), np.asarray(np.maximum(variance, 0.0) + mean**2)


def _influence(bins: NullBins) -> FloatArray:
    """The derivative of 𝒱 at q̄ of each bin in the direction of each rank, positive if over-confident, (F, C)."""
    here = bins.variation.of(bins.predicted)
    found = np.empty(bins.predicted.shape)
    for c in range(bins.n_classes):
        moved = bins.predicted * (1 - STEP)
        moved[:, c] += STEP
        found[:, c] = (bins.variation.of(moved) - here) / STEP
    return np.asarray(bins.sign * found)

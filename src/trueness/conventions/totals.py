"""From the bins of all rows to one number, in the arithmetic of a library."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray
from trueness.conventions.assignments import DROPPED, Assignment
from trueness.conventions.readings import Reading


class Curve(NamedTuple):
    """The bins with rows: the mean number, the frequency of the event and the number of rows of each."""

    predicted: FloatArray
    observed: FloatArray
    n_rows: NDArray[np.intp]


def curve_of(reading: Reading, index: NDArray[np.intp], n_bins: int) -> Curve:
    """Sums in float64 in the order of the rows, divided by the counts; rows in no bin are left out."""
    kept = index != DROPPED
    index, predicted, observed = index[kept], reading.predicted[kept], reading.observed[kept]
    count = np.bincount(index, minlength=n_bins)
    filled = count > 0
    sums = [np.bincount(index, weights=part, minlength=n_bins)[filled] for part in (predicted, observed)]
    return Curve(sums[0] / count[filled], sums[1] / count[filled], count[filled])


def error_of(reading: Reading, index: NDArray[np.intp], n_bins: int, norm: str) -> float:
    """Σ n_m/N·|ȳ_m - p̄_m| in float64, or its L2 or largest form; N counts the rows in no bin, too."""
    curve = curve_of(reading, index, n_bins)
    return _norm(np.abs(curve.observed - curve.predicted), curve.n_rows / reading.n_rows, norm)


def in_float64(reading: Reading, assigned: Assignment, norm: str) -> float:
    """The error in float64."""
    return error_of(reading, assigned.index, assigned.n_bins, norm)


def means_at_rounded_edges(reading: Reading, assigned: Assignment, norm: str) -> float:
    """Counts in the bins of float64 edges, means in those of edges in the dtype of the rows (netcal).

    They differ for float32 rows on an edge. A bin without rows for its mean has gap 0.
    """
    n_bins = assigned.n_bins
    edges = np.linspace(0.0, 1.0, n_bins + 1).astype(reading.predicted.dtype)
    index = np.searchsorted(edges[1:-1], reading.predicted, side="right")
    count = np.bincount(index, minlength=n_bins)
    sums = [np.bincount(index, part, n_bins) for part in (reading.observed, reading.predicted)]
    gaps = np.abs(sums[0] - sums[1]) / np.maximum(count, 1)
    weights = np.bincount(assigned.index, minlength=n_bins) / reading.n_rows
    return _norm(np.where(weights > 0, gaps, 0.0), weights, norm)


def in_own_dtype(reading: Reading, assigned: Assignment, norm: str) -> float:
    """Sums and quotients in the dtype of the rows, one addition after the other, as torch's scatter_add_."""
    dtype = reading.predicted.dtype.type
    count, predicted, observed = (np.zeros(assigned.n_bins, dtype) for _ in range(3))
    np.add.at(count, assigned.index, dtype(1))
    np.add.at(predicted, assigned.index, reading.predicted)
    np.add.at(observed, assigned.index, reading.observed.astype(dtype))
    some = np.where(count > 0, count, dtype(1))
    return float(_norm(np.abs(observed / some - predicted / some), count / count.sum(), norm))


def rounded_to_float32(reading: Reading, assigned: Assignment, norm: str) -> float:
    """The same, and the result in float32."""
    return float(np.float32(in_own_dtype(reading, assigned, norm)))


def bin_means_in_own_dtype(reading: Reading, assigned: Assignment, _: str) -> float:
    """Means of the bins in the dtype of the rows, frequencies and shares in float32, added bin by bin."""
    total = np.float32(0)
    for index in range(assigned.n_bins):
        inside = assigned.index == index
        if inside.any():
            error = reading.observed[inside].mean(dtype=np.float32)
            gap = np.abs(reading.predicted[inside].mean() - error)
            total = np.float32(total + gap * np.float32(inside.mean(dtype=np.float32)))
    return float(total)


def mean_over_top_labels(reading: Reading, assigned: Assignment, norm: str) -> float:
    """The error of the rows of each predicted class, averaged over these classes, each with the same weight."""
    errors = []
    for label in np.unique(reading.top):
        chosen = reading.top == label
        part = Reading(
            reading.predicted[chosen],
            reading.observed[chosen],
            reading.top[chosen],
            reading.seen,
            reading.event,
        )
        errors.append(error_of(part, assigned.index[chosen], assigned.n_bins, norm))
    return float(np.mean(errors))


def _norm(gaps: NDArray[Any], weights: NDArray[Any], norm: str) -> float:
    if norm == "max":
        return float(gaps.max(initial=0.0))
    if norm == "l2":
        return float(np.sqrt(np.sum(gaps**2 * weights)))
    return float(np.sum(gaps * weights))

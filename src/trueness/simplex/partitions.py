"""The calibration error over cells of the simplex: `simplex_ece`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from trueness._arguments import require_choice, whole_number
from trueness._arrays import FloatArray, IntArray
from trueness.simplex.rows_as_arrays import SimplexRows

SPLITS = ("median-variance",)

MOST_BINS = 10_000
"""Cells of a coordinate."""

_COLUMN_VALUES = 2**22
"""Residuals that are sorted by cell at a time, 32 megabytes."""

Partition: TypeAlias = Callable[[FloatArray], IntArray]
"""From predictions, (N, C), to the number of the cell of each row, (N,)."""


def simplex_ece(
    y_true: Any,
    y_prob: Any,
    bins: int = 10,
    *,
    splits: str | None = None,
    least: int = 100,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
) -> float:
    """Σ_k n_k/N · TV(mean p, label frequencies) over cells k of the simplex; for comparison with papers.

    From 0 to 1. Not 0 for a calibrated model: from five classes on, nearly every row has a cell of its own, and the
    value is then the mean of 1 - p_y. `simplex_ece_test` gives its noise floor and p-value. Rows and labels are as in
    `tabulate`.

    Parameters
    ----------
    bins : int
        Cells of equal width in every coordinate: the cell of p is ⌈bins·p⌉, p = 0 is in the first.
    splits : None or "median-variance"
        With "median-variance", cells are fitted to the predictions instead: a part of the rows is split at the median
        of the coordinate whose variance is largest, values below it to one side, the others to the other.
    least : int
        Rows that a part must keep: a split that leaves fewer on one side is not made.

    References
    ----------
    Vaicenavicius et al. (2019), Evaluating model calibration in classification; Widmann et al. (2019), Calibration
    tests in multi-class classification.

    Examples
    --------
    >>> simplex_ece([0, 0, 1, 1], [[0.6, 0.4], [0.6, 0.4], [0.6, 0.4], [0.1, 0.9]], bins=2).__round__(6)
    0.075
    """
    partition = partition_for(bins, splits, least)
    rows = SimplexRows.of(y_true, y_prob, from_logits=from_logits, normalize=normalize, classes=classes)
    return partition_error(rows, partition)


def partition_for(bins: Any, splits: Any, least: Any) -> Partition:
    """The partition that the arguments of `simplex_ece` name."""
    if splits is None:
        n_bins = whole_number("bins", bins, 1, MOST_BINS)
        return lambda predictions: cells_of_equal_width(predictions, n_bins)
    require_choice("splits", splits, SPLITS)
    least_rows = whole_number("least", least, 1)
    return lambda predictions: median_variance_parts(predictions, least_rows)


def partition_error(rows: SimplexRows, partition: Partition) -> float:
    """½·Σ_k Σ_c |Σ_{rows of k}(e_y - p)_c|/N, some columns at a time."""
    cell = partition(rows.predictions)
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    residuals, step = rows.residuals, max(1, _COLUMN_VALUES // len(cell))
    total = 0.0
    for first in range(0, residuals.shape[1], step):
        part = residuals[order, first : first + step]
        total += float(np.abs(np.add.reduceat(part, starts, axis=0)).sum())
    return total / (2 * len(cell))


def cells_of_equal_width(predictions: FloatArray, n_bins: int) -> IntArray:
    """The cell of each row, numbered from 0: rows whose ⌈M·p⌉ are equal in every coordinate share one.

    >>> cells_of_equal_width(np.array([[0.0, 1.0], [0.5, 0.5], [0.4, 0.6]]), 2).tolist()
    [1, 0, 1]
    """
    dtype = np.uint8 if n_bins < 2**8 else np.uint16
    index = np.empty(predictions.shape, dtype)
    for coordinate, of_rows in zip(index.T, predictions.T, strict=True):
        coordinate[:] = np.clip(np.ceil(n_bins * of_rows), 1, n_bins) - 1
    width = index.dtype.itemsize * predictions.shape[1]
    lines = index.view(f"V{width}").ravel()
    return np.unique(lines, return_inverse=True)[1].astype(np.int64).ravel()


def median_variance_parts(predictions: FloatArray, least: int) -> IntArray:
    """The part of each row, numbered from 0.

    Published as "take the part of largest variance first"; as the number of parts is not limited and each part is split
    by its own rows alone, the order makes no difference.
    """
    part_of = np.zeros(len(predictions), np.int64)
    waiting, n_parts = [np.arange(len(predictions))], 0
    while waiting:
        members = waiting.pop()
        halves = _split_at_median(predictions, members, least)
        if halves is None:
            part_of[members] = n_parts
            n_parts += 1
        else:
            waiting.extend(halves)
    return part_of


def _split_at_median(
    predictions: FloatArray, members: IntArray, least: int
) -> tuple[IntArray, IntArray] | None:
    """The rows below the median of the coordinate of largest variance, and the others; None if either are too few."""
    if len(members) < 2 * least:
        return None
    values = predictions[members]
    along = values[:, int(np.argmax(values.var(axis=0, ddof=1)))]
    below = along < np.median(along)
    n_below = int(np.count_nonzero(below))
    if min(n_below, len(members) - n_below) < least:
        return None
    return members[below], members[~below]

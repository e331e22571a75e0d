"""Rows that list the k largest probabilities of many classes, with the place of the true class in the list."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arguments import whole_number
from trueness._arrays import FloatArray
from trueness._row_arithmetic import UNIT, units
from trueness.refusals import InvalidTypeError, InvalidValueError, Refusal
from trueness.rows._rows import Rows, sum_tolerance
from trueness.rows.containers import Contents, contents_of
from trueness.rows.labels import Labels
from trueness.rows.validation import weights_of

CAP_TOLERANCE = 1e-6
"""By how much of itself the missing mass may exceed what the classes beyond the list can have."""


def rows_of_lists(rank: Any, prob: Any, n_classes: int | None, sample_weight: Any = None) -> Rows:
    """Rows of k + 1 cells, of which the last is the mass beyond the list; the label is the cell of the true class.

    `rank` counts from 0, and k means that the true class is not in the list. Bad rows are refused.
    """
    given, place = contents_of(prob, "prob"), contents_of(rank, "rank").flat
    listed = _listed(given)
    n_rows, k = listed.shape
    if n_classes is not None:
        n_classes = whole_number("n_classes", n_classes, k + 1)
    labels = _places(place, n_rows, k)
    tolerance = sum_tolerance(k, given.eps)
    _require_probabilities(listed)
    cells = with_missing_mass(listed)
    _require_possible(cells, listed, n_classes, tolerance)
    weight = None
    if sample_weight is not None:
        weight = weights_of(contents_of(sample_weight, "sample_weight"), n_rows)
    contents = Contents(cells, eps=given.eps, index=given.index)
    return Rows(contents, n_rows, k + 1, False, False, Labels(labels, k + 1), weight, index=given.index)


def with_missing_mass(listed: FloatArray) -> FloatArray:
    """The lists with m = max(0, 1 - Σq) as one more column, exact in units of 2⁻⁵², (rows, k + 1)."""
    cells = np.empty((len(listed), listed.shape[1] + 1))
    cells[:, :-1] = listed
    cells[:, -1] = np.maximum(UNIT - units(listed).sum(axis=1), 0) * 2.0**-52
    return cells


def _listed(given: Contents) -> FloatArray:
    """The lists as float64, (rows, k)."""
    data = given.data if given.columns is None else np.stack(given.columns, axis=1)
    if data is None or data.ndim != 2 or data.shape[1] < 1:
        raise InvalidValueError(
            "wrong-shape",
            "prob has shape {shape}",
            "pass the k largest probabilities of each row, (rows, k)",
            argument="prob",
            shape=given.shape,
        )
    if data.dtype.kind not in "fiu" and data.dtype.name != "bfloat16":
        raise InvalidTypeError(
            "wrong-type",
            "prob has dtype {dtype}",
            "probabilities are real numbers",
            argument="prob",
            dtype=data.dtype,
        )
    if not len(data):
        raise InvalidValueError("no-rows", "prob has no rows", argument="prob")
    return np.ascontiguousarray(data, dtype=np.float64)


def _places(given: Contents, n_rows: int, k: int) -> NDArray[np.int64]:
    """The place of the true class in each list, from 0; k if it is not listed."""
    data = given.data
    if data is None or data.shape != (n_rows,) or data.dtype.kind not in "fiu":
        raise InvalidValueError(
            "wrong-shape",
            "rank has shape {shape}",
            "pass one number for each of {n_rows} rows: the place of the true class in its list, from 0, or {k} if it "
            "is not listed",
            argument="rank",
            shape=given.shape,
            n_rows=n_rows,
            k=k,
        )
    with np.errstate(invalid="ignore"):
        good = (data >= 0) & (data <= k) & (data == np.floor(data))
    if not good.all():
        row = int(np.argmin(good))
        raise InvalidValueError(
            "label-out-of-range",
            "rank is {value}{place}",
            "places in a list of {k} run from 0 to {last}, and {k} means that the true class is not listed",
            argument="rank",
            row=row,
            value=data[row].item(),
            k=k,
            last=k - 1,
        )
    return data.astype(np.int64)


def _require_probabilities(listed: FloatArray) -> None:
    """Refuse values that are not from 0 to 1, and lists that are not in order."""
    with np.errstate(invalid="ignore"):
        inside = (listed >= 0) & (listed <= 1)
    if not inside.all():
        row, at = divmod(int(np.argmin(inside)), listed.shape[1])
        raise InvalidValueError(
            "not-finite" if not np.isfinite(listed[row, at]) else "outside-range",
            "prob is {value}{place}",
            "probabilities are finite numbers from 0 to 1; of log-probabilities pass np.exp",
            argument="prob",
            row=row,
            class_index=at,
            value=float(listed[row, at]),
        )
    rises = np.diff(listed, axis=1) > 0
    if rises.any():
        row, at = divmod(int(np.argmax(rises)), rises.shape[1])
        raise InvalidValueError(
            "not-sorted",
            "prob rises from {before:.6g} to {value:.6g}{place}",
            "sort each list by probability, the largest first, and give the place of the true class in that order",
            argument="prob",
            row=row,
            class_index=at + 1,
            before=float(listed[row, at]),
            value=float(listed[row, at + 1]),
        )


def _require_possible(cells: FloatArray, listed: FloatArray, n_classes: int | None, tolerance: float) -> None:
    """Refuse lists of a sum above 1, and lists that cannot be the largest of so many classes.

    A list that ends in 0 is complete: what it lacks of 1 within the tolerance is set to 0 in `cells`.
    """
    total = listed.sum(axis=1)
    above = total > 1 + tolerance
    if above.any():
        row = int(np.argmax(above))
        raise InvalidValueError(
            "sum-not-1",
            "prob sums to {value:.9g}{place}, which is above 1",
            "the k largest probabilities of a row sum to at most 1",
            argument="prob",
            row=row,
            value=float(total[row]),
        )
    # What a complete list lacks by rounding alone, as float32 does, is not beyond it.
    complete = (listed[:, -1] == 0) & (cells[:, -1] <= tolerance)
    cells[complete, -1] = 0.0
    others = math.inf if n_classes is None else n_classes - listed.shape[1]
    most = np.where(listed[:, -1] > 0, others, 0) * listed[:, -1] * (1 + CAP_TOLERANCE)
    impossible = cells[:, -1] > most
    if impossible.any():
        row = int(np.argmax(impossible))
        smallest, missing = float(listed[row, -1]), float(cells[row, -1])
        raise impossible_list(row, listed.shape[1], smallest, missing, others)


def impossible_list(row: int, k: int, smallest: float, missing: float, others: float) -> Refusal:
    """The refusal of a list that lacks more mass than the classes beyond it can have."""
    return InvalidValueError(
        "impossible-list",
        "row {row} lists {k} tokens down to {smallest:.4g} and lacks {missing:.4g} of its mass, more than {others} "
        "others of at most {smallest:.4g} could have",
        "check that the list is sorted by probability, and {vocabulary}",
        argument="prob",
        row=row,
        k=k,
        smallest=smallest,
        missing=missing,
        value=missing,
        others="any" if math.isinf(others) else int(others),
    )

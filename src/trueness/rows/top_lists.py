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
from trueness.rows._rows import BLOCK_VALUES, Rows, sum_tolerance
from trueness.rows.containers import Contents, contents_of
from trueness.rows.labels import Labels, whole_numbers
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
    missing = np.empty(n_rows)
    step = max(1, BLOCK_VALUES // (k + 1))
    for start in range(0, n_rows, step):  # block by block, which stay in the cache
        block = listed[start : start + step].astype(np.float64, copy=False)
        missing[start : start + step] = missing_mass(block, n_classes, tolerance, start)
    weight = None
    if sample_weight is not None:
        weight = weights_of(contents_of(sample_weight, "sample_weight"), n_rows)
    # Columns, so that a long array is not copied for the sake of one more.
    contents = Contents(None, (*listed.T, missing), eps=given.eps, index=given.index)
    return Rows(contents, n_rows, k + 1, False, False, Labels(labels, k + 1), weight, index=given.index)


def missing_mass(listed: FloatArray, n_classes: int | None, tolerance: float, start: int) -> FloatArray:
    """m = max(0, 1 - Σq) of each list, exact in units of 2⁻⁵², (rows,); bad rows are refused, counted from `start`.

    A list that ends in 0 is complete: what it lacks of 1 within the tolerance is 0.
    """
    _require_probabilities(listed, start)
    missing: FloatArray = np.maximum(UNIT - units(listed).sum(axis=1), 0) * 2.0**-52
    # What a complete list lacks by rounding alone, as float32 does, is not beyond it.
    missing[(listed[:, -1] == 0) & (missing <= tolerance)] = 0.0
    _require_possible(listed, missing, n_classes, tolerance, start)
    return missing


def _listed(given: Contents) -> NDArray[Any]:
    """The lists as numbers, (rows, k)."""
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
    return data


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
    remedy = f"places in a list of {k} run from 0 to {k - 1}, and {k} means that the true class is not listed"
    return whole_numbers("rank", data, k, remedy)


def _require_probabilities(listed: FloatArray, start: int) -> None:
    """Refuse values that are not from 0 to 1, and lists that are not in order."""
    downwards = bool((listed[:, 1:] <= listed[:, :-1]).all())
    if downwards and bool((listed[:, 0] <= 1).all()) and bool((listed[:, -1] >= 0).all()):
        return
    with np.errstate(invalid="ignore"):
        inside = (listed >= 0) & (listed <= 1)
    if not inside.all():
        row, at = divmod(int(np.argmin(inside)), listed.shape[1])
        raise InvalidValueError(
            "not-finite" if not np.isfinite(listed[row, at]) else "outside-range",
            "prob is {value}{place}",
            "probabilities are finite numbers from 0 to 1; of log-probabilities pass np.exp",
            argument="prob",
            row=start + row,
            class_index=at,
            value=float(listed[row, at]),
        )
    rises = np.diff(listed, axis=1) > 0
    row, at = divmod(int(np.argmax(rises)), rises.shape[1])
    raise InvalidValueError(
        "not-sorted",
        "prob rises from {before:.6g} to {value:.6g}{place}",
        "sort each list by probability, the largest first, and give the place of the true class in that order",
        argument="prob",
        row=start + row,
        class_index=at + 1,
        before=float(listed[row, at]),
        value=float(listed[row, at + 1]),
    )


def _require_possible(
    listed: FloatArray, missing: FloatArray, n_classes: int | None, tolerance: float, start: int
) -> None:
    """Refuse lists of a sum above 1, and lists that cannot be the largest of so many classes."""
    total = listed.sum(axis=1)
    above = total > 1 + tolerance
    if above.any():
        row = int(np.argmax(above))
        raise InvalidValueError(
            "sum-not-1",
            "prob sums to {value:.9g}{place}, which is above 1",
            "the k largest probabilities of a row sum to at most 1",
            argument="prob",
            row=start + row,
            value=float(total[row]),
        )
    others = math.inf if n_classes is None else n_classes - listed.shape[1]
    most = np.where(listed[:, -1] > 0, others, 0) * listed[:, -1] * (1 + CAP_TOLERANCE)
    impossible = missing > most
    if impossible.any():
        row = int(np.argmax(impossible))
        smallest, lacking = float(listed[row, -1]), float(missing[row])
        raise impossible_list(start + row, listed.shape[1], smallest, lacking, others)


def impossible_list(row: int, k: int, smallest: float, missing: float, others: float) -> Refusal:
    """The refusal of a list that lacks more mass than the classes beyond it can have."""
    return InvalidValueError(
        "impossible-list",
        "the list{place} has {k} tokens down to {smallest:.4g} and lacks {missing:.4g} of its mass, more than {others} "
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

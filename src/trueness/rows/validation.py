"""Shapes, dtypes and weights that fit together, or a refusal that names the argument."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray
from trueness.refusals import InvalidTypeError, InvalidValueError, Refusal
from trueness.rows.containers import Contents, column_name, is_bfloat16, refuse_none

LEAST_WEIGHT, LARGEST_WEIGHT = 1e-140, 1e140
"""Squares of weights are summed, over perhaps 1e12 rows, and must neither overflow nor vanish."""


def shape_of(y_prob: Contents) -> tuple[int, int]:
    """The number of rows and of classes of predictions that are numbers."""
    if y_prob.data is not None:
        _require_numbers(y_prob.data, "y_prob")
    for place, column in enumerate(y_prob.columns or ()):
        _require_numbers(
            column, "y_prob" if y_prob.names is None else column_name(y_prob.names[place], "y_prob")
        )
    shape = y_prob.shape
    if len(shape) not in (1, 2):
        raise InvalidValueError(
            "wrong-shape",
            "{y_prob} has shape {shape}",
            "pass (rows, classes), or (rows,) for the probability of class 1",
            argument="y_prob",
            shape=shape,
        )
    if shape[0] == 0:
        if y_prob.n_ignored:
            raise all_rows_ignored(y_prob.n_ignored)
        raise InvalidValueError("no-rows", "{y_prob} has no rows", argument="y_prob")
    if len(shape) == 1:
        return shape[0], 2
    if shape[1] < 1:
        raise InvalidValueError(
            "wrong-shape",
            "{y_prob} has shape {shape}",
            "at least one column is needed",
            argument="y_prob",
            shape=shape,
        )
    return shape[0], shape[1]


def all_rows_ignored(n_rows: int) -> InvalidValueError:
    """The refusal of rows of which none is left."""
    return InvalidValueError(
        "no-rows",
        "the only row has the label of {ignore_index}"
        if n_rows == 1
        else "all {n_rows} rows have the label of {ignore_index}",
        "check the labels",
        argument="ignore_index",
        n_rows=n_rows,
    )


def _require_numbers(array: NDArray[Any], argument: str) -> None:
    if array.dtype.kind in "fiub" or is_bfloat16(array.dtype):
        return
    if array.dtype.kind != "O":
        raise InvalidTypeError(
            "wrong-type",
            "{argument} has dtype {dtype}",
            "probabilities are real numbers",
            argument=argument,
            dtype=array.dtype,
        )
    refuse_none(array, argument)
    raise InvalidTypeError(
        "wrong-type",
        "{argument} is an object array",
        "convert it to floats first, for example np.stack(y_prob)",
        argument=argument,
    )


def weights_of(contents: Contents, n_rows: int) -> FloatArray:
    """One usable weight for each row, of which at least one is above 0."""
    if contents.data is None or contents.shape != (n_rows,):
        raise InvalidValueError(
            "wrong-shape",
            "{sample_weight} has shape {shape}",
            "one weight for each of {n_rows} rows is needed",
            argument="sample_weight",
            shape=contents.shape,
            n_rows=n_rows,
        )
    if contents.data.dtype.kind not in "fiub":
        raise InvalidTypeError(
            "wrong-type",
            "{sample_weight} has dtype {dtype}",
            "weights are real numbers",
            argument="sample_weight",
            dtype=contents.data.dtype,
        )
    weight = np.ascontiguousarray(contents.data, dtype=np.float64)
    usable = usable_weights(weight)
    if not usable.all():
        raise weight_refusal(weight, int(np.argmin(usable)))
    if not weight.any():
        raise InvalidValueError("no-weight", "{sample_weight} is 0 in every row", argument="sample_weight")
    return weight


def usable_weights(weight: FloatArray) -> NDArray[np.bool_]:
    """For each weight whether it is 0, or finite, positive and of a size whose square can be summed."""
    return np.asarray((weight == 0) | ((weight >= LEAST_WEIGHT) & (weight <= LARGEST_WEIGHT)))


def weight_refusal(weight: FloatArray, row: int) -> Refusal:
    """The refusal of a weight that is not usable."""
    return InvalidValueError(
        "bad-weight",
        "{sample_weight} is {value}{place}",
        "weights are finite and non-negative (0, or 1e-140 to 1e140)",
        argument="sample_weight",
        row=row,
        value=float(weight[row]),
    )


def refuse_swapped(y_true: Contents, y_prob: Contents) -> None:
    """Refuse predictions passed as labels together with labels passed as predictions."""
    truth = y_true.head(1000)
    if truth.dtype.kind != "f":
        return
    with np.errstate(invalid="ignore"):
        if not np.any(truth % 1.0 > 0):
            return
        predictions = y_prob.head(1000)
        labels = predictions.dtype.kind in "iubUSO" or not np.any(predictions % 1.0 > 0)
    if labels and (predictions.ndim == 1 or truth.ndim == 2):
        raise InvalidValueError(
            "swapped-arguments",
            "{y_true} (shape {truth}) looks like predictions and {y_prob} (shape {predictions}) like labels",
            "the order is (y_true, y_prob)",
            argument="y_true",
            truth=y_true.shape,
            predictions=y_prob.shape,
        )

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
        cause = f"`y_prob` has shape {shape}"
        remedy = "pass (rows, classes), or (rows,) for the probability of class 1"
        raise InvalidValueError("wrong-shape", cause, remedy, argument="y_prob")
    if shape[0] == 0:
        if y_prob.n_ignored:
            raise all_rows_ignored(y_prob.n_ignored)
        raise InvalidValueError("no-rows", "`y_prob` has no rows", argument="y_prob")
    if len(shape) == 1:
        return shape[0], 2
    if shape[1] < 1:
        cause = f"`y_prob` has shape {shape}"
        remedy = "at least one column is needed"
        raise InvalidValueError("wrong-shape", cause, remedy, argument="y_prob")
    return shape[0], shape[1]


def all_rows_ignored(n_rows: int) -> InvalidValueError:
    """The refusal of rows of which none is left."""
    cause = (
        "the only row has the label of `ignore_index`"
        if n_rows == 1
        else f"all {n_rows} rows have the label of `ignore_index`"
    )
    return InvalidValueError("no-rows", cause, "check the labels", argument="ignore_index")


def _require_numbers(array: NDArray[Any], argument: str) -> None:
    if array.dtype.kind in "fiub" or is_bfloat16(array.dtype):
        return
    if array.dtype.kind != "O":
        cause = f"`{argument}` has dtype {array.dtype}"
        remedy = "probabilities are real numbers"
        raise InvalidTypeError("wrong-type", cause, remedy, argument=argument)
    refuse_none(array, argument)
    cause = f"`{argument}` is an object array"
    remedy = "convert it to floats first, for example np.stack(y_prob)"
    raise InvalidTypeError("wrong-type", cause, remedy, argument=argument)


def weights_of(contents: Contents, n_rows: int) -> FloatArray:
    """One usable weight for each row, of which at least one is above 0."""
    if contents.data is None or contents.shape != (n_rows,):
        cause = f"`sample_weight` has shape {contents.shape}"
        remedy = f"one weight for each of {n_rows} rows is needed"
        raise InvalidValueError("wrong-shape", cause, remedy, argument="sample_weight")
    if contents.data.dtype.kind not in "fiub":
        cause = f"`sample_weight` has dtype {contents.data.dtype}"
        remedy = "weights are real numbers"
        raise InvalidTypeError("wrong-type", cause, remedy, argument="sample_weight")
    weight = np.ascontiguousarray(contents.data, dtype=np.float64)
    usable = usable_weights(weight)
    if not usable.all():
        raise weight_refusal(weight, int(np.argmin(usable)))
    if not weight.any():
        cause = "`sample_weight` is 0 in every row"
        raise InvalidValueError("no-weight", cause, argument="sample_weight")
    return weight


def usable_weights(weight: FloatArray) -> NDArray[np.bool_]:
    """For each weight whether it is 0, or finite, positive and of a size whose square can be summed."""
    return np.asarray((weight == 0) | ((weight >= LEAST_WEIGHT) & (weight <= LARGEST_WEIGHT)))


def weight_refusal(weight: FloatArray, row: int) -> Refusal:
    """The refusal of a weight that is not usable."""
    cause = f"`sample_weight` is {float(weight[row])} in row {row}"
    remedy = "weights are finite and non-negative (0, or 1e-140 to 1e140)"
    return InvalidValueError(
        "bad-weight", cause, remedy, argument="sample_weight", row=row, value=float(weight[row])
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
        cause = (
            f"`y_true` (shape {y_true.shape}) looks like predictions and `y_prob` (shape "
            f"{y_prob.shape}) like labels"
        )
        remedy = "the order is (y_true, y_prob)"
        raise InvalidValueError("swapped-arguments", cause, remedy, argument="y_true")

"""Rows of predictions, with labels and weights: built from what a user passed, and read block by block.

Shapes, dtypes and weights are checked when rows are built; the values of predictions and labels while a block is in the
processor's cache, where checking them costs almost nothing (`trueness.rows.row_checks`). The caller's array is never
copied whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arguments import boolean
from trueness._arrays import FloatArray, column_sums
from trueness._row_arithmetic import UNIT, exp
from trueness._scratch import Scratch
from trueness.refusals import InvalidValueError
from trueness.rows.class_columns import Columns, names_of_classes
from trueness.rows.containers import Contents, contents_of, refuse_other_index
from trueness.rows.frame_columns import order_predictions, order_truth
from trueness.rows.labels import Labels, are_names, class_names, labels_of, require_names, soft_labels_of
from trueness.rows.validation import refuse_swapped, shape_of, weights_of

BLOCK_VALUES = 2**17
"""Values in a block (a megabyte): enough for long lines with many classes, and few enough for the cache."""

MAX_BLOCK_ROWS = 4095
"""A sum of so many probabilities, in units of 2⁻⁵², fits in 64 bits."""

SUM_TOLERANCE = 1e-5
"""How far a row's sum may be from 1, apart from rounding; wider if the dtype that it came in is coarser."""

_EPS = float(np.finfo(np.float64).eps)


def sum_tolerance(n_classes: int, eps: float) -> float:
    """How far the sum of a row may be from 1: max(1e-5, eps of the dtype it came in) + 4·C·eps of float64.

    The last term is for the rounding of the sum, so that decimals of five digits that miss 1 by one unit are accepted.
    """
    return max(SUM_TOLERANCE, eps) + 4.0 * n_classes * _EPS


def sum_tolerance_units(n_classes: int, eps: float) -> int:
    """`sum_tolerance` in units of 2⁻⁵², rounded down: how far S = Σ units(p) may be from 2⁵²."""
    return math.floor(sum_tolerance(n_classes, eps) * UNIT)


@cache
def _is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether float32 holds all numbers of the dtype."""
    return dtype.name in ("float32", "float16", "bfloat16")


class Form(NamedTuple):
    """What rows that are summed by the same code have in common."""

    n_classes: int
    item: int
    """Bytes of a probability."""
    in_columns: bool
    from_logits: bool
    eps: float
    """Of the dtype that they came in."""

    @property
    def sum_tolerance(self) -> float:
        """How far the sum of a row may be from 1."""
        return sum_tolerance(self.n_classes, self.eps)

    @property
    def sum_tolerance_units(self) -> int:
        """The same in units of 2⁻⁵², by which rows are checked."""
        return sum_tolerance_units(self.n_classes, self.eps)


@dataclass(frozen=True, slots=True)
class Rows:
    """Predictions, with labels and weights if there are any, of shapes that fit together."""

    y_prob: Contents
    n_rows: int
    n_classes: int
    from_logits: bool
    normalize: bool
    labels: Labels | None
    sample_weight: FloatArray | None
    columns_of_classes: Columns | None = None
    """The columns of a data frame in the order of the classes, to which further ones are matched."""
    index: Any = None
    """The row labels of the first pandas object whose index does not only count the rows."""

    @classmethod
    def of(
        cls,
        y_true: Any,
        y_prob: Any,
        sample_weight: Any = None,
        *,
        from_logits: bool = False,
        normalize: bool = False,
        classes: Any = None,
        soft_labels: bool = False,
        first: Columns | None = None,
    ) -> Rows:
        """Rows with labels, from what a user passed; the columns of a frame are matched to those of `first`."""
        truth, predictions = contents_of(y_true, "y_true").flat, contents_of(y_prob, "y_prob").flat
        soft_labels = boolean("soft_labels", soft_labels)
        if not soft_labels:
            refuse_swapped(truth, predictions)
        rows = cls._of_contents(predictions, sample_weight, from_logits, normalize)
        other = "sample_weight" if predictions.index is None else "y_prob"
        refuse_other_index("y_true", truth.index, other, rows.index)
        names = class_names(classes)
        if isinstance(names, list):
            require_names(names, rows.n_classes)
        columns, predictions, index_of = order_predictions(predictions, names, are_names(truth), first)
        truth = order_truth(truth, columns, names)
        return cls(  # not `replace`, which takes four times as long
            predictions,
            rows.n_rows,
            rows.n_classes,
            rows.from_logits,
            rows.normalize,
            soft_labels_of(truth, rows.n_rows, rows.n_classes)
            if soft_labels
            else labels_of(
                truth,
                rows.n_rows,
                rows.n_classes,
                index_of,
                may_ignore=predictions.data is not None and predictions.n_ignored is None,
            ),
            rows.sample_weight,
            columns,
            truth.index if truth.index is not None else rows.index,
        )

    @classmethod
    def of_predictions(
        cls, y_prob: Any, sample_weight: Any = None, *, from_logits: bool, normalize: bool
    ) -> Rows:
        """Rows without labels, from what a user passed."""
        return cls._of_contents(contents_of(y_prob, "y_prob").flat, sample_weight, from_logits, normalize)

    @classmethod
    def of_arrays(
        cls,
        y_true: NDArray[Any] | None,
        y_prob: Contents | NDArray[Any],
        sample_weight: FloatArray | None = None,
        *,
        from_logits: bool = False,
        normalize: bool = False,
        soft_labels: bool = False,
        may_ignore: bool = False,
    ) -> Rows:
        """Rows of arrays whose shapes and dtypes are known to fit, such as a reader of files makes them.

        Labels are class indices, integer or float, and weights are float64. No value is checked here: `row_codes`
        gives the bad rows, and engines refuse the first of them.
        """
        contents = contents_of(y_prob, "y_prob").flat
        n_classes = contents.shape[1] if len(contents.shape) == 2 else 2
        labels = None if y_true is None else Labels(y_true, n_classes, may_ignore=may_ignore)
        if soft_labels and y_true is not None:
            labels = soft_labels_of(contents_of(y_true, "y_true"), contents.shape[0], n_classes)
        return cls(contents, contents.shape[0], n_classes, from_logits, normalize, labels, sample_weight)

    @classmethod
    def _of_contents(cls, y_prob: Contents, sample_weight: Any, from_logits: bool, normalize: bool) -> Rows:
        from_logits, normalize = boolean("from_logits", from_logits), boolean("normalize", normalize)
        n_rows, n_classes = shape_of(y_prob)
        if normalize and (from_logits or len(y_prob.shape) == 1):
            what = "`from_logits=True`" if from_logits else "the probability of class 1"
            cause = f"{what} already makes rows sum to 1"
            raise InvalidValueError("bad-argument", cause, "leave out `normalize=True`", argument="normalize")
        weight, index = None, y_prob.index
        if sample_weight is not None:
            weights = contents_of(sample_weight, "sample_weight")
            refuse_other_index("sample_weight", weights.index, "y_prob", index)
            weight, index = weights_of(weights, n_rows), weights.index if index is None else index
        return cls(y_prob, n_rows, n_classes, from_logits, normalize, None, weight, index=index)

    def take(self, which: NDArray[np.intp] | slice) -> Rows:
        """Some of the rows, in the given order; messages about them count from there."""
        labels = None if self.labels is None else replace(self.labels, data=self.labels.data[which])
        weight = None if self.sample_weight is None else self.sample_weight[which]
        contents = self.y_prob.take(which)
        return replace(self, y_prob=contents, n_rows=contents.shape[0], labels=labels, sample_weight=weight)

    def spans(self, rows: int = MAX_BLOCK_ROWS, values: int = BLOCK_VALUES) -> Iterator[tuple[int, int]]:
        """The row ranges of all blocks of at most so many rows and values, in order."""
        step = max(1, min(rows, values // self.n_classes))
        return ((start, min(start + step, self.n_rows)) for start in range(0, self.n_rows, step))

    def block(self, start: int, stop: int) -> NDArray[Any]:
        """Probabilities of rows start to stop, contiguous, float32 or float64; their values are not checked."""
        raw = self.raw(start, stop)
        if self.from_logits:
            return _softmax(raw)
        return _divided_by_sum(raw) if self.normalize else raw

    @property
    def class_names(self) -> tuple[str, ...] | None:
        """The names of the classes: those that were listed, else the endings of the columns; None if there are none."""
        index_of = None if self.labels is None else self.labels.index_of
        return names_of_classes(index_of, self.columns_of_classes, self.n_classes)

    @property
    def in_columns(self) -> bool:
        """Whether the probabilities lie class by class in memory, as in data frames, and are used as they are."""
        data = self.y_prob.data
        beside = data is None or (data.ndim == 2 and data.strides[0] == data.itemsize < data.strides[1])
        return beside and not self.from_logits and not self.normalize

    def columns(self, start: int, stop: int, scratch: Scratch) -> NDArray[Any]:
        """The block of rows start to stop, (rows, classes), stored class by class; copied only if it must be."""
        data = self.y_prob.data
        if data is not None and data.dtype == self.working_dtype:
            return data[start:stop]
        copied = scratch.array("columns", (self.n_classes, stop - start), self.working_dtype)
        for line, column in zip(
            copied, data.T if data is not None else self.y_prob.columns or (), strict=True
        ):
            line[:] = column[start:stop]
        return copied.T

    def scores(self, start: int, stop: int) -> NDArray[np.float64]:
        """Rows start to stop as given, in float64. Logits are ranked by these: their probabilities may underflow."""
        return self.raw(start, stop).astype(np.float64, copy=False)

    @property
    def form(self) -> Form:
        """What decides how they are summed."""
        item = np.dtype(self.working_dtype).itemsize
        return Form(self.n_classes, item, self.in_columns, self.from_logits, self.y_prob.eps)

    @property
    def sum_tolerance(self) -> float:
        """How far the sum of a row may be from 1."""
        return self.form.sum_tolerance

    @property
    def working_dtype(self) -> type[np.floating[Any]]:
        """float32 where that loses nothing, else float64."""
        if self.from_logits or self.normalize or len(self.y_prob.shape) == 1:
            return np.float64
        if self.y_prob.data is not None:
            return np.float32 if _is_narrow(self.y_prob.data.dtype) else np.float64
        return np.float32 if all(_is_narrow(part.dtype) for part in self.y_prob.columns or ()) else np.float64

    def raw(self, start: int, stop: int) -> NDArray[Any]:
        """Rows start to stop as given, (rows, classes), in the working dtype."""
        if self.y_prob.columns is not None:
            columns = [column[start:stop] for column in self.y_prob.columns]
            return np.stack(columns, axis=1).astype(self.working_dtype, copy=False)
        assert self.y_prob.data is not None
        part = self.y_prob.data[start:stop]
        if part.ndim == 2:
            return np.ascontiguousarray(part, dtype=self.working_dtype)
        of_class_1 = part.astype(np.float64)
        of_class_0 = np.zeros_like(of_class_1) if self.from_logits else 1.0 - of_class_1
        return np.stack([of_class_0, of_class_1], axis=1)


def _softmax(raw: NDArray[Any]) -> FloatArray:
    """exp(z - max z) / Σ exp(z - max z), in float64; a row of NaN where that is undefined."""
    z = np.array(raw.T, dtype=np.float64, order="C")  # always a copy: it is changed in place
    with np.errstate(all="ignore"):
        z -= np.max(z, axis=0)
        exp(z, Scratch())
        z /= column_sums(z)
    return np.ascontiguousarray(z.T)


def _divided_by_sum(raw: NDArray[Any]) -> FloatArray:
    """Each row over its sum, in float64; a row of NaN where a value is negative or the sum is not positive."""
    z = np.array(raw.T, dtype=np.float64, order="C")  # always a copy: it is changed in place
    with np.errstate(over="ignore", invalid="ignore"):
        total = column_sums(z)
    usable = (np.min(z, axis=0) >= 0) & (total > 0) & np.isfinite(total)
    with np.errstate(invalid="ignore"):
        z /= np.where(usable, total, np.nan)
    # A quotient may exceed 1 by rounding only if a single value is the whole sum, and then it is 1.
    return np.ascontiguousarray(z.T)

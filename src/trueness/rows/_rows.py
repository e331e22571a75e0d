"""The border: bad input is refused here, once, with the argument, the row and the value. Below nobody checks again.

Rows are read in blocks that stay in the processor's cache, so that the caller's array is never copied whole and the
look at each value costs almost nothing: it happens while the block is at hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from trueness._arguments import yes_or_no
from trueness._arrays import FloatArray
from trueness.rows.class_columns import Columns
from trueness.rows.containers import Contents, contents_of, refuse_other_index
from trueness.rows.frame_columns import arranged_predictions, arranged_truth
from trueness.rows.labels import Labels, are_names, class_names, labels_of, require_names

BLOCK_VALUES = 2**17
"""Values in a block, a megabyte of them: many enough for long lines with many classes, few enough for the cache."""

MAX_BLOCK_ROWS = 4095
"""A sum of so many probabilities, in units of 2⁻⁵², fits in 64 bits."""

SUM_TOLERANCE = 1e-5
"""How far a row's sum may be from 1, but for rounding; wider if the dtype that it came in is coarser."""

_EPS = float(np.finfo(np.float64).eps)


def sum_tolerance(n_classes: int, eps: float) -> float:
    """How far the sum of a row may be from 1: max(1e-5, eps of the dtype it came in) + 4·C·eps of float64.

    The last term is for the rounding of the sum, so that decimals of five digits that miss 1 by one unit are accepted.
    """
    return max(SUM_TOLERANCE, eps) + 2.0 * sum_rounding(n_classes)


def sum_rounding(n_classes: int) -> float:
    """By how much, at most, the sums of a row differ that are made in two orders."""
    return 2.0 * n_classes * _EPS


@cache
def _is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether float32 holds its numbers."""
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
    """The row labels of the first pandas object that has its own."""

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
        first: Columns | None = None,
    ) -> Rows:
        """Rows with labels, from what a user passed; `first` are columns that those of a frame are matched to."""
        truth, predictions = contents_of(y_true, "y_true").flat, contents_of(y_prob, "y_prob").flat
        _refuse_swapped(truth, predictions)
        rows = cls._of_contents(predictions, sample_weight, from_logits, normalize)
        other = "sample_weight" if predictions.index is None else "y_prob"
        refuse_other_index("y_true", truth.index, other, rows.index)
        names = class_names(classes)
        if isinstance(names, list):
            require_names(names, rows.n_classes)
        columns, predictions, index_of = arranged_predictions(predictions, names, are_names(truth), first)
        truth = arranged_truth(truth, columns, names)
        return replace(
            rows,
            y_prob=predictions,
            labels=labels_of(truth, rows.n_rows, rows.n_classes, index_of),
            columns_of_classes=columns,
            index=truth.index if truth.index is not None else rows.index,
        )

    @classmethod
    def of_predictions(
        cls, y_prob: Any, sample_weight: Any = None, *, from_logits: bool, normalize: bool
    ) -> Rows:
        """Rows without labels."""
        return cls._of_contents(contents_of(y_prob, "y_prob").flat, sample_weight, from_logits, normalize)

    @classmethod
    def _of_contents(cls, y_prob: Contents, sample_weight: Any, from_logits: bool, normalize: bool) -> Rows:
        from_logits, normalize = yes_or_no("from_logits", from_logits), yes_or_no("normalize", normalize)
        n_rows, n_classes = _checked_shape(y_prob)
        if normalize and (from_logits or len(y_prob.shape) == 1):
            given = "from_logits=True" if from_logits else "the probability of class 1"
            raise ValueError(f"{given} already makes rows sum to 1; leave out normalize=True")
        weight, index = None, y_prob.index
        if sample_weight is not None:
            weights = contents_of(sample_weight, "sample_weight")
            refuse_other_index("sample_weight", weights.index, "y_prob", index)
            weight, index = _checked_weight(weights, n_rows), weights.index if index is None else index
        return cls(y_prob, n_rows, n_classes, from_logits, normalize, None, weight, index=index)

    def taken(self, which: NDArray[np.intp] | slice) -> Rows:
        """Some of the rows, in the order named; messages about them count from there."""
        labels = None if self.labels is None else replace(self.labels, data=self.labels.data[which])
        weight = None if self.sample_weight is None else self.sample_weight[which]
        contents = self.y_prob.taken(which)
        return replace(self, y_prob=contents, n_rows=contents.shape[0], labels=labels, sample_weight=weight)

    def spans(self, rows: int = MAX_BLOCK_ROWS, values: int = BLOCK_VALUES) -> Iterator[tuple[int, int]]:
        """The row ranges of all blocks of so many rows and values at most, in order."""
        step = max(2, min(rows, values // self.n_classes))
        return ((start, min(start + step, self.n_rows)) for start in range(0, self.n_rows, step))

    def block(self, start: int, stop: int) -> NDArray[Any]:
        """Probabilities of rows start to stop, contiguous, float32 or float64, not yet looked at.

        A lone row comes twice: NumPy adds up a single vector in another order than the same vector among others,
        and V must not depend on where the rows were cut.
        """
        raw = self._raw(start, stop)
        if len(raw) == 1:
            raw = np.repeat(raw, 2, axis=0)
        if self.from_logits:
            return _softmax(raw)
        return _divided_by_sum(raw) if self.normalize else raw

    @property
    def in_columns(self) -> bool:
        """Whether the probabilities lie class by class in memory, as in data frames, and are taken as given."""
        data = self.y_prob.data
        beside = data is None or (data.ndim == 2 and data.strides[0] == data.itemsize < data.strides[1])
        return beside and not self.from_logits and not self.normalize

    def columns(self, start: int, stop: int, room: int) -> NDArray[Any]:
        """The block of rows start to stop of what is in columns, class by class, (rows, classes), with room for more.

        The further rows hold anything.
        """
        made = np.empty((self.n_classes, room), self.working_dtype)
        data = self.y_prob.data
        for line, column in zip(made, data.T if data is not None else self.y_prob.columns or (), strict=True):
            line[: stop - start] = column[start:stop]
        return made.T

    def scores(self, start: int, stop: int) -> NDArray[np.float64]:
        """The logits of rows start to stop, as float64: what ranks are found by where probabilities underflow."""
        return self._raw(start, stop).astype(np.float64, copy=False)

    def sums_of_distributions(self, ordered: FloatArray, start: int) -> FloatArray:
        """The sum of each row, refusing rows that are no distributions; `ordered` is sorted, (classes, rows).

        The largest and smallest value and the sum tell everything: sorting puts NaN first.
        """
        total: FloatArray = np.add.reduce(ordered, axis=0)
        tolerance = self.sum_tolerance
        # Written so that NaN fails every comparison. Near 1 the difference from 1 is exact, the sum with it is not.
        if not (
            np.maximum.reduce(ordered[0]) <= 1.0
            and np.minimum.reduce(ordered[-1]) >= 0.0
            and np.maximum.reduce(total) - 1.0 <= tolerance
            and 1.0 - np.minimum.reduce(total) <= tolerance
        ):
            good = (ordered[0] <= 1.0) & (ordered[-1] >= 0.0) & (np.abs(total - 1.0) <= tolerance)
            self._refuse_first(start + int(np.argmin(good)))
        return total

    def check(self, start: int, stop: int) -> None:
        """Refuse the first row of a block that is no distribution, by the very sums of the above, if there is one."""
        upwards = np.sort(self.block(start, stop), axis=1)
        self.sums_of_distributions(np.ascontiguousarray(upwards.T[::-1], dtype=np.float64), start)

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
        """float32 where nothing is lost by it, else float64."""
        if self.from_logits or self.normalize or len(self.y_prob.shape) == 1:
            return np.float64
        if self.y_prob.data is not None:
            return np.float32 if _is_narrow(self.y_prob.data.dtype) else np.float64
        return np.float32 if all(_is_narrow(part.dtype) for part in self.y_prob.columns or ()) else np.float64

    def _raw(self, start: int, stop: int) -> NDArray[Any]:
        """Rows as given, (rows, classes): float32 where nothing is lost by it, else float64."""
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

    def _refuse_first(self, row: int) -> NoReturn:
        """Refuse the first bad row, of which this is the first that is no distribution.

        A label before it is bad earlier; its own label is not looked at.
        """
        if self.labels is not None and row > 0:
            self.labels.block(0, row)
        self._refuse(row)

    def _refuse(self, row: int) -> NoReturn:
        """Say what is wrong with a row that is known to be bad."""
        values = self._raw(row, row + 1)[0].astype(np.float64)
        given = values if len(self.y_prob.shape) == 2 else values[1:]
        place = [f"row {row}, class {c}" if len(given) > 1 else f"row {row}" for c in range(len(given))]
        if self.from_logits:
            worst = int(np.argmax(np.isnan(given) | (given == np.inf)))
            raise ValueError(
                f"y_prob has the logit {given[worst]} in {place[worst]}; logits are finite, "
                "or -inf for a class that is ruled out, but not for all classes of a row"
            )
        highest = np.inf if self.normalize else 1.0
        outside = ~((given >= 0) & (given <= highest) & np.isfinite(given))
        if np.any(outside):
            worst = int(np.argmax(outside))
            accepted = "finite numbers from 0 up" if self.normalize else "finite numbers from 0 to 1"
            hint = "" if self.normalize else _hint(given)
            raise ValueError(
                f"y_prob is {given[worst]} in {place[worst]}; probabilities are {accepted}{hint}"
            )
        if self.normalize:
            with np.errstate(over="ignore"):
                total = given.sum()
            raise ValueError(f"y_prob sums to {total} in row {row}, which cannot be normalised")
        raise ValueError(
            f"y_prob sums to {values.sum():.9g} in row {row}, not to 1 within {self.sum_tolerance:g}; pass "
            "from_logits=True for logits, or normalize=True to divide each row by its sum"
        )


def _hint(given: FloatArray) -> str:
    """What would make values acceptable that are finite but not between 0 and 1."""
    if not np.isfinite(given).all():
        return ""
    if (given > -1e-6).all() and (given < 1 + 1e-6).all():
        return "; this looks like rounding: clip y_prob to [0, 1] first"
    if (given >= 0).all() and (given <= 100).all():
        if len(given) == 1:
            return "; divide y_prob by 100 if these are percentages, or pass from_logits=True for logits"
        if abs(given.sum() - 100) <= 100 * SUM_TOLERANCE:
            return "; these are percentages, which sum to 100: divide y_prob by 100"
        if abs(given.sum() - 100) <= 1:
            return "; these look like rounded percentages: pass normalize=True to divide each row by its sum"
    return "; pass from_logits=True for logits" + (
        ", or normalize=True for scores" if (given >= 0).all() else ""
    )


def _softmax(raw: NDArray[Any]) -> FloatArray:
    """exp(z - max z) / Σ exp(z - max z), in float64; a row of NaN where that has no meaning."""
    z = np.ascontiguousarray(raw.T, dtype=np.float64)
    with np.errstate(all="ignore"):
        z -= np.max(z, axis=0)
        np.exp(z, out=z)
        z /= np.add.reduce(z, axis=0)
    return np.ascontiguousarray(z.T)


def _divided_by_sum(raw: NDArray[Any]) -> FloatArray:
    """Each row over its sum, in float64; a row of NaN where a value is negative or the sum is not positive."""
    z = np.ascontiguousarray(raw.T, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.add.reduce(z, axis=0)
    usable = (np.min(z, axis=0) >= 0) & (total > 0) & np.isfinite(total)
    with np.errstate(invalid="ignore"):
        z /= np.where(usable, total, np.nan)
    # A quotient may exceed 1 by rounding only if a single value is the whole sum, and then it is 1.
    return np.ascontiguousarray(z.T)


def _checked_shape(y_prob: Contents) -> tuple[int, int]:
    arrays = y_prob.columns or (y_prob.data,)
    for name, array in zip(y_prob.names or [None] * len(arrays), arrays, strict=True):
        _refuse_dtype(array, "y_prob" if name is None else f"y_prob, column {name!r},")
    shape = y_prob.shape
    if len(shape) not in (1, 2):
        raise ValueError(
            f"y_prob has shape {shape}; pass (rows, classes), or (rows,) for the probability of class 1"
        )
    if shape[0] == 0:
        raise ValueError("y_prob has no rows")
    if len(shape) == 1:
        return shape[0], 2
    if shape[1] < 1:
        raise ValueError(f"y_prob has shape {shape}, no classes")
    return shape[0], shape[1]


def _refuse_dtype(array: NDArray[Any] | None, argument: str) -> None:
    assert array is not None
    if array.dtype.kind in "fiub" or array.dtype.name == "bfloat16":
        return
    if array.dtype.kind == "O":
        missing = [index for index, value in enumerate(array.ravel()) if value is None]
        if missing:
            row = np.unravel_index(missing[0], array.shape)[0]
            raise ValueError(
                f"{argument} has a missing value in row {row}; fill or leave out such rows first"
            )
        raise TypeError(
            f"{argument} is an object array; convert it to floats first, for example np.stack(y_prob)"
        )
    raise TypeError(f"{argument} has dtype {array.dtype}; probabilities are real numbers")


def _checked_weight(contents: Contents, n_rows: int) -> FloatArray:
    if contents.data is None or contents.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {contents.shape}; one weight for each of {n_rows} rows is needed"
        )
    if contents.data.dtype.kind not in "fiub":
        raise TypeError(f"sample_weight has dtype {contents.data.dtype}; weights are real numbers")
    weight = np.ascontiguousarray(contents.data, dtype=np.float64)
    # Squares are summed, over perhaps 1e12 rows, and must neither overflow nor vanish.
    bad = ~((weight == 0) | ((weight >= 1e-140) & (weight <= 1e140)))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"sample_weight is {weight[row]} in row {row}; weights are finite numbers from 0 up (0, or 1e-140 to 1e140)"
        )
    if not weight.any():
        raise ValueError("sample_weight is 0 in every row")
    return weight


def _refuse_swapped(y_true: Contents, y_prob: Contents) -> None:
    """Predictions where labels belong, and labels where predictions belong."""
    truth = y_true.head(1000)
    with np.errstate(invalid="ignore"):
        if truth.dtype.kind != "f" or not np.any(truth % 1.0 > 0):
            return
        predictions = y_prob.head(1000)
        labels = predictions.dtype.kind in "iubUSO" or not np.any(predictions % 1.0 > 0)
    if labels and (predictions.ndim == 1 or truth.ndim == 2):
        raise ValueError(
            f"y_true (shape {y_true.shape}) looks like predictions and y_prob (shape {y_prob.shape}) like labels; "
            "the order is (y_true, y_prob)"
        )

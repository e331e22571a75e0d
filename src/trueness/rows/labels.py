"""Labels given as integers, names or one-hot rows, read block by block as class indices."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness.refusals import InvalidTypeError, InvalidValueError, Refusal, nearest
from trueness.rows.class_columns import BOOLEANS, COLUMNS, INDEX
from trueness.rows.containers import Contents, is_bfloat16, refuse_none

SHARE_TOLERANCE = 1e-5
"""How far the shares of a soft label may be from 1 in sum."""

USUAL_IGNORED = (255, -1, -100)
"""Labels that usually mark pixels or tokens without a class."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels of the right shape; their values are checked when they are read."""

    data: NDArray[Any]
    n_classes: int
    index_of: dict[Hashable, int] | None = None
    """Class index by name, if labels are names."""
    soft: bool = False
    """Whether each row is a distribution over the classes, (rows, classes)."""
    may_ignore: bool = False
    """Whether `ignore_index` applies to such rows and was not given."""

    def block(self, start: int, stop: int) -> NDArray[np.intp]:
        """Class indices of rows start to stop; the first bad label is refused."""
        part = self.data[start:stop]
        if part.ndim == 1 and self.index_of is None and _are_indices(part, self.n_classes):
            return part.astype(np.intp, copy=False)
        indices = self.indices(start, stop)
        bad = np.flatnonzero(indices < 0)
        if bad.size:
            raise self.refusal(start + int(bad[0]))
        return indices

    def indices(self, start: int, stop: int) -> NDArray[np.intp]:
        """Class indices of rows start to stop, and -1 for bad labels."""
        part = self.data[start:stop]
        if self.soft:
            return np.where(_are_distributions(part), np.argmax(part, axis=1), -1)
        if part.ndim == 2:
            good = ~np.any((part != 0) & (part != 1), axis=1) & (np.count_nonzero(part, axis=1) == 1)
            return np.where(good, np.argmax(part, axis=1), -1)
        if self.index_of is not None:
            return np.array([self.index_of.get(name, -1) for name in part.tolist()], np.intp)
        with np.errstate(invalid="ignore"):
            good = _are_whole(part) & (part >= 0) & (part < self.n_classes)
        # Compared before the cast, in which a large or infinite number would wrap round.
        indices = np.full(len(part), -1, np.intp)
        indices[good] = part[good]
        return indices

    def shares(self, start: int, stop: int) -> FloatArray:
        """The share of each class in rows start to stop, (n, C), of soft labels; the first bad row is refused."""
        self.block(start, stop)
        return self.data[start:stop].astype(np.float64, copy=False)

    def refusal(self, row: int) -> Refusal:
        """The refusal of a bad label."""
        part = self.data[row : row + 1]
        value = part.tolist()[0]
        code, cause = "label-out-of-range", f"`y_true` is {value!r} in row {row}"
        if self.soft:
            code = "bad-soft-label"
            remedy = (
                f"the shares of a soft label are finite, at least 0, and sum to 1 within {SHARE_TOLERANCE:g}"
            )
        elif part.ndim == 2:
            remedy = "a one-hot row must contain exactly one 1 and otherwise 0"
        elif self.index_of is not None:
            cause += ", which is not one of the classes"
            name = self._name_of(value)
            remedy = nearest(str(value), list(map(str, self.index_of)))
            if name is not None:
                remedy = f"labels are names here, and class {value} is {name!r}; "
                remedy += "for class indices leave out `classes`"
        elif not _are_whole(part).all():
            remedy = "a class index is an integer"
        else:
            remedy = f"class indices run from 0 to {self.n_classes - 1}"
            if self.may_ignore and self._is_usually_ignored(value):
                remedy += "; to leave out rows with this label call assess, compare or tabulate with "
                remedy += f"`ignore_index={value:.0f}`"
        return InvalidValueError(code, cause, remedy, argument="y_true", row=row, value=value)

    def _is_usually_ignored(self, value: float) -> bool:
        """Whether a label that is not a class is likely to mark rows without one; -1 of two classes may be a class."""
        return value in USUAL_IGNORED and not (value == -1 and self.n_classes == 2)

    def _name_of(self, value: object) -> str | None:
        """The name of the class with this index, if the value is one and the names of the classes are texts."""
        if isinstance(value, bool) or not isinstance(value, int) or self.index_of is None:
            return None
        return next(
            (name for name, at in self.index_of.items() if at == value and isinstance(name, str)), None
        )


def _are_distributions(part: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows are finite, not negative, and sum to 1 within rounding."""
    with np.errstate(invalid="ignore", over="ignore"):
        whole = np.abs(part.sum(axis=1, dtype=np.float64) - 1.0) <= SHARE_TOLERANCE
        return np.asarray(whole & (part >= 0).all(axis=1))


def whole_numbers(argument: str, given: NDArray[Any], last: int, remedy: str) -> IntArray:
    """Numbers from 0 to `last` as integers; the first other value is refused."""
    with np.errstate(invalid="ignore"):
        good = (given >= 0) & (given <= last) & (given == np.floor(given))
    if not good.all():
        row = int(np.argmin(good))
        cause = f"`{argument}` is {given[row].item()} in row {row}"
        raise InvalidValueError(
            "label-out-of-range", cause, remedy, argument=argument, row=row, value=given[row].item()
        )
    return given.astype(np.int64)


def _are_whole(part: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(part == np.floor(part)) if part.dtype.kind == "f" else np.ones(len(part), bool)


def _are_indices(part: NDArray[Any], n_classes: int) -> bool:
    """Whether all labels are whole numbers from 0 to below n_classes."""
    return (part.dtype.kind != "f" or bool(np.all(part == np.floor(part)))) and _all_below(part, n_classes)


def _all_below(part: NDArray[Any], n_classes: int) -> bool:
    """Whether all are from 0 to below n_classes.

    In one pass where possible: a negative integer read as unsigned is at least 2⁷ (int8), 2¹⁵ (int16) and so on.
    """
    if part.dtype.kind == "i" and part.dtype.isnative and n_classes <= 1 << (8 * part.itemsize - 1):
        return bool(np.maximum.reduce(part.view(f"u{part.itemsize}")) < n_classes)
    return bool(np.minimum.reduce(part) >= 0 and np.maximum.reduce(part) < n_classes)


def labels_of(
    contents: Contents,
    n_rows: int,
    n_classes: int,
    index_of: dict[Hashable, int] | None,
    *,
    may_ignore: bool = False,
) -> Labels:
    """Labels of the right shape and dtype, or a refusal of y_true."""
    data = contents.data if contents.data is not None else np.stack(contents.columns or (), axis=1)
    _require_shape(data, n_rows, n_classes)
    if is_bfloat16(data.dtype):
        data = data.astype(np.float32)
    if index_of is None and data.ndim == 1 and data.dtype.kind in "UO" and _is_boolean(data[0]):
        index_of = BOOLEANS
    if data.ndim == 1 and index_of is not None:
        return Labels(data, n_classes, index_of)
    if data.dtype.kind == "O":
        refuse_none(data, "y_true")
    _require_numbers(data)
    return Labels(data, n_classes, may_ignore=may_ignore)


def soft_labels_of(contents: Contents, n_rows: int, n_classes: int) -> Labels:
    """Shares of the classes, (rows, classes); of two classes also those of class 1 alone, (rows,)."""
    data = contents.data if contents.data is not None else np.stack(contents.columns or (), axis=1)
    if data.dtype.kind not in "iubf" and not is_bfloat16(data.dtype):
        cause = f"`y_true` has dtype {data.dtype}"
        remedy = "soft labels are shares of the classes: real numbers that sum to 1 in each row"
        raise InvalidTypeError("wrong-type", cause, remedy, argument="y_true")
    if data.ndim == 1 and n_classes == 2:
        of_class_1 = data.astype(np.float64)
        data = np.stack([1.0 - of_class_1, of_class_1], axis=1)
    if data.ndim != 2 or data.shape[1] != n_classes:
        cause = f"`y_true` has shape {data.shape}"
        remedy = f"soft labels have shape ({n_rows}, {n_classes}): one share for each class"
        raise InvalidValueError("wrong-shape", cause, remedy, argument="y_true")
    _require_shape(data, n_rows, n_classes)
    return Labels(data.astype(np.float64, copy=False), n_classes, soft=True)


def _require_shape(data: NDArray[Any], n_rows: int, n_classes: int) -> None:
    if data.ndim not in (1, 2) or (data.ndim == 2 and data.shape[1] != n_classes):
        remedy = f"labels have shape ({n_rows},), or ({n_rows}, {n_classes}) if they are one-hot"
        raise InvalidValueError("wrong-shape", f"`y_true` has shape {data.shape}", remedy, argument="y_true")
    if data.shape[0] != n_rows:
        cause = f"`y_true` has {data.shape[0]} labels, but `y_prob` has {n_rows} rows"
        raise InvalidValueError("wrong-length", cause, argument="y_true")


def _require_numbers(data: NDArray[Any]) -> None:
    """Refuse labels that are neither numbers nor names of classes."""
    if data.dtype.kind in "USO":
        value = data[:1].tolist()[0]
        cause = f"`y_true` holds {data.dtype} values ({value!r} in row 0), not class indices"
        remedy = (
            "for names pass classes=[...] in the order of the columns of y_prob, or a data "
            "frame whose columns are named so"
        )
        raise InvalidTypeError("wrong-type", cause, remedy, argument="y_true", value=value)
    if data.dtype.kind not in "iubf":
        cause = f"`y_true` has dtype {data.dtype}"
        remedy = "labels are class indices, names or one-hot rows"
        raise InvalidTypeError("wrong-type", cause, remedy, argument="y_true")


def _is_boolean(label: Any) -> bool:
    return isinstance(label, str) and label in BOOLEANS


def are_names(contents: Contents) -> bool:
    """Whether labels are text, and neither numbers nor one-hot rows."""
    return len(contents.shape) == 1 and contents.data is not None and contents.data.dtype.kind in "USO"


def class_names(classes: Any) -> list[Any] | str | None:
    """The entries of `classes` in order; "columns", "index" and None as they are."""
    if classes is None or (isinstance(classes, str) and classes in (COLUMNS, INDEX)):
        return classes
    unordered = isinstance(classes, (str, bytes, set, frozenset, dict))
    if unordered or not hasattr(classes, "__iter__"):
        cause = (
            "classes must be a list of class names in the order of the columns, 'columns' or "
            f"'index', got {classes!r}"
        )
        raise InvalidTypeError("wrong-type", cause, argument="classes", value=classes)
    return classes.tolist() if hasattr(classes, "tolist") else list(classes)


def require_names(names: list[Any], n_classes: int) -> None:
    """Refuse class names unless there is a different one for each class."""
    try:
        index_of = {name: index for index, name in enumerate(names)}
    except TypeError as error:
        cause = f"classes must be names, such as strings or numbers, got {names!r}"
        raise InvalidTypeError("wrong-type", cause, argument="classes", value=names) from error
    if len(names) != n_classes:
        cause = f"classes has {len(names)} names, but `y_prob` has {n_classes} classes"
        raise InvalidValueError("wrong-length", cause, argument="classes")
    if len(index_of) != n_classes:
        repeated = next(name for index, name in enumerate(names) if index_of[name] != index)
        cause = f"classes names {repeated!r} twice"
        raise InvalidValueError("repeated-name", cause, argument="classes", value=repeated)

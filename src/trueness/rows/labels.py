"""The true classes, given as integers, as names or as one-hot rows, read block by block as class indices."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.rows.class_columns import BOOLEANS, COLUMNS, INDEX
from trueness.rows.containers import Contents


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels that have the right shape; their values are looked at when a block is read."""

    data: NDArray[Any]
    n_classes: int
    index_of: dict[Hashable, int] | None
    """From a class's name to its index, if labels are names."""

    def block(self, start: int, stop: int) -> NDArray[np.intp]:
        """Class indices of rows start to stop."""
        part = self.data[start:stop]
        if part.ndim == 2:
            return self._from_one_hot(part, start)
        if self.index_of is not None:
            return self._from_names(part, self.index_of, start)
        return self._from_numbers(part, start)

    def _from_numbers(self, part: NDArray[Any], start: int) -> NDArray[np.intp]:
        # Judged before the cast, in which a large or infinite number would wrap round.
        whole = part == np.floor(part) if part.dtype.kind == "f" else np.broadcast_to(np.True_, part.shape)
        if not (np.all(whole) and _all_below(part, self.n_classes)):
            with np.errstate(invalid="ignore"):
                bad = ~whole | (part < 0) | (part >= self.n_classes)
            known = f"class indices run from 0 to {self.n_classes - 1}"
            is_whole = bool(whole[np.argmax(bad)])
            self._refuse_first(bad, part, start, known if is_whole else "a class index is a whole number")
        return part.astype(np.intp, copy=False)

    def _from_one_hot(self, part: NDArray[Any], start: int) -> NDArray[np.intp]:
        bad = np.any((part != 0) & (part != 1), axis=1) | (np.count_nonzero(part, axis=1) != 1)
        self._refuse_first(bad, part, start, "a one-hot row holds a single 1 and else 0")
        return np.asarray(np.argmax(part, axis=1))

    def _from_names(self, part: NDArray[Any], index_of: dict[Hashable, int], start: int) -> NDArray[np.intp]:
        indices = [index_of.get(name, -1) for name in part.tolist()]
        if -1 in indices:
            from difflib import get_close_matches  # here, because it is slow to import and seldom needed

            row = indices.index(-1)
            name = part.tolist()[row]
            near = get_close_matches(str(name), [str(known) for known in index_of], n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(
                f"y_true is {name!r} in row {start + row}, which is not one of the classes{hint}"
            )
        return np.array(indices, dtype=np.intp)

    def _refuse_first(self, bad: NDArray[np.bool_], part: NDArray[Any], start: int, accepted: str) -> None:
        if np.any(bad):
            row = int(np.argmax(bad))
            raise ValueError(f"y_true is {part[row].tolist()!r} in row {start + row}; {accepted}")


def _all_below(part: NDArray[Any], n_classes: int) -> bool:
    """Whether all are from 0 to below n_classes.

    In one look where possible: a negative integer read as unsigned is at least 2⁷ (int8), 2¹⁵ (int16) and so on.
    """
    if part.dtype.kind == "i" and part.dtype.isnative and n_classes <= 1 << (8 * part.itemsize - 1):
        return bool(np.maximum.reduce(part.view(f"u{part.itemsize}")) < n_classes)
    return bool(np.minimum.reduce(part) >= 0 and np.maximum.reduce(part) < n_classes)


def labels_of(
    contents: Contents, n_rows: int, n_classes: int, index_of: dict[Hashable, int] | None
) -> Labels:
    """Labels of the right shape and kind, or a ValueError or TypeError about y_true."""
    data = contents.data if contents.data is not None else np.stack(contents.columns or (), axis=1)
    if data.ndim not in (1, 2) or (data.ndim == 2 and data.shape[1] != n_classes):
        raise ValueError(
            f"y_true has shape {data.shape}; labels have shape ({n_rows},), "
            f"or ({n_rows}, {n_classes}) if they are one-hot"
        )
    if data.shape[0] != n_rows:
        raise ValueError(f"y_true has {data.shape[0]} labels, but y_prob has {n_rows} rows")
    if data.dtype.name == "bfloat16":
        data = data.astype(np.float32)
    if index_of is None and data.ndim == 1 and data.dtype.kind in "UO" and _is_boolean(data[0]):
        index_of = BOOLEANS
    if data.ndim == 1 and index_of is not None:
        return Labels(data, n_classes, index_of)
    missing = [i for i, value in enumerate(data.ravel()) if value is None] if data.dtype.kind == "O" else []
    if missing:
        row = np.unravel_index(missing[0], data.shape)[0]
        raise ValueError(f"y_true has a missing value in row {row}; fill or leave out such rows first")
    _refuse_kind(data)
    return Labels(data, n_classes, None)


def _refuse_kind(data: NDArray[Any]) -> None:
    """Refuse labels that are neither numbers nor names that are known."""
    if data.dtype.kind in "USO":
        raise TypeError(
            f"y_true holds {data.dtype} values ({data[:1].tolist()[0]!r} in row 0), not class indices; for names pass "
            "classes=[...] in the order of the columns of y_prob, or a data frame whose columns are named so"
        )
    if data.dtype.kind not in "iubf":
        raise TypeError(f"y_true has dtype {data.dtype}; labels are class indices, names or one-hot rows")


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
        raise TypeError(
            f"classes must be a list of class names in the order of the columns, 'columns' or 'index', got {classes!r}"
        )
    return classes.tolist() if hasattr(classes, "tolist") else list(classes)


def require_names(names: list[Any], n_classes: int) -> None:
    """Refuse class names that are not one for each class, or not different."""
    try:
        index_of = {name: index for index, name in enumerate(names)}
    except TypeError as error:
        raise TypeError(f"classes must be names, such as strings or numbers, got {names!r}") from error
    if len(names) != n_classes:
        raise ValueError(f"classes has {len(names)} names, but y_prob has {n_classes} classes")
    if len(index_of) != n_classes:
        repeated = next(name for index, name in enumerate(names) if index_of[name] != index)
        raise ValueError(f"classes names {repeated!r} twice")

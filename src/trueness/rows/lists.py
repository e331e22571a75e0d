"""Lists of numbers of different lengths: how they are read from what a user passed, and how they lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import IntArray
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.rows.containers import Contents, contents_of, index_of_series, refuse_missing

BLOCK_VALUES = 2**20
"""Values beyond the options of rows that are compared with the padding at a time."""

_LISTS = {list, tuple, np.ndarray}


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Rows of numbers of different lengths: those of an array up to each row's own, or one after the other."""

    data: NDArray[Any]
    """(rows, most), of which row k counts up to `lengths[k]`; or all numbers, (values,)."""
    lengths: IntArray
    starts: IntArray | None = None
    """The first number of each row, if `data` has one dimension."""
    eps: float = float(np.finfo(np.float64).eps)
    index: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and the largest length."""
        return len(self.lengths), int(self.lengths.max(initial=0))

    def take(self, which: NDArray[np.intp] | slice) -> Lists:
        """Some of the rows, in the given order."""
        if self.starts is None:
            return replace(self, data=self.data[which], lengths=self.lengths[which])
        return replace(self, lengths=self.lengths[which], starts=self.starts[which])

    def matrix(self, which: IntArray, width: int) -> NDArray[Any]:
        """The rows that `which` names, all of this length, as an array."""
        if self.starts is None:
            rows = np.take(self.data, which, axis=0) if len(which) < len(self.data) else self.data
            return rows[:, :width]
        return np.asarray(self.data[self.starts[which][:, None] + np.arange(width)])

    def map(self, function: Any) -> Lists:
        """The rows with a function applied to all numbers."""
        return replace(self, data=function(self.data))


def lists_of(y_prob: Any, n_options: Any, *, from_logits: bool, wanted: bool = False) -> Lists | None:
    """Predictions with different numbers of options; None if all rows have the same number and `n_options` is None.

    If they are `wanted`, rows may all have the same number: that of an array is its number of columns.
    """
    lists = _read_lists(y_prob)
    if n_options is None and wanted and lists is None:
        contents = contents_of(y_prob, "y_prob").flat
        n_options = np.full(contents.shape[:1], contents.shape[1] if len(contents.shape) == 2 else 2)
    if n_options is None:
        if lists is None or (bool(np.all(lists.lengths == lists.lengths[0])) and not wanted):
            return None
        _require_lengths(lists.lengths, "y_prob")
        return lists
    if lists is not None:
        return _with_declared_lengths(lists, n_options)
    return _of_array(contents_of(y_prob, "y_prob"), n_options, -np.inf if from_logits else 0.0)


def rectangular(y_prob: Any) -> Any:
    """A list column whose rows all have the same length as an array; anything else as it is."""
    if isinstance(y_prob, (np.ndarray, list, tuple, Contents)):
        return y_prob
    lists = _read_lists(y_prob)
    if lists is None:
        return y_prob
    return replace(
        Contents(lists.matrix(np.arange(lists.shape[0]), lists.shape[1])), eps=lists.eps, index=lists.index
    )


def _read_lists(y_prob: Any) -> Lists | None:
    """A list of lists, an array of lists or a list column; None for anything else."""
    if isinstance(y_prob, Lists):
        return y_prob
    if isinstance(y_prob, (list, tuple)):
        return _from_sequence(y_prob) if _is_ragged(y_prob) else None
    if isinstance(y_prob, np.ndarray):
        nested = y_prob.dtype == object and y_prob.ndim == 1 and len(y_prob) and _is_list(y_prob[0])
        return _from_sequence(y_prob.tolist()) if nested else None
    if isinstance(y_prob, Contents):
        return None
    return _from_column(y_prob)


def _is_list(item: Any) -> bool:
    return isinstance(item, (list, tuple)) or (isinstance(item, np.ndarray) and item.ndim == 1)


def _is_ragged(rows: Sequence[Any]) -> bool:
    """Whether these are lists of different lengths."""
    if not set(map(type, rows)) <= _LISTS or len(rows) < 2:
        return False
    # Of arrays without dimensions there is no length.
    return (
        all(np.ndim(row) == 1 for row in rows if isinstance(row, np.ndarray)) and len(set(map(len, rows))) > 1
    )


def _from_sequence(rows: Sequence[Any], index: Any = None) -> Lists:
    missing = np.array([not _is_list(row) for row in rows], bool)
    refuse_missing(missing, "y_prob")
    parts = [np.asarray(row) for row in rows]
    lengths = np.array([len(part) for part in parts], np.int64)
    for row, part in enumerate(parts):
        if part.dtype.kind not in "fiub" and len(part):
            cause = f"`y_prob` holds {part.dtype} in row {row}"
            remedy = "probabilities are real numbers"
            raise InvalidTypeError("wrong-type", cause, remedy, argument="y_prob", row=row)
    flat = np.concatenate(parts) if parts else np.empty(0)
    return of_flat(flat, lengths, index=index)


def of_flat(
    flat: NDArray[Any], lengths: IntArray, starts: IntArray | None = None, index: Any = None
) -> Lists:
    """Rows whose numbers lie one after the other."""
    if starts is None:
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    return Lists(flat, lengths, starts, contents_of(flat, "y_prob").eps, index)


def _from_column(value: Any) -> Lists | None:
    """A list column of pandas, Polars or PyArrow; None for anything else."""
    if hasattr(value, "to_pylist") and _is_list_type(getattr(value, "type", None)):
        return _from_arrow(value.combine_chunks() if hasattr(value, "combine_chunks") else value)
    import narwhals.stable.v1 as nw

    if not nw.dependencies.is_into_series(value):
        return None
    series = nw.from_native(value, series_only=True)
    first = next((item for item in series.head(1).to_list()), None)
    is_list = isinstance(series.dtype, (nw.List, nw.Array)) or (
        series.dtype == nw.Object and (_is_list(first) or first is None)
    )
    return _from_sequence(series.to_list(), index_of_series(series)) if is_list else None


def _from_arrow(column: Any) -> Lists:
    """A list array of PyArrow, through its own methods."""
    if column.null_count:
        refuse_missing(np.asarray(column.is_null()), "y_prob")
    lengths, flat = np.asarray(column.value_lengths(), np.int64), column.flatten()
    if flat.null_count:
        inside = np.repeat(np.arange(len(lengths)), lengths)[np.asarray(flat.is_null())]
        refuse_missing(np.isin(np.arange(len(lengths)), inside), "y_prob")
    return of_flat(np.asarray(flat), lengths)


def _is_list_type(type: Any) -> bool:
    """Whether an Arrow type is a list, by its own words: pyarrow need not be imported to read its objects."""
    return str(type).startswith(("list<", "large_list<", "fixed_size_list<"))


def _with_declared_lengths(lists: Lists, n_options: Any) -> Lists:
    """The lists, whose lengths must be those that were declared."""
    declared = _declared(n_options, len(lists.lengths))
    differs = np.flatnonzero(declared != lists.lengths)
    if differs.size:
        row = int(differs[0])
        cause = (
            f"n_options is {int(declared[row])} in row {row}, where `y_prob` has "
            f"{int(lists.lengths[row])} numbers"
        )
        remedy = "leave out n_options: lists have as many options as numbers"
        raise InvalidValueError(
            "wrong-length", cause, remedy, argument="n_options", row=row, value=int(declared[row])
        )
    _require_lengths(declared, "n_options")
    return lists


def _of_array(contents: Contents, n_options: Any, padding: float) -> Lists:
    """An array with as many options in each row as were declared, and the padding beyond."""
    data = np.stack(contents.columns, axis=1) if contents.columns is not None else contents.data
    if data is None or data.ndim != 2 or data.dtype.kind not in "fiub":
        shape = None if data is None else data.shape
        cause = f"`y_prob` has shape {shape}"
        remedy = "with n_options pass numbers of shape (rows, options), or lists"
        raise InvalidValueError("wrong-shape", cause, remedy, argument="y_prob")
    if len(data) == 0:
        raise InvalidValueError("no-rows", "`y_prob` has no rows", argument="y_prob")
    lengths = _declared(n_options, len(data))
    _require_lengths(lengths, "n_options")
    if lengths.max() > data.shape[1]:
        row = int(np.argmax(lengths > data.shape[1]))
        cause = f"n_options is {int(lengths[row])} in row {row}, but `y_prob` has {data.shape[1]} columns"
        raise InvalidValueError("wrong-length", cause, argument="n_options", row=row, value=int(lengths[row]))
    _require_padding(data, lengths, padding)
    return Lists(data, lengths, None, contents.eps, contents.index)


def _declared(n_options: Any, n_rows: int) -> IntArray:
    """The declared number of options of each row."""
    data = contents_of(n_options, "n_options").data
    if data is None or data.shape != (n_rows,):
        shape = None if data is None else data.shape
        cause = f"n_options has shape {shape}"
        remedy = f"one number of options for each of {n_rows} rows is needed"
        raise InvalidValueError("wrong-shape", cause, remedy, argument="n_options")
    if data.dtype.kind not in "iuf" or not np.all(data == np.floor(data)):
        raise InvalidTypeError("wrong-type", "n_options must be whole numbers", argument="n_options")
    return data.astype(np.int64)


def _require_lengths(lengths: IntArray, argument: str) -> None:
    few = np.flatnonzero(lengths < 2)
    if few.size:
        row, value = int(few[0]), int(lengths[few[0]])
        cause = f"`y_prob` has {value} options" if argument == "y_prob" else f"n_options is {value}"
        remedy = "every row needs at least 2 options"
        raise InvalidValueError(
            "wrong-length", f"{cause} in row {row}", remedy, argument=argument, row=row, value=value
        )


def _require_padding(data: NDArray[Any], lengths: IntArray, padding: float) -> None:
    """Refuse the first value beyond the options of its row that is not the padding."""
    places = np.arange(data.shape[1])
    step = max(1, BLOCK_VALUES // data.shape[1])
    for start in range(0, len(data), step):
        block = data[start : start + step]
        bad = (block != padding) & (places >= lengths[start : start + step, None])
        if bad.any():
            row, column = map(int, np.argwhere(bad)[0])
            fill = "0" if padding == 0 else "-inf"
            raise InvalidValueError(
                "bad-padding",
                f"`y_prob` is {float(block[row, column])} in row {start + row}, class {column} "
                f"of {int(lengths[start + row])} options",
                f"pad with {fill}, or pass lists",
                argument="y_prob",
                row=start + row,
                class_index=column,
                value=float(block[row, column]),
            )

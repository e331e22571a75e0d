"""Arrays, lists, data frames and tensors as NumPy arrays, without copying where possible.

Of the values only missing ones are refused here; `trueness.rows.row_checks` checks the others. No library is imported
to read its own objects: data frames are read through narwhals, tensors through DLPack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.refusals import InvalidTypeError, InvalidValueError

_BFLOAT16_EPS = 2.0**-7

_DLPACK_HOST_DEVICES = {1, 3, 11, 13}  # CPU, CUDA pinned host, ROCm pinned host, CUDA managed
_DLPACK_DEVICE_NAMES = {2: "CUDA", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 14: "oneAPI"}


@dataclass(frozen=True, slots=True)
class Contents:
    """One argument as arrays: `data` for anything rectangular, `columns` for a data frame."""

    data: NDArray[Any] | None
    columns: tuple[NDArray[Any], ...] | None = None
    names: tuple[str, ...] | None = None
    """Names of the columns of a data frame; None if they have none, or are only numbered from 0."""
    eps: float = float(np.finfo(np.float64).eps)
    index: Any = None
    """The row labels of a pandas object; None if they only count the rows from 0."""
    n_ignored: int | None = None
    """How many rows with the label `ignore_index` were left out; None if it was not given."""

    @classmethod
    def of_columns(cls, columns: Sequence[NDArray[Any]], names: Sequence[str] | None = None) -> Contents:
        """Columns that are arrays, as readers of files return them."""
        counted = names is None or list(names) == [str(place) for place in range(len(columns))]
        own = None if names is None or counted else tuple(names)
        return cls(None, tuple(columns), own, max(_eps(column.dtype) for column in columns))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows and, unless one-dimensional, of columns."""
        if self.columns is not None:
            return (len(self.columns[0]) if self.columns else 0, len(self.columns))
        assert self.data is not None
        return self.data.shape

    def take(self, which: NDArray[np.intp] | slice) -> Contents:
        """Some of the rows, in the given order."""
        if self.columns is not None:
            return replace(self, columns=tuple(column[which] for column in self.columns))
        assert self.data is not None
        if isinstance(which, slice):
            return replace(self, data=self.data[which])
        return replace(self, data=np.take(self.data, which, axis=0))  # four times as fast as an index

    def reorder(self, places: Sequence[int]) -> Contents:
        """The columns of a data frame in another order."""
        columns, names = self.columns or (), self.names or ()
        return replace(self, columns=tuple(columns[i] for i in places), names=tuple(names[i] for i in places))

    @property
    def flat(self) -> Contents:
        """A single column, (rows, 1), as one dimension."""
        shape = self.shape
        if len(shape) != 2 or shape[1] != 1:
            return self
        data = self.columns[0] if self.columns is not None else self.data
        assert data is not None
        return replace(self, data=data.reshape(-1), columns=None, names=None)

    def head(self, n_rows: int) -> NDArray[Any]:
        """The first rows as one array."""
        if self.columns is not None:
            return np.stack([column[:n_rows] for column in self.columns], axis=1)
        assert self.data is not None
        return self.data[:n_rows] if self.data.ndim else self.data


def contents_of(value: Any, argument: str) -> Contents:
    """The arrays inside `value`; a refusal that names the argument if it cannot be read."""
    if isinstance(value, np.ndarray):
        return _from_numpy(value, argument)
    if isinstance(value, Contents):
        return value
    if isinstance(value, (list, tuple)):
        return _from_sequence(value, argument)
    if value is None or isinstance(value, (str, bytes, dict)):
        raise _not_an_array(value, argument)
    return _from_frame(value, argument) or _from_tensor(value, argument) or _from_array_like(value, argument)


def _not_an_array(value: Any, argument: str) -> InvalidTypeError:
    cause = f"`{argument}` must be an array, a data frame or a tensor, got {type(value).__name__}"
    remedy = "collect() it first, or use trueness.adapters.queries" if _is_query(value) else ""
    return InvalidTypeError("wrong-type", cause, remedy, argument=argument)


def _is_query(value: Any) -> bool:
    """Whether this is a lazy frame or a relation, which has rows once it is run."""
    return any(hasattr(value, name) for name in ("collect", "to_arrow_reader", "fetch_record_batch"))


def _from_numpy(value: NDArray[Any], argument: str) -> Contents:
    mask = getattr(value, "mask", None)  # np.ma.MaskedArray, without importing np.ma
    if mask is not None:
        refuse_missing(np.broadcast_to(mask, value.shape), argument, "masked")
    return Contents(np.asarray(value), eps=_eps(value.dtype))


@cache  # the name of a dtype is composed each time
def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """Whether this is the type that ml_dtypes registers, of a kind of its own."""
    return dtype.name == "bfloat16"


@cache
def _eps(dtype: np.dtype[Any]) -> float:
    """The spacing of the dtype's numbers at 1: the precision of a value that came in it."""
    if is_bfloat16(dtype):  # finfo does not support it
        return _BFLOAT16_EPS
    return float(np.finfo(dtype).eps) if dtype.kind == "f" else float(np.finfo(np.float64).eps)


def _from_sequence(value: Any, argument: str) -> Contents:
    _refuse_masked_inside(value, argument)
    try:
        array = np.asarray(value, dtype=_dtype_for(value))
    except (ValueError, TypeError, RuntimeError) as error:
        cause = f"`{argument}` is not a rectangular array of numbers: {error}"
        raise InvalidValueError("wrong-shape", cause, argument=argument) from error
    return _from_numpy(array, argument)


def _refuse_masked_inside(value: Sequence[Any], argument: str) -> None:
    """Refuse masked values inside a list, whose masks NumPy would ignore."""
    if not _may_be_masked(value):
        return
    for row, item in enumerate(value):
        parts = item if isinstance(item, (list, tuple)) and _may_be_masked(item) else [item]
        for part in parts:
            if isinstance(part, np.ndarray) and np.any(getattr(part, "mask", False)):
                raise _missing_value(argument, row, "masked")


def _may_be_masked(value: Sequence[Any]) -> bool:
    """Whether a subclass of ndarray is among the types of the items, or of the items inside them."""
    kinds = set(map(type, value))
    for item in value if kinds & {list, tuple} else ():
        if isinstance(item, (list, tuple)):
            kinds |= set(map(type, item))
    return any(issubclass(kind, np.ndarray) and kind is not np.ndarray for kind in kinds)


def _dtype_for(value: Any) -> type[object] | None:
    """object for names, which NumPy's own strings would pad to the width of the longest; else None."""
    return object if value and isinstance(value[0], str) and all(isinstance(v, str) for v in value) else None


def _from_frame(value: Any, argument: str) -> Contents | None:
    """The columns of pandas, Polars, PyArrow and whatever else narwhals supports; None for anything else."""
    import narwhals.stable.v1 as nw

    if nw.dependencies.is_into_series(value):
        series = nw.from_native(value, series_only=True)
        array = _column(series, argument)
        return Contents(array, eps=_eps(array.dtype), index=_own_index(nw.maybe_get_index(series)))
    if not nw.dependencies.is_into_dataframe(value):
        return None
    try:
        frame = nw.from_native(value, eager_only=True)
        names = tuple(str(name) for name in frame.columns)
    except nw.exceptions.NarwhalsError as error:
        reason = " ".join(str(error).split())
        cause = f"`{argument}` is a data frame that cannot be read: {reason}"
        raise InvalidValueError("unreadable", cause, argument=argument) from error
    columns = tuple(_column(series, column_name(series.name, argument)) for series in frame.iter_columns())
    if not columns:
        cause = f"`{argument}` is a data frame without columns"
        raise InvalidValueError("wrong-shape", cause, argument=argument)
    return replace(Contents.of_columns(columns, names), index=_own_index(nw.maybe_get_index(frame)))


def column_name(column: str, argument: str) -> str:
    """How messages name a column of a data frame."""
    return f"column {column!r} of {argument}"


def _own_index(index: Any) -> Any:
    """The row labels of a pandas object; None if there are none, or if they only count the rows from 0."""
    if index is None:
        return None
    counting = np.array_equal(np.asarray(index), np.arange(len(index)))
    return None if counting else index


def index_of_series(series: Any) -> Any:
    """The row labels of a series of narwhals that is one of pandas; None if they only count the rows from 0."""
    import narwhals.stable.v1 as nw

    return _own_index(nw.maybe_get_index(series))


def refuse_other_index(argument: str, index: Any, other: str, other_index: Any) -> None:
    """Refuse pandas objects whose row labels differ: rows may belong together by position or by label."""
    if index is None or other_index is None or len(index) != len(other_index) or index.equals(other_index):
        return
    unlike = (row for row, (a, b) in enumerate(zip(index, other_index, strict=True)) if a != b)
    row = next(unlike, 0)
    raise InvalidValueError(
        "different-indexes",
        f"`{argument}` and `{other}` have different indexes ({index[row]!r} and {other_index[row]!r} in row "
        f"{row})",
        f"align them ({argument}.reindex({other}.index)), or call reset_index(drop=True) on both if rows "
        "belong together by position",
        argument=argument,
        row=row,
    )


def _column(series: Any, argument: str) -> NDArray[Any]:
    if series.null_count():
        refuse_missing(series.is_null().to_numpy(), argument)
    return np.asarray(series.to_numpy())


def refuse_missing(missing: NDArray[Any], argument: str, kind: str = "missing") -> None:
    """Refuse the first row of a mask that is not all False."""
    if np.any(missing):
        raise _missing_value(argument, int(np.argwhere(missing)[0][0]), kind)


def refuse_none(array: NDArray[Any], argument: str) -> None:
    """Refuse the first row of an object array that holds None."""
    refuse_missing(np.array([value is None for value in array.ravel()], bool).reshape(array.shape), argument)


def _missing_value(argument: str, row: int, kind: str) -> InvalidValueError:
    cause = f"`{argument}` has a {kind} value in row {row}"
    remedy = "fill or leave out such rows first"
    return InvalidValueError("missing-value", cause, remedy, argument=argument, row=row)


def _from_tensor(value: Any, argument: str) -> Contents | None:
    """torch, JAX and anything else with DLPack in memory that the CPU can read; None without DLPack."""
    if not (hasattr(value, "__dlpack__") and hasattr(value, "dtype")):
        return None
    if hasattr(value, "detach"):
        value = value.detach()  # a torch tensor that is part of a graph does not export its memory
    if hasattr(value, "resolve_neg"):
        value = value.resolve_conj().resolve_neg()  # torch may keep a sign as a mark beside the memory
    _require_host_memory(value, argument)
    eps = None
    if str(value.dtype).endswith("bfloat16"):  # NumPy has no such type, float32 holds all its values
        value = value.float() if hasattr(value, "float") else value.astype("float32")
        eps = _BFLOAT16_EPS
    try:
        array = np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise _unreadable_tensor("cannot be read through DLPack", value, argument, error) from error
    return Contents(array, eps=_eps(array.dtype) if eps is None else eps)


def _require_host_memory(value: Any, argument: str) -> None:
    try:
        kind = int(value.__dlpack_device__()[0])
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise _unreadable_tensor("has no memory that can be read", value, argument, error) from error
    if kind not in _DLPACK_HOST_DEVICES:
        device = _DLPACK_DEVICE_NAMES.get(kind, f"DLPack kind {kind}")
        cause = (
            f"`{argument}` is on device {device} and is not copied to the host automatically: pass "
            f"{argument}.cpu() (torch) or jax.device_get({argument}) (JAX)"
        )
        raise InvalidTypeError("device-memory", cause, argument=argument)


def _unreadable_tensor(what: str, value: Any, argument: str, reason: Exception) -> InvalidTypeError:
    cause = f"`{argument}` ({type(value).__name__}) {what}: {reason}"
    return InvalidTypeError("unreadable", cause, argument=argument)


def _from_array_like(value: Any, argument: str) -> Contents:
    if not hasattr(value, "__array__"):
        raise _not_an_array(value, argument)
    if getattr(value, "null_count", 0):  # a pyarrow.Array, which is neither series nor tensor
        refuse_missing(np.asarray(value.is_null()), argument)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise _unreadable_tensor("cannot be read", value, argument, error) from error
    return _from_numpy(array, argument)

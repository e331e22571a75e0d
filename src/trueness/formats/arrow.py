"""Arrow types and arrays as NumPy ones, without copying where possible.

pyarrow is optional: it is imported when a function here is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.formats.fields import Field
from trueness.refusals import MissingLibraryError

BATCH_BYTES = 2**26
"""The most memory that the rows of a batch may take, however few they are."""


def pyarrow() -> Any:
    """The library, or a refusal that says how to install it."""
    try:
        import pyarrow as pa
    except ImportError:
        cause = "this needs pyarrow, which is not installed"
        remedy = "pip install 'trueness[cli]', or use NPY or NPZ files"
        raise MissingLibraryError("missing-library", cause, remedy) from None
    return pa


def field_of(type: Any) -> Field:
    """The kind of column that an Arrow type makes."""
    types = pyarrow().types
    type = getattr(type, "storage_type", type)
    if types.is_dictionary(type):
        return field_of(type.value_type)
    if types.is_fixed_size_list(type) or types.is_list(type) or types.is_large_list(type):
        width = type.list_size if types.is_fixed_size_list(type) else None
        return Field("list", width) if field_of(type.value_type).numeric else Field("nested")
    return Field(_scalar_kind(types, type))


def _scalar_kind(types: Any, type: Any) -> str:
    if types.is_integer(type):
        return "integer"
    if types.is_floating(type) or types.is_decimal(type):
        return "number"
    if types.is_boolean(type):
        return "boolean"
    if types.is_string(type) or types.is_large_string(type) or str(type) == "string_view":
        return "text"
    # Nested: struct, map, union, list-view, run-end encoded. Neither these nor intervals have one text a row.
    return "nested" if types.is_nested(type) or types.is_interval(type) else "other"


class Values(NamedTuple):
    """One number a row, and which of them are missing (None: no value is missing)."""

    data: NDArray[Any]
    missing: NDArray[np.bool_] | None = None


def plain(column: Any) -> Any:
    """An Arrow array without extension type or chunks; a dictionary array stays one."""
    pa = pyarrow()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return column.storage if isinstance(column, pa.ExtensionArray) else column


def gather_tables(parts: Iterable[Any], rows: int) -> Iterator[Any]:
    """Tables or record batches concatenated into tables of about this many rows: each table has a fixed cost."""
    pa = pyarrow()
    waiting: list[Any] = []
    n_rows = n_bytes = 0
    for part in parts:
        waiting.append(pa.Table.from_batches([part]) if isinstance(part, pa.RecordBatch) else part)
        n_rows, n_bytes = n_rows + part.num_rows, n_bytes + part.nbytes
        if n_rows >= rows or n_bytes >= BATCH_BYTES:
            yield pa.concat_tables(waiting)
            waiting, n_rows, n_bytes = [], 0, 0
    if waiting:
        yield pa.concat_tables(waiting)


def values_of(column: Any) -> Values:
    """A column of numbers as a NumPy array."""
    if isinstance(column, np.ndarray):
        return Values(column)
    pa = pyarrow()
    column = plain(column)
    column = column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    missing = nulls_of(column)
    if missing is not None:
        filler = False if pa.types.is_boolean(column.type) else 0
        column = column.fill_null(pa.scalar(filler, column.type))
    return Values(numpy_view(column), missing)


def numpy_view(column: Any) -> NDArray[Any]:
    """An array without nulls as a NumPy array: a view of its memory for numbers of whole bytes.

    `to_numpy` would import pandas, which takes longer than reading most files.
    """
    types, type = pyarrow().types, column.type
    if types.is_integer(type) or types.is_floating(type):
        kind = "f" if types.is_floating(type) else "i" if types.is_signed_integer(type) else "u"
        dtype = np.dtype(f"{kind}{type.bit_width // 8}")
        values = column.buffers()[1]
        if values is None:  # no rows
            return np.empty(0, dtype)
        return np.frombuffer(values, dtype, len(column), column.offset * dtype.itemsize)
    return np.asarray(column.to_numpy(zero_copy_only=False))


class Matrix(NamedTuple):
    """The numbers of a list column, (rows, width), the rows with missing values and those of another length."""

    data: NDArray[Any]
    missing: NDArray[np.bool_] | None = None
    ragged: NDArray[np.bool_] | None = None
    lengths: NDArray[np.int64] | None = None


def matrix_of(column: Any, width: int) -> Matrix:
    """A list column as a matrix: a view of its memory if every row has `width` numbers and none is missing."""
    if isinstance(column, np.ndarray):
        return Matrix(column)
    pa = pyarrow()
    column = plain(column)
    column = column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
    if pa.types.is_fixed_size_list(column.type):
        size = column.type.list_size
        # `.values` of a slice is the whole memory, and `.flatten()` drops missing rows.
        flat = column.values.slice(column.offset * size, len(column) * size)
        lengths = np.full(len(column), size)
        if size == width and column.null_count == 0 and flat.null_count == 0:
            return Matrix(values_of(flat).data.reshape(len(column), width))
        return _irregular(flat, np.arange(len(column)) * size, lengths, nulls_of(column), width)
    offsets = column.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    lengths = np.diff(offsets)
    flat = column.values.slice(offsets[0], offsets[-1] - offsets[0])
    starts, missing = offsets[:-1] - offsets[0], nulls_of(column)
    if missing is None and flat.null_count == 0 and bool(np.all(lengths == width)):
        return Matrix(values_of(flat).data.reshape(len(column), width))
    return _irregular(flat, starts, lengths, missing, width)


class ListValues(NamedTuple):
    """The numbers of a list column one after the other, where each row begins, its length, and what is missing."""

    data: NDArray[Any]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    missing: NDArray[np.bool_] | None = None
    """Rows that are missing, or in which a number is."""


def lists_of(column: Any) -> ListValues:
    """A list column whose rows may have different lengths."""
    if isinstance(column, np.ndarray):
        n_rows, width = column.shape
        return ListValues(column.reshape(-1), np.arange(n_rows) * width, np.full(n_rows, width, np.int64))
    pa = pyarrow()
    column = plain(column)
    column = column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
    absent = nulls_of(column)
    if pa.types.is_fixed_size_list(column.type):
        size = column.type.list_size
        flat = column.values.slice(column.offset * size, len(column) * size)
        starts, lengths = np.arange(len(column)) * size, np.full(len(column), size, np.int64)
    else:
        offsets = column.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
        flat = column.values.slice(offsets[0], offsets[-1] - offsets[0])
        starts, lengths = offsets[:-1] - offsets[0], np.diff(offsets)
    values = values_of(flat)
    if values.missing is not None:
        inside = np.concatenate([[0], np.cumsum(values.missing)])
        holes = inside[starts + lengths] > inside[starts]
        absent = holes if absent is None else absent | holes
    return ListValues(values.data, starts, lengths, absent)


def nulls_of(column: Any) -> NDArray[np.bool_] | None:
    """Which values of an Arrow array are missing; None if none is. Nulls inside a dictionary are ignored."""
    if column.null_count == 0:
        return None
    nulls: NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False)
    return nulls


def _irregular(
    flat: Any,
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    missing: NDArray[np.bool_] | None,
    width: int,
) -> Matrix:
    """The complete rows, and masks of the others, whose numbers are meaningless."""
    values = values_of(flat)
    absent = np.zeros(len(lengths), bool) if missing is None else missing.copy()
    ragged = (lengths != width) & ~absent
    whole = ~(ragged | absent)
    places = starts[whole, None] + np.arange(width)
    data = np.zeros((len(lengths), width), values.data.dtype)
    data[whole] = values.data[places]
    if values.missing is not None:
        absent[whole] |= values.missing[places].any(axis=1)
    return Matrix(data, absent, ragged, lengths)

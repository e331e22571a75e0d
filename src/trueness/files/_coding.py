"""Columns of names as codes: each different name is held once, whatever its length, without losing a character."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.formats.arrow import field_of, nulls_of, numpy_view, plain, pyarrow
from trueness.refusals import InvalidTypeError, InvalidValueError, quote, reason_of
from trueness.rows.class_columns import text_of
from trueness.rows.groups import EncodedNames, encode_names, in_order


def encode_column(column: Any, name: str, argument: str) -> EncodedNames:
    """The different values of a column as text, in order, and the code of each row; missing values have any code.

    `name` is the column's and `argument` the option that named it, for refusals.
    """
    refuse_nested(column, name, argument)
    try:
        return _encode_numpy(column) if isinstance(column, np.ndarray) else _encode_arrow(column)
    except NotImplementedError as error:  # from pyarrow, which cannot convert such values to text
        raise _wrong_type(name, argument, f"values of type {str(column.type)[:80]}") from error
    except ValueError as error:  # from NumPy, from pyarrow, or about bytes that are not UTF-8
        cause = f"column {quote(name)} (`{argument}`) holds text that cannot be read: {reason_of(error, 120)}"
        remedy = "write it again as UTF-8"
        raise InvalidValueError("not-utf-8", cause, remedy, argument=argument) from error


def _encode_numpy(column: NDArray[Any]) -> EncodedNames:
    if column.dtype.kind == "U" and column.size:
        _refuse_invalid_characters(column)
    if column.dtype.kind == "S":
        different, codes = np.unique(column, return_inverse=True)
        return in_order([name.decode() for name in different.tolist()], codes)
    names, codes = encode_names(column)
    return in_order([name.lower() for name in names] if column.dtype.kind == "b" else names, codes)


def _refuse_invalid_characters(column: NDArray[Any]) -> None:
    """Refuse numbers that are not codes of characters, for which Python raises an error of its own."""
    points = np.ascontiguousarray(column).view(np.dtype("u4").newbyteorder(column.dtype.byteorder))
    last = points.max(initial=0)
    if last > sys.maxunicode:
        raise ValueError(f"a character has the code {last:#x}, and the largest code is 0x10ffff")


def _encode_arrow(column: Any) -> EncodedNames:
    column = _as_dictionary(column)
    texts = _texts(column.dictionary)
    if not texts:
        return EncodedNames([""], np.zeros(len(column), np.int64))
    return in_order(texts, numpy_view(column.indices.fill_null(0)))


def _as_dictionary(column: Any) -> Any:
    """An Arrow column as a dictionary array; text unchanged, since it may be long, and most other types as text."""
    pa = pyarrow()
    column = plain(column)
    if isinstance(column, pa.DictionaryArray):
        return column
    if pa.types.is_floating(column.type):
        column = column.cast(pa.float64())
    elif not _is_plain(column.type) and not pa.types.is_binary(column.type):
        column = column.cast(pa.string())
    return column.dictionary_encode()


def _texts(values: Any) -> list[str]:
    """The values of a dictionary as text: true and false as files write them, 7.0 as 7."""
    pa = pyarrow()
    values = plain(values)
    if not _is_plain(values.type) and not pa.types.is_floating(values.type):
        values = values.cast(pa.string())
    return ["" if value is None else _text(value) for value in values.to_pylist()]


def _is_plain(type: Any) -> bool:
    return field_of(type).kind in ("integer", "boolean", "text")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else text_of(value)


def missing_values(column: Any) -> NDArray[np.bool_] | None:
    """Which values of a column are missing; None if none is."""
    if isinstance(column, np.ndarray):
        return None
    pa = pyarrow()
    column = plain(column)
    missing = nulls_of(column)
    if isinstance(column, pa.DictionaryArray) and column.dictionary.null_count:
        absent = column.dictionary.is_null().to_numpy(zero_copy_only=False)
        absent = absent[numpy_view(column.indices.fill_null(0))]
        missing = absent if missing is None else missing | absent
    return missing


def is_numeric(column: Any) -> bool:
    """Whether a column holds one number in each row, true and false included."""
    if isinstance(column, np.ndarray):
        return column.ndim == 1 and column.dtype.kind in "fiub"
    return field_of(column.type).numeric


def is_decimal(column: Any) -> bool:
    """Whether a column holds decimals, which float64 would round."""
    return not isinstance(column, np.ndarray) and pyarrow().types.is_decimal(column.type)


def refuse_nested(column: Any, name: str, argument: str) -> None:
    """Refuse a column whose rows hold several values, or values without a text."""
    if isinstance(column, np.ndarray):
        if column.ndim == 1:
            return
        found = f"an array of shape {column.shape[1:]} in each row"
    elif field_of(column.type).kind not in ("nested", "list"):
        return
    else:
        found = f"values of type {str(column.type)[:80]}"
    raise _wrong_type(name, argument, found)


def _wrong_type(name: str, argument: str, found: str) -> InvalidTypeError:
    cause = f"column {quote(name)} (`{argument}`) holds {found}"
    remedy = "name a column of numbers, text, dates or true/false"
    return InvalidTypeError("wrong-type", cause, remedy, argument=argument)

"""Columns of names as codes: each different name is held once, whatever its length, and no letter is lost.

NumPy's own text is as wide as the longest name, and drops NUL at its end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._class_columns import text_of
from trueness._combinations import Coded
from trueness.files._arrow import field_of, pyarrow
from trueness.files._errors import InputError


def coded(column: Any) -> Coded:
    """The different values of a column as text, in order, and the number of each row's; missing ones are any."""
    if isinstance(column, np.ndarray):
        different, codes = np.unique(column, return_inverse=True)
        return _in_order([_text(value) for value in different.tolist()], codes.reshape(-1))
    column = _encoded(column)
    texts = ["" if value is None else _text(value) for value in column.dictionary.to_pylist()]
    if not texts:
        return Coded([""], np.zeros(len(column), np.int64))
    codes = column.indices.fill_null(0).to_numpy(zero_copy_only=False)
    return _in_order(texts, codes)


def _in_order(texts: list[str], codes: NDArray[Any]) -> Coded:
    """Each text once, in order: dictionaries of files may hold one twice, or one that no row has."""
    used = np.unique(codes).tolist()
    names = sorted({texts[code] for code in used})
    place = {name: number for number, name in enumerate(names)}
    new = np.zeros(len(texts), np.int64)
    new[used] = [place[texts[code]] for code in used]
    return Coded(names, new[codes])


def _text(value: Any) -> str:
    """A value as a name: true and false as files write them, 7.0 as 7."""
    return str(value).lower() if isinstance(value, bool) else text_of(value)


def _encoded(column: Any) -> Any:
    """An Arrow column as a dictionary array; values that are neither text nor numbers as text."""
    pa = pyarrow()
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # of no rows
        column = pa.array([], column.type)
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if isinstance(column, pa.DictionaryArray):
        return column
    if pa.types.is_floating(column.type):
        column = column.cast(pa.float64())
    elif field_of(column.type).kind not in ("integer", "boolean", "text"):
        column = _as_text(column)
    return column.dictionary_encode()


def _as_text(column: Any) -> Any:
    pa = pyarrow()
    try:
        return column.cast(pa.string())
    except pa.ArrowException as error:
        raise InputError(
            f"a column of type {column.type} holds neither labels nor groups",
            "name a column of text, numbers, dates or truth values",
        ) from error


def missing_in(column: Any) -> NDArray[np.bool_] | None:
    """Which values of a column are missing; None if none is."""
    if isinstance(column, np.ndarray) or not column.null_count:
        return None
    nulls = (
        column.is_null().to_numpy(zero_copy_only=False) if not hasattr(column, "chunks") else column.is_null()
    )
    return np.asarray(nulls, dtype=bool)


def is_numeric(column: Any) -> bool:
    """Whether a column holds numbers, true and false included."""
    if isinstance(column, np.ndarray):
        return column.dtype.kind in "fiub"
    return field_of(column.type).numeric

"""Columns of a file as text, held in memory: labels in a file of their own, and other columns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from trueness.files._coding import encode_column, missing_values
from trueness.formats import InputFile, Kind, ReadOptions, endings_text, kind_of, open_reader
from trueness.formats.fields import Wanted
from trueness.refusals import InvalidValueError, nearest, quote

ROWS = 2**16
"""Rows that are converted at a time."""


def column_names(path: str, format: str | None = None, *, header: bool = True) -> list[str]:
    """The names of the columns of a file."""
    with closing(open_reader(_input(path, format), ReadOptions(header=header))) as reader:
        return list(reader.fields)


def read_text_columns(
    path: str, names: Sequence[str], format: str | None = None, *, header: bool = True
) -> dict[str, list[str | None]]:
    """Columns of a file as text, None where a value is missing; a missing column is refused."""
    found: dict[str, list[str | None]] = {name: [] for name in names}
    with closing(open_reader(_input(path, format), ReadOptions(header=header))) as reader:
        for name in names:
            if name not in reader.fields:
                cause = f"{path} has no column {quote(name)}"
                remedy = nearest(name, list(reader.fields))
                raise InvalidValueError("missing-column", cause, remedy, argument=path)
        for chunk in reader.chunks(Wanted((), names[0], tuple(names)), ROWS):
            for name, texts in found.items():
                texts.extend(_texts(chunk.columns[name], name))
    return found


def _texts(column: object, name: str) -> list[str | None]:
    encoded, missing = encode_column(column, name, "column"), missing_values(column)
    texts: list[str | None] = [encoded.names[code] for code in encoded.codes.tolist()]
    if missing is not None:
        texts = [None if absent else text for text, absent in zip(texts, missing.tolist(), strict=True)]
    return texts


def _input(path: str, format: str | None) -> InputFile:
    kind: Kind | None = kind_of(path, format)
    if kind is None:
        cause = f"{path}: the ending is unknown"
        raise InvalidValueError("unknown-format", cause, f"use {endings_text()}", argument=path)
    return InputFile(path, kind)

"""File formats: one module for each in `by_name`, whose name is the name of the format.

To add the format `abc`, write `by_name/abc.py` with a `FORMAT`: its endings, how it is read and, if it can be, written.
It then appears in `--format`, is recognised by its endings, and is listed in messages.

| module | what it holds |
|---|---|
| `fields`, `inputs` | columns, chunks and readers; files |
| `arrow` | Arrow types and arrays as NumPy ones |
| `_text_stream`, `_delimited`, `_numpy_arrays`, … | what several formats share |

Readers read a slice at a time. pyarrow is imported only by formats that need it, NumPy only when a file is opened, so
that the command can list the formats without loading either.
"""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from trueness.atomic_files import atomic_file
from trueness.formats import by_name
from trueness.formats._format import Format, PredictionChunks
from trueness.formats.fields import Reader, ReadOptions, TextLayout
from trueness.formats.inputs import STANDARD_INPUT, InputFile, Kind
from trueness.refusals import InvalidValueError, MissingLibraryError, quote

__all__ = [
    "Format",
    "PredictionChunks",
    "Reader",
    "ReadOptions",
    "TextLayout",
    "InputFile",
    "Kind",
    "STANDARD_INPUT",
    "format_names",
    "formats",
    "kind_of",
    "endings_text",
    "open_reader",
    "write_predictions",
]

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
"""Of text formats, by the ending after that of the format."""

_USUAL = ("parquet", "arrow", "csv", "tsv", "jsonl", "npy", "npz")
"""Listed first, the most useful ones before the others; further formats follow by name."""


def format_names() -> tuple[str, ...]:
    """The names of all formats, without importing them."""
    found = {module.name for module in pkgutil.iter_modules(by_name.__path__)}
    return (*(name for name in _USUAL if name in found), *sorted(found.difference(_USUAL)))


def formats() -> Mapping[str, Format]:
    """All formats by name."""
    return _formats_in(tuple(by_name.__path__))


@cache
def _formats_in(_folders: tuple[str, ...]) -> Mapping[str, Format]:
    """Imported once for the folders that `by_name` has."""
    return {name: import_module(f"{by_name.__name__}.{name}").FORMAT for name in format_names()}


def kind_of(path: str, format: str | None = None) -> Kind | None:
    """The format by the file's ending, unless it is given; None if the ending is unknown.

    >>> kind_of("a/preds.csv.gz"), kind_of("notes.txt")
    (Kind(format='csv', compression='gzip'), None)
    """
    stem, ending = os.path.splitext(path.lower())
    compression = COMPRESSIONS.get(ending)
    if compression is not None:
        ending = os.path.splitext(stem)[1]
    name = format or next((name for name, found in formats().items() if ending in found.endings), None)
    if name is None or (compression is not None and not formats()[name].is_text):
        return None
    return Kind(name, compression)


def endings_text(*, written: bool = False) -> str:
    """The known endings, or those that can be written, for messages.

    >>> endings_text(written=True)
    '.parquet, .arrow, .csv, .tsv, .jsonl, .npz (.csv, .tsv, .jsonl also with .gz or .zst)'
    """
    found = [format for format in formats().values() if format.write is not None or not written]
    endings = [ending for format in found for ending in (format.endings[:1] if written else format.endings)]
    text = [format.endings[0] for format in found if format.is_text]
    return f"{', '.join(endings)} ({', '.join(text)} also with .gz or .zst)"


def open_reader(input: InputFile, options: ReadOptions) -> Reader:
    """An open file. Text whose format is not stated is recognised by its first byte, and is CSV otherwise."""
    format = None if input.kind.format is None else _usable(input.kind.format)
    if format is not None and format.open_file is not None:
        return format.open_file(input, options)
    from trueness.formats._text_stream import TextStream

    stream = TextStream(input, options)
    try:
        first_byte = stream.first_byte()
        format = format or _usable(_recognise(first_byte))
        assert format.open_text is not None
        return format.open_text(stream, options)
    except BaseException:
        stream.close()
        raise


def _recognise(first_byte: bytes) -> str:
    """The name of the text format that begins with this byte."""
    return next((name for name, format in formats().items() if format.first_byte == first_byte), "csv")


def write_predictions(path: str, chunks: Iterable[tuple[Any, Any]], n_rows: int, n_classes: int) -> None:
    """Write labels `y_true` and probabilities in the format of the file's ending, atomically.

    The probabilities are columns `p_0`, `p_1`, …, or one column of lists `y_prob` in formats that have lists.
    """
    kind = kind_of(path)
    writer = None if kind is None or kind.format is None else _usable(kind.format).write
    if kind is None or writer is None:
        endings = endings_text(written=True)
        cause = f"files with the ending of {quote(path)} cannot be written"
        raise InvalidValueError("unknown-format", cause, f"use {endings}")
    with atomic_file(path) as beside:
        writer(beside, kind, PredictionChunks(chunks, n_rows, n_classes))


def _usable(name: str) -> Format:
    """The format, if the library that it needs is installed."""
    format = formats()[name]
    if format.needs is not None and find_spec(format.needs) is None:
        cause = f"{name} files need {format.needs}, which is not installed"
        remedy = f"pip install 'trueness[{format.extra}]'"
        raise MissingLibraryError("missing-library", cause, remedy)
    return format

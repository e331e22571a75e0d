"""Arrays of NPY and NPZ files, read a slice at a time: never a pickle, and sizes are checked before memory is taken.

NumPy's own loader would hold a compressed array whole. NumPy reads the header here, which is compared with the number
of bytes in the file before anything of the declared size is made.
"""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from tokenize import TokenError
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from trueness.formats.fields import MAX_CLASSES, Chunk, Field, Wanted
from trueness.refusals import InvalidValueError, Refusal, quote, reason_of

MAX_ROW_BYTES = 2**24
MAX_HELD_BYTES = 2**28
"""The largest array in a compressed file that is stored column by column, and so cannot be read in slices."""

MAX_HEADER_BYTES = 10_000

_UNREADABLE = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    SyntaxError,
    TokenError,
    EOFError,
    OSError,
    RecursionError,
    MemoryError,
    OverflowError,
    zlib.error,
    zipfile.BadZipFile,
)
"""What NumPy's parser of headers and the streams may raise for a damaged file."""

_KINDS = {"f": "number", "i": "integer", "u": "integer", "b": "boolean", "U": "text", "S": "text"}


class Header(NamedTuple):
    """What the header of an array declares."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_columns: bool
    offset: int

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.shape[0]

    @property
    def row_bytes(self) -> int:
        """The number of bytes in a row."""
        return self.dtype.itemsize * math.prod(self.shape[1:])

    @property
    def field(self) -> Field:
        """The kind of column: a two-dimensional array is a list column."""
        kind = _KINDS[self.dtype.kind]
        if len(self.shape) == 1:
            return Field(kind)
        return Field("list", self.shape[1]) if kind in ("number", "integer", "boolean") else Field("other")


class _Limited:
    """A stream for NumPy's reader of headers, which would read as many bytes as a header declares."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def read(self, n_bytes: int) -> bytes:
        """The next bytes, unless they are more than a header has."""
        if n_bytes > MAX_HEADER_BYTES:
            raise ValueError(f"its header has {n_bytes} bytes")
        return self._stream.read(n_bytes)


_HEADER_READERS: Mapping[tuple[int, int], Callable[..., Any]] = {
    (1, 0): npy_format.read_array_header_1_0,
    (2, 0): npy_format.read_array_header_2_0,
}


def read_header(stream: IO[bytes], n_bytes: int, place: str) -> Header:
    """The header, checked against the number of bytes of header and array."""
    try:
        limited = _Limited(stream)
        version = npy_format.read_magic(limited)  # type: ignore[arg-type]
        shape, by_columns, dtype = _HEADER_READERS[version](limited, max_header_size=MAX_HEADER_BYTES)
    except _UNREADABLE as error:
        cause = f"{place} is not a NumPy array: {reason_of(error, 150)}"
        remedy = "write it with numpy.save or savez"
        raise InvalidValueError("unreadable-file", cause, remedy) from error
    header = Header(shape, dtype, by_columns and len(shape) > 1, stream.tell())
    _refuse_unusable(header, place)
    declared = header.offset + header.n_rows * header.row_bytes
    if declared != n_bytes:
        cause = f"{place} declares {declared} bytes (shape {shape}), but holds {n_bytes}"
        remedy = "it is damaged or truncated: create the file again"
        raise InvalidValueError("damaged-file", cause, remedy)
    return header


def _refuse_unusable(header: Header, place: str) -> None:
    if header.dtype.hasobject:
        cause = f"{place} holds Python objects (a pickle), which may run code when they are read"
        remedy = "save plain numbers or text: np.save(..., allow_pickle=False)"
        raise InvalidValueError("pickle", cause, remedy)
    usual = len(header.shape) in (1, 2) and min(header.shape) >= 0
    if header.dtype.kind not in _KINDS or not usual:
        cause = f"{place} has dtype {header.dtype} and shape {header.shape}"
        remedy = "arrays have one or two dimensions and hold numbers or text"
        raise InvalidValueError("wrong-shape", cause, remedy)
    if header.row_bytes > MAX_ROW_BYTES or (len(header.shape) == 2 and header.shape[1] > MAX_CLASSES):
        cause = f"{place} has rows of {header.row_bytes} bytes (shape {header.shape})"
        remedy = f"rows have at most {MAX_ROW_BYTES} bytes; was the array transposed?"
        raise InvalidValueError("wrong-shape", cause, remedy)


class _Array:
    """One array in an open stream, read from front to back."""

    def __init__(self, stream: IO[bytes], n_bytes: int, place: str, seekable: bool) -> None:
        self.header = read_header(stream, n_bytes, place)
        self._stream, self._place, self._row = stream, place, 0
        self._seekable = seekable
        self._whole: NDArray[Any] | None = None

    def take(self, rows: int) -> NDArray[Any]:
        """The next rows, at most this many."""
        n = min(rows, self.header.n_rows - self._row)
        start, self._row = self._row, self._row + n
        if self.header.by_columns and not self._seekable:
            self._whole = self._read_whole() if self._whole is None else self._whole
            return self._whole[start : self._row]
        if self.header.by_columns:
            columns = [self._column(c, start, n) for c in range(self.header.shape[1])]
            return np.stack(columns, axis=1)
        data = self._read(n * self.header.row_bytes)
        return np.frombuffer(data, self.header.dtype).reshape(n, *self.header.shape[1:])

    def _column(self, c: int, start: int, n: int) -> NDArray[Any]:
        item = self.header.dtype.itemsize
        self._stream.seek(self.header.offset + (c * self.header.n_rows + start) * item)
        return np.frombuffer(self._read(n * item), self.header.dtype)

    def _read_whole(self) -> NDArray[Any]:
        n_bytes = self.header.n_rows * self.header.row_bytes
        if n_bytes > MAX_HELD_BYTES:
            raise InvalidValueError(
                "too-large",
                f"{self._place} is stored column by column, {n_bytes} bytes, and cannot be "
                "read a part at a time",
                "save it row by row: np.savez(..., y_prob=np.ascontiguousarray(y_prob)), or as NPY",
            )
        return np.frombuffer(self._read(n_bytes), self.header.dtype).reshape(self.header.shape, order="F")

    def _read(self, n_bytes: int) -> bytes:
        try:
            data = self._stream.read(n_bytes)
        except (zlib.error, zipfile.BadZipFile, EOFError, OSError) as error:
            cause = f"{self._place} is damaged: {reason_of(error)}"
            remedy = "create the file again with numpy.savez"
            raise InvalidValueError("damaged-file", cause, remedy) from error
        if len(data) != n_bytes:
            cause = f"{self._place} is truncated"
            raise InvalidValueError("damaged-file", cause, "create the file again")
        return data


class Opened(NamedTuple):
    """An array's stream at its beginning."""

    stream: IO[bytes]
    n_bytes: int
    place: str
    """The name of the array in messages."""
    seekable: bool


Opener = Callable[[ExitStack], Opened]
"""Opens an array; the stack closes it."""


class ArraysReader:
    """Arrays with the same number of rows, as columns."""

    def __init__(self, file: str, openers: Mapping[str, Opener]) -> None:
        self._file, self._openers = file, openers
        self._headers: dict[str, Header] = {}
        self._unusable: dict[str, Refusal] = {}
        for name in openers:
            try:
                with self._open_arrays([name]) as opened:
                    self._headers[name] = opened[name].header
            except Refusal as error:  # raised if the array is needed
                self._unusable[name] = error
        if not self._headers:
            raise next(iter(self._unusable.values()))

    @property
    def unusable(self) -> Mapping[str, Refusal]:
        """The arrays that cannot be read, and why."""
        return self._unusable

    @property
    def fields(self) -> Mapping[str, Field]:
        """The columns by name."""
        return {name: self._field(name) for name in self._openers}

    def _field(self, name: str) -> Field:
        problem = self._unusable.get(name)
        return self._headers[name].field if problem is None else Field("other", problem=problem)

    def first_width(self, name: str) -> int | None:
        """The number of values in each row of a list column."""
        header = self._headers[name]
        return header.shape[1] if header.n_rows else None

    def chunks(self, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        """The rows, this many at a time."""
        names = wanted.names
        for name in names:
            if name in self._unusable:
                raise self._unusable[name]
        n_rows = self._common_length(names)
        rows = max(1, min(rows, *(MAX_ROW_BYTES // max(self._headers[name].row_bytes, 1) for name in names)))
        with self._open_arrays(names) as opened:
            for start in range(0, n_rows, rows):
                stop = min(start + rows, n_rows)
                columns = {name: array.take(rows) for name, array in opened.items()}
                yield Chunk(columns, stop - start, stop / n_rows)

    def close(self) -> None:
        """Nothing is kept open between calls."""

    def _common_length(self, names: Sequence[str]) -> int:
        first, *others = names
        n_rows = self._headers[first].n_rows
        for name in others:
            if self._headers[name].n_rows != n_rows:
                raise InvalidValueError(
                    "wrong-length",
                    f"{quote(name)} has {self._headers[name].n_rows} rows, but {quote(first)} "
                    f"has {n_rows} in {self._file}",
                    "arrays of one file must have the same number of rows",
                )
        return n_rows

    @contextmanager
    def _open_arrays(self, names: Sequence[str]) -> Iterator[dict[str, _Array]]:
        with ExitStack() as stack:
            yield {name: _Array(*self._openers[name](stack)) for name in names}

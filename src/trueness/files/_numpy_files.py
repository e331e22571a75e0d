"""NPY and NPZ, read a slice at a time; never a pickle, and nothing is believed that a header declares.

NumPy's own loader would hold a compressed array whole. A header is checked against the bytes that are there before
anything of the declared size is made.
"""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.files._errors import InputError, shown
from trueness.files._fields import MAX_CLASSES, Chunk, Field, Wanted

MAX_ROW_BYTES = 2**24
MAX_HELD_BYTES = 2**28
"""Of an array that a compressed file holds column by column, which cannot be read a slice at a time."""

MAX_HEADER_BYTES = 10_000

_UNREADABLE = (
    ValueError,
    TypeError,
    SyntaxError,
    EOFError,
    OSError,
    RecursionError,
    MemoryError,
    OverflowError,
    zlib.error,
    zipfile.BadZipFile,
)

_KINDS = {"f": "number", "i": "integer", "u": "integer", "b": "boolean", "U": "text", "S": "text"}


class Header(NamedTuple):
    """What the head of an array declares."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_columns: bool
    offset: int

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self.shape[0]

    @property
    def row_bytes(self) -> int:
        """Bytes in a row."""
        return self.dtype.itemsize * math.prod(self.shape[1:])

    @property
    def field(self) -> Field:
        """What it holds, as a column: rows of two dimensions are a list column."""
        kind = _KINDS[self.dtype.kind]
        if len(self.shape) == 1:
            return Field(kind)
        return Field("list", self.shape[1]) if kind in ("number", "integer", "boolean") else Field("other")


def read_header(stream: IO[bytes], n_bytes: int, place: str) -> Header:
    """The header, checked against the number of bytes that the array takes with it."""
    try:
        shape, by_columns, dtype = _declared(stream)
    except _UNREADABLE as error:
        reason = " ".join(str(error).split())[:150]
        raise InputError(
            f"{place} is no NumPy array: {reason}", "write it with numpy.save or savez"
        ) from error
    header = Header(shape, dtype, by_columns and len(shape) > 1, stream.tell())
    _refuse_odd(header, place)
    declared = header.offset + header.n_rows * header.row_bytes
    if declared != n_bytes:
        raise InputError(
            f"{place} declares {declared} bytes (shape {shape}), but holds {n_bytes}",
            "it is damaged or cut off: write it again",
        )
    return header


def _declared(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """What the head of an NPY file says (format versions 1 to 3).

    Read here, because NumPy's own reader mends headers of Python 2 with a tokeniser, which stumbles over damaged ones.
    """
    magic = stream.read(8)
    if magic[:6] != b"\x93NUMPY" or len(magic) < 8 or magic[6] not in (1, 2, 3):
        raise ValueError("it does not begin as one")
    length = int.from_bytes(stream.read(2 if magic[6] == 1 else 4), "little")
    if length > MAX_HEADER_BYTES:
        raise ValueError(f"a header of {length} bytes")
    content = literal_eval(stream.read(length).decode("utf-8" if magic[6] == 3 else "latin-1").strip())
    if not isinstance(content, dict) or set(content) != {"descr", "fortran_order", "shape"}:
        raise ValueError("the header's fields are others")
    shape, by_columns, descr = content["shape"], content["fortran_order"], content["descr"]
    is_shape = isinstance(shape, tuple) and all(type(size) is int and size >= 0 for size in shape)
    if not is_shape or not isinstance(by_columns, bool):
        raise ValueError("the header's shape or order has no meaning")
    return shape, by_columns, np.dtype(descr)


def _refuse_odd(header: Header, place: str) -> None:
    if header.dtype.hasobject:
        raise InputError(
            f"{place} holds Python objects (a pickle), which may run code when they are read",
            "save plain numbers or text: np.save(..., allow_pickle=False)",
        )
    if header.dtype.kind not in _KINDS or len(header.shape) not in (1, 2):
        raise InputError(
            f"{place} has dtype {header.dtype} and shape {header.shape}",
            "arrays have one or two dimensions and hold numbers or text",
        )
    if header.row_bytes > MAX_ROW_BYTES or (len(header.shape) == 2 and header.shape[1] > MAX_CLASSES):
        raise InputError(
            f"{place} has rows of {header.row_bytes} bytes (shape {header.shape})",
            f"rows have at most {MAX_ROW_BYTES} bytes; was the array turned on its side?",
        )


class _Array:
    """One array in an open stream, handed out from front to back."""

    def __init__(self, stream: IO[bytes], n_bytes: int, place: str, seekable: bool) -> None:
        self.header = read_header(stream, n_bytes, place)
        self._stream, self._place, self._row = stream, place, 0
        self._seekable = seekable
        self._held: NDArray[Any] | None = None

    def take(self, rows: int) -> NDArray[Any]:
        """The next rows, at most so many."""
        n = min(rows, self.header.n_rows - self._row)
        start, self._row = self._row, self._row + n
        if self.header.by_columns and not self._seekable:
            self._held = self._hold() if self._held is None else self._held
            return self._held[start : self._row]
        if self.header.by_columns:
            columns = [self._column(c, start, n) for c in range(self.header.shape[1])]
            return np.stack(columns, axis=1)
        data = self._read(n * self.header.row_bytes)
        return np.frombuffer(data, self.header.dtype).reshape(n, *self.header.shape[1:])

    def _column(self, c: int, start: int, n: int) -> NDArray[Any]:
        item = self.header.dtype.itemsize
        self._stream.seek(self.header.offset + (c * self.header.n_rows + start) * item)
        return np.frombuffer(self._read(n * item), self.header.dtype)

    def _hold(self) -> NDArray[Any]:
        n_bytes = self.header.n_rows * self.header.row_bytes
        if n_bytes > MAX_HELD_BYTES:
            raise InputError(
                f"{self._place} is stored column by column, {n_bytes} bytes, and cannot be read a part at a time",
                "save it row by row: np.savez(..., y_prob=np.ascontiguousarray(y_prob)), or as NPY",
            )
        return np.frombuffer(self._read(n_bytes), self.header.dtype).reshape(self.header.shape, order="F")

    def _read(self, n_bytes: int) -> bytes:
        try:
            data = self._stream.read(n_bytes)
        except (zlib.error, zipfile.BadZipFile, EOFError, OSError) as error:
            raise InputError(
                f"{self._place} is damaged: {error}", "write it again with numpy.savez"
            ) from error
        if len(data) != n_bytes:
            raise InputError(f"{self._place} is cut off", "write it again")
        return data


class NumpyReader:
    """The arrays of an NPZ file, or an NPY file with one of labels beside it, as columns."""

    def __init__(self, path: str, arrays: Mapping[str, tuple[str, str | None]]) -> None:
        self._path, self._arrays = path, arrays
        self._headers: dict[str, Header] = {}
        self._odd: dict[str, InputError] = {}
        for name in arrays:
            try:
                with self._opened([name]) as opened:
                    self._headers[name] = opened[name].header
            except InputError as error:  # of no interest unless it is wanted
                self._odd[name] = error
        if not self._headers:
            raise next(iter(self._odd.values()))

    @classmethod
    def of_npz(cls, path: str) -> NumpyReader:
        """The arrays in an NPZ file."""
        try:
            with zipfile.ZipFile(path) as archive:
                names = archive.namelist()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise InputError(
                f"{path} is no NPZ file, or cut off: {error}", "write it again with numpy.savez"
            ) from error
        members = {name.removesuffix(".npy"): (path, name) for name in names if name.endswith(".npy")}
        if not members:
            raise InputError(f"{path} holds no arrays", "write it with numpy.savez")
        if len(members) != len(names):
            raise InputError(
                f"{path} holds something else than arrays, or one twice", "write it with numpy.savez"
            )
        return cls(path, members)

    @classmethod
    def of_npy(cls, path: str, label_file: str | None) -> NumpyReader:
        """An array of predictions, and the labels from a file of their own."""
        if label_file is None:
            raise InputError(f"{path} has no labels", "name an NPY file with them: --label-file labels.npy")
        reader = cls(path, {"y_prob": (path, None), "y_true": (label_file, None)})
        for error in reader._odd.values():  # both are wanted
            raise error
        return reader

    @property
    def fields(self) -> Mapping[str, Field]:
        """Its columns by name."""
        return {
            name: self._headers[name].field
            if name in self._headers
            else Field("other", problem=self._odd[name])
            for name in self._arrays
        }

    def first_width(self, name: str) -> int | None:
        """How many numbers the rows of a list column have."""
        header = self._headers[name]
        return header.shape[1] if header.n_rows else None

    def chunks(self, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        """The rows, so many at a time."""
        names = wanted.names
        for name in names:
            if name in self._odd:
                raise self._odd[name]
        n_rows = self._common_length(names)
        rows = max(1, min(rows, *(MAX_ROW_BYTES // max(self._headers[name].row_bytes, 1) for name in names)))
        with self._opened(names) as opened:
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
                raise InputError(
                    f"{shown(name)} has {self._headers[name].n_rows} rows, but {shown(first)} has {n_rows} "
                    f"in {self._path}",
                    "arrays of one file have as many rows as each other",
                )
        return n_rows

    @contextmanager
    def _opened(self, names: Sequence[str]) -> Iterator[dict[str, _Array]]:
        with ExitStack() as stack:
            yield {name: self._open(name, stack) for name in names}

    def _open(self, name: str, stack: ExitStack) -> _Array:
        path, member = self._arrays[name]
        if member is None:
            file = stack.enter_context(open(path, "rb"))  # noqa: SIM115  closed by the stack
            return _Array(file, os.path.getsize(path), path, seekable=True)
        archive = stack.enter_context(zipfile.ZipFile(path))
        place = f"{shown(name)} in {path}"
        try:
            stream = stack.enter_context(archive.open(member))
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError) as error:
            raise InputError(
                f"{place} cannot be opened: {error}", "write it again with numpy.savez"
            ) from error
        return _Array(stream, archive.getinfo(member).file_size, place, seekable=False)

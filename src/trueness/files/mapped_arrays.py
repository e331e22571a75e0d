"""Arrays of NPZ files without holding them whole: those that are stored uncompressed are mapped, as NPY files are."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

_HEADER_READERS: dict[tuple[int, int], Callable[..., Any]] = {
    (1, 0): npy_format.read_array_header_1_0,
    (2, 0): npy_format.read_array_header_2_0,
}
_LENGTHS, _NAME = 26, 30
"""Where the local header of a member has the lengths of name and extra field, and its name (APPNOTE.TXT, 4.3.7)."""


def read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether columns come first, and dtype of an array; a ValueError if it is none that can be read."""
    read = _HEADER_READERS.get(npy_format.read_magic(stream))
    if read is None:
        raise ValueError("unknown version of the NPY format")
    shape, by_columns, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError("it holds Python objects (a pickle), which are never read")
    return shape, by_columns, dtype


def array_in(path: str, name: str) -> NDArray[Any]:
    """An array of an NPZ file: a memory map if it is stored, else read. Its checksum is tested in either case."""
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(f"{name}.npy")
        if info.compress_type == zipfile.ZIP_STORED:
            with archive.open(info) as member:
                while member.read(2**20):  # to the end, where the checksum is compared
                    pass
    if info.compress_type != zipfile.ZIP_STORED:
        with np.load(path) as arrays:
            array: NDArray[Any] = arrays[name]
            return array
    return _mapped(path, info)


def _mapped(path: str, info: zipfile.ZipInfo) -> NDArray[Any]:
    with open(path, "rb") as stream:
        stream.seek(info.header_offset + _LENGTHS)
        begin = info.header_offset + _NAME + sum(struct.unpack("<HH", stream.read(4)))
        stream.seek(begin)
        shape, by_columns, dtype = read_header(stream)
        offset = stream.tell()
    n_bytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if offset + n_bytes != begin + info.file_size:
        raise ValueError(f"shape {shape} needs {n_bytes} bytes, but the array has another number")
    if n_bytes == 0:
        return np.zeros(shape, dtype)
    return np.memmap(path, dtype, "r", offset, shape, order="F" if by_columns else "C")

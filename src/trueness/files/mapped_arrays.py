"""Arrays of NPZ files without holding them whole: those that are stored uncompressed are mapped, as NPY files are."""

from __future__ import annotations

import math
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

DEFLATE_MOST = 1032
"""The most bytes that one compressed byte can stand for (RFC 1951: 258 bytes by two bits)."""


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
        _require_stated_size(path, info)
        with np.load(path) as arrays:
            array: NDArray[Any] = arrays[name]
            return array
    return _mapped(path, info)


def _require_stated_size(path: str, info: zipfile.ZipInfo) -> None:
    """Refuse a compressed array whose shape, or whose size in the archive, is more than the file can hold."""
    with zipfile.ZipFile(path) as archive, archive.open(info) as member:
        shape, _, dtype = read_header(member)
        _require_bytes(shape, dtype, info.file_size - member.tell())
    if info.file_size > DEFLATE_MOST * max(info.compress_size, 1):
        raise ValueError(f"{info.compress_size} compressed bytes cannot hold {info.file_size}")


def _require_bytes(shape: tuple[int, ...], dtype: np.dtype[Any], n_bytes: int) -> int:
    needed = math.prod(shape) * dtype.itemsize
    if needed != n_bytes:
        raise ValueError(f"shape {shape} needs {needed} bytes, but the array has {n_bytes}")
    return needed


def _mapped(path: str, info: zipfile.ZipInfo) -> NDArray[Any]:
    with open(path, "rb") as stream:
        stream.seek(info.header_offset + _LENGTHS)
        begin = info.header_offset + _NAME + sum(struct.unpack("<HH", stream.read(4)))
        stream.seek(begin)
        shape, by_columns, dtype = read_header(stream)
        offset = stream.tell()
    if _require_bytes(shape, dtype, begin + info.file_size - offset) == 0:
        return np.zeros(shape, dtype)
    return np.memmap(path, dtype, "r", offset, shape, order="F" if by_columns else "C")

"""Many numbers as one text: exact, short, and readable in any language.

The numbers are 64-bit and little-endian, integers or floats. Those of one column of an array come one after another.
First come the lowest bytes of all numbers, then the next ones, and so on: neighbours have similar high bytes, and sums
of a few float32 probabilities have low bytes of zero. These bytes are compressed by zlib (RFC 1950) and written in
base64 (RFC 4648).
"""

from __future__ import annotations

import base64
import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEWEST = 257
"""Fewer numbers are written out, for readers who look."""
MOST = 2**23
"""More are written out too, so that a short text never becomes more than 64 MB."""
_BYTES = 8


def is_packed_size(n: int) -> bool:
    """Whether so many numbers are packed."""
    return FEWEST <= n <= MOST


def pack(numbers: NDArray[Any]) -> str:
    """The numbers of an array of integers or floats as text."""
    along_columns = np.ascontiguousarray(numbers.T).astype(numbers.dtype.newbyteorder("<"))
    planes = along_columns.reshape(-1).view(np.uint8).reshape(-1, _BYTES).T
    return base64.b64encode(zlib.compress(planes.tobytes(), 9)).decode("ascii")


def unpack(text: str, shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray[Any]:
    """The array of this shape that was packed; ValueError if the text is not one."""
    count = math.prod(shape)
    raw = _decompress(text, count)
    if len(raw) != _BYTES * count:
        raise ValueError(f"it holds {len(raw) // _BYTES} numbers instead of {count}")
    return np.ascontiguousarray(_numbers(raw, dtype).reshape(shape[::-1]).T)


def unpack_at_most(text: str, most: int, dtype: type[np.generic]) -> NDArray[Any]:
    """The packed list of up to so many numbers."""
    return _numbers(_decompress(text, most), dtype)


def _numbers(raw: bytes, dtype: type[np.generic]) -> NDArray[Any]:
    planes = np.frombuffer(raw, np.uint8).reshape(_BYTES, -1)
    return np.ascontiguousarray(planes.T).view(np.dtype(dtype).newbyteorder("<"))[:, 0].astype(dtype)


def _decompress(text: str, most: int) -> bytes:
    """The bytes of at most so many numbers: whatever a text says, no more is allocated."""
    if most > MOST:
        raise ValueError(f"{most} numbers are too many to be packed")
    decompressor = zlib.decompressobj()
    try:
        raw = decompressor.decompress(base64.b64decode(text, validate=True), _BYTES * most + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not decompressor.eof or decompressor.unused_data or len(raw) % _BYTES:
        raise ValueError("its bytes are not those of 64-bit numbers")
    return raw

"""Working memory that is reused from block to block."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Scratch:
    """Named pieces of memory, each of which holds one array at a time.

    Page faults of newly allocated memory cost more than the arithmetic in it, and a few pieces stay in the cache. An
    array is valid until the next call with its name.

    >>> scratch = Scratch()
    >>> scratch.array("lines", (2, 3)).shape
    (2, 3)
    """

    def __init__(self) -> None:
        self._pieces: dict[str, NDArray[np.float64]] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
        """An array of that shape with arbitrary content; its items are of at most 8 bytes."""
        size = prod(shape)
        piece = self._pieces.get(name)
        if piece is None or piece.size < size:
            piece = self._pieces[name] = np.empty(size)
        return np.ndarray(shape, dtype, piece)

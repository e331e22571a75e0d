"""Names of groups and clusters: each different name once, and for each row which one it has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._sums import IntArray


def coded(names: NDArray[Any]) -> tuple[list[str], IntArray]:
    """The different names as text, in order, and for each row the place of its name among them.

    >>> names, code = coded(np.array([10.0, 2.0, 10.0]))
    >>> names, code.tolist()
    (['2', '10'], [1, 0, 1])
    """
    if names.dtype.kind == "O":
        return _coded_objects(names)
    different, code = np.unique(names, return_inverse=True)
    return [_text(name) for name in different.tolist()], code.astype(np.int64)


def _coded_objects(names: NDArray[Any]) -> tuple[list[str], IntArray]:
    """Through a dictionary, because an array of NumPy's own text is as wide as the longest name in every row."""
    places: dict[str, int] = {}
    found = np.fromiter(
        (places.setdefault(str(name), len(places)) for name in names.tolist()), np.int64, len(names)
    )
    ordered = sorted(places)
    rank = np.empty(len(ordered), np.int64)
    rank[[places[name] for name in ordered]] = np.arange(len(ordered))
    return ordered, rank[found]


def _text(name: Any) -> str:
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)

"""Names of groups and clusters: each different name once, and for each row which one it has.

NumPy's own text is as wide as the longest name in every row, and drops NUL at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._class_columns import text_of
from trueness._combinations import Coded


def coded(names: NDArray[Any]) -> Coded:
    """The different names as text, in order, and for each row the place of its name among them.

    >>> names, codes = coded(np.array([10.0, 2.0, 10.0]))
    >>> names, codes.tolist()
    (['2', '10'], [1, 0, 1])
    """
    if names.dtype.kind == "O":
        return _coded_objects(names)
    different, codes = np.unique(names, return_inverse=True)
    return Coded([text_of(name) for name in different.tolist()], codes.reshape(-1).astype(np.int64))


def _coded_objects(names: NDArray[Any]) -> Coded:
    places: dict[str, int] = {}
    found = np.fromiter(
        (places.setdefault(text_of(name), len(places)) for name in names.tolist()), np.int64, len(names)
    )
    return in_order(list(places), found)


def in_order(texts: Sequence[str], codes: NDArray[Any]) -> Coded:
    """Each text that a row has, once and in order: dictionaries of files may hold one twice, or one that no row has."""
    used = np.unique(codes).tolist()
    names = sorted({texts[code] for code in used})
    place = {name: number for number, name in enumerate(names)}
    new = np.zeros(len(texts), np.int64)
    new[used] = [place[texts[code]] for code in used]
    return Coded(names, new[codes])


def objects_of(names: Sequence[Any]) -> NDArray[np.object_]:
    """An array of Python objects, such as strings of any length."""
    made = np.empty(len(names), object)
    made[:] = names
    return made

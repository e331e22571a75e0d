"""Clusters of rows: a number for each name, the same in every process, and the number of each row's cluster."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import IntArray
from trueness.rows.groups import encode_names, names_of

Identities = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def identity(name: Any) -> int:
    """A number for the name of a cluster, the same in every process; 7.0 and 7 are the same cluster."""
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    letters = str(name).encode("utf-8", "surrogatepass")  # names may have lone surrogates
    return int.from_bytes(blake2b(letters, digest_size=8).digest(), "little")


def scramble(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of SplitMix64 (Steele, Lea and Flood 2014): a permutation of the 64-bit numbers.

    >>> scramble(np.array([0, 1], np.uint64)).tolist()
    [0, 6238072747940578789]
    """
    shifted = numbers >> np.uint64(30)
    mixed = numbers ^ shifted
    mixed *= _FIRST
    mixed ^= np.right_shift(mixed, np.uint64(27), out=shifted)
    mixed *= _SECOND
    mixed ^= np.right_shift(mixed, np.uint64(31), out=shifted)
    return mixed


def stream_words(start: NDArray[np.uint64], first: int, n: int) -> NDArray[np.uint64]:
    """The words first to first + n of SplitMix64 from each of the given states, (states, n)."""
    steps = (np.arange(first, first + n, dtype=np.uint64) + np.uint64(1)) * _GOLDEN
    return scramble(start[:, None] + steps)


class ClustersOfRows(NamedTuple):
    """The distinct clusters of some rows, in the order of their identities, and the position of each row's cluster."""

    identities: Identities
    names: tuple[str, ...]
    """In the same order."""
    codes: IntArray


def clusters_of_rows(clusters: Any, n_rows: int, index: Any = None) -> ClustersOfRows:
    """The clusters of rows, from one name for each row; a refusal names the argument."""
    return clusters_of_names(*encode_names(names_of("clusters", clusters, n_rows, index)))


def clusters_given(clusters: Any, n_rows: int, index: Any) -> ClustersOfRows | None:
    """The clusters of rows as an argument gives them; None if rows are independent."""
    if clusters is None or clusters is False:
        return None
    return clusters_of_rows(clusters, n_rows, index)


def clusters_of_names(names: Sequence[str], codes: IntArray) -> ClustersOfRows:
    """The clusters of rows, from distinct names and the position of each row's name among them."""
    identities = np.fromiter(map(identity, names), np.uint64, len(names))
    order = np.argsort(identities, kind="stable")
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    return ClustersOfRows(identities[order], tuple(names[k] for k in order.tolist()), place[codes])


def row_identities(positions: IntArray) -> Identities:
    """A number for each row as a cluster of its own, by its position in a longer stream."""
    return scramble((positions.astype(np.uint64) + np.uint64(1)) * _GOLDEN)

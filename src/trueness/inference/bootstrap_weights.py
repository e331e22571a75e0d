"""Poisson weights for a bootstrap that streams: which row got which weight depends on nothing but its place.

A bootstrap draws rows with replacement; giving each row a Poisson(1) weight of its own is the same in the limit, and
needs neither the number of rows nor the rows themselves. The weights of a row are keyed by its position (or by its
cluster) in a counter-based generator, so that batches, files and workers give the replicates of all rows at once.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trueness.rows.groups import coded

SLOTS = (24114, 24100, 12059, 4018, 1005, 201, 34, 5)
"""Of 2¹⁶ equally likely numbers, how many give the weight 0, 1, 2, …: Poisson(1) with mean and variance exactly 1."""

_THRESHOLDS = np.cumsum(SLOTS)[:-1].astype(np.uint16)

BLOCK_ROWS = 1024
"""Positions that share a stream."""


class Weights(Protocol):
    """Bootstrap weights of rows, for all replicates."""

    def block(self, start: int, stop: int) -> NDArray[np.uint8]:
        """The weights of rows start to stop, (rows, B)."""
        ...


def stream_key(seed: list[int]) -> int:
    """A key for all streams of a seed."""
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


def _weights(key: int, which: int, n: int, resamples: int) -> NDArray[np.uint8]:
    """n lines of weights from the stream (key, which)."""
    words = -(-n * resamples // 4)  # of 64 bits, four numbers in each
    raw = np.random.Philox(key=np.array([key, which], np.uint64)).random_raw(words)
    numbers = raw.astype("<u8", copy=False).view("<u2")[: n * resamples].reshape(n, resamples)
    weights = np.zeros(numbers.shape, np.uint8)
    for threshold in _THRESHOLDS:
        weights += numbers >= threshold
    return weights


class RowWeights:
    """Weights by position, counted from `first_row` of a longer stream."""

    def __init__(self, key: int, resamples: int, first_row: int = 0) -> None:
        self.key, self.resamples, self.first_row = key, resamples, first_row

    def block(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Weights of rows start to stop, (rows, B)."""
        begin, end = self.first_row + start, self.first_row + stop
        blocks = range(begin // BLOCK_ROWS, -(-end // BLOCK_ROWS))
        lines = [_weights(self.key, which, BLOCK_ROWS, self.resamples) for which in blocks]
        first = begin - blocks.start * BLOCK_ROWS
        return (
            np.concatenate(lines)[first : first + end - begin]
            if len(lines) > 1
            else lines[0][first : first + end - begin]
        )

    def clusters(self, which: NDArray[np.intp]) -> None:  # noqa: ARG002
        """Rows stand for themselves."""
        return


class ClusterWeights:
    """Weights by cluster, the same for all its rows wherever they stand."""

    def __init__(self, key: int, resamples: int, clusters: NDArray[Any]) -> None:
        names, self.code = coded(clusters)
        self.identities = identities = [identity(name) for name in names]
        self.of_cluster = lru_cache(maxsize=8192)(
            lambda code: _weights(key, identities[code], 1, resamples)[0]
        )

    def block(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Weights of rows start to stop, (rows, B)."""
        present, place = np.unique(self.code[start:stop], return_inverse=True)
        return np.stack([self.of_cluster(code) for code in present.tolist()])[place]

    def clusters(self, which: NDArray[np.intp]) -> frozenset[int]:
        """The identities of the clusters that some rows come in."""
        return frozenset(self.identities[code] for code in np.unique(self.code[which]).tolist())


def identity(name: Any) -> int:
    """A number for a cluster's name, the same in every process; 7.0 and 7 are one patient."""
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    letters = str(name).encode("utf-8", "surrogatepass")  # a name from broken text is a name too
    return int.from_bytes(blake2b(letters, digest_size=8).digest(), "little")

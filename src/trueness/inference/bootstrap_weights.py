"""Poisson weights for a bootstrap of streamed rows: the weights of a row depend on its position only.

A bootstrap draws rows with replacement; a Poisson(1) weight for each row is the same in the limit, and needs neither
the number of rows nor the rows themselves. A counter-based generator is keyed by the position of a row (or by its
cluster), so batches, files and workers give the same replicates as all rows at once.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trueness.rows.groups import encode_names

SLOTS = (24114, 24100, 12059, 4018, 1005, 201, 34, 5)
"""How many of 2¹⁶ equally likely numbers give the weight 0, 1, 2, …: Poisson(1) with mean and variance exactly 1."""

_THRESHOLDS = np.cumsum(SLOTS)[:-1].astype(np.uint16)

BLOCK_ROWS = 1024
"""Consecutive rows that share a random stream."""


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
    """Weights by position, counted from row `first_row` of a longer stream."""

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
        """None: rows without clusters are independent."""
        return


class ClusterWeights:
    """Weights by cluster, the same for all its rows at any position."""

    def __init__(self, key: int, resamples: int, clusters: NDArray[Any]) -> None:
        names, self.code = encode_names(clusters)
        self.identities = identities = [identity(name) for name in names]
        self.of_cluster = lru_cache(maxsize=8192)(
            lambda code: _weights(key, identities[code], 1, resamples)[0]
        )

    def block(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Weights of rows start to stop, (rows, B)."""
        present, place = np.unique(self.code[start:stop], return_inverse=True)
        return np.stack([self.of_cluster(code) for code in present.tolist()])[place]

    def clusters(self, which: NDArray[np.intp]) -> frozenset[int]:
        """The identities of the clusters of some rows."""
        return frozenset(self.identities[code] for code in np.unique(self.code[which]).tolist())


def identity(name: Any) -> int:
    """A number for the name of a cluster, the same in every process; 7.0 and 7 are the same cluster."""
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    letters = str(name).encode("utf-8", "surrogatepass")  # names may have lone surrogates
    return int.from_bytes(blake2b(letters, digest_size=8).digest(), "little")

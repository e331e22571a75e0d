"""Poisson weights for a bootstrap of clusters: the weights of a cluster depend on its name and the seed only.

A bootstrap draws clusters with replacement; a Poisson(1) weight for each cluster is the same in the limit, and needs
neither the number of clusters nor their order. Batches, files and workers give the same replicates as all rows at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray
from trueness.rows.clusters import Identities, scramble, stream_words

SLOTS = (24114, 24100, 12059, 4018, 1005, 201, 34, 5)
"""How many of 2¹⁶ equally likely numbers give the weight 0, 1, 2, …: Poisson(1) with mean and variance exactly 1."""

MAX_WEIGHT = len(SLOTS) - 1

_WEIGHT_OF = np.repeat(np.arange(len(SLOTS), dtype=np.uint8), SLOTS)


def stream_key(seed: list[int]) -> int:
    """A key for all streams of a seed."""
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


def poisson_weights(key: int, identities: Identities, first: int, stop: int) -> NDArray[np.uint8]:
    """The weights of clusters in the replicates first to stop, (clusters, stop - first); first is a multiple of four.

    Each line depends on key and identity alone.
    """
    start = scramble(identities + scramble(np.array([key], np.uint64)))
    words = stream_words(start, first // 4, -(-(stop - first) // 4))  # of 64 bits, four numbers in each
    numbers = words.astype("<u8", copy=False).view("<u2")[:, : stop - first]
    return _WEIGHT_OF.take(numbers)


DRAWN_AT_A_TIME = 1024
"""Replicates whose weights are in memory at a time, 32 megabytes for 4096 units."""


class BootstrapWeights:
    """The weights of all units in each replicate, for every table that is resampled together."""

    def __init__(self, key: int, identities: Identities, resamples: int) -> None:
        self.key, self.identities, self.resamples = key, identities, resamples

    @property
    def n_units(self) -> int:
        """The number of units."""
        return len(self.identities)

    def batches(self) -> Iterator[tuple[slice, FloatArray]]:
        """Some replicates at a time, and their weights, (units, some); those of a single batch are drawn once."""
        if self.resamples <= DRAWN_AT_A_TIME:
            yield slice(0, self.resamples), self._only_batch
            return
        for first in range(0, self.resamples, DRAWN_AT_A_TIME):
            stop = min(first + DRAWN_AT_A_TIME, self.resamples)
            yield slice(first, stop), self._batch(first, stop)

    @cached_property
    def _only_batch(self) -> FloatArray:
        return self._batch(0, self.resamples)

    def _batch(self, first: int, stop: int) -> FloatArray:
        return poisson_weights(self.key, self.identities, first, stop).astype(np.float64)

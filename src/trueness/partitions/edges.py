"""Exact edges of bins of equal mass for rows in partitions: only counts are sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueness.bins import Edges, EqualMass

if TYPE_CHECKING:
    from trueness.partitions.work import Work

DIGIT_BITS = 8
"""How many bits of the exact edges are found at a time: 2 kB of counts for each bin and partition."""


def exact_edges(work: Work, n_rows: int, below: Callable[[NDArray[np.uint64]], NDArray[Any]]) -> list[Edges]:
    """The edges that `tabulate` would find for all rows at once with the same engine, to the last bit.

    `below` counts, for each measure and each of its candidates (measures, candidates), the values of all partitions
    that are smaller. The ⌈kN/M⌉-th smallest value is the largest number with at most that many values below it; it is
    found eight bits at a time, so that only counts ever move.
    """
    bins = work.plan.tables.bins
    assert isinstance(bins, EqualMass)
    nth = bins.nth(n_rows)
    found = np.zeros((len(work.specs), len(nth)), np.uint64)
    digits = np.arange(1, 2**DIGIT_BITS, dtype=np.uint64)
    for shift in range(64 - DIGIT_BITS, -1, -DIGIT_BITS):
        candidates = found[:, :, None] + (digits << np.uint64(shift))
        counts = below(candidates.reshape(len(found), -1)).reshape(candidates.shape)
        reached = np.count_nonzero(counts <= nth[:, None], axis=2).astype(np.uint64)
        found += reached << np.uint64(shift)
    return [
        bins.edges_at(_number(ends), *spec.variation.range_for(work.n_classes))
        for ends, spec in zip(found, work.specs, strict=True)
    ]


_SIGN = np.uint64(1 << 63)


def sortable(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """The bits of floats so that they sort as the floats do: negative ones turned over, below all others."""
    bits = values.view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _number(key: NDArray[np.uint64]) -> NDArray[np.float64]:
    return np.where(key & _SIGN, key & ~_SIGN, ~key).view(np.float64)


def values_below(values: Sequence[NDArray[np.uint64]], candidates: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many of a partition's sorted values are smaller than each candidate, (measures, candidates)."""
    return np.stack([np.searchsorted(some, few) for some, few in zip(values, candidates, strict=True)])

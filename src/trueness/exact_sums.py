"""Sums that do not depend on the order in which rows were added.

A probability enters a sum as a whole number of units of 2⁻⁵², a logarithm as one of 2⁻⁴⁰. Integers
add without rounding, so tables of the same rows are equal to the last bit, whatever the batches,
threads, files or processors that summed them. A sum of `bits` > 0 is stored as two int64 numbers on
a last axis of two, whole + fraction·2⁻ᵇⁱᵗˢ with 0 ≤ fraction < 2ᵇⁱᵗˢ: 2⁴⁰ rows fit and more, and
every integer is exact in JSON. Counts (`bits` = 0) are plain int64, and sums of weighted rows are
float64, both without that axis.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]

PROBABILITY_BITS = 52
LOG_SCORE_BITS = 40


def is_exact(sums: NDArray[Any], bits: int) -> bool:
    """Whether sums are stored as whole and fraction."""
    return bits > 0 and sums.dtype == np.int64


def of_units(whole: IntArray, units: IntArray, bits: int) -> IntArray:
    """Whole numbers and units of 2⁻ᵇⁱᵗˢ as exact sums: units beyond one carry, below zero borrow.

    >>> of_units(np.array([1]), np.array([-1]), 2).tolist()
    [[0, 3]]
    """
    return np.stack([whole + (units >> bits), units & ((1 << bits) - 1)], axis=-1)


def value(sums: NDArray[Any], bits: int) -> FloatArray:
    """The nearest float64 of each sum: one rounding, of a number that is exact.

    >>> value(np.array([[1, 1 << 51]]), 52)
    array([1.5])
    """
    if not is_exact(sums, bits):
        return np.asarray(sums, np.float64)
    return np.asarray(sums[..., 0] + sums[..., 1] * 2.0**-bits)


def units(sums: NDArray[Any], bits: int) -> int:
    """All entries together, in units of 2⁻ᵇⁱᵗˢ.

    >>> units(np.array([[1, 3], [0, 2]]), 2)
    9
    """
    whole, fraction = sums.reshape(-1, 2).T
    return (int(whole.sum()) << bits) + int(sum(fraction.tolist()))


def add(sums: NDArray[Any], more: NDArray[Any], bits: int) -> NDArray[Any]:
    """Two sums added, entry by entry.

    >>> add(np.array([[1, 3]]), np.array([[0, 2]]), 2).tolist()
    [[2, 1]]
    """
    total = np.asarray(sums + more)
    if is_exact(total, bits) and total[..., 1].max(initial=0) >> bits:  # some carry
        total[..., 0] += total[..., 1] >> bits
        total[..., 1] &= (1 << bits) - 1
    return total


def add_runs(sums: NDArray[Any], bits: int, starts: IntArray, axis: int = 0) -> NDArray[Any]:
    """Sums over runs of an axis that begin at `starts`, which increase from 0.

    Fractions are added in two halves, since more than 2¹¹ of them would not fit in an int64.
    Floats are added in the order in which they lie.
    """
    if not is_exact(sums, bits):
        return np.add.reduceat(sums, starts, axis=axis)
    low_bits = bits // 2
    fraction = sums[..., 1]
    low = np.add.reduceat(fraction & ((1 << low_bits) - 1), starts, axis=axis)
    high = np.add.reduceat(fraction >> low_bits, starts, axis=axis) + (low >> low_bits)
    whole = np.add.reduceat(sums[..., 0], starts, axis=axis) + (high >> (bits - low_bits))
    high &= (1 << (bits - low_bits)) - 1
    return np.stack([whole, (high << low_bits) | (low & ((1 << low_bits) - 1))], axis=-1)


def add_alike(sums: NDArray[Any], bits: int, place: IntArray, n: int) -> NDArray[Any]:
    """Sums of the entries of the first axis that have the same place, one from 0 to n - 1.

    >>> add_alike(np.array([1, 2, 4]), 0, np.array([1, 0, 1]), 3)
    array([2, 5, 0])
    """
    if len(place) == n and np.array_equal(place, np.arange(n)):
        return sums
    order = np.argsort(place, kind="stable")
    found, starts = np.unique(place[order], return_index=True)
    together = sums if np.array_equal(order, np.arange(len(order))) else sums[order]
    added = np.zeros((n, *sums.shape[1:]), sums.dtype)
    if len(found):
        added[found] = add_runs(together, bits, starts)
    return added


def padded(sums: NDArray[Any], axis: int, length: int) -> NDArray[Any]:
    """Sums with zeros after the last entry of an axis, so that it has this length.

    >>> padded(np.array([[1, 2]]), 1, 3)
    array([[1, 2, 0]])
    """
    if sums.shape[axis] == length:
        return sums
    shape = list(sums.shape)
    shape[axis] = length - shape[axis]
    return np.concatenate([sums, np.zeros(shape, sums.dtype)], axis=axis)

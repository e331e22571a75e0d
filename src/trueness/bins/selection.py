"""Order statistics of values that are not in memory together: radix selection, which needs counts only.

Values are mapped to 64-bit keys that sort as they do. The nth smallest key is found digit by digit: of the keys that
begin with the digits found so far, their owner (a file, the partitions of a cluster) counts how many have each
next digit. Neither many rows nor many equal values need memory, and only counts move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray

Keys = NDArray[np.uint64]

_SIGN = np.uint64(1 << 63)


class Prefixes(NamedTuple):
    """For which keys the next digit is counted."""

    lists: IntArray
    """The list of keys that each prefix belongs to, (q,)."""
    digits: Keys
    """The leading digits, (q,)."""
    shift: int
    """How many bits follow the digit that is counted."""
    bits: int
    """Bits of that digit."""


DigitCounts = Callable[[Prefixes], IntArray]
"""How many keys with each prefix have each next digit, (q, 2ᵇ)."""


def sort_keys(values: FloatArray) -> Keys:
    """Whole numbers that sort as the values do; -0 has the key of 0.

    >>> bool(np.all(np.diff(sort_keys(np.array([-2.0, -1.5, 0.0, 1e-300, 1.0])).astype(float)) > 0))
    True
    """
    bits = (values + 0.0).view(np.uint64)
    # Negative floats sort downwards by their bits, and above all others.
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def from_sort_keys(keys: Keys) -> FloatArray:
    """The values of keys."""
    return np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)


def order_statistics(nth: IntArray, n_lists: int, count: DigitCounts, digit_bits: int) -> FloatArray:
    """The nth smallest values (counted from 0) of each list of keys, (lists, k)."""
    lists = np.repeat(np.arange(n_lists), len(nth))
    ranks, found = np.tile(nth, n_lists), np.zeros(n_lists * len(nth), np.uint64)
    for shift in range(64 - digit_bits, -1, -digit_bits):
        pairs = np.stack([lists.astype(np.uint64), found], axis=1)
        wanted, which = np.unique(pairs, axis=0, return_inverse=True)
        counts = count(Prefixes(wanted[:, 0].astype(np.int64), wanted[:, 1], shift, digit_bits))
        for k, prefix in enumerate(which.ravel()):
            below = np.cumsum(counts[prefix])
            digit = int(np.searchsorted(below, ranks[k], side="right"))
            ranks[k] -= below[digit - 1] if digit else 0
            found[k] = (found[k] << np.uint64(digit_bits)) | np.uint64(digit)
    return from_sort_keys(found).reshape(n_lists, len(nth))


def count_digits(blocks: Iterable[Keys], prefixes: Prefixes) -> IntArray:
    """`DigitCounts` for a single list of keys, which comes in blocks in any order."""
    shift, bits = np.uint64(prefixes.shift), np.uint64(prefixes.bits)
    counts = np.zeros((len(prefixes.digits), 2**prefixes.bits), np.int64)
    is_first = prefixes.shift + prefixes.bits == 64
    for keys in blocks:
        digits = keys >> shift
        for of_prefix, prefix in zip(counts, prefixes.digits, strict=True):
            inside = digits if is_first else digits[digits >> bits == prefix]
            last = (inside & np.uint64(2**prefixes.bits - 1)).astype(np.int64)
            np.add(of_prefix, np.bincount(last, minlength=2**prefixes.bits), out=of_prefix)
    return counts


def count_sorted_digits(lists: Sequence[Keys], prefixes: Prefixes) -> IntArray:
    """`DigitCounts` for sorted lists of keys in memory, such as those of a partition."""
    digits = np.arange(2**prefixes.bits, dtype=np.uint64) << np.uint64(prefixes.shift)
    counts = []
    for of_list, prefix in zip(prefixes.lists, prefixes.digits, strict=True):
        first = int(prefix) << (prefixes.shift + prefixes.bits)
        last = np.uint64(first + (1 << (prefixes.shift + prefixes.bits)) - 1)
        keys = lists[of_list]
        starts = np.searchsorted(keys, np.uint64(first) + digits)
        counts.append(np.diff(starts, append=np.searchsorted(keys, last, side="right")))
    return np.stack(counts)


def first_to_reach(count: NDArray[np.number], shares: IntArray, n_shares: int) -> IntArray:
    """Where the cumulated count first reaches k/n of its total, for each k of `shares`."""
    mass = np.cumsum(count)
    # A weight that sums to exactly k/n counts as having reached it, whatever the rounding.
    return np.asarray(np.searchsorted(mass * n_shares, shares * mass[-1] * (1 - 1e-13)))

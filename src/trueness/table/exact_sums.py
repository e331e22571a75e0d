"""Two kinds of sums: exact sums of unweighted rows, float sums of weighted rows.

An exact sum of numbers that were rounded to multiples of 2⁻ᵇ does not depend on the order in which they were
added, so tables made from the same rows in any split, by any number of workers, are equal to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness._row_arithmetic import LOG_SCORE_BITS, PROBABILITY_BITS

__all__ = [
    "LOG_SCORE_BITS",
    "PROBABILITY_BITS",
    "ExactSum",
    "FloatSum",
    "Sum",
    "make_read_only",
    "reduce_to_fields",
]


def make_read_only(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """The array itself, made read-only."""
    if array.flags.writeable:  # views of read-only arrays are not, and asking takes less time
        array.setflags(write=False)
    return array


def reduce_to_fields(value: Any) -> tuple[type, tuple[Any, ...]]:
    """For `__reduce__`: copies are built from the fields, so that their arrays are read-only too."""
    return type(value), tuple(getattr(value, field.name) for field in fields(value))


@dataclass(frozen=True, slots=True, eq=False)
class ExactSum:
    """Sums stored as whole + fraction·2⁻ᵇ in two int64 arrays, 0 ≤ fraction < 2ᵇ.

    They hold 2⁴⁰ rows and more, and every integer in them is exact in JSON.

    >>> half = ExactSum.with_carry(np.array([0]), np.array([1 << 51]), 52)
    >>> (half + half + half).value
    array([1.5])
    """

    whole: IntArray
    fraction: IntArray
    bits: int

    def __post_init__(self) -> None:
        make_read_only(self.whole)
        make_read_only(self.fraction)

    __reduce__ = reduce_to_fields

    @classmethod
    def zeros(cls, shape: tuple[int, ...], bits: int) -> ExactSum:
        """The identity of `+`."""
        return cls(np.zeros(shape, np.int64), np.zeros(shape, np.int64), bits)

    @classmethod
    def with_carry(cls, whole: IntArray, units: IntArray, bits: int) -> ExactSum:
        """whole + units·2⁻ᵇ, with units beyond one carried over to the whole part (negative units borrow)."""
        return cls(np.asarray(whole + (units >> bits)), np.asarray(units & ((1 << bits) - 1)), bits)

    @classmethod
    def of_units(cls, units: int, bits: int) -> ExactSum:
        """A single sum, from its number of units of 2⁻ᵇ."""
        whole, fraction = divmod(units, 1 << bits)
        return cls(np.array(whole), np.array(fraction), bits)

    @property
    def value(self) -> FloatArray:
        """The nearest float64: one rounding, of a sum that is exact."""
        return np.asarray(self.whole + self.fraction * 2.0**-self.bits)

    @property
    def units(self) -> int:
        """A single sum as a Python integer, in units of 2⁻ᵇ."""
        return (int(self.whole) << self.bits) + int(self.fraction)

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum.with_carry(self.whole + other.whole, self.fraction + other.fraction, self.bits)

    def same(self, other: ExactSum) -> bool:
        """Whether the sums are equal to the last bit."""
        return np.array_equal(self.whole, other.whole) and np.array_equal(self.fraction, other.fraction)

    def merge_runs(self, starts: IntArray) -> ExactSum:
        """Sums over runs of the first axis that begin at `starts`.

        The fractions are added in two halves: more than 2¹¹ of them at once would not fit in an int64.
        """
        half = self.bits // 2
        low = np.add.reduceat(self.fraction & ((1 << half) - 1), starts, axis=0)
        high = np.add.reduceat(self.fraction >> half, starts, axis=0) + (low >> half)
        whole = np.add.reduceat(self.whole, starts, axis=0) + (high >> (self.bits - half))
        fraction = ((high & ((1 << (self.bits - half)) - 1)) << half) | (low & ((1 << half) - 1))
        return ExactSum(whole, fraction, self.bits)


@dataclass(frozen=True, slots=True, eq=False)
class FloatSum:
    """Sums of weighted numbers in float64: they agree between splits to rounding, not to the bit."""

    value: FloatArray

    def __post_init__(self) -> None:
        make_read_only(self.value)

    __reduce__ = reduce_to_fields

    def __add__(self, other: FloatSum) -> FloatSum:
        return FloatSum(np.asarray(self.value + other.value))

    def same(self, other: FloatSum) -> bool:
        """Whether the sums are equal to the last bit."""
        return np.array_equal(self.value, other.value)

    def merge_runs(self, starts: IntArray) -> FloatSum:
        """Sums over runs of the first axis that begin at `starts`."""
        return FloatSum(np.add.reduceat(self.value, starts, axis=0))


Sum: TypeAlias = ExactSum | FloatSum

"""Two kinds of sums: exact sums of unweighted rows, float sums of weighted rows.

An exact sum of numbers that were rounded to multiples of 2⁻ᵇ does not depend on the order in which they were
added, so tables made from the same rows in any split, by any number of workers, are equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self, TypeAlias

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
    "NamedSums",
    "carry",
    "concatenate_sums",
    "add_fractions",
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


def carry(totals: IntArray, bits: IntArray | int) -> None:
    """Move what exceeds one from running fractions, totals[1], to the whole parts, totals[0]."""
    totals[0] += totals[1] >> bits
    totals[1] &= (1 << bits) - 1


def add_fractions(totals: IntArray, at: Any, fractions: IntArray, bits: IntArray | int) -> None:
    """Add sums of up to 4095 fractions to `at` of both parts of `totals`, whole and fraction.

    Such sums are below 2⁶⁴ and may have wrapped round to negative numbers.
    """
    whole, fraction = totals
    whole[at] += (fractions.view(np.uint64) >> np.uint64(bits)).view(np.int64)
    fraction[at] += fractions & ((1 << bits) - 1)
    carry(totals, bits)


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
        # Not by `make_read_only`: a table has twelve of these, and short inputs would wait for the calls.
        for part in (self.whole, self.fraction):
            if part.flags.writeable:
                part.setflags(write=False)

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

    @classmethod
    def of_counts(cls, counts: IntArray, bits: int) -> ExactSum:
        """Whole numbers; their fractions take no memory."""
        return cls(counts, np.broadcast_to(np.int64(0), counts.shape), bits)

    @property
    def value(self) -> FloatArray:
        """The nearest float64: one rounding, of a sum that is exact."""
        return np.asarray(self.whole + self.fraction * 2.0**-self.bits)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.whole.ndim

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

    def total(self) -> ExactSum:
        """The sum over the first axis."""
        merged = self.merge_runs(np.zeros(1, np.int64))
        return ExactSum(merged.whole[0, ...], merged.fraction[0, ...], self.bits)


@dataclass(frozen=True, slots=True, eq=False)
class FloatSum:
    """Sums of weighted numbers in float64: they agree between splits to rounding, not to the bit."""

    value: FloatArray

    def __post_init__(self) -> None:
        make_read_only(self.value)

    __reduce__ = reduce_to_fields

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.value.ndim

    def __add__(self, other: FloatSum) -> FloatSum:
        return FloatSum(np.asarray(self.value + other.value))

    def same(self, other: FloatSum) -> bool:
        """Whether the sums are equal to the last bit."""
        return np.array_equal(self.value, other.value)

    def merge_runs(self, starts: IntArray) -> FloatSum:
        """Sums over runs of the first axis that begin at `starts`."""
        return FloatSum(np.add.reduceat(self.value, starts, axis=0))

    def total(self) -> FloatSum:
        """The sum over the first axis."""
        return FloatSum(np.asarray(self.value.sum(axis=0)))


Sum: TypeAlias = ExactSum | FloatSum


def concatenate_sums(values: Sequence[Any]) -> Any:
    """Sums or counts of one kind, one after another along the first axis."""
    first = values[0]
    if isinstance(first, ExactSum):
        whole, fraction = (
            np.concatenate([getattr(v, part) for v in values]) for part in ("whole", "fraction")
        )
        return ExactSum(whole, fraction, first.bits)
    if isinstance(first, FloatSum):
        return FloatSum(np.concatenate([value.value for value in values]))
    return np.concatenate(values)


ZERO_IF_ABSENT = frozenset({"label_spread"})
"""Sums that tables leave out if they are 0."""


class NamedSums:
    """What the sums of tables share: a frozen dataclass whose fields are counts, sums, or None if they are unknown."""

    __slots__ = ()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The fields that are not None, by name."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        return ((name, value) for name, value in values if value is not None)

    def __add__(self, other: Self) -> Self:
        mine, theirs = dict(self.items()), dict(other.items())
        # A sum that one of the two lacks is unknown for both together, except one that is left out because it is 0.
        both = {name: _add(value, theirs[name]) for name, value in mine.items() if name in theirs}
        alone = {name: value for name, value in (mine | theirs).items() if name in ZERO_IF_ABSENT}
        return type(self)(**(alone | both))

    def same(self, other: Self, *names: str) -> bool:
        """Whether the named fields (by default all) are equal to the last bit; absent differs from present."""
        chosen = names or tuple(field.name for field in fields(self))  # type: ignore[arg-type]
        return all(_same(getattr(self, name), getattr(other, name)) for name in chosen)


def _add(mine: Any, theirs: Any) -> Any:
    return np.asarray(mine + theirs) if isinstance(mine, np.ndarray) else mine + theirs


def _same(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else bool(a.same(b))

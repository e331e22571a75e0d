"""Numbers and sums of a table as plain JSON, and from it, of which everything is checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness.old_table.consistency import damaged_table_error, is_int, require
from trueness.old_table.exact_sums import ExactSum, FloatSum
from trueness.old_table.packed_numbers import MOST, is_packed_size, pack, unpack, unpack_at_most

LARGEST = 2**62
"""Whole numbers are smaller, so that the sum of two fits in an int64."""
LARGEST_FLOAT = 1e300


def encode_sum(value: Any) -> Any:
    """A sum as plain numbers and lists, or as texts if it has many entries."""
    if isinstance(value, ExactSum):
        whole, fraction = encode_numbers(value.whole), encode_numbers(value.fraction)
        return {"bits": value.bits, "whole": whole, "fraction": fraction}
    return encode_numbers(value.value if isinstance(value, FloatSum) else value)


def encode_numbers(numbers: NDArray[Any]) -> Any:
    """Integers or floats as a list or a number, or as a text if they are many."""
    return pack(numbers) if is_packed_size(numbers.size) else numbers.tolist()


def decode_sum(name: str, value: Any, zero: Any) -> Any:
    """The sum `name`, of the kind and shape of `zero`."""
    if isinstance(zero, ExactSum):
        require(
            isinstance(value, dict) and set(value) == {"bits", "whole", "fraction"},
            f"{name} is not an exact sum",
        )
        require(
            is_int(value["bits"]) and value["bits"] == zero.bits,
            f"{name} must be in units of 2^-{zero.bits}",
        )
        whole, fraction = (
            integers(f"{name}.{part}", value[part], zero.whole.shape) for part in ("whole", "fraction")
        )
        require(
            bool(np.all((fraction >= 0) & (fraction >> zero.bits == 0))),
            f"{name}.fraction must be from 0 to 1",
        )
        return ExactSum(whole, fraction, zero.bits)
    if isinstance(zero, FloatSum):
        return FloatSum(_floats(name, value, zero.value.shape))
    return integers(name, value, zero.shape)


def integers(name: str, value: Any, shape: tuple[int, ...]) -> IntArray:
    """Whole numbers below 2⁶² in nested lists of this shape, or packed."""
    if isinstance(value, str) and shape:
        return _small(name, _unpacked(name, value, shape, np.int64))
    _require_shape(name, value, shape)
    leaves = _leaves(value)
    whole = set(map(type, leaves)) <= {int} and all(
        abs(leaf) < LARGEST for leaf in (max(leaves, default=0), min(leaves, default=0))
    )
    require(whole, f"{name} must be integers")
    return np.array(value, dtype=np.int64).reshape(shape)


def indices(name: str, value: Any, n: int, of_what: str) -> IntArray:
    """Whole numbers from 0 to below n that increase, in a list or packed."""
    if isinstance(value, str):
        try:
            found: IntArray = unpack_at_most(value, min(n, MOST), np.int64)
        except ValueError as error:
            raise damaged_table_error(f"{name} cannot be unpacked: {error}") from error
    else:
        require(isinstance(value, list), f"{name} must be a list")
        found = integers(name, value, (len(value),))
    inside = bool(np.all((found >= 0) & (found < n)) and np.all(found[1:] > found[:-1]))
    require(inside, f"{name} must increase and be {of_what}")
    return found


def _floats(name: str, value: Any, shape: tuple[int, ...]) -> FloatArray:
    """Finite numbers in nested lists of this shape, or packed."""
    if isinstance(value, str) and shape:
        numbers = _unpacked(name, value, shape, np.float64)
        require(bool(np.all(np.abs(numbers) <= LARGEST_FLOAT)), f"{name} must be finite numbers")
        return numbers
    _require_shape(name, value, shape)
    require(all(map(is_number, _leaves(value))), f"{name} must be finite numbers")
    return np.array(value, dtype=np.float64).reshape(shape)


def _unpacked(name: str, text: str, shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray[Any]:
    try:
        return unpack(text, shape, dtype)
    except ValueError as error:
        raise damaged_table_error(f"{name} cannot be unpacked: {error}") from error


def _small(name: str, numbers: IntArray) -> IntArray:
    require(bool(np.all((numbers < LARGEST) & (numbers > -LARGEST))), f"{name} must be integers")
    return numbers


def _require_shape(name: str, value: Any, shape: tuple[int, ...]) -> None:
    """Refuse nested lists of another shape; those of no lines do not say how long lines are."""
    fits = _shape_of(value) == shape or (value == [] and shape[:1] == (0,))
    require(fits, f"{name} must have shape {shape}")


def _shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape of nested lists, None if they are ragged."""
    if not isinstance(value, list):
        return ()
    if list not in set(map(type, value)):  # the innermost lists, which hold nearly everything
        return (len(value),)
    inner = {_shape_of(entry) for entry in value}
    if len(inner) > 1 or None in inner:
        return None
    return (len(value), *(inner.pop() or ())) if inner else (0,)


def _leaves(value: Any) -> list[Any]:
    if not isinstance(value, list):
        return [value]
    if list not in set(map(type, value)):
        return value
    return [leaf for entry in value for leaf in _leaves(entry)]


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a number of reasonable size."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= LARGEST_FLOAT

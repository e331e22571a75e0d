"""Numbers and sums of a table from plain JSON, of which everything is checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueness._arrays import IntArray
from trueness.table.consistency import is_int, require
from trueness.table.exact_sums import ExactSum, FloatSum


def encode_sum(value: Any) -> Any:
    """A sum as plain numbers and lists."""
    if isinstance(value, ExactSum):
        return {"bits": value.bits, "whole": value.whole.tolist(), "fraction": value.fraction.tolist()}
    return (value.value if isinstance(value, FloatSum) else value).tolist()


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
        require(_shape_of(value) == zero.value.shape, f"{name} must have shape {zero.value.shape}")
        require(all(map(is_number, _leaves(value))), f"{name} must be finite numbers")
        return FloatSum(np.array(value, dtype=np.float64))
    return integers(name, value, zero.shape)


def integers(name: str, value: Any, shape: tuple[int, ...]) -> IntArray:
    """Whole numbers below 2⁶² in nested lists of this shape."""
    require(_shape_of(value) == shape, f"{name} must have shape {shape}")
    leaves = _leaves(value)
    whole = set(map(type, leaves)) <= {int} and all(
        abs(leaf) < 2**62 for leaf in (max(leaves, default=0), min(leaves, default=0))
    )
    require(whole, f"{name} must be integers")
    return np.array(value, dtype=np.int64).reshape(shape)


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
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1e300

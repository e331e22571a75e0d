"""Sums whose entries without rows are left out, and put back as zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueness._arrays import IntArray
from trueness.old_table.exact_sums import ExactSum, FloatSum
from trueness.old_table.json_numbers import decode_sum


def kept(value: Any, at: tuple[IntArray, ...]) -> Any:
    """The entries of a sum at these places of its first axes, one after the other."""
    if isinstance(value, ExactSum):
        return ExactSum(value.whole[at], value.fraction[at], value.bits)
    return FloatSum(value.value[at]) if isinstance(value, FloatSum) else value[at]


def decode_kept(name: str, value: Any, zero: Any, at: tuple[IntArray, ...]) -> Any:
    """The sum of the shape of `zero` whose encoded entries at these places are `value`."""
    part = decode_sum(name, value, kept(zero, at))
    if isinstance(part, ExactSum):
        shape = zero.whole.shape
        return ExactSum(_spread(part.whole, at, shape), _spread(part.fraction, at, shape), part.bits)
    if isinstance(part, FloatSum):
        return FloatSum(_spread(part.value, at, zero.value.shape))
    return _spread(part, at, zero.shape)


def _spread(entries: Any, at: tuple[IntArray, ...], shape: tuple[int, ...]) -> Any:
    everywhere = np.zeros(shape, entries.dtype)
    everywhere[at] = entries
    return everywhere

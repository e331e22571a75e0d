"""The variation of every row, and its quantiles: what equal-mass bins need before the rows can be summed."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from trueness.tabulation.fused._groups import Group, Shape
from trueness.tabulation.fused._jit import FINGERPRINT, kernel
from trueness.tabulation.fused._rows import sweep

CELLS = 2**16
"""Equal cells in which values are counted; only the cells that hold a quantile are looked at again."""


@intrinsic(prefer_literal=True)
def _measure_group(_, rows, out, tolerance, n_classes, item, measure):
    """𝒱 of eight rows; whether one of them is no distribution."""
    name = measure.literal_value
    made_for = Shape(n_classes.literal_value, item.literal_value, 1, False, (name,))

    def emit(context, builder, signature, args):
        address, values, slack, *_ = args
        group = Group(builder, made_for)
        x = group.columns(address)
        largest = smallest = x[0]
        for column in x[1:]:
            largest, smallest = group.lanes.larger(largest, column), group.lanes.smaller(smallest, column)
        q = [largest, *x[1:-1], smallest]
        logs = [group.lanes.log2(column) for column in x] if name == "entropy" else []
        terms = [builder.fmul(column, log) for column, log in zip(x, logs, strict=False)]
        entropy = builder.fneg(group.lanes.sum(terms)) if terms else None
        group.lanes.store(group.value(name, q, entropy), values, 0)
        return group.any(group.improper(q, group.lanes.sum(x), slack))

    return types.int64(types.int64, types.int64, types.float64, n_classes, item, measure), emit


@cache
def measure_kernel(n_classes: int, item: int, measure: str, in_groups: bool) -> Any:
    """The compiled pass that measures a block and counts its values in cells; -1, or a row near a bad one."""
    fingerprint = FINGERPRINT

    @kernel
    def measure_groups(y_prob, tolerance, low, scale, values, cells):
        n_rows = len(y_prob)
        padded, eight = np.empty((8, n_classes), y_prob.dtype), np.empty(8)
        if fingerprint == 0:  # never; being read is what it is there for
            return -1
        for first in range(0, n_rows, 8):
            valid = min(8, n_rows - first)
            address = y_prob.ctypes.data + first * n_classes * item
            if valid < 8:
                for r in range(8):
                    padded[r] = y_prob[first + min(r, valid - 1)]
                address = padded.ctypes.data
            if _measure_group(address, eight.ctypes.data, tolerance, n_classes, item, measure):
                return first
            for r in range(valid):
                values[first + r] = eight[r]
                cells[np.intp((eight[r] - low) * scale)] += 1
        return -1

    @kernel
    def measure_rows(y_prob, tolerance, low, scale, values, cells):
        n_vectors = math.ceil(n_classes / 8)
        line, result = np.zeros(8 * n_vectors, y_prob.dtype), np.empty(5)
        if fingerprint == 0:
            return -1
        for i in range(len(y_prob)):
            line[:n_classes] = y_prob[i]
            sweep(line.ctypes.data, n_vectors, 2.0, result.ctypes.data, item)
            smallest, largest = line[:n_classes].min(), line[:n_classes].max()
            if not (largest <= 1.0 and smallest >= 0.0 and abs(result[0] - 1.0) <= tolerance):
                return i
            value = result[1] / math.log2(n_classes) if measure == "entropy" else np.float64(largest)
            values[i] = min(max(value, low), 1.0)
            cells[np.intp((values[i] - low) * scale)] += 1
        return -1

    return measure_groups if in_groups else measure_rows


@kernel
def _gather(values, low, scale, wanted, found):
    """Copy the values that lie in wanted cells."""
    n = 0
    for value in values:
        if wanted[np.intp((value - low) * scale)]:
            found[n] = value
            n += 1


def order_statistics(values: Any, cells: Any, low: float, scale: float, nth: Any) -> Any:
    """The n-th smallest values (from 0, ascending n), given how many lie in each cell."""
    below = np.concatenate([[0], np.cumsum(cells)])
    cell = np.searchsorted(below, nth, side="right") - 1
    wanted = np.zeros(len(cells), np.bool_)
    wanted[cell] = True
    found = np.empty(int(cells[wanted].sum()))
    _gather(values, low, scale, wanted, found)
    found.sort()
    # Values of cells between wanted ones were not gathered.
    found_below = np.concatenate([[0], np.cumsum(np.where(wanted, cells, 0))])
    return found[nth - below[cell] + found_below[cell]]

"""The variation of every row, and its quantiles: what equal-mass bins need before the rows can be summed."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from trueness.tabulation.fused._eight import Swept, pad
from trueness.tabulation.fused._groups import Group, Shape
from trueness.tabulation.fused._jit import FINGERPRINT, jit, kernel
from trueness.tabulation.fused._lanes import WIDTH
from trueness.tabulation.fused._lines import Lines, LineShape, turn

CELLS = 2**16
"""Equal cells in which values are counted; only the cells that hold a quantile are looked at again."""


@intrinsic(prefer_literal=True)
def _measure_group(_, rows, out, tolerance, shape):
    """𝒱 of eight rows; whether one of them is no distribution."""
    made_for = Shape.of(shape.literal_value)

    def emit(context, builder, signature, args):
        address, values, slack, _ = args
        group = Group(builder, made_for)
        lanes, x = group.lanes, group.columns(address)
        largest = smallest = x[0]
        for column in x[1:]:
            largest, smallest = lanes.larger(largest, column), lanes.smaller(smallest, column)
        entropy = builder.fneg(lanes.sum([builder.fmul(column, lanes.log2(column)) for column in x]))
        negative = builder.not_(builder.fcmp_ordered(">=", smallest, lanes.floats(0.0)))
        swept = Swept(lanes.sum(x), entropy, None, None, None, None, largest, negative)
        (value,) = group.values_of(swept)
        lanes.store(value, values, 0)
        return group.any(group.improper(swept, slack))

    return types.int64(types.int64, types.int64, types.float64, shape), emit


@intrinsic(prefer_literal=True)
def _measure_lines(_, lines, n_classes, negative, out, tolerance, to_unit, least, shape):
    """𝒱 of eight rows that are lines in any order; whether one of them is no distribution."""
    made_for = LineShape.of(shape.literal_value)

    def emit(context, builder, signature, args):
        lines, n_classes, negative, out, tolerance, to_unit, least, _ = args
        eight = Lines(builder, made_for)
        nobody = ir.Constant(eight.narrow, [0.0] * WIDTH)
        swept = eight.sweep(lines, n_classes, nobody, negative, is_sorted=False)
        (value,) = eight.values_of(swept, to_unit, least)
        eight.lanes.store(value, out, 0)
        return eight.any(eight.improper(swept, tolerance))

    return types.int64(*[types.int64] * 4, *[types.float64] * 3, shape), emit


@jit
def _count(eight, first, valid, low, scale, values, cells):
    for r in range(valid):
        values[first + r] = eight[r]
        cells[np.intp((eight[r] - low) * scale)] += 1


@cache
def measure_group_kernel(shape: str) -> Any:
    """The compiled pass that measures a block and counts its values in cells; -1, or a row near a bad one."""
    fingerprint = FINGERPRINT

    @kernel
    def measure_groups(y_prob, tolerance, low, scale, values, cells, padded):
        n_rows, eight = len(y_prob), np.empty(8)
        if fingerprint == 0:  # never; being read is what it is there for
            return -1
        for first in range(0, n_rows, 8):
            valid = min(8, n_rows - first)
            here = y_prob.ctypes.data + first * y_prob.strides[0]
            if valid < 8:
                pad(y_prob, first, valid, padded)
                here = padded.ctypes.data
            if _measure_group(here, eight.ctypes.data, tolerance, shape):
                return first
            _count(eight, first, valid, low, scale, values, cells)
        return -1

    return measure_groups


@cache
def measure_line_kernel(shape: str) -> Any:
    """The same for rows of more than 15 classes."""
    fingerprint = FINGERPRINT

    @kernel
    def measure_lines(y_prob, tolerance, low, scale, values, cells, padded, lines):
        (n_rows, n_classes), eight, at_lines = y_prob.shape, np.empty(8), lines.ctypes.data
        to_next_row, to_next_class = y_prob.strides
        to_unit, least = 1.0 / math.log2(n_classes), 1.0 / n_classes
        if fingerprint == 0:
            return -1
        for first in range(0, n_rows, 8):
            valid = min(8, n_rows - first)
            here = y_prob.ctypes.data + first * to_next_row
            if valid < 8:
                pad(y_prob, first, valid, padded)
                here = padded.ctypes.data
            negative = turn(here, to_next_row, to_next_class, at_lines, n_classes, shape)
            out = eight.ctypes.data
            if _measure_lines(at_lines, n_classes, negative, out, tolerance, to_unit, least, shape):
                return first
            _count(eight, first, valid, low, scale, values, cells)
        return -1

    return measure_lines


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

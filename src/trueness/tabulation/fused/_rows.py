"""More than 32 classes: rows sorted by NumPy, then swept eight classes at a time.

A network for so many classes would not fit into registers, and NumPy's sort is a vectorised one. The sorted rows lie in
padded lines of memory, upwards; the padding is zeros in front, which add nothing.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from trueness._sums import LOG_SCORE_BITS
from trueness.tabulation.fused._jit import FINGERPRINT, kernel
from trueness.tabulation.fused._lanes import DOUBLE, FLOATS, INT32, INT64, SINGLE, WIDTH, Lanes
from trueness.tabulation.fused._totals import TINY, flush, mend

_LN2 = math.log(2)
TOTAL, ENTROPY, SQUARES, MORE, AT_LEAST = range(5)
"""Where a sweep leaves its results."""


class _Line:
    """Emits a loop over the vectors of one line of memory."""

    def __init__(self, builder: Any, item: int) -> None:
        self.builder, self.lanes, self.item = builder, Lanes(builder), item

    def load(self, address: Any, index: Any) -> Any:
        """The vector of that index, as float64."""
        place = self.builder.add(address, self.builder.mul(index, ir.Constant(INT64, WIDTH * self.item)))
        kind = SINGLE if self.item == 4 else DOUBLE
        value = self.lanes.load(place, 0, ir.VectorType(kind, WIDTH), self.item)
        return self.builder.fpext(value, FLOATS) if self.item == 4 else value

    def folded(self, vector: Any, add: Any) -> Any:
        """The sum of all lanes."""
        parts = [self.builder.extract_element(vector, ir.Constant(INT32, lane)) for lane in range(WIDTH)]
        while len(parts) > 1:
            parts = [add(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]


@intrinsic(prefer_literal=True)
def sweep(_, line, n_vectors, p_true, out, item):
    """Σp, -Σp log₂ p, Σp log₂² p, and how many values are above p_true, or not below it."""
    size = item.literal_value

    def emit(context, builder, signature, args):
        address, count, p, result, _ = args
        on = _Line(builder, size)
        lanes, b = on.lanes, builder
        level = lanes.spread(p, FLOATS)
        sums = [cgutils.alloca_once_value(b, lanes.floats(0.0)) for _ in range(3)]
        counts = [cgutils.alloca_once_value(b, lanes.ints(0)) for _ in range(2)]
        with cgutils.for_range(builder, count) as loop:
            value = on.load(address, loop.index)
            log = lanes.log2(value)
            term = b.fmul(value, log)
            for slot, addend in zip(sums, (value, term, b.fmul(term, log)), strict=True):
                b.store(b.fadd(b.load(slot), addend), slot)
            for slot, test in zip(counts, (">", ">="), strict=True):
                b.store(lanes.counted(b.load(slot), b.fcmp_ordered(test, value, level)), slot)
        for place, slot in enumerate(sums):
            total = on.folded(b.load(slot), b.fadd)
            lanes.store(b.fneg(total) if place == ENTROPY else total, result, 8 * place)
        for place, slot in enumerate(counts, MORE):
            lanes.store(b.sitofp(on.folded(b.load(slot), b.add), DOUBLE), result, 8 * place)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.float64, types.int64, item), emit


@intrinsic(prefer_literal=True)
def _add_line(_, line, n_vectors, acc, item):
    """Add a row to its bin as steps of 2⁻⁵²: the bits of 1 + p."""
    size = item.literal_value

    def emit(context, builder, signature, args):
        address, count, sums, _ = args
        on = _Line(builder, size)
        with cgutils.for_range(builder, count) as loop:
            steps = on.lanes.bits(builder.fadd(on.load(address, loop.index), on.lanes.floats(1.0)))
            place = builder.add(sums, builder.mul(loop.index, ir.Constant(INT64, 8 * WIDTH)))
            on.lanes.add_at(steps, place, 0)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, item), emit


@cache
def row_kernel(item: int) -> Any:
    """The compiled pass over a sorted block, for float32 or float64."""
    fingerprint = FINGERPRINT

    @kernel
    def sum_sorted(
        y_prob,
        scores,
        ordered,
        labels,
        tolerance,
        logits,
        split,
        by_entropy,
        search,
        thresholds,
        scratch,
        totals,
    ):
        n_rows, n_classes = y_prob.shape
        padding, n_vectors = ordered.shape[1] - n_classes, ordered.shape[1] // 8
        guesses, lows, scales = search
        result, lane_sums, steps = scratch[:8], scratch[8:24].view(np.int64), np.empty(1)
        row_words, n_edges = totals.acc.shape[3], thresholds.shape[1]
        bins, to_unit = np.empty(len(lows), np.int64), 1.0 / math.log2(n_classes)
        if fingerprint == 0:  # never; being read is what it is there for
            return -1
        for i in range(n_rows):
            label = labels[i]
            p = np.float64(y_prob[i, label])
            line = ordered.ctypes.data + i * ordered.shape[1] * item
            sweep(line, n_vectors, p, result.ctypes.data, item)
            total, entropy = result[0], result[1]
            largest = np.float64(ordered[i, n_classes + padding - 1])
            if not (largest <= 1.0 and ordered[i, padding] >= 0.0 and abs(total - 1.0) <= tolerance):
                return i
            rank, tied = np.intp(result[3]), np.intp(result[4] - result[3])
            if p == 0.0:
                tied -= padding
            if p >= TINY:
                lane_sums[0] += np.int64(np.rint((math.log(p) + entropy * _LN2) * 2.0**LOG_SCORE_BITS))
            variance = max(result[2] + entropy * entropy * (total - 2.0), 0.0) * _LN2**2
            lane_sums[8] += np.int64(np.rint(variance * 2.0**LOG_SCORE_BITS))
            for k in range(len(lows)):
                value = min(max(entropy * to_unit if by_entropy[k] else largest, lows[k]), 1.0)
                m = guesses[k, np.intp((value - lows[k]) * scales[k])]
                while m < n_edges and value > thresholds[k, m]:
                    m += 1
                place = totals.acc.ctypes.data + (k * totals.acc.shape[2] + m) * row_words * 8
                _add_line(line, n_vectors, place, item)
                steps[0] = 1.0 + value
                totals.acc[0, k, m, n_vectors * 8 + k] += steps.view(np.int64)[0]
                totals.ranks[0, k, m, rank] += 1
                bins[k] = m
            if tied > 1 or p < TINY:
                mend(
                    scores[i],
                    label,
                    p,
                    rank,
                    tied,
                    entropy * _LN2,
                    logits,
                    split,
                    bins,
                    0,
                    lane_sums,
                    0,
                    totals,
                )
            if i % 4095 == 4094:
                flush(totals, lane_sums)
        flush(totals, lane_sums)
        return -1

    return sum_sorted

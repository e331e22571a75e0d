"""More than 15 classes: eight rows at a time in memory that stays in the cache, a line of it for each class.

A network for many more would not fit into registers, and takes long to compile. So eight rows are turned into lines, a
vector each, unless columns lie in memory already; the lines are sorted there, swept once for all sums over classes, and
turned back while each row is added to its bin. The code is made for any number of classes.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from trueness.table.exact_sums import ONE_BITS
from trueness.tabulation.fused._eight import Eight, Layout, Swept, find_bins, handle_odd_rows, pad
from trueness.tabulation.fused._jit import FINGERPRINT, kernel
from trueness.tabulation.fused._lanes import FLOATS, INT32, INT64, INTS, WIDTH
from trueness.tabulation.fused._sorting import BLOCK, sort_lines
from trueness.tabulation.fused._totals import N_SCORES, aligned_zeros, flush

AT_ONCE = 2
"""Lines that are swept in a step, each into sums of its own, so that none waits for itself."""


class LineShape(NamedTuple):
    """What the code is made for."""

    item: int
    """Bytes of a probability."""
    by_columns: bool
    """Whether the classes, and not the rows, lie together in memory."""
    measures: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> LineShape:
        """From the text as which it travels, because the compiler knows texts."""
        item, order, *measures = text.split(",")
        return cls(int(item), order == "F", tuple(measures))


def zero_lines(n_classes: int, item: int) -> Any:
    """Memory for eight rows, up to a power of two of lines."""
    n_lines = 2 ** (max(n_classes, BLOCK) - 1).bit_length()
    words = aligned_zeros((n_lines * WIDTH * item // 8,))
    return words.view(f"f{item}").reshape(n_lines, WIDTH)


def _vectors(builder: Any, n_classes: Any) -> Any:
    """How many vectors of eight classes a row has."""
    more = builder.add(n_classes, ir.Constant(INT64, WIDTH - 1))
    return builder.udiv(more, ir.Constant(INT64, WIDTH))


class Lines(Eight):
    """Emits the work on eight rows that lie in lines of memory."""

    def __init__(self, builder: Any, shape: LineShape) -> None:
        super().__init__(builder, shape.item, shape.measures)
        self.by_columns = shape.by_columns

    def line(self, lines: Any, index: Any, further: int = 0) -> Any:
        """The line of that index and so many further on."""
        place = self.builder.add(lines, self.builder.mul(index, ir.Constant(INT64, WIDTH * self.item)))
        return self.lanes.load(place, further * WIDTH * self.item, self.narrow)

    def turn(self, rows: Any, to_next_row: Any, to_next_class: Any, lines: Any, n_classes: Any) -> Any:
        """Eight rows into lines; whether one value is below zero (-0 is not), as 0 or 1."""
        b, lanes = self.builder, self.lanes
        bits = ir.VectorType(ir.IntType(8 * self.item), WIDTH)
        # -0 + 0 is 0: as bits, in which sorting compares, -0 is the least number of all.
        zero, none = ir.Constant(self.narrow, [0.0] * WIDTH), ir.Constant(bits, [0] * WIDTH)
        signs = cgutils.alloca_once_value(b, none)
        last = b.sub(n_classes, ir.Constant(INT64, WIDTH))
        step = to_next_class if self.by_columns else to_next_row
        with cgutils.for_range(b, _vectors(b, n_classes)) as loop:
            first = b.mul(loop.index, ir.Constant(INT64, WIDTH))
            # The last square may overlap the one before, so that no load reaches beyond its row.
            first = b.select(b.icmp_signed("<", first, last), first, last)
            place = b.add(rows, b.mul(first, to_next_class))
            places = [b.add(place, b.mul(step, ir.Constant(INT64, k))) for k in range(WIDTH)]
            square = [b.fadd(lanes.load(place, 0, self.narrow, self.item), zero) for place in places]
            if not self.by_columns:
                for place in places:  # the same classes of the next eight rows
                    lanes.fetch(b.add(place, b.mul(step, ir.Constant(INT64, WIDTH))), 0)
            for values in square:
                b.store(b.or_(b.load(signs), b.bitcast(values, bits)), signs)
            line = b.add(lines, b.mul(first, ir.Constant(INT64, WIDTH * self.item)))
            for k, column in enumerate(square if self.by_columns else lanes.transposed(square)):
                lanes.store(column, line, k * WIDTH * self.item)
        return self.any(b.icmp_signed("<", b.load(signs), none))

    def sweep(self, lines: Any, n_classes: Any, p: Any, negative: Any, is_sorted: bool) -> Swept:
        """All sums over classes; lines beyond the last one are zeros, which add nothing.

        p is as it lay in memory, and `negative` what `turn` said.
        """
        b, lanes = self.builder, self.lanes
        zeros = lanes.floats(0.0)
        none = ir.Constant(ir.VectorType(ir.IntType(8 * self.item), WIDTH), [0] * WIDTH)

        def slots(start: Any) -> list[Any]:
            return [cgutils.alloca_once_value(b, start) for _ in range(AT_ONCE)]

        totals, entropies, moments, larger = (slots(zeros) for _ in range(4))
        squares = slots(lanes.ints(0))
        more, at_least = slots(none), slots(none)
        steps = b.udiv(b.add(n_classes, ir.Constant(INT64, AT_ONCE - 1)), ir.Constant(INT64, AT_ONCE))
        with cgutils.for_range(b, steps) as loop:
            first = b.mul(loop.index, ir.Constant(INT64, AT_ONCE))
            for k in range(AT_ONCE):
                narrow = self.line(lines, first, k)
                value = self.wide(narrow)
                log = lanes.log2(value)
                term = b.fmul(value, log)
                b.store(b.fadd(b.load(totals[k]), value), totals[k])
                b.store(b.fsub(b.load(entropies[k]), term), entropies[k])
                b.store(lanes.multiply_add(term, log, b.load(moments[k])), moments[k])
                b.store(b.add(b.load(squares[k]), self.square_steps(value)), squares[k])
                if not is_sorted:
                    b.store(lanes.larger(value, b.load(larger[k])), larger[k])
                for counts, test in ((more, ">"), (at_least, ">=")):
                    where = b.fcmp_ordered(test, narrow, p)
                    b.store(lanes.counted(b.load(counts[k]), where), counts[k])
        largest = self.wide(self.line(lines, ir.Constant(INT64, 0)))
        if not is_sorted:
            largest = lanes.larger(*map(b.load, larger))
        total, entropy, second_moment = (b.fadd(*map(b.load, pair)) for pair in (totals, entropies, moments))
        higher, not_lower, square = (b.add(*map(b.load, pair)) for pair in (more, at_least, squares))
        ones = b.mul(steps, ir.Constant(INT64, AT_ONCE * ONE_BITS))
        square = b.sub(square, lanes.spread(ones, INTS))
        if self.item == 4:
            higher, not_lower = b.sext(higher, INTS), b.sext(not_lower, INTS)
        is_negative = b.icmp_signed("!=", lanes.spread(negative, INTS), lanes.ints(0))
        return Swept(total, entropy, second_moment, square, higher, not_lower, largest, is_negative)

    def values_of(self, swept: Swept, to_unit: Any, least: Any) -> list[Any]:
        """𝒱 by each measure."""
        unit, low = (self.lanes.spread(scalar, FLOATS) for scalar in (to_unit, least))
        return [self.value(measure, swept, unit, low) for measure in self.measures]

    def add(
        self, lines: Any, n_classes: Any, scratch: Any, acc: Any, row: Any, ranks: Any, n_bins: Any
    ) -> None:
        """Add each row to its bin as steps of 2⁻⁵², the bits of 1 + p, and count its rank."""
        b, lanes, at = self.builder, self.lanes, self.at
        rank = lanes.load(scratch, 8 * at.rank, INTS)
        bytes_of_row = lanes.spread(b.mul(row, ir.Constant(INT64, 8)), INTS)
        n_vectors = _vectors(b, n_classes)
        places = []
        for k in range(at.n_measures):
            cell = lanes.load(scratch, 8 * (at.bins + WIDTH * k), INTS)
            cell = b.add(cell, lanes.spread(b.mul(n_bins, ir.Constant(INT64, k)), INTS))
            sums = b.add(b.mul(cell, bytes_of_row), lanes.spread(acc, INTS))
            counts = b.add(b.mul(cell, lanes.spread(n_classes, INTS)), rank)
            counts = b.add(b.shl(counts, lanes.ints(3)), lanes.spread(ranks, INTS))
            value = lanes.load(scratch, 8 * (at.variation + WIDTH * k), FLOATS)
            steps = self.steps(value)
            behind = b.add(sums, lanes.spread(b.mul(n_vectors, ir.Constant(INT64, 8 * WIDTH)), INTS))
            for r in range(WIDTH):
                lane = ir.Constant(INT32, r)
                lanes.add_at(b.extract_element(steps, lane), b.extract_element(behind, lane), 8 * k)
                lanes.add_at(ir.Constant(INT64, 1), b.extract_element(counts, lane), 0)
            places.append([b.extract_element(sums, ir.Constant(INT32, r)) for r in range(WIDTH)])
        with cgutils.for_range(b, n_vectors) as loop:
            first = b.mul(loop.index, ir.Constant(INT64, WIDTH))
            square = lanes.transposed([self.line(lines, first, k) for k in range(WIDTH)])
            offset = b.mul(first, ir.Constant(INT64, 8))
            for r, values in enumerate(square):
                steps = self.steps(self.wide(values))
                for of_measure in places:
                    lanes.add_at(steps, b.add(of_measure[r], offset), 0)


@intrinsic(prefer_literal=True)
def turn(_, rows, to_next_row, to_next_class, lines, n_classes, shape):
    """Eight rows into lines; whether one value is below zero."""
    made_for = LineShape.of(shape.literal_value)

    def emit(context, builder, signature, args):
        return Lines(builder, made_for).turn(*args[:-1])

    return types.int64(*[types.int64] * 5, shape), emit


@intrinsic(prefer_literal=True)
def _describe_lines(
    _,
    rows,
    to_next_row,
    to_next_class,
    labels,
    lines,
    n_classes,
    negative,
    scratch,
    tolerance,
    valid,
    to_unit,
    least,
    thresholds,
    n_thresholds,
    shape,
):
    """Describe eight rows that are sorted lines, and find their bins if there are few edges."""
    made_for = LineShape.of(shape.literal_value)

    def emit(context, builder, signature, args):
        rows, to_next_row, to_next_class, labels, lines, n_classes, negative, scratch, tolerance, *more, _ = (
            args
        )
        valid, to_unit, least, thresholds, n_thresholds = more
        eight = Lines(builder, made_for)
        narrow = eight.true_values(rows, to_next_row, to_next_class, labels)
        swept = eight.sweep(lines, n_classes, narrow, negative, is_sorted=True)
        p = eight.wide(narrow)
        values = eight.values_of(swept, to_unit, least)
        flags = eight.conclude(swept, p, eight.lanes.log2(p), values, scratch, tolerance, valid)
        eight.store_bins(thresholds, n_thresholds, scratch)
        return flags

    counts, numbers = [types.int64] * 2, [types.float64] * 2
    return types.int64(*[types.int64] * 8, types.float64, types.int64, *numbers, *counts, shape), emit


@intrinsic(prefer_literal=True)
def _add_lines(_, lines, n_classes, scratch, acc, row, ranks, n_bins, shape):
    """Add eight described rows to the bins that the scratch memory names."""
    made_for = LineShape.of(shape.literal_value)

    def emit(context, builder, signature, args):
        Lines(builder, made_for).add(*args[:-1])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 7, shape), emit


@cache
def line_kernel(shape: str, few: bool) -> Any:
    """The compiled pass over a block, for a `LineShape` as text and few or many bins."""
    layout = Layout(len(LineShape.of(shape).measures))
    places, bins_at, totals_at = layout.places, layout.bins, layout.totals
    n_measures, fingerprint = layout.n_measures, FINGERPRINT
    groups_between_flushes = 4095 // WIDTH

    @kernel
    def sum_lines(
        y_prob, scores, labels, tolerance, logits, split, search, thresholds, scratch, padding, lines, totals
    ):
        rows, labels_at, words = y_prob.ctypes.data, labels.ctypes.data, scratch.ctypes.data
        acc, ranks, edges = totals.acc.ctypes.data, totals.ranks.ctypes.data, thresholds.ctypes.data
        n_rows, n_classes, n_edges = len(labels), y_prob.shape[1], thresholds.shape[1]
        waiting, failed = 0, -1
        n_lines, at_lines = math.ceil(n_classes / 16) * 16, lines.ctypes.data
        to_unit, least = 1.0 / math.log2(n_classes), 1.0 / n_classes
        lane_sums = scratch[totals_at : totals_at + 8 * N_SCORES]
        if fingerprint == 0:  # never; being read is what it is there for
            return -1
        for first in range(0, n_rows, 8):
            valid = min(8, n_rows - first)
            here, these = rows + first * y_prob.strides[0], labels_at + first * 8
            to_next_row, to_next_class = y_prob.strides
            if valid < 8:
                padded, padded_labels = padding
                pad(y_prob, first, valid, padded)
                pad(labels, first, valid, padded_labels)
                here, these = padded.ctypes.data, padded_labels.ctypes.data
                to_next_row, to_next_class = padded.strides
            negative = turn(here, to_next_row, to_next_class, at_lines, n_classes, shape)
            sort_lines(lines, n_lines)
            flags = _describe_lines(
                here,
                to_next_row,
                to_next_class,
                these,
                at_lines,
                n_classes,
                negative,
                words,
                tolerance,
                valid,
                to_unit,
                least,
                edges,
                n_edges if few else 0,
                shape,
            )
            if flags & 1:
                lines[n_classes:] = 0.0  # what is below zero was sorted behind the zeros there
                failed = first
                break
            if not few:
                find_bins(scratch, valid, search, thresholds, bins_at, n_measures)
            _add_lines(
                at_lines, n_classes, words, acc, totals.acc.shape[3], ranks, totals.acc.shape[2], shape
            )
            if flags:
                handle_odd_rows(
                    y_prob, scores, labels, first, valid, logits, split, scratch, places, totals, 1
                )
            waiting += 1
            if waiting == groups_between_flushes:
                flush(totals, lane_sums)
                waiting = 0
        flush(totals, lane_sums)
        return failed

    return sum_lines

"""Up to 15 classes: eight rows at a time, in registers from the first load to the last sum.

A group of eight rows is turned so that each class is one vector, as it is already where columns lie in memory. Ranks,
sorting network, logarithms and checks then work on eight rows at once; the ordered probabilities are turned back, and
each row is added to its bin.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from trueness.ranking import comparators
from trueness.table.exact_sums import bits_of_ones
from trueness.tabulation.fused._eight import Eight, Layout, Swept, find_bins, handle_odd_rows, pad
from trueness.tabulation.fused._jit import FINGERPRINT, kernel
from trueness.tabulation.fused._lanes import INT32, INT64, INTS, WIDTH
from trueness.tabulation.fused._totals import N_SCORES, flush

FEW_COLUMNS = 7
"""Up to so many classes the true one's probability is chosen from the columns; beyond, memory is quicker."""


class Shape(NamedTuple):
    """What the code is made for."""

    n_classes: int
    item: int
    """Bytes of a probability."""
    copies: int
    """Of the sums."""
    by_columns: bool
    """Whether the classes, and not the rows, lie together in memory."""
    measures: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Shape:
        """From the text as which it travels, because the compiler knows texts."""
        n_classes, item, copies, order, *measures = text.split(",")
        return cls(int(n_classes), int(item), int(copies), order == "F", tuple(measures))

    @property
    def layout(self) -> Layout:
        return Layout(len(self.measures))

    @property
    def row(self) -> int:
        """Words of a row: its ordered probabilities and one variation per measure, filled up to whole vectors."""
        return WIDTH * math.ceil((self.n_classes + len(self.measures)) / WIDTH)

    @property
    def scratch(self) -> int:
        """Words of scratch memory: the rows are behind what is concluded of them."""
        return self.layout.size + WIDTH * self.row


class Group(Eight):
    """Emits the work on one group."""

    def __init__(self, builder: Any, shape: Shape) -> None:
        super().__init__(builder, shape.item, shape.measures)
        self.shape, self.by_columns = shape, shape.by_columns

    def columns(self, rows: Any, stride: Any = None) -> list[Any]:
        """The group's values, one vector per class; `stride` are the bytes between classes if columns lie in memory."""
        n, lanes, item, b = self.shape.n_classes, self.lanes, self.item, self.builder
        if self.by_columns:
            places = [b.add(rows, b.mul(ir.Constant(INT64, c), stride)) for c in range(n)]
            return [self.wide(lanes.load(place, 0, self.narrow, item)) for place in places]
        if n < WIDTH:
            return [self.wide(column) for column in self._narrow_columns(rows)]
        columns: list[Any] = [None] * n
        # The last square may overlap the one before, so that no load reaches beyond its row.
        for first in (*range(0, n - WIDTH, WIDTH), n - WIDTH):
            offsets = [(r * n + first) * item for r in range(WIDTH)]
            square = [self.wide(lanes.load(rows, offset, self.narrow, item)) for offset in offsets]
            columns[first : first + WIDTH] = lanes.transposed(square)
        return columns

    def _narrow_columns(self, rows: Any) -> list[Any]:
        """Columns of rows shorter than a vector: the group as one run of memory, and its lanes put in order."""
        n, lanes, item = self.shape.n_classes, self.lanes, self.item
        run = [lanes.load(rows, k * WIDTH * item, self.narrow, item) for k in range(n)]
        columns = []
        for c in range(n):
            places = [divmod(r * n + c, WIDTH) for r in range(WIDTH)]
            column = lanes.shuffled(run[0], run[1], [WIDTH * (k == 1) + lane for k, lane in places])
            for k in range(2, n):
                column = lanes.shuffled(
                    column, run[k], [WIDTH + lane if of == k else r for r, (of, lane) in enumerate(places)]
                )
            columns.append(column)
        return columns

    def true_probability(self, rows: Any, stride: Any, labels: Any, columns: list[Any]) -> Any:
        """p_y of each row: chosen from the columns if they are few, else read again from memory."""
        b, lanes = self.builder, self.lanes
        if len(columns) <= FEW_COLUMNS:
            label, p = lanes.load(labels, 0, INTS), columns[0]
            for c, column in enumerate(columns[1:], start=1):
                p = b.select(b.icmp_signed("==", label, lanes.ints(c)), column, p)
            return p
        to_next_row = ir.Constant(INT64, self.item * (1 if self.by_columns else self.shape.n_classes))
        to_next_class = stride if self.by_columns else ir.Constant(INT64, self.item)
        return self.wide(self.true_values(rows, to_next_row, to_next_class, labels))

    def ordered(self, columns: list[Any]) -> list[Any]:
        """The columns sorted downwards, row by row."""
        q = list(columns)
        for upper, lower in comparators(len(q)):
            q[upper], q[lower] = self.lanes.larger(q[upper], q[lower]), self.lanes.smaller(q[upper], q[lower])
        return q

    def describe(self, rows: Any, stride: Any, labels: Any, scratch: Any, tolerance: Any, valid: Any) -> Any:
        """Everything about eight rows but their bins, into the scratch memory; the result says what is amiss."""
        b, lanes = self.builder, self.lanes
        x = self.columns(rows, stride)
        total = lanes.sum(x)
        p = self.true_probability(rows, stride, labels, x)
        self.q = q = self.ordered(x)
        more = at_least = lanes.ints(0)
        log_p: Any = None
        # Column by column, so that few vectors are alive at a time; two sums in turn, so that none waits for itself.
        entropies, moments = [lanes.floats(0.0)] * 2, [lanes.floats(0.0)] * 2
        square = lanes.ints(-bits_of_ones(len(q)))
        for k, column in enumerate(q):
            log = lanes.log2(column)
            term = b.fmul(column, log)
            entropies[k % 2] = b.fsub(entropies[k % 2], term)
            moments[k % 2] = lanes.multiply_add(term, log, moments[k % 2])
            square = b.add(square, self.square_steps(column))
            reached = b.fcmp_ordered(">=", column, p)
            more = lanes.counted(more, b.fcmp_ordered(">", column, p))
            at_least = lanes.counted(at_least, reached)
            # Downwards in order, the last column that is not below p is p itself.
            log_p = log if log_p is None else b.select(reached, log, log_p)
        negative = b.not_(b.fcmp_ordered(">=", q[-1], lanes.floats(0.0)))
        swept = Swept(total, b.fadd(*entropies), b.fadd(*moments), square, more, at_least, q[0], negative)
        return self.conclude(swept, p, log_p, self.values_of(swept), scratch, tolerance, valid)

    def values_of(self, swept: Swept) -> list[Any]:
        """𝒱 by each measure."""
        n, lanes = self.shape.n_classes, self.lanes
        to_unit, least = lanes.floats(1.0 / math.log2(n)), lanes.floats(1.0 / n)
        return [self.value(measure, swept, to_unit, least) for measure in self.measures]

    def row_vectors(self) -> list[list[Any]]:
        """For each row its ordered probabilities and variations as steps of 2⁻⁵²: the bits of 1 + p."""
        lanes = self.lanes
        columns = [self.steps(column) for column in (*self.q, *self.values)]
        columns += [lanes.ints(0)] * (self.shape.row - len(columns))
        squares = [lanes.transposed(columns[k : k + WIDTH]) for k in range(0, len(columns), WIDTH)]
        return [[square[r] for square in squares] for r in range(WIDTH)]

    def add(
        self, rows: list[list[Any]], scratch: Any, acc: Any, ranks: Any, n_bins: Any, copies: int
    ) -> None:
        """Add each row to its bin and count its rank. Rows side by side go to different copies of the sums.

        With one copy, rows of the same bin would wait for one another's stores.
        """
        b, lanes, at = self.builder, self.lanes, self.at
        rank = lanes.load(scratch, 8 * at.rank, INTS)
        for k in range(at.n_measures):
            # The addresses of eight rows at once.
            copy = lanes.ints(*(r % copies * at.n_measures + k for r in range(WIDTH)))
            cell = b.add(
                lanes.load(scratch, 8 * (at.bins + WIDTH * k), INTS), b.mul(copy, lanes.spread(n_bins, INTS))
            )
            sums = b.add(b.mul(cell, lanes.ints(8 * self.shape.row)), lanes.spread(acc, INTS))
            counts = b.add(b.mul(cell, lanes.ints(self.shape.n_classes)), rank)
            counts = b.add(b.shl(counts, lanes.ints(3)), lanes.spread(ranks, INTS))
            for r, row in enumerate(rows):
                lane = ir.Constant(INT32, r)
                for part, vector in enumerate(row):
                    lanes.add_at(vector, b.extract_element(sums, lane), 8 * WIDTH * part)
                lanes.add_at(ir.Constant(INT64, 1), b.extract_element(counts, lane), 0)


_ADDRESS = types.int64


@intrinsic(prefer_literal=True)
def _sum_group(
    _, rows, stride, labels, scratch, tolerance, valid, thresholds, n_thresholds, acc, ranks, shape
):
    """Describe eight rows, find their bins by comparing with every edge, and add them up."""
    made_for = Shape.of(shape.literal_value)

    def emit(context, builder, signature, args):
        rows, stride, labels, scratch, tolerance, valid, thresholds, n_thresholds, acc, ranks, _ = args
        group = Group(builder, made_for)
        flags = group.describe(rows, stride, labels, scratch, tolerance, valid)
        group.store_bins(thresholds, n_thresholds, scratch)
        n_bins = builder.add(n_thresholds, ir.Constant(INT64, 2))  # one more, for lanes without a row
        group.add(group.row_vectors(), scratch, acc, ranks, n_bins, made_for.copies)
        return flags

    addresses = [_ADDRESS] * 4
    return types.int64(*addresses, types.float64, *[types.int64] * 5, shape), emit


@intrinsic(prefer_literal=True)
def _describe_group(_, rows, stride, labels, scratch, tolerance, valid, shape):
    """Describe eight rows, and leave them ready to be added, in the scratch memory."""
    made_for = Shape.of(shape.literal_value)
    behind = made_for.layout.size

    def emit(context, builder, signature, args):
        rows, stride, labels, scratch, tolerance, valid, _ = args
        group = Group(builder, made_for)
        flags = group.describe(rows, stride, labels, scratch, tolerance, valid)
        for r, row in enumerate(group.row_vectors()):
            for part, vector in enumerate(row):
                group.lanes.store(vector, scratch, 8 * (behind + r * made_for.row + WIDTH * part))
        return flags

    return types.int64(*[_ADDRESS] * 4, types.float64, types.int64, shape), emit


@intrinsic(prefer_literal=True)
def _add_group(_, scratch, acc, ranks, n_bins, shape):
    """Add eight described rows to the bins that the scratch memory names."""
    made_for = Shape.of(shape.literal_value)
    behind = made_for.layout.size

    def emit(context, builder, signature, args):
        scratch, acc, ranks, n_bins, _ = args
        group = Group(builder, made_for)
        places = [
            [8 * (behind + r * made_for.row + k) for k in range(0, made_for.row, WIDTH)] for r in range(WIDTH)
        ]
        rows = [[group.lanes.load(scratch, place, INTS) for place in row] for row in places]
        group.add(rows, scratch, acc, ranks, n_bins, made_for.copies)
        return context.get_dummy_value()

    return types.void(*[_ADDRESS] * 4, shape), emit


@cache
def group_kernel(shape: str, few: bool) -> Any:
    """The compiled pass over a block, for a `Shape` as text and few or many bins."""
    made_for = Shape.of(shape)
    layout, copies = made_for.layout, made_for.copies
    places = layout.places
    bins_at, totals_at = layout.bins, layout.totals
    n_measures, fingerprint = len(made_for.measures), FINGERPRINT
    groups_between_flushes = 4095 * copies // WIDTH

    @kernel
    def sum_groups(
        y_prob, scores, labels, tolerance, logits, split, search, thresholds, scratch, padding, totals
    ):
        rows, labels_at, words = y_prob.ctypes.data, labels.ctypes.data, scratch.ctypes.data
        acc, ranks, edges = totals.acc.ctypes.data, totals.ranks.ctypes.data, thresholds.ctypes.data
        n_rows, n_edges, waiting, failed = len(labels), thresholds.shape[1], 0, -1
        to_next_row, to_next_class = y_prob.strides
        lane_sums = scratch[totals_at : totals_at + 8 * N_SCORES]
        if fingerprint == 0:  # never; being read is what it is there for
            return -1
        for first in range(0, n_rows, 8):
            valid = min(8, n_rows - first)
            here, stride, these = rows + first * to_next_row, to_next_class, labels_at + first * 8
            if valid < 8:
                padded, padded_labels = padding
                pad(y_prob, first, valid, padded)
                pad(labels, first, valid, padded_labels)
                here, stride, these = padded.ctypes.data, padded.strides[1], padded_labels.ctypes.data
            if few:
                flags = _sum_group(
                    here, stride, these, words, tolerance, valid, edges, n_edges, acc, ranks, shape
                )
            else:
                flags = _describe_group(here, stride, these, words, tolerance, valid, shape)
                if not flags & 1:
                    find_bins(scratch, valid, search, thresholds, bins_at, n_measures)
                    _add_group(words, acc, ranks, totals.acc.shape[2], shape)
            if flags != 0:
                if flags & 1:
                    failed = first
                    break
                handle_odd_rows(
                    y_prob, scores, labels, first, valid, logits, split, scratch, places, totals, copies
                )
            waiting += 1
            if waiting == groups_between_flushes:
                flush(totals, lane_sums)
                waiting = 0
        flush(totals, lane_sums)
        return failed

    return sum_groups

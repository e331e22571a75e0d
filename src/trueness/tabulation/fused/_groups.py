"""Up to 32 classes: eight rows at a time, in registers from the first load to the last sum.

A group of eight rows is turned so that each class is one vector, as it is already where columns lie in memory. Ranks,
sorting network, logarithms and checks then work on eight rows at once; the ordered probabilities are turned back, and
each row is added to its bin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from trueness._sums import LOG_SCORE_BITS
from trueness.ranking import comparators
from trueness.tabulation.fused._jit import FINGERPRINT, jit, kernel
from trueness.tabulation.fused._lanes import BYTE, DOUBLE, FLOATS, INT32, INT64, INTS, SINGLE, WIDTH, Lanes
from trueness.tabulation.fused._totals import TINY, flush, mend

_LN2 = math.log(2)

FEW_COLUMNS = 7
"""Up to so many classes the true one's probability is chosen from the columns; beyond, memory is quicker."""

EDGES_AT_A_TIME = 3
"""Ten bins have nine inner edges."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things lie in the scratch memory of a group, in words of 8 bytes."""

    n_classes: int
    n_measures: int

    @property
    def row(self) -> int:
        """Words of a row: its ordered probabilities and one variation per measure, filled up to whole vectors."""
        return WIDTH * math.ceil((self.n_classes + self.n_measures) / WIDTH)

    @property
    def variation(self) -> int:
        return 0

    @property
    def bins(self) -> int:
        return WIDTH * self.n_measures

    @property
    def rank(self) -> int:
        return 2 * WIDTH * self.n_measures

    @property
    def tied(self) -> int:
        return self.rank + WIDTH

    @property
    def entropy(self) -> int:
        return self.tied + WIDTH

    @property
    def totals(self) -> int:
        """Running sums by lane: log-score and varentropy."""
        return self.entropy + WIDTH

    @property
    def rows(self) -> int:
        return self.totals + 2 * WIDTH

    @property
    def size(self) -> int:
        return self.rows + WIDTH * self.row


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
        return Layout(self.n_classes, len(self.measures))


class Group:
    """Emits the work on one group."""

    def __init__(self, builder: Any, shape: Shape) -> None:
        self.lanes, self.builder, self.layout = Lanes(builder), builder, shape.layout
        self.item, self.by_columns, self.measures = shape.item, shape.by_columns, shape.measures
        self.kind = SINGLE if shape.item == 4 else DOUBLE

    def columns(self, rows: Any, stride: Any = None) -> list[Any]:
        """The group's values, one vector per class; `stride` are the bytes between classes if columns lie in memory."""
        n, lanes, item = self.layout.n_classes, self.lanes, self.item
        vector = ir.VectorType(self.kind, WIDTH)
        if self.by_columns:
            places = [self._place(rows, ir.Constant(INT64, c), stride) for c in range(n)]
            return [self._wide(lanes.load(place, 0, vector, item)) for place in places]
        if n < WIDTH:
            return [self._wide(column) for column in self._narrow_columns(rows, vector)]
        columns: list[Any] = [None] * n
        # The last square may overlap the one before, so that no load reaches beyond its row.
        for first in (*range(0, n - WIDTH, WIDTH), n - WIDTH):
            offsets = [(r * n + first) * item for r in range(WIDTH)]
            square = [self._wide(lanes.load(rows, offset, vector, item)) for offset in offsets]
            columns[first : first + WIDTH] = lanes.transposed(square)
        return columns

    def _place(self, rows: Any, label: Any, stride: Any) -> Any:
        """Where the probability of a class begins."""
        apart = stride if self.by_columns else ir.Constant(INT64, self.item)
        return self.builder.add(rows, self.builder.mul(label, apart))

    def _wide(self, value: Any) -> Any:
        return self.builder.fpext(value, FLOATS) if self.item == 4 else value

    def _narrow_columns(self, rows: Any, vector: Any) -> list[Any]:
        """Columns of rows shorter than a vector: the group as one run of memory, and its lanes put in order."""
        n, lanes, item = self.layout.n_classes, self.lanes, self.item
        run = [lanes.load(rows, k * WIDTH * item, vector, item) for k in range(n)]
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
        cells = []
        for r in range(WIDTH):
            place = self._place(rows, lanes.load(labels, WIDTH * r, INT64), stride)
            further = r * self.item * (1 if self.by_columns else self.layout.n_classes)
            cells.append(lanes.load(place, further, self.kind, self.item))
        return self._wide(lanes.gathered(cells, ir.VectorType(self.kind, WIDTH)))

    def ordered(self, columns: list[Any]) -> list[Any]:
        """The columns sorted downwards, row by row."""
        q = list(columns)
        for upper, lower in comparators(len(q)):
            q[upper], q[lower] = self.lanes.larger(q[upper], q[lower]), self.lanes.smaller(q[upper], q[lower])
        return q

    def value(self, measure: str, q: list[Any], entropy: Any) -> Any:
        """𝒱 of each row, within the measure's range; `entropy` is in bits."""
        if measure == "entropy":
            low, value = 0.0, self.builder.fmul(entropy, self.lanes.floats(1.0 / math.log2(len(q))))
        else:
            low, value = 1.0 / len(q), q[0]
        return self.lanes.smaller(self.lanes.larger(value, self.lanes.floats(low)), self.lanes.floats(1.0))

    def improper(self, q: list[Any], total: Any, tolerance: Any) -> Any:
        """Rows that are no distributions. A NaN may be lost in sorting, but never in the sum."""
        b, lanes = self.builder, self.lanes
        off = b.fsub(total, lanes.floats(1.0))
        off = lanes.larger(off, b.fsub(lanes.floats(0.0), off))
        good = b.fcmp_ordered("<=", off, lanes.spread(tolerance, FLOATS))
        good = b.and_(good, b.fcmp_ordered("<=", q[0], lanes.floats(1.0)))
        return b.not_(b.and_(good, b.fcmp_ordered(">=", q[-1], lanes.floats(0.0))))

    def bin(self, value: Any, thresholds: Any, n_thresholds: Any) -> Any:
        """How many thresholds the value exceeds, compared with some at a time; their number is a multiple of that."""
        b, lanes = self.builder, self.lanes
        slots = [cgutils.alloca_once_value(b, lanes.ints(0)) for _ in range(EDGES_AT_A_TIME)]
        with cgutils.for_range(b, b.udiv(n_thresholds, ir.Constant(INT64, EDGES_AT_A_TIME))) as loop:
            place = b.add(thresholds, b.mul(loop.index, ir.Constant(INT64, 8 * EDGES_AT_A_TIME)))
            for k, slot in enumerate(slots):  # a count for each, so that none waits for itself
                edge = lanes.spread(lanes.load(place, 8 * k, DOUBLE), FLOATS)
                b.store(lanes.counted(b.load(slot), b.fcmp_ordered(">", value, edge)), slot)
        total = b.load(slots[0])
        for slot in slots[1:]:
            total = b.add(total, b.load(slot))
        return total

    def any(self, where: Any) -> Any:
        """Whether it holds in some lane, as 0 or 1."""
        some = self.builder.icmp_unsigned("!=", self.builder.bitcast(where, BYTE), ir.Constant(BYTE, 0))
        return self.builder.zext(some, INT64)

    def describe(self, rows: Any, stride: Any, labels: Any, scratch: Any, tolerance: Any, valid: Any) -> Any:
        """Everything about eight rows but their bins, into the scratch memory; the result says what is amiss."""
        b, lanes, at = self.builder, self.lanes, self.layout
        x = self.columns(rows, stride)
        total = lanes.sum(x)
        p = self.true_probability(rows, stride, labels, x)
        self.q = q = self.ordered(x)
        more = at_least = lanes.ints(0)
        log_p: Any = None
        # Column by column, so that few vectors are alive at a time; two sums in turn, so that none waits for itself.
        entropies, squares = [lanes.floats(0.0)] * 2, [lanes.floats(0.0)] * 2
        for k, column in enumerate(q):
            log = lanes.log2(column)
            term = b.fmul(column, log)
            entropies[k % 2] = b.fsub(entropies[k % 2], term)
            squares[k % 2] = lanes.multiply_add(term, log, squares[k % 2])
            reached = b.fcmp_ordered(">=", column, p)
            more = lanes.counted(more, b.fcmp_ordered(">", column, p))
            at_least = lanes.counted(at_least, reached)
            # Downwards in order, the last column that is not below p is p itself.
            log_p = log if log_p is None else b.select(reached, log, log_p)
        entropy, second_moment = b.fadd(*entropies), b.fadd(*squares)
        self.values = [self.value(measure, q, entropy) for measure in self.measures]
        for k, value in enumerate(self.values):
            lanes.store(value, scratch, 8 * (at.variation + WIDTH * k))

        tied = b.sub(at_least, more)
        self.live = b.icmp_signed("<", lanes.ints(*range(WIDTH)), lanes.spread(valid, INTS))
        many = b.and_(self.live, b.icmp_signed(">", tied, lanes.ints(1)))
        normal = b.fcmp_ordered(">=", p, lanes.floats(TINY))
        tiny = b.and_(self.live, b.not_(normal))
        unit = 2.0**LOG_SCORE_BITS
        variance = lanes.multiply_add(
            b.fmul(entropy, entropy), b.fsub(total, lanes.floats(2.0)), second_moment
        )
        variance = lanes.rounded(lanes.larger(variance, lanes.floats(0.0)), _LN2**2 * unit)
        none = lanes.ints(0)
        added = [
            b.select(b.and_(self.live, normal), lanes.rounded(b.fadd(log_p, entropy), _LN2 * unit), none),
            b.select(self.live, variance, none),
        ]
        for k, value in enumerate(added):
            lanes.add_at(value, scratch, 8 * (at.totals + WIDTH * k))
        lanes.store(more, scratch, 8 * at.rank)
        lanes.store(tied, scratch, 8 * at.tied)
        lanes.store(entropy, scratch, 8 * at.entropy)
        bad = self.any(b.and_(self.live, self.improper(q, total, tolerance)))
        odd = self.any(b.or_(many, tiny))
        return b.or_(bad, b.shl(odd, ir.Constant(INT64, 1)))

    def row_vectors(self) -> list[list[Any]]:
        """For each row its ordered probabilities and variations as steps of 2⁻⁵²: the bits of 1 + p."""
        lanes, b = self.lanes, self.builder
        columns = [lanes.bits(b.fadd(column, lanes.floats(1.0))) for column in (*self.q, *self.values)]
        columns += [lanes.ints(0)] * (self.layout.row - len(columns))
        squares = [lanes.transposed(columns[k : k + WIDTH]) for k in range(0, len(columns), WIDTH)]
        return [[square[r] for square in squares] for r in range(WIDTH)]

    def add(
        self, rows: list[list[Any]], scratch: Any, acc: Any, ranks: Any, n_bins: Any, copies: int
    ) -> None:
        """Add each row to its bin and count its rank. Rows side by side go to different copies of the sums.

        With one copy, rows of the same bin would wait for one another's stores.
        """
        b, lanes, at = self.builder, self.lanes, self.layout
        rank = lanes.load(scratch, 8 * at.rank, INTS)
        for k in range(at.n_measures):
            # The addresses of eight rows at once.
            copy = lanes.ints(*(r % copies * at.n_measures + k for r in range(WIDTH)))
            cell = b.add(
                lanes.load(scratch, 8 * (at.bins + WIDTH * k), INTS), b.mul(copy, lanes.spread(n_bins, INTS))
            )
            sums = b.add(b.mul(cell, lanes.ints(8 * at.row)), lanes.spread(acc, INTS))
            counts = b.add(b.mul(cell, lanes.ints(at.n_classes)), rank)
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
    layout = made_for.layout

    def emit(context, builder, signature, args):
        rows, stride, labels, scratch, tolerance, valid, thresholds, n_thresholds, acc, ranks, _ = args
        group = Group(builder, made_for)
        flags = group.describe(rows, stride, labels, scratch, tolerance, valid)
        n_bins = builder.add(n_thresholds, ir.Constant(INT64, 2))  # one more, for lanes without a row
        waste = group.lanes.spread(builder.sub(n_bins, ir.Constant(INT64, 1)), INTS)
        for k, value in enumerate(group.values):
            edges = builder.add(thresholds, builder.mul(n_thresholds, ir.Constant(INT64, 8 * k)))
            bins = builder.select(group.live, group.bin(value, edges, n_thresholds), waste)
            group.lanes.store(bins, scratch, 8 * (layout.bins + WIDTH * k))
        group.add(group.row_vectors(), scratch, acc, ranks, n_bins, made_for.copies)
        return flags

    addresses = [_ADDRESS] * 4
    return types.int64(*addresses, types.float64, *[types.int64] * 5, shape), emit


@intrinsic(prefer_literal=True)
def _describe_group(_, rows, stride, labels, scratch, tolerance, valid, shape):
    """Describe eight rows, and leave them ready to be added, in the scratch memory."""
    made_for = Shape.of(shape.literal_value)
    layout = made_for.layout

    def emit(context, builder, signature, args):
        rows, stride, labels, scratch, tolerance, valid, _ = args
        group = Group(builder, made_for)
        flags = group.describe(rows, stride, labels, scratch, tolerance, valid)
        for r, row in enumerate(group.row_vectors()):
            for part, vector in enumerate(row):
                group.lanes.store(vector, scratch, 8 * (layout.rows + r * layout.row + WIDTH * part))
        return flags

    return types.int64(*[_ADDRESS] * 4, types.float64, types.int64, shape), emit


@intrinsic(prefer_literal=True)
def _add_group(_, scratch, acc, ranks, n_bins, shape):
    """Add eight described rows to the bins that the scratch memory names."""
    made_for = Shape.of(shape.literal_value)
    layout = made_for.layout

    def emit(context, builder, signature, args):
        scratch, acc, ranks, n_bins, _ = args
        group = Group(builder, made_for)
        places = [
            [8 * (layout.rows + r * layout.row + k) for k in range(0, layout.row, WIDTH)]
            for r in range(WIDTH)
        ]
        rows = [[group.lanes.load(scratch, place, INTS) for place in row] for row in places]
        group.add(rows, scratch, acc, ranks, n_bins, made_for.copies)
        return context.get_dummy_value()

    return types.void(*[_ADDRESS] * 4, shape), emit


@jit
def _mend_rows(y_prob, scores, labels, first, valid, logits, split, scratch, places, totals, copies):
    """Look at the rows of a group one by one, because at least one of them is odd."""
    bins_at, rank_at, tied_at, entropy_at, totals_at = places
    bins = np.empty(totals.ranks.shape[1], np.int64)
    lane_sums, words = scratch[totals_at : totals_at + 16], scratch.view(np.float64)
    for r in range(valid):
        label = labels[first + r]
        p, entropy = np.float64(y_prob[first + r, label]), words[entropy_at + r] * _LN2
        for k in range(len(bins)):
            bins[k] = scratch[bins_at + 8 * k + r]
        rank, tied = scratch[rank_at + r], scratch[tied_at + r]
        row, copy = scores[first + r], r % copies
        mend(row, label, p, rank, tied, entropy, logits, split, bins, copy, lane_sums, r, totals)


@cache
def group_kernel(shape: str, few: bool) -> Any:
    """The compiled pass over a block, for a `Shape` as text and few or many bins."""
    made_for = Shape.of(shape)
    layout, copies = made_for.layout, made_for.copies
    places = (layout.bins, layout.rank, layout.tied, layout.entropy, layout.totals)
    bins_at, totals_at = layout.bins, layout.totals
    n_measures, fingerprint = len(made_for.measures), FINGERPRINT
    groups_between_flushes = 4095 * copies // WIDTH

    @kernel
    def sum_groups(
        y_prob, scores, labels, tolerance, logits, split, search, thresholds, scratch, padding, totals
    ):
        rows, labels_at, words = y_prob.ctypes.data, labels.ctypes.data, scratch.ctypes.data
        acc, ranks, edges = totals.acc.ctypes.data, totals.ranks.ctypes.data, thresholds.ctypes.data
        n_rows, n_edges, waiting = len(labels), thresholds.shape[1], 0
        to_next_row, to_next_class = y_prob.strides
        lane_sums = scratch[totals_at : totals_at + 16]
        if fingerprint == 0:  # never; being read is what it is there for
            return -1
        for first in range(0, n_rows, 8):
            valid = min(8, n_rows - first)
            here, stride, these = rows + first * to_next_row, to_next_class, labels_at + first * 8
            if valid < 8:
                padded, padded_labels = padding
                for r in range(8):
                    padded[r] = y_prob[first + min(r, valid - 1)]
                    padded_labels[r] = labels[first + min(r, valid - 1)]
                here, stride, these = padded.ctypes.data, padded.strides[1], padded_labels.ctypes.data
            if few:
                flags = _sum_group(
                    here, stride, these, words, tolerance, valid, edges, n_edges, acc, ranks, shape
                )
            else:
                flags = _describe_group(here, stride, these, words, tolerance, valid, shape)
                _find_bins(scratch, valid, search, thresholds, bins_at, n_measures)
                _add_group(words, acc, ranks, totals.acc.shape[2], shape)
            if flags != 0:
                if flags & 1:
                    return first
                _mend_rows(
                    y_prob, scores, labels, first, valid, logits, split, scratch, places, totals, copies
                )
            waiting += 1
            if waiting == groups_between_flushes:
                flush(totals, lane_sums)
                waiting = 0
        flush(totals, lane_sums)
        return -1

    return sum_groups


@jit
def _find_bins(scratch, valid, search, thresholds, bins_at, n_measures):
    """Bins among many edges: a table gives the first candidate, and few steps remain."""
    values = scratch.view(np.float64)
    guesses, lows, scales = search
    n_edges = thresholds.shape[1]
    for k in range(n_measures):
        for r in range(8):
            value = values[8 * k + r]
            m = guesses[k, np.intp((value - lows[k]) * scales[k])]
            while m < n_edges and value > thresholds[k, m]:
                m += 1
            scratch[bins_at + 8 * k + r] = m if r < valid else n_edges + 1

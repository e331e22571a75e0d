"""Eight rows at a time, one a lane: what is concluded from their sums, whichever kernel has taken them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from trueness.table.exact_sums import LOG_SCORE_BITS, ONE_BITS
from trueness.tabulation.fused._jit import jit
from trueness.tabulation.fused._lanes import BYTE, DOUBLE, FLOATS, INT64, INTS, SINGLE, WIDTH, Lanes
from trueness.tabulation.fused._totals import N_SCORES, TINY, add_odd_row

_LN2 = math.log(2)

EDGES_AT_A_TIME = 3
"""Ten bins have nine inner edges."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things lie in the scratch memory of eight rows, in words of 8 bytes."""

    n_measures: int

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
        """Running sums by lane: those of `Totals.scores`."""
        return self.entropy + WIDTH

    @property
    def size(self) -> int:
        return self.totals + N_SCORES * WIDTH

    @property
    def places(self) -> tuple[int, ...]:
        """For `handle_odd_rows`."""
        return self.bins, self.rank, self.tied, self.entropy, self.totals


class Swept(NamedTuple):
    """Sums over the classes of each row, a vector each."""

    total: Any
    entropy: Any
    """-Σp log₂ p."""
    second_moment: Any
    """Σp log₂² p."""
    square: Any
    """Σp² in units of 2⁻⁵²."""
    more: Any
    at_least: Any
    """How many classes are more probable than the true one, or not less."""
    largest: Any
    negative: Any
    """Whether some value is below zero."""


class Eight:
    """Emits what follows once eight rows are swept."""

    def __init__(self, builder: Any, item: int, measures: tuple[str, ...]) -> None:
        self.lanes, self.builder = Lanes(builder), builder
        self.item, self.measures, self.at = item, measures, Layout(len(measures))
        self.kind = SINGLE if item == 4 else DOUBLE
        self.narrow = ir.VectorType(self.kind, WIDTH)

    def wide(self, value: Any) -> Any:
        """As float64."""
        return self.builder.fpext(value, FLOATS) if self.item == 4 else value

    def true_values(self, rows: Any, to_next_row: Any, to_next_class: Any, labels: Any) -> Any:
        """p_y of each row, as it lies in memory."""
        b, lanes, cells = self.builder, self.lanes, []
        for r in range(WIDTH):
            place = b.add(rows, b.mul(lanes.load(labels, WIDTH * r, INT64), to_next_class))
            place = b.add(place, b.mul(to_next_row, ir.Constant(INT64, r)))
            cells.append(lanes.load(place, 0, self.kind, self.item))
        return lanes.gathered(cells, self.narrow)

    def value(self, measure: str, swept: Swept, to_unit: Any, least: Any) -> Any:
        """𝒱 of each row, within the measure's range; `to_unit` is 1/log₂ C, and `least` 1/C."""
        lanes = self.lanes
        if measure == "entropy":
            low, value = lanes.floats(0.0), self.builder.fmul(swept.entropy, to_unit)
        else:
            low, value = least, swept.largest
        return lanes.smaller(lanes.larger(value, low), lanes.floats(1.0))

    def steps(self, value: Any) -> Any:
        """The bits of 1 + value: those of 1.0, and the value in steps of 2⁻⁵²."""
        return self.lanes.bits(self.builder.fadd(value, self.lanes.floats(1.0)))

    def square_steps(self, value: Any) -> Any:
        """The same for value·value, rounded before one is added: two instructions, which must not be fused."""
        return self.steps(self.builder.fmul(value, value))

    def improper(self, swept: Swept, tolerance: Any) -> Any:
        """Rows that are no distributions. A NaN may be lost in sorting, but never in the sum."""
        b, lanes = self.builder, self.lanes
        off = b.fsub(swept.total, lanes.floats(1.0))
        off = lanes.larger(off, b.fsub(lanes.floats(0.0), off))
        good = b.fcmp_ordered("<=", off, lanes.spread(tolerance, FLOATS))
        good = b.and_(good, b.fcmp_ordered("<=", swept.largest, lanes.floats(1.0)))
        return b.or_(b.not_(good), swept.negative)

    def any(self, where: Any) -> Any:
        """Whether it holds in some lane, as 0 or 1."""
        some = self.builder.icmp_unsigned("!=", self.builder.bitcast(where, BYTE), ir.Constant(BYTE, 0))
        return self.builder.zext(some, INT64)

    def conclude(
        self, swept: Swept, p: Any, log_p: Any, values: list[Any], scratch: Any, tolerance: Any, valid: Any
    ) -> Any:
        """Everything about eight rows but their bins, into the scratch memory; the result says what is amiss.

        If one of them is improper none counts.
        """
        b, lanes, at = self.builder, self.lanes, self.at
        self.values = values
        rows = b.icmp_signed("<", lanes.ints(*range(WIDTH)), lanes.spread(valid, INTS))
        bad = self.any(b.and_(rows, self.improper(swept, tolerance)))
        nothing = ir.Constant(rows.type, [0] * WIDTH)
        self.live = b.select(b.icmp_signed("==", bad, ir.Constant(INT64, 0)), rows, nothing)
        for k, value in enumerate(values):
            lanes.store(value, scratch, 8 * (at.variation + WIDTH * k))
        entropy, tied = swept.entropy, b.sub(swept.at_least, swept.more)
        many = b.and_(self.live, b.icmp_signed(">", tied, lanes.ints(1)))
        normal = b.fcmp_ordered(">=", p, lanes.floats(TINY))
        tiny = b.and_(self.live, b.not_(normal))
        unit = 2.0**LOG_SCORE_BITS
        variance = lanes.multiply_add(
            b.fmul(entropy, entropy), b.fsub(swept.total, lanes.floats(2.0)), swept.second_moment
        )
        variance = lanes.rounded(lanes.larger(variance, lanes.floats(0.0)), _LN2**2 * unit)
        none, scored = lanes.ints(0), b.and_(self.live, normal)
        added = [
            b.select(scored, lanes.rounded(b.fadd(log_p, entropy), _LN2 * unit), none),
            b.select(scored, lanes.rounded(log_p, _LN2 * unit), none),
            b.select(self.live, variance, none),
            b.select(self.live, b.sub(self.steps(p), lanes.ints(ONE_BITS)), none),
            b.select(self.live, swept.square, none),
        ]
        for k, value in enumerate(added):
            lanes.add_at(value, scratch, 8 * (at.totals + WIDTH * k))
        # With NaN in a row a rank may be beyond the last, and its place that of another bin.
        lanes.store(b.select(self.live, swept.more, none), scratch, 8 * at.rank)
        lanes.store(tied, scratch, 8 * at.tied)
        lanes.store(entropy, scratch, 8 * at.entropy)
        odd = self.any(b.or_(many, tiny))
        return b.or_(bad, b.shl(odd, ir.Constant(INT64, 1)))

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

    def store_bins(self, thresholds: Any, n_thresholds: Any, scratch: Any) -> None:
        """The bins of eight concluded rows by comparing with every edge; what does not count is in a bin for waste."""
        b, lanes = self.builder, self.lanes
        waste = lanes.spread(b.add(n_thresholds, ir.Constant(INT64, 1)), INTS)
        for k, value in enumerate(self.values):
            edges = b.add(thresholds, b.mul(n_thresholds, ir.Constant(INT64, 8 * k)))
            bins = b.select(self.live, self.bin(value, edges, n_thresholds), waste)
            lanes.store(bins, scratch, 8 * (self.at.bins + WIDTH * k))


@jit
def find_bins(scratch, valid, search, thresholds, bins_at, n_measures):
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


@jit
def pad(source, first, valid, padded):
    """Fewer than eight rows or labels made eight, with the last one again and again."""
    for r in range(8):
        padded[r] = source[first + min(r, valid - 1)]


@jit
def handle_odd_rows(y_prob, scores, labels, first, valid, logits, split, scratch, places, totals, copies):
    """Look at eight rows one by one, because at least one of them is odd."""
    bins_at, rank_at, tied_at, entropy_at, totals_at = places
    bins = np.empty(totals.ranks.shape[1], np.int64)
    lane_sums, words = scratch[totals_at : totals_at + 8 * N_SCORES], scratch.view(np.float64)
    for r in range(valid):
        label = labels[first + r]
        p, entropy = np.float64(y_prob[first + r, label]), words[entropy_at + r] * _LN2
        for k in range(len(bins)):
            bins[k] = scratch[bins_at + 8 * k + r]
        rank, tied = scratch[rank_at + r], scratch[tied_at + r]
        row, copy = scores[first + r], r % copies
        add_odd_row(row, label, p, rank, tied, entropy, logits, split, bins, copy, lane_sums, r, totals)

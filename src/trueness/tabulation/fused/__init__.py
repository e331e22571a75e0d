"""Rows to sums in one compiled pass: the same table as the portable engine, for inputs that are worth a compiler."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from trueness._arrays import FloatArray
from trueness._threads import in_threads
from trueness.bins import Edges, EqualMass
from trueness.refusals import Refusal
from trueness.rows import Rows, refuse_bad_rows, sum_rounding
from trueness.table import Sums, TableSpec
from trueness.table.exact_sums import LOG_SCORE_BITS, PROBABILITY_BITS, ExactSum
from trueness.tabulation.fused._eight import EDGES_AT_A_TIME, Layout
from trueness.tabulation.fused._groups import Shape, group_kernel
from trueness.tabulation.fused._lanes import WIDTH
from trueness.tabulation.fused._lines import line_kernel, zero_lines
from trueness.tabulation.fused._measure import (
    CELLS,
    measure_group_kernel,
    measure_line_kernel,
    order_statistics,
)
from trueness.tabulation.fused._totals import Totals, aligned_zeros
from trueness.variation import Variation

FEW_EDGES = 32
"""Up to so many edges a value is compared with all of them; beyond, a table says where to begin."""

GUESSES = 4096

NETWORK_CLASSES = 15
"""Up to so many classes eight rows are sorted in registers; beyond, in memory."""

SHARED_VALUES = 2**19
"""Fewer are one thread's work: to wake another takes as long as to sum 2¹⁷."""


def spans(rows: Rows, n_threads: int = 1) -> list[tuple[int, int]]:
    """Blocks long enough to hide what the interpreter does between them, and several for each of several threads."""
    in_all = rows.n_rows * rows.n_classes
    shared = n_threads > 1 and in_all >= SHARED_VALUES
    values = min(2**20, max(2**17, -(-in_all // (2 * n_threads)))) if shared else 2**20
    step = max(WIDTH, min(2**16, values // rows.n_classes) // WIDTH * WIDTH)
    return [(start, min(start + step, rows.n_rows)) for start in range(0, rows.n_rows, step)]


def prepare(rows: Rows, specs: Sequence[TableSpec]) -> None:
    """Compile what a pass over such rows needs, so that it fails before the pass if it must."""
    if specs and not is_ready(rows):
        compiled = Pass(rows, specs)
        compiled.add_nothing()
        compiled.sums()  # marks such rows as ready


def equal_mass_edges(rows: Rows, variation: Variation, bins: EqualMass, n_threads: int) -> Edges:
    """The edges of equal-mass bins over all rows."""
    values = np.empty(rows.n_rows)
    cells = in_threads(lambda some: measure(rows, variation, some, values), spans(rows, n_threads), n_threads)
    return edges_of_measured(values, sum(cells), variation, rows.n_classes, bins)


def measure(rows: Rows, variation: Variation, spans: Iterable[tuple[int, int]], values: FloatArray) -> Any:
    """Put 𝒱 of the blocks of rows that `spans` names into `values`; how many fell into each of CELLS equal cells."""
    low, scale = _cell_scale(variation, rows.n_classes)
    n_classes, item, name = rows.n_classes, rows.form.item, variation.kernel
    memory: tuple[Any, ...] = (np.empty((WIDTH, n_classes), f"f{item}"),)
    if n_classes <= NETWORK_CLASSES:
        kernel = measure_group_kernel(f"{n_classes},{item},1,C,{name}")
    else:
        kernel = measure_line_kernel(f"{item},C,{name}")
        memory += (zero_lines(n_classes, item),)
    cells = np.zeros(CELLS, np.int64)

    def run(start: int, stop: int, tolerance: float) -> int:
        block = rows.block(start, stop)
        return int(kernel(block, tolerance, low, scale, values[start:stop], cells, *memory))

    for start, stop in spans:
        for _ in _run_and_check(rows, start, stop, run):
            continue
    return cells


def _run_and_check(rows: Rows, start: int, stop: int, run: Callable[[int, int, float], int]) -> Iterator[int]:
    """Run a kernel over rows and yield how far it came, again and again; an error where `Rows` refuses a row.

    The kernel adds in another order than `Rows` does, so that where a sum is within rounding of the tolerance the eight
    rows are checked by `Rows` alone. That is slow, but such sums are rare: the tolerance is wider than 1e-5 and the eps
    of a dtype, by which sums often miss 1.
    """
    rounding = sum_rounding(rows.n_classes)
    while start < stop:
        first_unsure = run(start, stop, rows.sum_tolerance - rounding)
        start = stop if first_unsure < 0 else start + first_unsure
        yield start
        if start < stop:
            end = min(start + WIDTH, stop)
            refuse_bad_rows(rows, start, end)
            if run(start, end, rows.sum_tolerance + rounding) >= 0:
                raise AssertionError(f"the kernel refuses rows {start} to {end}, which are good")
            start = end
            yield start


def edges_of_measured(
    values: FloatArray, cells: Any, variation: Variation, n_classes: int, bins: EqualMass
) -> Edges:
    """The edges of equal-mass bins, given 𝒱 of all rows and the counts that `measure` gave for them."""
    ends = order_statistics(values, cells, *_cell_scale(variation, n_classes), bins.nth(len(values)))
    return bins.edges_at(ends, *variation.range_for(n_classes))


def _cell_scale(variation: Variation, n_classes: int) -> tuple[float, float]:
    """The bottom of the measure's range, and cells for each unit of it."""
    low, high = variation.range_for(n_classes)
    return low, (CELLS - 1) / (high - low)


def _kind(rows: Rows) -> tuple[int, int, bool]:
    """What the kernel for some rows is made for: classes, bytes of a probability, whether it reads columns."""
    n_classes = min(rows.n_classes, NETWORK_CLASSES + 1)  # beyond, it is one for all
    return n_classes, rows.form.item, rows.form.in_columns


_ready: set[tuple[int, int, bool]] = set()


def is_ready(rows: Rows) -> bool:
    """Whether the kernel for such rows was used before in this process, and costs nothing more."""
    return _kind(rows) in _ready


class Pass:
    """Sums that blocks of rows are added to, all of them of the same form; for one thread."""

    def __init__(self, rows: Rows, specs: Sequence[TableSpec]) -> None:
        self.form, self.specs, self.reached = rows.form, specs, 0
        self.kind = _, self.item, self.by_columns = _kind(rows)
        self.order: Literal["C", "F"] = "F" if self.by_columns else "C"
        self.thresholds = _thresholds(rows, specs)
        self.split = specs[0].ties == "split"
        n_classes, n_edges = rows.n_classes, self.thresholds.shape[1]
        few, measures = n_edges <= FEW_EDGES, [str(spec.variation.kernel) for spec in specs]
        self.memory: tuple[Any, ...] = ((self._empty(WIDTH), np.empty(WIDTH, np.int64)),)
        if n_classes <= NETWORK_CLASSES:
            copies = 4 if n_edges < 256 else 1
            shape = ",".join(map(str, (n_classes, self.item, copies, self.order, *measures)))
            self.kernel, self.first_variation = group_kernel(shape, few), n_classes
            words, row = Shape.of(shape).scratch, Shape.of(shape).row
        else:
            copies, words = 1, Layout(len(specs)).size
            self.kernel = line_kernel(",".join((str(self.item), self.order, *measures)), few)
            self.memory += (zero_lines(n_classes, self.item),)
            self.first_variation = WIDTH * math.ceil(n_classes / WIDTH)
            row = self.first_variation + WIDTH * math.ceil(len(specs) / WIDTH)
        self.search = _NO_SEARCH if few else _search(specs, self.thresholds)
        self.scratch = aligned_zeros((words,))
        self.totals = Totals.zeros(copies, len(specs), n_edges + 1, n_classes, row)

    def add(self, rows: Rows, start: int, stop: int) -> None:
        """Add the rows from start to stop; if one is refused, those before `reached` are added, and no others."""
        self.reached = start
        for reached in _run_and_check(rows, start, stop, partial(self._run, rows)):
            self.reached = reached

    def _run(self, rows: Rows, start: int, stop: int, tolerance: float) -> int:
        assert rows.labels is not None
        # At least two rows: the compiler cannot distinguish the two memory orders of a single one.
        room = max(stop - start, 2)
        block = rows.columns(start, stop, room) if self.by_columns else rows.block(start, stop)
        scores = rows.scores(start, stop) if rows.from_logits else block
        try:
            labels = np.ascontiguousarray(rows.labels.block(start, stop), dtype=np.int64)
        except Refusal:
            refuse_bad_rows(rows, start, stop)  # of two bad rows the first is refused
            raise
        return self._sum_block(block, scores, labels, tolerance)

    def add_nothing(self) -> None:
        """Run the kernel over no rows."""
        block = self._empty(2 if self.by_columns else 0)
        scores = block.astype(np.float64) if self.form.from_logits else block
        self._sum_block(block, scores, np.empty(0, np.int64), self.form.sum_tolerance)

    def _empty(self, n_rows: int) -> Any:
        return np.empty((n_rows, self.form.n_classes), f"f{self.item}", order=self.order)

    def _sum_block(self, block: Any, scores: Any, labels: Any, tolerance: float) -> int:
        """Sum a block, or the rows before the first eight among which one is bad: the number of these, else -1."""
        how = (tolerance, self.form.from_logits, self.split, self.search, self.thresholds)
        return int(self.kernel(block, scores, labels, *how, self.scratch, *self.memory, self.totals))

    def sums(self) -> list[Sums]:
        """What was summed, one for each spec."""
        _ready.add(self.kind)
        t = self.totals
        log_score, log_likelihood, variance, true_probability, square = (
            ExactSum(np.array(whole), np.array(fraction), bits)
            for (whole, fraction), bits in zip(
                t.scores, (LOG_SCORE_BITS,) * 3 + (PROBABILITY_BITS,) * 2, strict=True
            )
        )
        made, ranks = [], slice(self.form.n_classes)
        for k, spec in enumerate(self.specs):
            m, at = slice(spec.bins.n_bins), self.first_variation + k
            rank = ExactSum.with_carry(
                t.rank_count[k, m] + t.split_whole[k, m], t.split_fraction[k, m], PROBABILITY_BITS
            )
            whole, fraction = t.whole[k, m], t.fraction[k, m]
            made.append(
                Sums(
                    rows=t.rank_count[k, m].sum(axis=1),
                    tied_rows=np.array(t.odd_rows[1]),
                    impossible_rows=np.array(t.odd_rows[0]),
                    ordered=ExactSum(whole[:, ranks], fraction[:, ranks], PROBABILITY_BITS),
                    rank=rank,
                    variation=ExactSum(whole[:, at], fraction[:, at], PROBABILITY_BITS),
                    log_score=log_score,
                    log_score_variance=variance,
                    true_probability=true_probability,
                    square=square,
                    log_likelihood=log_likelihood,
                )
            )
        return made


def _thresholds(rows: Rows, specs: Sequence[TableSpec]) -> FloatArray:
    """The edges of all measures, (K, edges), filled up to threes with infinities that no value exceeds."""
    edges = []
    for spec in specs:
        low, high = spec.variation.range_for(spec.n_classes)
        edges.append(spec.bins.thresholds(rows.y_prob.eps, high - low))
    n_edges = EDGES_AT_A_TIME * math.ceil(max(map(len, edges)) / EDGES_AT_A_TIME)
    table = np.full((len(edges), n_edges), np.inf)
    for line, values in zip(table, edges, strict=True):
        line[: len(values)] = values
    return table


_NO_SEARCH = np.zeros((1, 1), np.int64), np.zeros(1), np.zeros(1)
"""For few edges, which are all compared with; making the table of guesses would be felt by short inputs."""


def _search(specs: Sequence[TableSpec], thresholds: FloatArray) -> tuple[Any, FloatArray, FloatArray]:
    """For each measure: the first bin that a value in each of 4096 equal cells can be in."""
    ranges = np.array([spec.variation.range_for(spec.n_classes) for spec in specs])
    lows, scales = ranges[:, 0].copy(), GUESSES / (ranges[:, 1] - ranges[:, 0])
    # A little below each cell, since the cell of a value is found with rounding.
    cells = lows[:, None] + (np.arange(GUESSES + 1) - 1e-6) / scales[:, None]
    guesses = [
        np.searchsorted(edges, cell, side="left") for edges, cell in zip(thresholds, cells, strict=True)
    ]
    return np.array(guesses, np.int64), lows, scales

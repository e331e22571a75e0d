"""Rows to sums in one compiled pass: the same table as by the portable engine, to the last bit, in less time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness._row_arithmetic import (
    entropy_in_bits,
    log_moments,
    underflowed_score_units,
)
from trueness._scratch import Scratch
from trueness.old_table import EventSpec, SingleSpec, Sums, TableSpec
from trueness.old_table.exact_sums import LOG_SCORE_BITS, PROBABILITY_BITS, ExactSum, carry
from trueness.ranking import underflowed_log_p
from trueness.refusals import Refusal
from trueness.rows import Rows, refuse_bad_rows
from trueness.tabulation.compiled.event_cells import EventCells
from trueness.tabulation.compiled.layout import Layout, layout_for
from trueness.tabulation.compiled.library import (
    MAX_MEASURES,
    UNDERFLOWED_WORDS,
    Job,
    address,
    require_library,
)

SHARED_VALUES, FEW_SHARED_VALUES = 2**19, 2**21
"""Fewer values than the first number are one thread's work; fewer than the second are one block for each thread."""

WAKING_VALUES = 2**15
"""Waking another thread takes about as long as summing so many values."""

SCORE_BITS = (LOG_SCORE_BITS,) * 3 + (PROBABILITY_BITS,)
"""Of log-score, its variance, that of possible rows, and expected misses."""

LOG_SCORE, POSSIBLE_VARIANCE, EXPECTED_MISSES = 0, 2, 3
"""The places of scores, as in `source/totals.h`."""

ROWS_AT_A_TIME = 8
"""The most rows that a kernel works on at a time; if it stops, one of so many is bad."""


def spans(rows: Rows, n_threads: int = 1) -> list[tuple[int, int]]:
    """Blocks long enough to hide what the interpreter does between them.

    For several threads they become shorter towards the end, so that no thread waits long for the last one.
    """
    n_values = rows.n_rows * rows.n_classes
    shared = n_threads > 1 and n_values >= SHARED_VALUES
    if shared and n_values < FEW_SHARED_VALUES:
        return one_block_each(rows, min(n_threads, 2 * n_values // SHARED_VALUES))
    ends = [0]
    while ends[-1] < rows.n_rows:
        share = (rows.n_rows - ends[-1]) * rows.n_classes // (4 * n_threads)
        values = min(2**20, max(2**17, share)) if shared else 2**20
        step = min(2**16, values // rows.n_classes) // ROWS_AT_A_TIME * ROWS_AT_A_TIME
        ends.append(min(ends[-1] + max(ROWS_AT_A_TIME, step), rows.n_rows))
    return [*pairwise(ends)]


def one_block_each(rows: Rows, n_threads: int) -> list[tuple[int, int]]:
    """One block for each thread: of short work, taking further blocks would be a large part.

    The first block, which is the caller's, is longer by so many values, since the other threads begin later.
    """
    others = (rows.n_rows - WAKING_VALUES // rows.n_classes) // (n_threads * ROWS_AT_A_TIME) * ROWS_AT_A_TIME
    if others <= 0:
        return [(0, rows.n_rows)]
    first = rows.n_rows - (n_threads - 1) * others
    return [*pairwise([0, *range(first, rows.n_rows + 1, others)])]


def set_block(job: Job, rows: Rows, start: int, stop: int, scratch: Scratch) -> NDArray[Any]:
    """Say where rows start to stop lie; what is returned must be kept until the job is done."""
    block = rows.columns(start, stop, scratch) if rows.in_columns else rows.block(start, stop)
    job.rows, job.n_rows = address(block), stop - start
    job.to_next_row, job.to_next_class = block.strides
    return block


def refuse_rows_at(rows: Rows, start: int, stop: int) -> None:
    """Refuse the first bad row of those that a kernel has stopped at."""
    refuse_bad_rows(rows, start, min(start + ROWS_AT_A_TIME, stop))
    raise AssertionError(f"the kernel refuses rows {start} to {stop}, which are good")


class Pass:
    """Sums that blocks of rows are added to, all of them of the same form; for one thread."""

    def __init__(self, rows: Rows, specs: Sequence[SingleSpec]) -> None:
        self.form, self.reached = rows.form, 0
        # Tables first, and the order is kept among them and among events.
        self._order = sorted(range(len(specs)), key=lambda at: isinstance(specs[at], EventSpec))
        self._parts = _totals_for(rows, specs)

    def add(self, rows: Rows, start: int, stop: int) -> None:
        """Add the rows from start to stop; if one is refused, those before `reached` are added, and no others."""
        self.reached = start
        try:
            labels = _labels_of(rows, start, stop)
        except Refusal:
            refuse_bad_rows(rows, start, stop)  # of two bad rows the first is refused
            raise
        for part in self._parts:
            first_bad = part.add(rows, start, stop, labels)
        self.reached = stop if first_bad < 0 else start + first_bad
        if first_bad >= 0:
            refuse_rows_at(rows, self.reached, stop)

    def sums(self) -> list[Any]:
        """The sums so far, one for each spec."""
        tables = [sums for part in self._parts for sums in part.sums()]
        events = [part.events.sums() for part in self._parts if part.events is not None]
        placed = dict(zip(self._order, [*tables, *events], strict=True))
        return [placed[at] for at in range(len(placed))]


def _labels_of(rows: Rows, start: int, stop: int) -> IntArray:
    """The labels as a kernel reads them; the first bad one is refused."""
    assert rows.labels is not None
    return np.ascontiguousarray(rows.labels.block(start, stop), dtype=np.int64)


def _totals_for(rows: Rows, specs: Sequence[SingleSpec]) -> list[_Totals]:
    """What sums the tables and events of these specs, in as few passes as possible."""
    tables = [spec for spec in specs if isinstance(spec, TableSpec)]
    events = [spec for spec in specs if isinstance(spec, EventSpec)]
    pairs = [tables[k : k + MAX_MEASURES] for k in range(0, len(tables), MAX_MEASURES)]
    return [_Totals(rows, of_part or [], of_events) for of_part, of_events in zip_longest(pairs, events)]


class _Totals:
    """The sums of up to two tables and one table of events."""

    def __init__(self, rows: Rows, specs: Sequence[TableSpec], events: EventSpec | None) -> None:
        self.library, self.specs, self.layout = require_library(), specs, layout_for(rows.form, specs)
        self.job, n_totals = self.layout.job(), self.layout.n_totals
        self.events = None if events is None else EventCells(events, rows.y_prob.eps)
        if self.events is not None:
            self.events.describe(self.job)
        memory = np.zeros(n_totals + self.library.arena_size(self.job) // 8, np.int64)
        self.totals = memory[:n_totals]
        self.job.totals = address(memory)
        self.job.arena = self.job.totals + 8 * n_totals
        self.scratch = Scratch()
        self.impossible = 0
        """Rows from logits whose true class is impossible."""

    def prepare(self, rows: Rows, start: int, stop: int, labels: IntArray) -> NDArray[Any]:
        """Prepare the job for a block, which is returned and must be kept, like the labels, until the job is done."""
        block = set_block(self.job, rows, start, stop, self.scratch)
        self.job.labels = address(labels)
        self.expect(stop - start)
        return block

    def expect(self, n_rows: int) -> None:
        """Make room for so many rows more."""
        if self.events is not None:
            self.events.expect(n_rows)

    def add(self, rows: Rows, start: int, stop: int, labels: IntArray) -> int:
        """Sum a block; -1, or the first row of a few among which one is bad, counted from `start`."""
        job, block = self.job, self.prepare(rows, start, stop, labels)
        if not rows.from_logits:
            return self.library.sum(job)
        logits, underflowed = rows.scores(start, stop), np.empty((stop - start, UNDERFLOWED_WORDS), np.int64)
        job.logits, job.underflowed, job.n_underflowed = address(logits), address(underflowed), 0
        first_bad = self.library.sum(job)
        if job.n_underflowed:
            self._add_underflowed(self.totals, block, logits, labels, underflowed[: job.n_underflowed])
        return first_bad

    def _add_underflowed(
        self, totals: IntArray, block: FloatArray, logits: FloatArray, labels: IntArray, rows: IntArray
    ) -> None:
        """Add the scores of rows whose true class has a probability below 2⁻¹⁰²², from its logit.

        `rows` are their numbers, varentropies, predicted classes and bins, as kernels return them.
        """
        some, variance, *at = rows.T
        log_p = underflowed_log_p(logits[some], labels[some])
        moments = log_moments(np.ascontiguousarray(block[some].T), Scratch(), second=False)
        log_score, log_likelihood = underflowed_score_units(log_p, entropy_in_bits(moments))
        parts, impossible = _Parts.of(totals, self.layout), log_p == -np.inf
        possible_variance = np.where(impossible, 0, variance)
        for scores, of_rows in zip((parts.predicted_scores, *parts.bin_scores), at, strict=False):
            _add_units(scores[:, LOG_SCORE], of_rows, log_score)
            _add_units(scores[:, POSSIBLE_VARIANCE], of_rows, possible_variance)
        _add_units(parts.overall[:1], np.zeros(len(log_p), np.int64), log_likelihood)
        self.impossible += int(np.count_nonzero(impossible))

    def sums(self) -> list[Sums]:
        """The sums so far, one for each table; they do not change when further rows are added."""
        if not self.specs:
            return []
        totals = self.totals.copy()
        totals.setflags(write=False)  # and so are all parts of it
        parts = _Parts.of(totals, self.layout)
        of_all = self._sums_of_all(parts)
        return [Sums(**_sums_of_bins(parts, which, spec), **of_all) for which, spec in enumerate(self.specs)]

    def _sums_of_all(self, parts: _Parts) -> dict[str, Any]:
        """The sums that do not depend on bins, by name."""
        impossible, tied = parts.odd_rows.tolist()
        counts = {"tied_rows": np.array(tied), "impossible_rows": np.array(impossible + self.impossible)}
        if not parts.bin_scores.size:
            return counts
        by_class = parts.predicted_scores
        return {
            **counts,
            "log_likelihood": _exact(parts.overall[0], LOG_SCORE_BITS),
            "true_probability": _exact(parts.overall[1], PROBABILITY_BITS),
            "square": _exact(parts.overall[2], PROBABILITY_BITS),
            "predicted_rows": parts.predicted_rows,
            "predicted_scores": _exact(by_class[:, :POSSIBLE_VARIANCE], LOG_SCORE_BITS),
            "predicted_possible_variance": _exact(by_class[:, POSSIBLE_VARIANCE], LOG_SCORE_BITS),
            "predicted_misses": _exact(by_class[:, EXPECTED_MISSES], PROBABILITY_BITS),
        }


class _Parts(NamedTuple):
    """The parts of `Job.totals`; the last axis of scores is whole and fraction."""

    ordered: IntArray
    """Whole and fraction of the ordered probabilities and V, (2, K, M, C + 1)."""
    rank_count: IntArray
    bin_scores: IntArray
    predicted_rows: IntArray
    predicted_scores: IntArray
    overall: IntArray
    """Log-likelihood, p_y and ‖p‖²."""
    odd_rows: IntArray
    split: IntArray
    """Whole and fraction of what shared ranks change, (2, K, M, C); empty if ties are not split."""

    @classmethod
    def of(cls, totals: IntArray, layout: Layout) -> _Parts:
        """The parts of `totals`, each a view of its shape."""
        return cls(*[totals[start:stop].reshape(shape) for start, stop, shape in layout.parts])


def _sums_of_bins(parts: _Parts, which: int, spec: TableSpec) -> dict[str, Any]:
    """The sums over each bin of one table, by name."""
    n_bins, columns = spec.bins.n_bins, slice(spec.n_cells)
    at = which, slice(n_bins)
    (whole, fraction), count = parts.ordered[:, *at], parts.rank_count[at]
    rank = ExactSum(count[:, columns], np.zeros((n_bins, spec.n_cells), np.int64), PROBABILITY_BITS)
    if parts.split.size:
        shared = parts.split[:, *at, columns]
        rank = ExactSum(rank.whole + shared[0], shared[1], PROBABILITY_BITS)
    return {
        "rows": np.add.reduce(count, axis=1),
        "ordered": ExactSum(whole[:, columns], fraction[:, columns], PROBABILITY_BITS),
        "rank": rank,
        "variation": ExactSum(whole[:, -1], fraction[:, -1], PROBABILITY_BITS),
        **_scores_of_bins(parts, which, n_bins),
    }


SCORE_NAMES = ("log_score", "log_score_variance", "possible_variance")
"""The scores that are kept by bin; the sum of 1 - q₁ follows from other sums."""


def _scores_of_bins(parts: _Parts, which: int, n_bins: int) -> dict[str, Any]:
    """The sums of scores over each bin of one table, by name; if there are none, zeros where a table must have some."""
    if not parts.bin_scores.size:
        return dict.fromkeys(SCORE_NAMES[:2], ExactSum.zeros((n_bins,), LOG_SCORE_BITS))
    scores = parts.bin_scores[which, :n_bins]
    return {name: _exact(scores[:, k], LOG_SCORE_BITS) for k, name in enumerate(SCORE_NAMES)}


def _exact(pairs: IntArray, bits: int) -> ExactSum:
    """The sums whose whole parts and fractions are the last axis."""
    return ExactSum(pairs[..., 0], pairs[..., 1], bits)


def _add_units(pairs: IntArray, at: IntArray, units: IntArray) -> None:
    """Add units of 2⁻⁴⁰ to the sums `at`, (n, 2): whole and fraction."""
    np.add.at(pairs[:, 0], at, units >> LOG_SCORE_BITS)
    np.add.at(pairs[:, 1], at, units & ((1 << LOG_SCORE_BITS) - 1))
    carry(pairs.T, LOG_SCORE_BITS)

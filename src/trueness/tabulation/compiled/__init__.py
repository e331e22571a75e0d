"""Rows to sums in one compiled pass: the same table as by the portable engine, to the last bit, in less time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness._row_arithmetic import (
    entropy_in_bits,
    log_moments,
    underflowed_score_units,
)
from trueness._scratch import Scratch
from trueness.ranking import underflowed_log_p
from trueness.refusals import Refusal
from trueness.rows import Rows, refuse_bad_rows
from trueness.table import Sums, TableSpec
from trueness.table.exact_sums import LOG_SCORE_BITS, PROBABILITY_BITS, ExactSum
from trueness.tabulation.compiled.layout import layout_for
from trueness.tabulation.compiled.library import (
    MAX_MEASURES,
    Job,
    address,
    require_library,
)

SHARED_VALUES = 2**19
"""Fewer values are one thread's work: to wake another takes as long as to sum 2¹⁷."""

SCORE_BITS = (LOG_SCORE_BITS,) * 3 + (PROBABILITY_BITS,) * 2
"""Of the totals over all rows: log-score, log-likelihood, varentropy, p_y and ‖p‖²."""

ROWS_AT_A_TIME = 8
"""The most rows that a kernel works on at a time; if it stops, one of so many is bad."""


def spans(rows: Rows, n_threads: int = 1) -> list[tuple[int, int]]:
    """Blocks long enough to hide what the interpreter does between them.

    For several threads they become shorter towards the end, so that no thread waits long for the last one.
    """
    shared = n_threads > 1 and rows.n_rows * rows.n_classes >= SHARED_VALUES
    ends = [0]
    while ends[-1] < rows.n_rows:
        share = (rows.n_rows - ends[-1]) * rows.n_classes // (4 * n_threads)
        values = min(2**20, max(2**17, share)) if shared else 2**20
        step = min(2**16, values // rows.n_classes) // ROWS_AT_A_TIME * ROWS_AT_A_TIME
        ends.append(min(ends[-1] + max(ROWS_AT_A_TIME, step), rows.n_rows))
    return [*pairwise(ends)]


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

    def __init__(self, rows: Rows, specs: Sequence[TableSpec]) -> None:
        self.form, self.reached = rows.form, 0
        parts = [specs[k : k + MAX_MEASURES] for k in range(0, len(specs), MAX_MEASURES)]
        self._parts = [_Totals(rows, of_part) for of_part in parts]

    def add(self, rows: Rows, start: int, stop: int) -> None:
        """Add the rows from start to stop; if one is refused, those before `reached` are added, and no others."""
        self.reached = start
        assert rows.labels is not None
        try:
            labels = np.ascontiguousarray(rows.labels.block(start, stop), dtype=np.int64)
        except Refusal:
            refuse_bad_rows(rows, start, stop)  # of two bad rows the first is refused
            raise
        for part in self._parts:
            first_bad = part.add(rows, start, stop, labels)
        self.reached = stop if first_bad < 0 else start + first_bad
        if first_bad >= 0:
            refuse_rows_at(rows, self.reached, stop)

    def sums(self) -> list[Sums]:
        """The sums so far, one for each spec."""
        return [sums for part in self._parts for sums in part.sums()]


class _Totals:
    """The sums of up to two tables."""

    def __init__(self, rows: Rows, specs: Sequence[TableSpec]) -> None:
        self.library, self.specs, self.layout = require_library(), specs, layout_for(rows.form, specs)
        self.job, n_totals = self.layout.job(), sum(self.layout.sizes)
        memory = np.zeros(n_totals + self.library.arena_size(self.job) // 8, np.int64)
        self.totals = memory[:n_totals]
        self.job.totals = address(memory)
        self.job.arena = self.job.totals + 8 * n_totals
        self.scratch = Scratch()
        self.underflowed = [0, 0, 0]
        """Of rows from logits whose p_y underflows: log-score and log-likelihood in units, and impossible rows."""

    def add(self, rows: Rows, start: int, stop: int, labels: IntArray) -> int:
        """Sum a block; -1, or the first row of a few among which one is bad, counted from `start`."""
        job, block = self.job, set_block(self.job, rows, start, stop, self.scratch)
        job.labels = address(labels)
        if not rows.from_logits:
            return self.library.sum(job)
        logits, at = rows.scores(start, stop), np.empty(stop - start, np.int64)
        job.logits, job.underflowed, job.n_underflowed = address(logits), address(at), 0
        first_bad = self.library.sum(job)
        if job.n_underflowed:
            some = at[: job.n_underflowed]
            self._add_underflowed(block[some], logits[some], labels[some])
        return first_bad

    def _add_underflowed(self, block: FloatArray, logits: FloatArray, labels: IntArray) -> None:
        """Add the logarithms of rows whose true class has a probability below 2⁻¹⁰²², from its logit."""
        log_p = underflowed_log_p(logits, labels)
        moments = log_moments(np.ascontiguousarray(block.T), Scratch(), second=False)
        units = underflowed_score_units(log_p, entropy_in_bits(moments))
        for which, of_rows in enumerate((*units, log_p == -np.inf)):
            self.underflowed[which] += sum(of_rows.tolist())

    def sums(self) -> list[Sums]:
        """The sums so far, one for each spec; they do not change when further rows are added."""
        (k, m, c), sizes = self.layout.shape, self.layout.sizes
        totals, ends = self.totals.copy(), [*accumulate(sizes)]
        totals.setflags(write=False)  # and with it all parts of it, rather than one by one
        ordered, counts, scores, odd, split = (
            totals[end - size : end] for size, end in zip(sizes, ends, strict=True)
        )
        whole, fraction = ordered.reshape(2, k, m, c + 1)
        rank_count, (impossible, tied) = counts.reshape(k, m, c), odd.tolist()
        shares = split.reshape(2, k, m, c) if self.job.split else None
        log_score, log_likelihood, variance, true_probability, square = (
            ExactSum(scores[2 * which, ...], scores[2 * which + 1, ...], bits)
            for which, bits in enumerate(SCORE_BITS)
        )
        if self.job.logits:
            log_score += ExactSum.of_units(self.underflowed[0], LOG_SCORE_BITS)
            log_likelihood += ExactSum.of_units(self.underflowed[1], LOG_SCORE_BITS)
        made = []
        for which, spec in enumerate(self.specs):
            at = which, slice(spec.bins.n_bins)
            count = rank_count[at]
            made.append(
                Sums(
                    rows=np.add.reduce(count, axis=1),
                    tied_rows=np.array(tied),
                    impossible_rows=np.array(impossible + self.underflowed[2]),
                    ordered=ExactSum(whole[at][:, :-1], fraction[at][:, :-1], PROBABILITY_BITS),
                    rank=ExactSum(count, np.zeros(count.shape, np.int64), PROBABILITY_BITS)
                    if shares is None
                    else ExactSum(count + shares[0][at], shares[1][at], PROBABILITY_BITS),
                    variation=ExactSum(whole[at][:, -1], fraction[at][:, -1], PROBABILITY_BITS),
                    log_score=log_score,
                    log_score_variance=variance,
                    true_probability=true_probability,
                    square=square,
                    log_likelihood=log_likelihood,
                )
            )
        return made

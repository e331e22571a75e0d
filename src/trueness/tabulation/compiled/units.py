"""The sums of units of rows (clusters, or blocks of them) by the compiled engine: one run of rows after the other.

Each unit has its own line of totals, to which the kernel adds the rows of a run. Rows of a unit that do not lie
together are copied to where they do before they are summed. Threads share the lines, since no two of them work on the
same unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import IntArray
from trueness._scratch import Scratch
from trueness._threads import Span, in_threads
from trueness.old_table import EventSpec, EventSums, SingleSpec, TableSpec
from trueness.old_table.cluster_sums import CellSums, EventCellSums, event_bin_starts
from trueness.old_table.exact_sums import LOG_SCORE_BITS, PROBABILITY_BITS, ExactSum
from trueness.refusals import Refusal
from trueness.rows import Rows, refuse_bad_rows
from trueness.tabulation.compiled import SCORE_BITS, SHARED_VALUES, _Parts, _Totals, _totals_for
from trueness.tabulation.compiled.dealing import Chunk, Dealer, Runs
from trueness.tabulation.compiled.event_cells import MOMENTS, EventCells
from trueness.tabulation.compiled.layout import Layout
from trueness.tabulation.compiled.library import (
    UNDERFLOWED_WORDS,
    Job,
    RunsOfRows,
    address,
)
from trueness.tabulation.unit_sums import UnitSums

LINES_AT_A_TIME = 2**10
"""Lines of totals whose fractions, of up to 52 bits, are added before they are carried."""

SHARES = 4
"""Parts of the units for each of several threads, so that none waits long for the last one."""


class UnitPass:
    """Sums of units that rows are added to."""

    def __init__(
        self, rows: Rows, specs: Sequence[SingleSpec], n_units: int, dealer: Dealer | None = None
    ) -> None:
        self.specs, self.n_units, self.dealer, self.scratch = specs, n_units, dealer or Dealer(), Scratch()
        self._parts = [_UnitTotals(part, rows, n_units) for part in _totals_for(rows, specs)]

    def add(self, rows: Rows, unit_of: IntArray, n_threads: int = 1) -> None:
        """Add all of these rows, with the unit of each."""
        n_threads = n_threads if rows.n_rows * rows.n_classes >= SHARED_VALUES else 1
        # Copying waits for memory: a second thread takes half as much time again, and saves a fifth by the clock.
        n_dealing = max(1, n_threads // 2)
        order = self.dealer.order_of(np.ascontiguousarray(unit_of, np.int64), self.n_units, n_dealing)
        if rows.from_logits and not order.is_long:
            rows = rows.take(order.positions())
        n, labels = rows.n_rows, _labels(rows)
        block = rows.columns(0, n, self.scratch) if rows.in_columns else rows.block(0, n)
        lies_together = order.is_long or rows.from_logits
        chunk = Chunk(block, labels, order.runs) if lies_together else self.dealer.deal(order, block, labels)
        for part in self._parts:
            if rows.from_logits:
                part.add_logits(chunk, rows.scores(0, n))
            else:
                part.add(chunk, n_threads)

    def sums(self) -> list[UnitSums]:
        """The sums so far, one for each spec."""
        tables = [sums for part in self._parts for sums in part.sums()]
        events = [part.events.sums() for part in self._parts if part.events is not None]
        made = iter(tables), iter(events)
        return [next(made[isinstance(spec, EventSpec)]) for spec in self.specs]


def _labels(rows: Rows) -> IntArray:
    """The labels of all rows."""
    assert rows.labels is not None
    try:
        return np.ascontiguousarray(rows.labels.block(0, rows.n_rows), dtype=np.int64)
    except Refusal:
        refuse_bad_rows(rows, 0, rows.n_rows)
        raise


class _UnitTotals:
    """The totals of each unit for up to two tables and one table of events."""

    def __init__(self, totals: _Totals, rows: Rows, n_units: int) -> None:
        self.totals, self.layout = totals, _layout_of_lines(totals.layout, tuple(totals.specs))
        self.lines = np.zeros((n_units, len(totals.totals)), np.int64)
        self.form, self._idle = rows.form, list[_Worker]()
        self.events = None if totals.events is None else _UnitCells(totals.events, n_units)

    def add(self, chunk: Chunk, n_threads: int) -> None:
        """Add rows, with their runs."""

        def work(shares: Iterable[Span]) -> None:
            with self._worker() as worker:
                for share in shares:
                    worker.add(chunk, slice(*share))

        in_threads(work, chunk.runs.shares(SHARES * n_threads if n_threads > 1 else 1), n_threads)

    @contextmanager
    def _worker(self) -> Iterator[_Worker]:
        """A worker that no other thread has."""
        worker = self._idle.pop() if self._idle else _Worker(self)
        yield worker
        self._idle.append(worker)

    def add_logits(self, chunk: Chunk, logits: NDArray[np.float64]) -> None:
        """Add rows from logits run by run, since those whose probabilities have underflowed are added here."""
        runs = chunk.runs
        with self._worker() as worker:
            for unit, start, stop in zip(runs.units, runs.starts, runs.stops, strict=True):
                some, underflowed = slice(start, stop), np.empty((stop - start, UNDERFLOWED_WORDS), np.int64)
                of_run = logits[some]
                worker.job.logits, worker.job.underflowed = address(of_run), address(underflowed)
                worker.job.n_underflowed = 0
                alone = Runs(*(np.array([k]) for k in (0, stop - start, unit)))
                part = Chunk(chunk.block[some], chunk.labels[some], alone)
                worker.add(part, slice(0, 1))
                if n := worker.job.n_underflowed:
                    line = self.lines[unit]
                    self.totals._add_underflowed(line, part.block, of_run, part.labels, underflowed[:n])

    def sums(self) -> list[UnitSums]:
        """The sums so far, one for each table."""
        for worker in self._idle:
            worker.close()
        if not self.totals.specs:
            return []
        self.totals.totals[:] = self.layout.total(self.lines)
        whole = self.totals.sums()
        self.totals.totals[:] = 0
        of_units = [self.layout.cells(self.lines, k) for k in range(len(self.totals.specs))]
        return [UnitSums(table, cells) for table, cells in zip(whole, of_units, strict=True)]


class _Worker:
    """What one thread needs to sum runs into the lines of their units: working memory, and cells of events."""

    def __init__(self, of: _UnitTotals) -> None:
        totals, self.of_units = of.totals, of.events
        self.library, self.job = totals.library, Job.from_buffer_copy(totals.job)
        self.events = None if totals.events is None else EventCells(totals.events.spec, of.form.eps)
        if self.events is not None:
            self.events.describe(self.job)
        self.memory = np.zeros(self.library.arena_size(self.job) // 8 + 1, np.int64)
        self.job.arena, self.job.totals = address(self.memory), address(of.lines)
        self.runs = RunsOfRows(n_words=of.lines.shape[1])
        if self.of_units is not None:
            self.cells = self.of_units.room()
            self.of_units.describe(self.runs)
            self.before = np.zeros(self.of_units.of_units[0].size, np.uint64)
            self.runs.cells, self.runs.before = address(self.cells), address(self.before)

    def add(self, chunk: Chunk, share: slice) -> None:
        """Add some runs of a chunk; a ValueError if a row is bad, and the caller finds out which one."""
        chunk.describe(self.job)
        starts, stops, units = chunk.runs
        self.runs.n_runs = share.stop - share.start
        self.runs.starts, self.runs.stops = address(starts[share]), address(stops[share])
        self.runs.units = address(units[share])
        if self.library.sum_runs(self.job, self.runs) >= 0:
            raise ValueError("a row is refused")

    def close(self) -> None:
        """Hand the sums of events over all rows over."""
        if self.of_units is not None and self.events is not None:
            self.of_units.add(self.cells, self.events)


class _Layout:
    """Where the words of sums are in a line of totals: whole parts, and the fractions that belong to them."""

    def __init__(self, layout: Layout, specs: Sequence[TableSpec]) -> None:
        self.specs, self.parts = specs, dict(zip(_Parts._fields, layout.parts, strict=True))
        at = _Parts.of(np.arange(layout.n_totals), layout)
        pairs = [(at.ordered[0], at.ordered[1], PROBABILITY_BITS)] if at.ordered.size else []
        for scores in (at.bin_scores, at.predicted_scores):
            pairs += [
                (scores[..., k, 0], scores[..., k, 1], bits)
                for k, bits in enumerate(SCORE_BITS)
                if scores.size
            ]
        pairs += [(at.overall[k, 0], at.overall[k, 1], bits) for k, bits in enumerate(_OVERALL_BITS)]
        if at.split.size:
            pairs.append((at.split[0], at.split[1], PROBABILITY_BITS))
        self.pairs = [(np.ravel(whole), np.ravel(fraction), bits) for whole, fraction, bits in pairs]

    def total(self, lines: IntArray) -> IntArray:
        """The sum of all lines, whose fractions are below one: those of so many lines fit in 64 bits."""
        total = np.zeros(lines.shape[1], np.int64)
        for first in range(0, len(lines), LINES_AT_A_TIME):
            total += lines[first : first + LINES_AT_A_TIME].sum(axis=0)
            for whole, fraction, bits in self.pairs:
                total[whole] += total[fraction] >> bits
                total[fraction] &= (1 << bits) - 1
        return total

    def cells(self, lines: IntArray, which: int) -> CellSums:
        """What is kept of one table for each bin of each unit."""
        n_bins = self.specs[which].bins.n_bins
        ordered, rank_count, bin_scores, split = (
            lines[:, start:stop].reshape(len(lines), *shape)
            for start, stop, shape in (
                self.parts[k] for k in ("ordered", "rank_count", "bin_scores", "split")
            )
        )

        def words(part: IntArray) -> IntArray:
            return np.array(part, order="C").reshape(-1, *part.shape[2:])

        def score(k: int) -> ExactSum:
            of_score = bin_scores[:, which, :n_bins, k]
            return ExactSum(words(of_score[..., 0]), words(of_score[..., 1]), LOG_SCORE_BITS)

        whole, fraction = (words(ordered[:, part, which, :n_bins, :-1]) for part in range(2))
        count = words(rank_count[:, which, :n_bins])
        rank = ExactSum(count, np.zeros(count.shape, np.int64), PROBABILITY_BITS)
        if split.size:
            shared = [words(split[:, part, which, :n_bins]) for part in range(2)]
            rank = ExactSum.with_carry(count + shared[0], shared[1], PROBABILITY_BITS)
        return CellSums(
            rows=count.sum(axis=1),
            ordered=ExactSum(whole, fraction, PROBABILITY_BITS),
            rank=rank,
            log_score=score(0),
            log_score_variance=score(1),
        )


@lru_cache(maxsize=8)
def _layout_of_lines(layout: Layout, specs: tuple[TableSpec, ...]) -> _Layout:
    """Made once, as the layout of totals is."""
    return _Layout(layout, specs)


_OVERALL_BITS = (LOG_SCORE_BITS, PROBABILITY_BITS, PROBABILITY_BITS)
"""Of log-likelihood, p_y and ‖p‖²."""


class _UnitCells:
    """The cells of events: of all rows as they are, and of each unit in the bins of clusters."""

    def __init__(self, events: EventCells, n_units: int) -> None:
        self.spec = events.spec
        starts, (k, _) = event_bin_starts(self.spec.grid), self.spec.shape
        self.bin_of = np.searchsorted(starts, np.arange(self.spec.grid.n_cells), side="right") - 1
        self.whole, self.of_units = self.room(), np.zeros((n_units, 4, k, len(starts)), np.int64)
        self.moments: EventSums | None = None

    def room(self) -> IntArray:
        """Sums of rows, whole and fraction of the probabilities, and observed rows, all zero."""
        return np.zeros((4, *self.spec.shape), np.int64)

    def describe(self, runs: RunsOfRows) -> None:
        """Hand over the sums of units, which threads share, since each works on other units."""
        runs.n_bins, runs.bin_of = self.of_units.shape[-1], address(self.bin_of)
        runs.of_units = address(self.of_units)

    def add(self, cells: IntArray, events: EventCells) -> None:
        """Add the sums that a worker has of all rows, once; a fraction of each worker fits in 64 bits with others."""
        self.whole += cells
        self.whole[1] += self.whole[2] >> PROBABILITY_BITS
        self.whole[2] &= (1 << PROBABILITY_BITS) - 1
        cells[...] = 0
        if self.spec.has_moments:
            sums = events.sums()
            self.moments = sums if self.moments is None else self.moments + sums
            events.moments[...] = 0

    def sums(self) -> UnitSums:
        """The sums so far."""
        names = () if self.moments is None else (*MOMENTS, "impossible_rows")
        moments = {name: getattr(self.moments, name) for name in names}
        table = EventSums(**_event_fields(self.whole), **moments)
        of_units = self.of_units.swapaxes(0, 1).reshape(4, -1)
        return UnitSums(table, EventCellSums(**_event_fields(of_units)))


def _event_fields(sums: IntArray) -> dict[str, Any]:
    """Rows, sums of probabilities and observed rows, by name."""
    rows, whole, fraction, observed = (part.copy() for part in sums)
    return {
        "rows": rows,
        "predicted": ExactSum(whole, fraction, PROBABILITY_BITS),
        "observed": ExactSum.of_counts(observed, PROBABILITY_BITS),
    }

"""The sums of units of rows (clusters, or blocks of them) by the compiled engine: one call for each run of rows.

Rows are put in the order of their units, so that each unit is a run. After a run the kernel's totals are copied to the
line of its unit and set to zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import IntArray
from trueness._scratch import Scratch
from trueness.refusals import Refusal
from trueness.rows import Rows, refuse_bad_rows
from trueness.table import EventSpec, EventSums, SingleSpec
from trueness.table.cluster_sums import CellSums, EventCellSums, event_bin_starts
from trueness.table.exact_sums import LOG_SCORE_BITS, PROBABILITY_BITS, ExactSum
from trueness.tabulation.compiled import SCORE_BITS, _Totals, _totals_for
from trueness.tabulation.compiled.event_cells import MOMENTS, EventCells
from trueness.tabulation.compiled.library import UNDERFLOWED_WORDS, address
from trueness.tabulation.unit_sums import UnitSums

RUNS_AT_A_TIME = 512
"""Runs whose totals are collected before they are added to those of their units."""

RUN_VALUES = 2**21
"""Sums of events of so many runs are collected at a time, 16 megabytes."""

LONG_RUN = 512
"""Rows of a unit that follow one another are summed where they are if there are so many on average, without sorting."""

MAX_ADDITIONS = 512
"""After so many fractions below 2⁵² that were added to one sum they are carried over; as many again fit in 64 bits."""


class UnitPass:
    """Sums of units that rows are added to; for one thread."""

    def __init__(self, rows: Rows, specs: Sequence[SingleSpec], n_units: int) -> None:
        self.specs, self.n_units = specs, n_units
        self._parts = [_UnitTotals(part, n_units) for part in _totals_for(rows, specs)]

    def add(self, rows: Rows, unit_of: IntArray) -> None:
        """Add all of these rows, with the unit of each."""
        together, units, starts = rows, unit_of, _run_starts(unit_of)
        if len(starts) * LONG_RUN > len(units):
            order = np.argsort(unit_of.astype(np.uint16), kind="stable")  # by radix; there are at most 4096
            together, units = rows.take(order), unit_of[order]
            starts = _run_starts(units)
        runs = _Runs(starts, np.append(starts[1:], len(units)), units[starts])
        assert together.labels is not None
        try:
            labels = np.ascontiguousarray(together.labels.block(0, len(units)), dtype=np.int64)
        except Refusal:
            refuse_bad_rows(rows, 0, rows.n_rows)
            raise
        for part in self._parts:
            part.add(together, labels, runs)

    def sums(self) -> list[UnitSums]:
        """The sums so far, one for each spec."""
        tables = [sums for part in self._parts for sums in part.sums()]
        events = [part.event_sums() for part in self._parts if part.totals.events is not None]
        made = iter(tables), iter(events)
        return [next(made[isinstance(spec, EventSpec)]) for spec in self.specs]


class _Runs(NamedTuple):
    """Runs of rows that belong to one unit each."""

    starts: IntArray
    stops: IntArray
    units: IntArray

    def parts(self, at_a_time: int) -> list[slice]:
        """Some runs at a time."""
        n = len(self.starts)
        return [slice(k, min(k + at_a_time, n)) for k in range(0, n, at_a_time)]


def _run_starts(units: IntArray) -> IntArray:
    """Where another unit begins."""
    return np.flatnonzero(np.concatenate([[True], units[1:] != units[:-1]]))


class _Chunk(NamedTuple):
    """Rows in the order of their units, and where their data begin."""

    block: NDArray[Any]
    labels: IntArray
    logits: NDArray[Any] | None
    at_block: int
    at_labels: int
    at_logits: int

    @classmethod
    def of(cls, block: NDArray[Any], labels: IntArray, logits: NDArray[Any] | None) -> _Chunk:
        at_logits = 0 if logits is None else address(logits)
        return cls(block, labels, logits, address(block), address(labels), at_logits)


class _UnitTotals:
    """The totals of each unit for up to two tables and one table of events."""

    def __init__(self, totals: _Totals, n_units: int) -> None:
        self.totals, self.layout = totals, _Layout(totals)
        self.lines = np.zeros((n_units, len(totals.totals)), np.int64)
        self.n_additions = 0
        events = totals.events
        n_cells = 1 if events is None else events.spec.shape[0] * events.spec.shape[1]
        self.at_a_time = max(16, min(RUNS_AT_A_TIME, RUN_VALUES // (4 * n_cells)))
        self.events = None if events is None else _UnitCells(totals, events, n_units, self.at_a_time)

    def add(self, rows: Rows, labels: IntArray, runs: _Runs) -> None:
        """Add rows that are in the order of their units."""
        totals = self.totals
        scratch = Scratch()
        block = rows.columns(0, rows.n_rows, scratch) if rows.in_columns else rows.block(0, rows.n_rows)
        logits = rows.scores(0, rows.n_rows) if rows.from_logits else None
        totals.job.to_next_row, totals.job.to_next_class = block.strides
        chunk = _Chunk.of(block, labels, logits)
        lines = np.empty((self.at_a_time, self.lines.shape[1]), np.int64)
        for part in runs.parts(self.at_a_time):
            found = lines[: part.stop - part.start]
            for line, start, stop in zip(
                range(len(found)), runs.starts[part].tolist(), runs.stops[part].tolist(), strict=True
            ):
                if self._sum_run(chunk, start, stop) >= 0:
                    raise ValueError("a row is refused")  # the caller finds out which one
                found[line] = totals.totals
                totals.totals[:] = 0
                if self.events is not None:
                    self.events.collect(line)
            self._add_lines(runs.units[part], found)

    def _sum_run(self, chunk: _Chunk, start: int, stop: int) -> int:
        """Sum the rows from start to stop; -1, or a number of at least 0 if one of them is bad."""
        totals, job, (block, labels, logits, *_) = self.totals, self.totals.job, chunk
        job.rows, job.n_rows = chunk.at_block + start * block.strides[0], stop - start
        job.labels = chunk.at_labels + 8 * start
        if logits is None:
            return totals.library.sum(job)
        underflowed = np.empty((stop - start, UNDERFLOWED_WORDS), np.int64)
        job.logits = chunk.at_logits + start * logits.strides[0]
        job.underflowed, job.n_underflowed = address(underflowed), 0
        bad = totals.library.sum(job)
        if job.n_underflowed:
            some, predicted, *bins = underflowed[: job.n_underflowed].T
            at = start + some
            totals._add_underflowed(block[at], logits[at], labels[at], predicted, bins)
        return bad

    def _add_lines(self, units: IntArray, lines: IntArray) -> None:
        """Add the totals of some runs to those of their units."""
        np.add.at(self.lines, units, lines)  # a unit may have several runs
        self.n_additions += int(np.bincount(units).max())
        if self.n_additions > MAX_ADDITIONS:
            self.layout.carry(self.lines)
            self.n_additions = 1
        if self.events is not None:
            self.events.add(units, len(lines))

    def sums(self) -> list[UnitSums]:
        """The sums so far, one for each table."""
        if not self.totals.specs:
            return []
        if self.n_additions > 1:
            self.layout.carry(self.lines)
        self.totals.totals[:] = self.layout.total(self.lines)
        whole = self.totals.sums()
        self.totals.totals[:] = 0
        of_units = [self.layout.cells(self.lines, k) for k in range(len(self.totals.specs))]
        return [UnitSums(table, cells) for table, cells in zip(whole, of_units, strict=True)]

    def event_sums(self) -> UnitSums:
        """The sums of events so far."""
        assert self.events is not None
        return self.events.sums()


class _Layout:
    """Where the words of sums are in a line of totals: whole parts, and the fractions that belong to them."""

    def __init__(self, totals: _Totals) -> None:
        self.specs = totals.specs
        self.at = at = totals._parts(np.arange(len(totals.totals)))
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

    def carry(self, lines: IntArray) -> None:
        """Move what exceeds one from the fractions to the whole parts."""
        for whole, fraction, bits in self.pairs:
            lines[:, whole] += lines[:, fraction] >> bits
            lines[:, fraction] &= (1 << bits) - 1

    def total(self, lines: IntArray) -> IntArray:
        """The sum of all lines, whose fractions are below one; these are added in halves, which fit in 64 bits."""
        total = lines.sum(axis=0)
        for whole, fraction, bits in self.pairs:
            half = bits // 2
            low = (lines[:, fraction] & ((1 << half) - 1)).sum(axis=0)
            high = (lines[:, fraction] >> half).sum(axis=0) + (low >> half)
            total[whole] += high >> (bits - half)
            total[fraction] = ((high & ((1 << (bits - half)) - 1)) << half) | (low & ((1 << half) - 1))
        return np.asarray(total)

    def cells(self, lines: IntArray, which: int) -> CellSums:
        """What is kept of one table for each bin of each unit."""
        n_bins, at = self.specs[which].bins.n_bins, self.at
        cells = which, slice(n_bins)
        n_cells = len(lines) * n_bins

        def words(index: IntArray) -> IntArray:
            return np.ascontiguousarray(lines[:, index].reshape(n_cells, *index.shape[1:]))

        def score(k: int) -> ExactSum:
            of_score = at.bin_scores[cells][:, k]
            return ExactSum(words(of_score[:, 0]), words(of_score[:, 1]), LOG_SCORE_BITS)

        whole, fraction = (words(at.ordered[part][cells][:, :-1]) for part in range(2))
        count = words(at.rank_count[cells])
        rank = ExactSum(count, np.zeros(count.shape, np.int64), PROBABILITY_BITS)
        if at.split.size:
            shared = [words(at.split[part][cells]) for part in range(2)]
            rank = ExactSum.with_carry(count + shared[0], shared[1], PROBABILITY_BITS)
        return CellSums(
            rows=count.sum(axis=1),
            ordered=ExactSum(whole, fraction, PROBABILITY_BITS),
            rank=rank,
            log_score=score(0),
            log_score_variance=score(1),
        )


_OVERALL_BITS = (LOG_SCORE_BITS, PROBABILITY_BITS, PROBABILITY_BITS)
"""Of log-likelihood, p_y and ‖p‖²."""


class _UnitCells:
    """The cells of events: of all rows as they are, and of each unit in the bins of clusters."""

    def __init__(self, totals: _Totals, events: EventCells, n_units: int, at_a_time: int) -> None:
        self.events, self.library, self.job = events, totals.library, totals.job
        k, g = events.spec.shape
        self.found = np.empty((at_a_time, 4, k, g), np.int64)
        """Rows, whole and fraction of the probabilities, and observed rows of each run."""
        self.starts = event_bin_starts(events.spec.grid)
        self.whole = np.zeros((4, k, g), np.int64)
        self.of_units = np.zeros((4, n_units, k, len(self.starts)), np.int64)

    def collect(self, line: int) -> None:
        """Keep the cells of a run, and empty them."""
        self.library.read_cells(self.job, self.found[line])
        self.events.cells[...] = 0

    def add(self, units: IntArray, n: int) -> None:
        """Add the cells of the last n runs to those of their units; fractions of so few fit in 64 bits."""
        found = self.found[:n]
        self.whole += found.sum(axis=0)
        in_bins = np.add.reduceat(found, self.starts, axis=-1).swapaxes(0, 1)
        _carry(in_bins)
        for part in range(4):
            np.add.at(self.of_units[part], units, in_bins[part])
        _carry(self.whole)
        _carry(self.of_units)

    def sums(self) -> UnitSums:
        """The sums so far."""
        of_rows = self.events.sums() if self.events.spec.has_moments else None
        names = () if of_rows is None else (*MOMENTS, "impossible_rows")
        moments = {name: getattr(of_rows, name) for name in names}
        table = EventSums(**_event_fields(self.whole), **moments)
        flat = self.of_units.reshape(4, -1)
        return UnitSums(table, EventCellSums(**_event_fields(flat)))


def _carry(sums: IntArray) -> None:
    """Move what exceeds one from the fractions to the whole parts."""
    sums[1] += sums[2] >> PROBABILITY_BITS
    sums[2] &= (1 << PROBABILITY_BITS) - 1


def _event_fields(sums: IntArray) -> dict[str, Any]:
    """Rows, sums of probabilities and observed rows, by name."""
    rows, whole, fraction, observed = (part.copy() for part in sums)
    return {
        "rows": rows,
        "predicted": ExactSum(whole, fraction, PROBABILITY_BITS),
        "observed": ExactSum.of_counts(observed, PROBABILITY_BITS),
    }

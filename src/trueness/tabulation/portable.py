"""Rows to sums in NumPy, block by block: the readable engine, close to the paper's formulas.

The statistics of the rows of a block (`row_statistics`) are added to running totals for each bin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness._row_arithmetic import ONE_BITS, UNIT
from trueness._scratch import Scratch
from trueness.old_table import EventSpec, SingleSpec, Sums, TableSpec
from trueness.old_table.exact_sums import LOG_SCORE_BITS, PROBABILITY_BITS, ExactSum, FloatSum, add_fractions
from trueness.rows import Rows
from trueness.tabulation.event_totals import EventDescriber, ExactEventTotals, WeightedEventTotals
from trueness.tabulation.exact_column import ExactColumn
from trueness.tabulation.row_statistics import BlockStatistics, Describer, shares


def spans(rows: Rows, n_threads: int = 1) -> list[tuple[int, int]]:  # noqa: ARG001
    """Blocks that stay in the cache, for any number of threads."""
    return list(rows.spans())


class Pass:
    """Sums that blocks of rows are added to, all of them of the same form; for one thread."""

    def __init__(self, rows: Rows, specs: Sequence[SingleSpec], n_units: int = 1) -> None:
        self.form, self.reached, scratch = rows.form, 0, Scratch()
        eps, self._specs = rows.y_prob.eps, specs
        specs = [_with_everything(spec) for spec in specs]
        self.describers: list[Any] = [_describer_for(spec, eps, scratch) for spec in specs]
        self.totals = [_totals_for(spec, scratch, n_units) for spec in specs]

    def add(self, rows: Rows, start: int, stop: int, unit_of: IntArray | None = None) -> None:
        """Add the rows from start to stop, or, if one is refused, none of them; rows before `reached` were added.

        With `unit_of`, the unit of each of these rows, the bins of unit u are those from u·M on.
        """
        self.reached = start
        with np.errstate(
            all="ignore"
        ):  # tiny probabilities underflow; NaN and infinities are refused with their row
            for describer, total in zip(self.describers, self.totals, strict=True):
                block = describer.describe(rows, start, stop)
                total.add(block if unit_of is None else describer.in_units(block, rows, start, unit_of))
        self.reached = stop

    def sums(self) -> list[Any]:
        """The sums so far, one for each spec."""
        sums = [total.sums() for total in self.totals]
        return [
            of.reduced_to(spec) if isinstance(spec, TableSpec) and spec.detail != "scores" else of
            for of, spec in zip(sums, self._specs, strict=True)
        ]


def _with_everything(spec: SingleSpec) -> SingleSpec:
    """The spec of a table that sums everything, of which less may be asked for: this engine computes it anyway."""
    return replace(spec, detail="scores") if isinstance(spec, TableSpec) else spec


def _describer_for(spec: SingleSpec, eps: float, scratch: Scratch) -> Any:
    if isinstance(spec, EventSpec):
        return EventDescriber(spec, eps)
    return Describer(spec, eps, scratch)


def _totals_for(spec: SingleSpec, scratch: Scratch, n_units: int) -> Any:
    if isinstance(spec, EventSpec):
        return WeightedEventTotals(spec, n_units) if spec.weighted else ExactEventTotals(spec, n_units)
    n_bins = n_units * spec.bins.n_bins
    return _WeightedTotals(spec, n_bins) if spec.weighted else _ExactTotals(spec, n_bins, scratch)


def _total(units: IntArray) -> int:
    """The sum of units, in two halves: of four thousand of them it may not fit in 64 bits."""
    half = PROBABILITY_BITS // 2
    return (int((units >> half).sum()) << half) + int((units & ((1 << half) - 1)).sum())


class _Grouping:
    """The rows of a block in the order of their bins, so that one pass of `reduceat` sums each bin."""

    def __init__(self, bins: NDArray[np.integer], n_bins: int) -> None:
        count = np.bincount(bins, minlength=n_bins)
        self.occupied = np.flatnonzero(count)
        self.count = count[self.occupied]
        self.starts = np.cumsum(self.count) - self.count
        # Up to 16 bits are sorted by radix, in a quarter of the time.
        self.order = np.argsort(bins.astype(np.min_scalar_type(n_bins), copy=False), kind="stable")
        self._bins, self._is_occupied = bins, count > 0

    @property
    def place(self) -> IntArray:
        """The place of each row's bin among the occupied ones."""
        return np.asarray((np.cumsum(self._is_occupied) - 1)[self._bins])

    def total(self, values: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Sums over each occupied bin, along the last axis; `out` is memory for the values in order of bins."""
        together = values.take(self.order, axis=-1, out=out, mode="clip")
        return np.add.reduceat(together, self.starts, axis=-1)


class _FloatTotal:
    """A running float sum per bin."""

    def __init__(self, *shape: int) -> None:
        self.value = np.zeros(shape)

    def add(self, at: NDArray[np.intp], values: FloatArray) -> None:
        self.value[at] += values

    def sum(self) -> FloatSum:
        return FloatSum(self.value)


class _Counts:
    """Counts that are whole numbers whether rows are weighted or not."""

    def __init__(self, n_bins: int) -> None:
        self.rows = np.zeros(n_bins, np.int64)
        self.tied_rows = self.impossible_rows = 0

    def add(self, block: BlockStatistics, group: _Grouping) -> None:
        self.rows[group.occupied] += group.count
        self.tied_rows += int(np.count_nonzero(block.tied > 1))
        self.impossible_rows += int(np.count_nonzero(block.impossible))

    def fields(self) -> dict[str, Any]:
        totals = {"tied_rows": np.array(self.tied_rows), "impossible_rows": np.array(self.impossible_rows)}
        return {"rows": self.rows, **totals}


class _ExactTotals:
    """Running sums of unweighted rows."""

    def __init__(self, spec: TableSpec, n_bins: int, scratch: Scratch) -> None:
        m, c = n_bins, spec.n_cells
        self.spec, self.counts, self.scratch = spec, _Counts(m), scratch
        self.lines = ExactColumn(m, c + 1)
        """Σq by rank, and Σ𝒱 as one more column."""
        self.rank = ExactColumn(m, c)
        self.log_likelihood = self.true_probability = self.square = self.label_spread = 0
        self.scores = _ScoreTotals(spec, m)

    def add(self, block: BlockStatistics) -> None:
        group = _Grouping(block.bins, len(self.counts.rows))
        self.counts.add(block, group)
        self.lines.add(group.occupied, self._units(block.steps, group))
        if not self.spec.variation.kernel:  # else the steps have all of V
            whole = np.bincount(block.bins, np.floor(block.variation), len(self.counts.rows))
            self.lines.whole[:, -1] += whole.astype(np.int64)
        self._add_ranks(block, group)
        self.scores.add(block, group)
        self.log_likelihood += _total(block.log_scores[1])
        self.true_probability += _total(block.true_probability)
        self.square += _total(block.square)
        self.label_spread += 0 if block.label_spread is None else _total(block.label_spread)

    def _units(self, steps: FloatArray, group: _Grouping) -> IntArray:
        """Sums over each bin of the lines of `steps`, less 1, in units of 2⁻⁵², modulo 2⁶⁴.

        The sum of the bits wraps round; with the ones taken off again it is the sum of the units.
        """
        together = self.scratch.array("work", steps.shape, np.int64)
        units = group.total(steps.view(np.int64), out=together) - group.count * ONE_BITS
        return np.ascontiguousarray(units.T)

    def _add_ranks(self, block: BlockStatistics, group: _Grouping) -> None:
        c = self.spec.n_cells
        if block.rank_units is not None:
            self.rank.add(group.occupied, np.ascontiguousarray(group.total(block.rank_units).T))
            return
        cells, n_cells = group.place * c + block.rank, len(group.count) * c
        if self.spec.ties == "split":
            shared = block.tied > 1
            units = np.zeros(n_cells, np.uint64)
            np.add.at(units, *shares(cells[shared], block.tied[shared]))
            self.rank.add(group.occupied, units.reshape(-1, c))
            cells = cells[~shared]
        self.rank.whole[group.occupied] += np.bincount(cells, minlength=n_cells).reshape(-1, c)

    def sums(self) -> Sums:
        return Sums(
            **self.counts.fields(),
            ordered=self.lines.sum(slice(-1)),
            rank=self.rank.sum(slice(None)),
            variation=self.lines.sum(-1),
            true_probability=ExactSum.of_units(self.true_probability, PROBABILITY_BITS),
            square=ExactSum.of_units(self.square, PROBABILITY_BITS),
            log_likelihood=ExactSum.of_units(self.log_likelihood, LOG_SCORE_BITS),
            label_spread=ExactSum.of_units(self.label_spread, PROBABILITY_BITS)
            if self.label_spread
            else None,
            **self.scores.fields(),
        )


class _ScoreTotals:
    """Running sums of the scores of rows, by bin and by predicted class."""

    def __init__(self, spec: TableSpec, n_bins: int) -> None:
        n_classes = spec.n_cells
        self.by_bin = np.zeros((2, 4, n_bins), np.int64)
        """Whole and fraction of each score."""
        self.by_class = np.zeros((2, 4, n_classes), np.int64)
        self.predicted_rows = np.zeros(n_classes, np.int64)

    def add(self, block: BlockStatistics, group: _Grouping) -> None:
        """Add each row once, for its bin and predicted class; then these few sums by bin and by class."""
        n_classes = len(self.predicted_rows)
        cells = _Grouping(group.place * n_classes + block.predicted_class, len(group.count) * n_classes)
        scores = block.scores
        # Apart, since the sum of the units themselves may not fit in 64 bits.
        whole = cells.total(scores >> _SCORE_BITS)
        fractions = cells.total(scores & _FRACTIONS)
        place, predicted = np.divmod(cells.occupied, n_classes)
        np.add.at(self.predicted_rows, predicted, cells.count)
        of_classes = np.arange(n_classes)
        for totals, at, of in ((self.by_bin, place, group.occupied), (self.by_class, predicted, of_classes)):
            some = _Grouping(at, len(of))
            where = of[some.occupied]
            totals[0, :, where] += some.total(whole).T
            add_fractions(totals, (slice(None), where), some.total(fractions), _SCORE_BITS)

    def fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"predicted_rows": self.predicted_rows}
        for name, (sums, which) in _SCORE_FIELDS.items():
            whole, fraction = getattr(self, sums)[:, which]
            bits = PROBABILITY_BITS if name == "predicted_misses" else LOG_SCORE_BITS
            fields[name] = ExactSum(whole.T.copy(), fraction.T.copy(), bits)
        return fields


_SCORE_BITS = np.array([LOG_SCORE_BITS] * 3 + [PROBABILITY_BITS])[:, None]
_FRACTIONS = (1 << _SCORE_BITS) - 1

_SCORE_FIELDS = {
    "log_score": ("by_bin", 0),
    "log_score_variance": ("by_bin", 1),
    "possible_variance": ("by_bin", 2),
    "predicted_scores": ("by_class", slice(2)),
    "predicted_possible_variance": ("by_class", 2),
    "predicted_misses": ("by_class", 3),
}
"""The sums of `BlockStatistics.scores` in a table; by bin, that of 1 - q₁ follows from others."""


class _WeightedTotals:
    """Running sums of weighted rows."""

    def __init__(self, spec: TableSpec, n_bins: int) -> None:
        m, c = n_bins, spec.n_cells
        self.spec, self.counts = spec, _Counts(m)
        self.ordered, self.rank, self.variation = _FloatTotal(m, c), _FloatTotal(m, c), _FloatTotal(m)
        self.weight, self.weight_square = _FloatTotal(m), _FloatTotal(m)
        self.totals = np.zeros(4)
        """Log-likelihood, p_y, ‖p‖² and 1 - ‖s‖²."""
        self.by_bin, self.by_class = _FloatTotal(m, 4), _FloatTotal(c, 4)
        """`BlockStatistics.scores`; of a varentropy of possible rows w² times it."""
        self.predicted_rows = np.zeros(c, np.int64)

    def add(self, block: BlockStatistics) -> None:
        group, weight = _Grouping(block.bins, len(self.counts.rows)), block.weight
        assert weight is not None
        self.counts.add(block, group)
        # Rounded as in exact sums, so that whole-number weights are the same as repeated rows.
        rounded = block.steps[:-1] - 1.0
        self.ordered.add(group.occupied, group.total(rounded * weight).T)
        self.variation.add(group.occupied, group.total(block.variation * weight))
        self.weight.add(group.occupied, group.total(weight))
        self.weight_square.add(group.occupied, group.total(weight * weight))
        self._add_ranks(block, group, weight)
        self.totals[0] += np.add.reduce(block.log_scores[1] * 2.0**-LOG_SCORE_BITS * weight)
        self.totals[1] += np.add.reduce(block.true_probability / UNIT * weight)
        self.totals[2] += np.add.reduce(block.square / UNIT * weight)
        if block.label_spread is not None:
            self.totals[3] += np.add.reduce(block.label_spread / UNIT * weight)
        self._add_scores(block, group, weight)

    def _add_scores(self, block: BlockStatistics, group: _Grouping, weight: FloatArray) -> None:
        scores = block.scores / (1 << _SCORE_BITS) * weight
        scores[2] *= weight
        classes = _Grouping(block.predicted_class, len(self.predicted_rows))
        self.predicted_rows[classes.occupied] += classes.count
        self.by_bin.add(group.occupied, group.total(scores).T)
        self.by_class.add(classes.occupied, classes.total(scores).T)

    def _add_ranks(self, block: BlockStatistics, group: _Grouping, weight: FloatArray) -> None:
        c = self.spec.n_cells
        if block.rank_units is not None:
            self.rank.add(group.occupied, group.total(block.rank_units / UNIT * weight).T)
            return
        cells = group.place * c + block.rank
        if self.spec.ties == "split":
            cells, units = shares(cells, block.tied)
            weight = np.repeat(weight, block.tied) * (units / UNIT)
        total = np.bincount(cells, weight, len(group.count) * c).astype(np.float64, copy=False)
        self.rank.add(group.occupied, total.reshape(-1, c))

    def sums(self) -> Sums:
        log_likelihood, true_probability, square, spread = (FloatSum(np.array(each)) for each in self.totals)
        scores: dict[str, Any] = {
            name: FloatSum(getattr(self, sums).value[:, which].copy())
            for name, (sums, which) in _SCORE_FIELDS.items()
        }
        return Sums(
            **self.counts.fields(),
            ordered=self.ordered.sum(),
            rank=self.rank.sum(),
            variation=self.variation.sum(),
            true_probability=true_probability,
            square=square,
            log_likelihood=log_likelihood,
            label_spread=spread if self.totals[3] else None,
            predicted_rows=self.predicted_rows,
            **scores,
            weight=self.weight.sum(),
            weight_square=self.weight_square.sum(),
        )

"""Rows to sums in NumPy, block by block: the readable engine, close to the paper's formulas.

A block is described (order, V, bin, rank, log-score of each row) and then added to running totals. Everything about
a row is computed from that row alone by the same operations wherever it stands, so blocks may be cut anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray, column_sums
from trueness._scratch import Scratch
from trueness.ranking import LEAST_LOG, lower_tied_classes, ordered_rows, standing, standing_by_scores
from trueness.rows import Rows, row_sums
from trueness.table import Sums, TableSpec
from trueness.table.exact_sums import (
    LOG_SCORE_BITS,
    ONE_BITS,
    PROBABILITY_BITS,
    ExactSum,
    FloatSum,
    bits_of_ones,
)
from trueness.variation import log_or_finite

_UNIT = 1 << PROBABILITY_BITS


def spans(rows: Rows, n_threads: int = 1) -> list[tuple[int, int]]:  # noqa: ARG001
    """Blocks that stay in the cache, whoever works on them."""
    return list(rows.spans())


class Pass:
    """Sums that blocks of rows are added to, all of them of the same form; for one thread."""

    def __init__(self, rows: Rows, specs: Sequence[TableSpec]) -> None:
        self.form, self.reached, scratch = rows.form, 0, Scratch()
        self.describers = [Describer(spec, rows.y_prob.eps, scratch) for spec in specs]
        self.totals = [
            _WeightedTotals(spec) if spec.weighted else _ExactTotals(spec, scratch) for spec in specs
        ]

    def add(self, rows: Rows, start: int, stop: int) -> None:
        """Add the rows from start to stop, or, if one is refused, none of them; `reached` is what was come to."""
        self.reached = start
        with np.errstate(
            all="ignore"
        ):  # tiny probabilities underflow, and what is no number is refused with its row
            for describer, total in zip(self.describers, self.totals, strict=True):
                total.add(describer.described(rows, start, stop))
        self.reached = stop

    def sums(self) -> list[Sums]:
        """What was summed, one for each spec."""
        return [total.sums() for total in self.totals]


class Described(NamedTuple):
    """What is summed of each row of a block."""

    ordered: FloatArray
    """qᵢ as columns, (C, n)."""
    variation: FloatArray
    """𝒱(pᵢ) within the measure's range, (n,)."""
    bins: NDArray[np.unsignedinteger]
    rank: IntArray
    """The rank of the true class; the first of the ranks it shares, if ties are split."""
    tied: IntArray
    """How many classes have the true one's probability, itself included."""
    impossible: NDArray[np.bool_]
    """Whether the true class had probability zero."""
    log_scores: FloatArray
    """ln p_y + H and ln p_y in nats (0 where p_y = 0), and the varentropy, (3, n)."""
    of_true: IntArray
    """p_y in units of 2⁻⁵², (n,)."""
    square: IntArray
    """‖p‖² in units of 2⁻⁵², (n,)."""
    weight: FloatArray | None

    def kept(self, keep: NDArray[np.bool_]) -> Described:
        """The same for some of the rows."""
        fields: list[Any] = [None if field is None else field[..., keep] for field in self]
        return Described(*fields)


class Describer:
    """Describes block after block."""

    def __init__(self, spec: TableSpec, eps: float, scratch: Scratch) -> None:
        self.spec, self.scratch = spec, scratch
        low, high = spec.variation.range_for(spec.n_classes)
        self.thresholds = spec.bins.thresholds(eps, high - low)

    def described(self, rows: Rows, start: int, stop: int) -> Described:
        """What is summed of rows start to stop; valid until the next call."""
        spec = self.spec
        block = rows.block(start, stop)
        ordered = ordered_rows(block, self.scratch)
        entropy, varentropy = self._entropy(ordered, row_sums(rows, ordered, start))
        if spec.variation.kernel == "entropy":
            # The very operations of the measure's own formula, on logarithms that are at hand.
            variation = np.minimum(np.maximum(entropy / math.log(spec.n_classes), 0.0), 1.0)
        else:
            variation = spec.variation.of_rows(ordered.T, rows.sum_tolerance)

        assert rows.labels is not None
        labels = rows.labels.block(start, stop)
        of_true = _chosen(block, labels)
        scores = rows.scores(start, stop) if rows.from_logits else None
        rank, tied, log_p = self._standing(block, ordered, of_true, labels, scores)
        impossible = log_p == -np.inf
        log_scores = np.empty((3, stop - start))
        log_scores[1] = np.maximum(log_p, LEAST_LOG)
        log_scores[0] = log_scores[1] + entropy
        if impossible.any():
            log_scores[:2, impossible] = 0.0
        log_scores[2] = varentropy
        weight = None if rows.sample_weight is None else rows.sample_weight[start:stop]
        bins = spec.bins.index(variation, self.thresholds)
        described = Described(
            ordered,
            variation,
            bins,
            rank,
            tied,
            impossible,
            log_scores,
            of_true=_units(of_true),
            square=self._square(ordered),
            weight=weight,
        )
        return described if weight is None or weight.all() else described.kept(weight > 0)

    def _entropy(self, ordered: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
        """H = -Σ p ln p of each column, and its varentropy Σ p(ln p + H)², in nats; `total` is Σp."""
        logs = log_or_finite(ordered, out=self.scratch.array("logs", ordered.shape))
        products = np.multiply(ordered, logs, out=self.scratch.array("work", ordered.shape))
        entropy = 0.0 - column_sums(products)
        products *= logs
        # Multiplied out; what it loses by cancelling, some 1e-16 of Σ p ln² p, is felt with thousands of classes only.
        varentropy = column_sums(products) + entropy * entropy * (total - 2.0)
        return entropy, np.maximum(varentropy, 0.0)

    def _square(self, ordered: FloatArray) -> IntArray:
        """Σ p² of each column in units of 2⁻⁵², each p·p rounded to one."""
        work = self.scratch.array("work", ordered.shape)
        np.multiply(ordered, ordered, out=work)
        work += 1.0
        square: IntArray = np.add.reduce(work.view(np.int64), axis=0)
        square -= bits_of_ones(len(ordered))
        return square

    def _standing(
        self,
        block: NDArray[Any],
        ordered: FloatArray,
        of_true: FloatArray,
        labels: NDArray[np.intp],
        scores: FloatArray | None,
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """The rank of the true class, how many classes are tied with it, and ln p of it; by the logits, if given."""
        if scores is not None:
            rank, tied, log_p = standing_by_scores(scores, _chosen(scores, labels))
        else:
            rank, tied = standing(ordered, of_true)
            log_p = np.log(of_true)
        if self.spec.ties == "first" and (shared := np.flatnonzero(tied > 1)).size:
            judged = block if scores is None else scores
            rank[shared] += lower_tied_classes(judged[shared], labels[shared])
        return rank, tied, log_p


def _chosen(block: NDArray[Any], labels: NDArray[np.intp]) -> FloatArray:
    """The value of each row at its label, (n,)."""
    chosen = block.ravel().take(np.arange(0, block.size, block.shape[1]) + labels)
    return chosen.astype(np.float64, copy=False)


def _units(p: FloatArray) -> IntArray:
    """Probabilities in units of 2⁻⁵², half to even."""
    return (p + 1.0).view(np.int64) - ONE_BITS


def _total(units: IntArray) -> int:
    """The sum of units below 2⁵³, in two halves: of four thousand of them it may not fit in 64 bits."""
    half = PROBABILITY_BITS // 2
    return (int((units >> half).sum()) << half) + int((units & ((1 << half) - 1)).sum())


class _Grouping:
    """The rows of a block put side by side by bin, so that one pass of `reduceat` sums each bin."""

    def __init__(self, bins: NDArray[np.unsignedinteger], n_bins: int) -> None:
        count = np.bincount(bins, minlength=n_bins)
        self.occupied = np.flatnonzero(count)
        self.count = count[self.occupied]
        self.starts = np.cumsum(self.count) - self.count
        self.order = np.argsort(bins, kind="stable")
        self.place = (np.cumsum(count > 0) - 1)[bins]
        """Which of the occupied bins each row is in."""

    def total(self, values: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Sums over each occupied bin, along the last axis; `out` is memory for the values in order of bins."""
        together = values.take(self.order, axis=-1, out=out, mode="clip")
        return np.add.reduceat(together, self.starts, axis=-1)


class _ExactTotal:
    """A running exact sum per bin, in units of 2⁻⁵²."""

    def __init__(self, *shape: int) -> None:
        self.whole = np.zeros(shape, np.int64)
        self.fraction = np.zeros(shape, np.int64)

    def add(self, at: NDArray[np.intp], units: NDArray[np.integer]) -> None:
        """Add units of 2⁻⁵² to the bins `at`; what is below 2⁶⁴ may have wrapped round to negative."""
        wide = units.view(np.uint64)
        fraction = self.fraction[at] + (wide & np.uint64(_UNIT - 1)).view(np.int64)
        self.whole[at] += (wide >> np.uint64(PROBABILITY_BITS)).view(np.int64) + (
            fraction >> PROBABILITY_BITS
        )
        self.fraction[at] = fraction & (_UNIT - 1)

    def sum(self, columns: slice | int) -> ExactSum:
        """The sum of some columns."""
        return ExactSum(self.whole[:, columns], self.fraction[:, columns], PROBABILITY_BITS)


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

    def add(self, block: Described, group: _Grouping) -> None:
        self.rows[group.occupied] += group.count
        self.tied_rows += int(np.count_nonzero(block.tied > 1))
        self.impossible_rows += int(np.count_nonzero(block.impossible))

    def fields(self) -> dict[str, Any]:
        totals = {"tied_rows": np.array(self.tied_rows), "impossible_rows": np.array(self.impossible_rows)}
        return {"rows": self.rows, **totals}


class _ExactTotals:
    """Running sums of unweighted rows."""

    def __init__(self, spec: TableSpec, scratch: Scratch) -> None:
        m, c = spec.bins.n_bins, spec.n_classes
        self.spec, self.counts, self.scratch = spec, _Counts(m), scratch
        self.lines = _ExactTotal(m, c + 1)
        """Σq by rank, and Σ𝒱 as one more column."""
        self.rank = _ExactTotal(m, c)
        self.log_scores = [0, 0, 0]
        self.of_true = self.square = 0

    def add(self, block: Described) -> None:
        group = _Grouping(block.bins, self.spec.bins.n_bins)
        self.counts.add(block, group)
        whole = np.floor(block.variation)
        self.lines.add(group.occupied, self._steps(block.ordered, block.variation - whole, group))
        self.lines.whole[:, -1] += np.bincount(block.bins, whole, len(self.counts.rows)).astype(np.int64)
        self._add_ranks(block, group)
        whole = np.floor(block.log_scores)
        units = np.rint((block.log_scores - whole) * (1 << LOG_SCORE_BITS))
        for which, (wholes, fractions) in enumerate(zip(whole, units, strict=True)):
            total = int(wholes.sum()) << LOG_SCORE_BITS
            self.log_scores[which] += total + int(fractions.sum())
        self.of_true += _total(block.of_true)
        self.square += _total(block.square)

    def _steps(self, ordered: FloatArray, fraction: FloatArray, group: _Grouping) -> IntArray:
        """Sums over each bin of the lines of `ordered`, and of `fraction`, in units of 2⁻⁵², modulo 2⁶⁴.

        In [1, 2] floats are 2⁻⁵² apart, so 1 + p rounds p to that grid and its bits count the steps. The sum of the
        bits wraps round; with the ones taken off again it is the sum of the steps.
        """
        shape = (len(ordered) + 1, len(fraction))
        bits, together = self.scratch.array("work", shape), self.scratch.array("logs", shape, np.int64)
        np.add(ordered, 1.0, out=bits[:-1])
        np.add(fraction, 1.0, out=bits[-1])
        steps = group.total(bits.view(np.int64), out=together) - group.count * ONE_BITS
        return np.ascontiguousarray(steps.T)

    def _add_ranks(self, block: Described, group: _Grouping) -> None:
        c = self.spec.n_classes
        cells, n_cells = group.place * c + block.rank, len(group.count) * c
        if self.spec.ties == "split":
            shared = block.tied > 1
            units = np.zeros(n_cells, np.uint64)
            np.add.at(units, *shares(cells[shared], block.tied[shared]))
            self.rank.add(group.occupied, units.reshape(-1, c))
            cells = cells[~shared]
        self.rank.whole[group.occupied] += np.bincount(cells, minlength=n_cells).reshape(-1, c)

    def sums(self) -> Sums:
        log_score, log_likelihood, log_score_variance = (
            _exact_sum(units, LOG_SCORE_BITS) for units in self.log_scores
        )
        return Sums(
            **self.counts.fields(),
            ordered=self.lines.sum(slice(-1)),
            rank=self.rank.sum(slice(None)),
            variation=self.lines.sum(-1),
            log_score=log_score,
            log_score_variance=log_score_variance,
            true_probability=_exact_sum(self.of_true, PROBABILITY_BITS),
            square=_exact_sum(self.square, PROBABILITY_BITS),
            log_likelihood=log_likelihood,
        )


class _WeightedTotals:
    """Running sums of weighted rows."""

    def __init__(self, spec: TableSpec) -> None:
        m, c = spec.bins.n_bins, spec.n_classes
        self.spec, self.counts = spec, _Counts(m)
        self.ordered, self.rank, self.variation = _FloatTotal(m, c), _FloatTotal(m, c), _FloatTotal(m)
        self.weight, self.weight_square = _FloatTotal(m), _FloatTotal(m)
        self.scores = np.zeros(5)
        """Log-score, log-likelihood, varentropy, p_y and ‖p‖²."""

    def add(self, block: Described) -> None:
        group, weight = _Grouping(block.bins, self.spec.bins.n_bins), block.weight
        assert weight is not None
        self.counts.add(block, group)
        # Rounded as in exact sums, so that whole-number weights are the same as repeated rows.
        rounded = (block.ordered + 1.0) - 1.0
        self.ordered.add(group.occupied, group.total(rounded * weight).T)
        self.variation.add(group.occupied, group.total(block.variation * weight))
        self.weight.add(group.occupied, group.total(weight))
        self.weight_square.add(group.occupied, group.total(weight * weight))
        self._add_ranks(block, group, weight)
        self.scores[:3] += np.add.reduce(block.log_scores * weight, axis=1)
        self.scores[3] += np.add.reduce(block.of_true / _UNIT * weight)
        self.scores[4] += np.add.reduce(block.square / _UNIT * weight)

    def _add_ranks(self, block: Described, group: _Grouping, weight: FloatArray) -> None:
        c = self.spec.n_classes
        cells = group.place * c + block.rank
        if self.spec.ties == "split":
            cells, units = shares(cells, block.tied)
            weight = np.repeat(weight, block.tied) * (units / _UNIT)
        total = np.bincount(cells, weight, len(group.count) * c).astype(np.float64, copy=False)
        self.rank.add(group.occupied, total.reshape(-1, c))

    def sums(self) -> Sums:
        log_score, log_likelihood, log_score_variance, true_probability, square = (
            FloatSum(np.array(total)) for total in self.scores
        )
        return Sums(
            **self.counts.fields(),
            ordered=self.ordered.sum(),
            rank=self.rank.sum(),
            variation=self.variation.sum(),
            log_score=log_score,
            log_score_variance=log_score_variance,
            true_probability=true_probability,
            square=square,
            log_likelihood=log_likelihood,
            weight=self.weight.sum(),
            weight_square=self.weight_square.sum(),
        )


def shares(cells: IntArray, tied: IntArray) -> tuple[IntArray, NDArray[np.uint64]]:
    """One row over k tied ranks: ⌊2⁵²/k⌋ to each of the k cells from the first on, the remainder to the first."""
    first = np.cumsum(tied) - tied
    offset = np.arange(int(tied.sum())) - np.repeat(first, tied)
    units = np.repeat(_UNIT // tied, tied)
    units[first] += _UNIT % tied
    return np.repeat(cells, tied) + offset, units.astype(np.uint64)


def _exact_sum(units: int, bits: int) -> ExactSum:
    whole, fraction = divmod(units, 1 << bits)
    return ExactSum(np.array(whole), np.array(fraction), bits)

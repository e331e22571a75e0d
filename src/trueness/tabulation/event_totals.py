"""Events of rows to sums in NumPy, block by block: the cell of each probability, and what is added to it.

All numbers follow from a probability alone by the operations of `trueness._row_arithmetic`, so that the compiled engine
gets the same bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness._row_arithmetic import LOG_UNITS, UNIT, log2_of_positive, units
from trueness._scratch import Scratch
from trueness.old_table.event_content import TOP_LABEL, EventSpec, EventSums
from trueness.old_table.exact_sums import (
    LOG_SCORE_BITS,
    PROBABILITY_BITS,
    ExactSum,
    FloatSum,
    add_fractions,
    carry,
)
from trueness.ranking import (
    count_above_and_tied,
    count_above_and_tied_by_scores,
    lower_tied_classes,
    ordered_rows,
)
from trueness.rows import Rows, row_sums
from trueness.tabulation.soft_labels import share_spread, shares_by_rank, whole_units

_HALF = PROBABILITY_BITS // 2


class EventBlock(NamedTuple):
    """Of each event and row of a block, (K, n) each."""

    p: FloatArray
    y: FloatArray
    """0 or 1, or the share of the first rank, if ties are split."""
    cell: IntArray
    weight: FloatArray | None
    """Of the rows, (n,)."""
    soft: NDArray[np.bool_] | None = None
    """Which rows have soft labels, (n,); None if labels are single classes."""

    def select(self, chosen: NDArray[np.bool_]) -> EventBlock:
        """The same for some of the rows."""
        weight = None if self.weight is None else self.weight[chosen]
        soft = None if self.soft is None else self.soft[chosen]
        return EventBlock(self.p[:, chosen], self.y[:, chosen], self.cell[:, chosen], weight, soft)

    @property
    def label_spread(self) -> IntArray:
        """y(1 - y) of soft labels in units of 2⁻⁵², at least 1 where y is neither 0 nor 1, (K, n)."""
        inside = (self.y > 0) & (self.y < 1) & (False if self.soft is None else self.soft)
        return np.where(inside, np.maximum(np.rint(self.y * (1 - self.y) * UNIT), 1), 0).astype(np.int64)


class EventDescriber:
    """Finds probability, outcome and cell of each event, block by block."""

    def __init__(self, spec: EventSpec, eps: float) -> None:
        self.spec, self.scratch = spec, Scratch()
        self.thresholds = spec.grid.thresholds(eps)

    def describe(self, rows: Rows, start: int, stop: int) -> EventBlock:
        """Events of rows start to stop."""
        block = rows.block(start, stop)
        ordered = ordered_rows(block, self.scratch)
        row_sums(rows, ordered, ordered + 1.0, start)  # the first bad row is refused
        assert rows.labels is not None
        labels = rows.labels.block(start, stop)
        shape = len(self.spec.events), stop - start
        p, y = np.empty(shape), np.zeros(shape)
        given_shares = rows.labels.shares(start, stop) if rows.labels.soft else None
        shares = None if given_shares is None else whole_units(given_shares) / UNIT
        soft = None if given_shares is None else share_spread(given_shares) > 0
        for k, event in enumerate(self.spec.events):
            if isinstance(event, int):
                p[k], y[k] = block[:, event], labels == event if shares is None else shares[:, event]
            elif given_shares is not None:
                given = rows.scores(start, stop) if rows.from_logits else block
                ranked, _ = shares_by_rank(given, given_shares, self.spec.ties)
                p[k], y[k] = ordered[0], whole_units(ranked)[:, 0] / UNIT
            else:
                assert event == TOP_LABEL, event
                given = rows.scores(start, stop) if rows.from_logits else block
                p_true = block[np.arange(len(labels)), labels].astype(np.float64)
                p[k] = ordered[0]
                y[k] = self._first_rank(given, rows.from_logits, ordered, p_true, labels)
        p += 0.0  # -0 counts as 0
        weight = None if rows.sample_weight is None else rows.sample_weight[start:stop]
        cells = np.searchsorted(self.thresholds, p, side="left")
        events = EventBlock(p, y, cells, weight, soft)
        return events if weight is None or weight.all() else events.select(weight > 0)

    def _first_rank(
        self,
        given: NDArray[Any],
        from_logits: bool,
        ordered: FloatArray,
        p_true: FloatArray,
        labels: IntArray,
    ) -> FloatArray:
        """Whether the true class has the first rank, by the rule for ties; a share of it, if they are split."""
        above, tied = count_above_and_tied(ordered, p_true)
        shared = np.flatnonzero(tied > 1)
        if shared.size and from_logits:
            above[shared], tied[shared] = count_above_and_tied_by_scores(given[shared], labels[shared])
        if self.spec.ties == "split":
            # As in the table: of a row over k ranks the first gets what is left after k - 1 equal shares.
            first = (UNIT // tied + UNIT % tied) / UNIT
            return np.asarray(np.where(above == 0, np.where(tied > 1, first, 1.0), 0.0))
        if shared.size:
            above[shared] += lower_tied_classes(given[shared], labels[shared])
        return np.asarray(above == 0, np.float64)


class _Moments(NamedTuple):
    """Of each event and row, whole numbers of units."""

    square: IntArray
    cube: IntArray
    fourth: IntArray
    product: IntArray
    log_likelihood: IntArray
    """In units of 2⁻⁴⁰, 0 for impossible rows."""
    impossible: NDArray[np.bool_]

    @classmethod
    def of(cls, block: EventBlock) -> _Moments:
        p, y = block.p, block.y
        square = p * p
        impossible = ((p == 0.0) & (y > 0)) | ((p == 1.0) & (y < 1))
        of_event = np.where(y > 0, y * log2_of_positive(p, Scratch()), 0.0)
        of_other = np.where(y < 1, (1.0 - y) * log2_of_positive(1.0 - p, Scratch()), 0.0)
        log = np.where(impossible, 0, np.rint((of_event + of_other) * LOG_UNITS)).astype(np.int64)
        return cls(units(square), units(square * p), units(square * square), units(p * y), log, impossible)


class ExactEventTotals:
    """Running sums of the events of unweighted rows."""

    def __init__(self, spec: EventSpec, n_units: int = 1) -> None:
        self.spec, (k, g) = spec, spec.shape
        self.shape = n_units * k, g
        self.rows = np.zeros(n_units * k * g, np.int64)
        self.predicted, self.observed = (
            np.zeros((2, len(self.rows)), np.int64),
            np.zeros((2, len(self.rows)), np.int64),
        )
        """Whole and fraction."""
        self.powers, self.log = np.zeros((4, 2, k), np.int64), np.zeros((2, k), np.int64)
        self.impossible = np.zeros(k, np.int64)
        self.soft, self.label_spread = False, np.zeros((2, k), np.int64)

    def add(self, block: EventBlock) -> None:
        """Add the events of a block of at most 4095 rows."""
        k, g = self.spec.shape
        at = (block.cell + (np.arange(k) * g)[:, None]).ravel()
        self.rows += np.bincount(at, minlength=len(self.rows))
        self._add_units(self.predicted, at, units(block.p).ravel())
        if block.soft is not None:
            self.soft = True
            _add_over_rows(self.label_spread, block.label_spread, PROBABILITY_BITS)
        if self.spec.ties == "split" or self.soft:
            self._add_units(self.observed, at, np.rint(block.y * UNIT).astype(np.int64).ravel())
        else:
            self.observed[0] += np.bincount(at[block.y.ravel() > 0], minlength=len(self.rows))
        if self.spec.has_moments:
            self._add_moments(_Moments.of(block))

    def _add_units(self, totals: IntArray, at: IntArray, of_rows: IntArray) -> None:
        """Add units of 2⁻⁵² to their cells, as two halves whose sums are exact in float64."""
        high, low = (
            np.bincount(at, part, totals.shape[1]).astype(np.int64)
            for part in (of_rows >> _HALF, of_rows & ((1 << _HALF) - 1))
        )
        high += low >> _HALF
        totals[0] += high >> _HALF
        totals[1] += ((high & ((1 << _HALF) - 1)) << _HALF) | (low & ((1 << _HALF) - 1))
        carry(totals, PROBABILITY_BITS)

    def _add_moments(self, moments: _Moments) -> None:
        for totals, of_rows in zip(self.powers, moments[:4], strict=True):
            _add_over_rows(totals, of_rows, PROBABILITY_BITS)
        _add_over_rows(self.log, moments.log_likelihood, LOG_SCORE_BITS)
        self.impossible += moments.impossible.sum(axis=1)

    def sums(self) -> EventSums:
        """The sums so far; of several units, the events of the first, then those of the second, …"""
        shape = self.shape

        def exact(totals: IntArray, bits: int = PROBABILITY_BITS) -> ExactSum:
            return ExactSum(totals[0].copy(), totals[1].copy(), bits)

        moments: dict[str, Any] = {}
        if self.spec.has_moments:
            names = ("square", "cube", "fourth", "product")
            moments = {name: exact(totals) for name, totals in zip(names, self.powers, strict=True)}
            moments["log_likelihood"] = exact(self.log, LOG_SCORE_BITS)
            moments["impossible_rows"] = self.impossible.copy()
        observed = self.observed.reshape(2, *shape)
        return EventSums(
            rows=self.rows.reshape(shape).copy(),
            predicted=exact(self.predicted.reshape(2, *shape)),
            observed=exact(observed)
            if self.spec.ties == "split" or self.soft
            else ExactSum.of_counts(observed[0].copy(), PROBABILITY_BITS),
            label_spread=exact(self.label_spread) if self.label_spread.any() else None,
            **moments,
        )


def _add_over_rows(totals: IntArray, of_rows: IntArray, bits: int) -> None:
    """Add the sums over the rows, (K, n), to whole and fraction, (2, K)."""
    totals[0] += (of_rows >> bits).sum(axis=1)
    add_fractions(totals, slice(None), (of_rows & ((1 << bits) - 1)).sum(axis=1), bits)


class WeightedEventTotals:
    """Running sums of the events of weighted rows."""

    def __init__(self, spec: EventSpec, n_units: int = 1) -> None:
        self.spec, (k, g) = spec, spec.shape
        self.shape = n_units * k, g
        self.rows = np.zeros(n_units * k * g, np.int64)
        self.cells = np.zeros((4, len(self.rows)))
        """Σwp, Σwy, Σw and Σw²."""
        self.moments = np.zeros((5, k))
        self.impossible = np.zeros(k, np.int64)
        self.label_spread = np.zeros(k)

    def add(self, block: EventBlock) -> None:
        """Add the events of a block."""
        assert block.weight is not None
        k, g = self.spec.shape
        at = (block.cell + (np.arange(k) * g)[:, None]).ravel()
        self.rows += np.bincount(at, minlength=len(self.rows))
        weight = np.broadcast_to(block.weight, block.p.shape)
        # Rounded as in exact sums, so that whole-number weights are the same as repeated rows.
        rounded = (block.p + 1.0) - 1.0
        values = (rounded * weight, block.y * weight, weight, weight**2)
        self.cells += [np.bincount(at, of_rows.ravel(), len(self.rows)) for of_rows in values]
        if self.spec.has_moments:
            moments = _Moments.of(block)
            self.moments[:4] += [(of_rows / UNIT) @ block.weight for of_rows in moments[:4]]
            self.moments[4] += (moments.log_likelihood * 2.0**-LOG_SCORE_BITS) @ block.weight
            self.impossible += moments.impossible.sum(axis=1)
        if block.soft is not None:
            self.label_spread += (block.label_spread / UNIT) @ block.weight

    def sums(self) -> EventSums:
        """The sums so far; of several units, the events of the first, then those of the second, …"""
        shape = self.shape
        predicted, observed, weight, square = (FloatSum(total.reshape(shape).copy()) for total in self.cells)
        moments: dict[str, Any] = {}
        if self.spec.has_moments:
            names = ("square", "cube", "fourth", "product", "log_likelihood")
            moments = {name: FloatSum(total.copy()) for name, total in zip(names, self.moments, strict=True)}
            moments["impossible_rows"] = self.impossible.copy()
        return EventSums(
            rows=self.rows.reshape(shape).copy(),
            predicted=predicted,
            observed=observed,
            label_spread=FloatSum(self.label_spread.copy()) if self.label_spread.any() else None,
            **moments,
            weight=weight,
            weight_square=square,
        )

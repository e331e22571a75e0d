"""Conversion between the sums of events and a matrix of integers, as in `_integer_words`: one line for each event.

| part of a line | words |
|---|---|
| rows of each cell | G |
| Σp of each cell | high and low half: G and G |
| Σy of each cell | G, or in halves where the top label is shared by tied classes: G and G |
| on the event grid: Σp², Σp³, Σp⁴, Σpy | high and low half of each |
| on the event grid: Σ of log-likelihoods, impossible rows | whole, high half, low half; 1 |
| if labels are soft: Σy(1 - y) | high and low half |
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from trueness._arrays import IntArray
from trueness.adapters._integer_words import LOG_HALF, halves, of_halves, of_three_words, three_words
from trueness.old_table import TOP_LABEL, Event, EventSpec, EventSums
from trueness.old_table.exact_sums import PROBABILITY_BITS, ExactSum

POWERS = ("square", "cube", "fourth", "product")

_N_MOMENTS = 2 * len(POWERS) + 3 + 1


class EventLayout(NamedTuple):
    """What the words of events depend on, as plain values."""

    events: tuple[Event, ...]
    n_cells: int
    all_classes: bool
    """Whether the events are the classes, in order."""
    has_shares: bool
    """Whether y may be a share of a row: that of the top label, if ties are split, or that of a soft label."""
    has_moments: bool
    soft: bool = False

    @classmethod
    def of(cls, spec: EventSpec, *, soft: bool = False) -> Self:
        """The layout of the words of such sums."""
        shares = soft or (spec.ties == "split" and TOP_LABEL in spec.events)
        in_order = spec.events == tuple(range(spec.n_classes or 0))
        return cls(spec.events, spec.grid.n_cells, in_order, shares, spec.has_moments, soft)

    @property
    def n_by_cell(self) -> int:
        """The number of words of an event before its moments."""
        return (5 if self.has_shares else 4) * self.n_cells

    @property
    def width(self) -> int:
        """The number of words of an event."""
        return self.n_by_cell + (_N_MOMENTS if self.has_moments else 0) + (2 if self.soft else 0)


def words_of(sums: EventSums, layout: EventLayout) -> IntArray:
    """The words of all events, (K, W)."""
    observed = _exact(sums.observed)
    parts = [
        sums.rows,
        *halves(_exact(sums.predicted)),
        *(halves(observed) if layout.has_shares else [observed.whole]),
    ]
    if layout.has_moments:
        assert sums.impossible_rows is not None
        of_powers = [half for name in POWERS for half in halves(_exact(getattr(sums, name)))]
        moments = [*of_powers, *three_words(_exact(sums.log_likelihood)), sums.impossible_rows]
        parts.append(np.stack(moments, axis=1))
    if layout.soft:
        spread = sums.label_spread or ExactSum.zeros((len(sums.rows),), PROBABILITY_BITS)
        parts.append(np.stack(halves(_exact(spread)), axis=1))
    return np.concatenate(parts, axis=1)


def sums_of(words: IntArray, layout: EventLayout) -> EventSums:
    """The sums that `words_of` turns into these words."""
    by_cell, moments = np.split(words, [layout.n_by_cell], axis=1)
    spread = None
    if layout.soft:
        moments, last = np.split(moments, [-2], axis=1)
        spread = of_halves(*last.T) if last.any() else None
    starts = range(layout.n_cells, layout.n_by_cell, layout.n_cells)
    rows, high, low, *observed = np.split(by_cell, starts, axis=1)
    return EventSums(
        rows=rows.copy(),
        predicted=of_halves(high, low),
        observed=of_halves(*observed)
        if layout.has_shares
        else ExactSum.of_counts(observed[0].copy(), PROBABILITY_BITS),
        label_spread=spread,
        **(_moments_of(moments) if layout.has_moments else {}),
    )


def _moments_of(words: IntArray) -> dict[str, Any]:
    n_powers = 2 * len(POWERS)
    pairs = words[:, :n_powers].reshape(len(words), -1, 2)
    powers = {name: of_halves(*pairs[:, k].T) for k, name in enumerate(POWERS)}
    log_likelihood = of_three_words(words[:, n_powers : n_powers + 3], LOG_HALF)
    return powers | {"log_likelihood": log_likelihood, "impossible_rows": words[:, -1].copy()}


def _exact(total: object) -> ExactSum:
    assert isinstance(total, ExactSum)  # rows are not weighted here
    return total

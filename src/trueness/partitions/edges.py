"""Exact edges of bins of equal mass for rows in partitions: only counts are sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trueness.bins import Edges, EqualMass
from trueness.bins.selection import DigitCounts, order_statistics

if TYPE_CHECKING:
    from trueness.partitions.work import Work

DIGIT_BITS = 8
"""Bits of the exact edges that are found in one round: 2 kB of counts for each bin and partition."""


def exact_edges(work: Work, n_rows: int, count: DigitCounts) -> list[Edges]:
    """The edges that `tabulate` would find for all rows at once, to the last bit.

    `count` counts the digits of the keys of all partitions, of which there is one list for each measure.
    """
    bins = work.plan.tables.bins
    assert isinstance(bins, EqualMass)
    plan = work.plan.tables
    measures = plan.measures
    ends = order_statistics(bins.nth(n_rows), len(measures), count, DIGIT_BITS)
    return [
        bins.edges_at(of_measure, *plan.range_of(measure, work.n_classes))
        for of_measure, measure in zip(ends, measures, strict=True)
    ]

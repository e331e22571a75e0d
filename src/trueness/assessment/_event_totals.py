"""The sums over all rows of an event, from its table."""

from __future__ import annotations

from typing import Any

from trueness.inference.events.event_statistics import EventTotals
from trueness.table import EventTable


def totals_of(table: EventTable) -> EventTotals:
    """The sums over all rows of the only event of a table on the event grid."""
    sums = table.sums

    def total(value: Any) -> float:
        return float(value.value[0])

    assert sums.impossible_rows is not None
    return EventTotals(
        count=float(table.count[0].sum()),
        predicted=float(table.expected_total[0]),
        observed=float(table.observed_total[0]),
        square=total(sums.square),
        cube=total(sums.cube),
        fourth=total(sums.fourth),
        product=total(sums.product),
        log_likelihood=total(sums.log_likelihood),
        impossible_rows=float(sums.impossible_rows[0]),
        weight_square=float(table.weight_square_sum[0].sum()) if table.spec.weighted else None,
    )

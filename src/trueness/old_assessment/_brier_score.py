"""`brier`: the Brier score of an event with its parts and its test, from a table."""

from __future__ import annotations

from typing import NamedTuple

from trueness.bins import Bins, event_grid
from trueness.event_metrics import require_event_table
from trueness.old_inference.events.event_statistics import brier_score, spiegelhalter_test
from trueness.old_inference.events.of_table import event_bins, totals_of
from trueness.old_inference.events.reliability import brier_parts
from trueness.old_table import EventTable
from trueness.refusals import InvalidValueError


class Brier(NamedTuple):
    """The Brier score of an event, its parts over bins, and Spiegelhalter's test."""

    score: float
    """Mean (p - y)²."""
    reliability: float
    resolution: float
    uncertainty: float
    z: float
    """Above 0 the probabilities are too extreme; NaN if every one is 0, ½ or 1."""
    p_value: float


def brier(table: EventTable, bins: int | Bins = 10) -> Brier:
    """The Brier score of the one event of a table, with reliability, resolution and uncertainty, and its Z.

    The table is on the event grid, as `tabulate_events` makes it of one event.

    >>> from trueness.tabulation import tabulate_events
    >>> round(brier(tabulate_events([1, 1, 0, 1], [0.5] * 4)).reliability, 6)
    0.0625
    """
    require_event_table("brier", table)
    if len(table.events) != 1 or table.grid != event_grid() or not table.n_rows:
        cause = "brier needs a table of one event on the event grid, with rows"
        remedy = "make it with tabulate_events(..., grid='event'), or select an event"
        raise InvalidValueError("wrong-table", cause, remedy, argument="table")
    totals, (parts,) = totals_of(table), (brier_parts(cells) for cells in event_bins(table, bins))
    test = spiegelhalter_test(totals)
    return Brier(
        brier_score(totals).value,
        parts.reliability,
        parts.resolution,
        parts.uncertainty,
        test.value,
        test.p_value,
    )

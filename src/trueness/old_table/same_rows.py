"""Refusals of tables that cannot be of the same rows."""

from __future__ import annotations

from trueness.old_table.event_table import EventTable
from trueness.old_table.option_tables import AnyRankTable
from trueness.refusals import InvalidValueError


def require_as_many_rows(table: AnyRankTable, events: EventTable) -> None:
    """Refuse an event table of another number of rows or classes."""
    if (events.n_rows, events.n_classes or table.n_classes) != (table.n_rows, table.n_classes):
        cause = (
            f"table holds {table.n_rows} rows of {table.n_classes} classes, the event table "
            f"{events.n_rows} of {events.n_classes}"
        )
        remedy = "they must be of the same rows"
        raise InvalidValueError("different-rows", cause, remedy, argument="table")


def require_same_rows(table: AnyRankTable, confidence_table: AnyRankTable) -> None:
    """Refuse a table that is not one by confidence of the same number of rows and classes."""
    if not confidence_table.spec.is_by_confidence:
        cause = f"confidence_table is binned by {confidence_table.spec.variation.name}"
        remedy = "tabulate with variation='confidence'"
        raise InvalidValueError("wrong-table", cause, remedy, value=confidence_table.spec.variation.name)
    if (confidence_table.n_rows, confidence_table.n_classes) != (table.n_rows, table.n_classes):
        cause = (
            f"table holds {table.n_rows} rows of {table.n_classes} classes, confidence_table "
            f"{confidence_table.n_rows} of {confidence_table.n_classes}"
        )
        remedy = "they must be of the same rows"
        raise InvalidValueError("different-rows", cause, remedy, argument="table")

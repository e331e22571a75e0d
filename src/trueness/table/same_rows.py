"""Refusals of tables that cannot be of the same rows."""

from __future__ import annotations

from trueness.refusals import InvalidValueError
from trueness.table.event_table import EventTable
from trueness.table.option_tables import AnyRankTable


def require_as_many_rows(table: AnyRankTable, events: EventTable) -> None:
    """Refuse an event table of another number of rows or classes."""
    if (events.n_rows, events.n_classes or table.n_classes) != (table.n_rows, table.n_classes):
        raise InvalidValueError(
            "different-rows",
            "{argument} holds {n_rows} rows of {n_classes} classes, the event table {other_rows} of {other_classes}",
            "they must be of the same rows",
            argument="table",
            n_rows=table.n_rows,
            n_classes=table.n_classes,
            other_rows=events.n_rows,
            other_classes=events.n_classes,
        )


def require_same_rows(table: AnyRankTable, confidence_table: AnyRankTable) -> None:
    """Refuse a table that is not one by confidence of the same number of rows and classes."""
    if not confidence_table.spec.is_by_confidence:
        raise InvalidValueError(
            "wrong-table",
            "confidence_table is binned by {value}",
            "tabulate with variation='confidence'",
            value=confidence_table.spec.variation.name,
        )
    if (confidence_table.n_rows, confidence_table.n_classes) != (table.n_rows, table.n_classes):
        raise InvalidValueError(
            "different-rows",
            "{argument} holds {n_rows} rows of {n_classes} classes, confidence_table {other_rows} of {other_classes}",
            "they must be of the same rows",
            argument="table",
            n_rows=table.n_rows,
            n_classes=table.n_classes,
            other_rows=confidence_table.n_rows,
            other_classes=confidence_table.n_classes,
        )

"""Tables of sums, what they are sums of, and their file."""

from trueness.table.calibration_table import CalibrationTable, require_table
from trueness.table.content import Sums, TableSpec
from trueness.table.event_content import TOP_LABEL, Event, EventSpec, EventSums, event_from_text, event_index
from trueness.table.event_table import EventTable, require_table_by_class, stack_events
from trueness.table.plan import TablePlan
from trueness.table.score_sums import ScoreSums
from trueness.table.tables import (
    AnySpec,
    AnyTable,
    GroupedTables,
    Tables,
    empty_table,
    named_classes,
    spec_difference,
    table_of,
)

__all__ = [
    "TOP_LABEL",
    "AnySpec",
    "AnyTable",
    "CalibrationTable",
    "Event",
    "EventSpec",
    "EventSums",
    "EventTable",
    "GroupedTables",
    "ScoreSums",
    "Sums",
    "TablePlan",
    "TableSpec",
    "Tables",
    "empty_table",
    "event_from_text",
    "event_index",
    "named_classes",
    "require_table",
    "require_table_by_class",
    "spec_difference",
    "stack_events",
    "table_of",
]

"""Tables of sums, what they are sums of, and their file."""

from trueness.old_table.calibration_table import CalibrationTable, require_table
from trueness.old_table.content import Sums, TableSpec
from trueness.old_table.event_content import (
    TOP_LABEL,
    Event,
    EventSpec,
    EventSums,
    event_from_text,
    event_index,
)
from trueness.old_table.event_table import EventTable, require_table_by_class, stack_events
from trueness.old_table.option_spec import OptionSpec
from trueness.old_table.option_tables import AnyRankTable, OptionTables, option_tables, require_rank_table
from trueness.old_table.plan import TablePlan
from trueness.old_table.score_sums import ScoreSums
from trueness.old_table.tables import (
    AnySpec,
    AnyTable,
    GroupedTables,
    SingleSpec,
    SingleTable,
    Tables,
    empty_single_table,
    empty_table,
    named_classes,
    spec_difference,
    table_of,
)

__all__ = [
    "TOP_LABEL",
    "AnyRankTable",
    "AnySpec",
    "AnyTable",
    "CalibrationTable",
    "Event",
    "EventSpec",
    "EventSums",
    "EventTable",
    "GroupedTables",
    "OptionSpec",
    "OptionTables",
    "ScoreSums",
    "SingleSpec",
    "SingleTable",
    "Sums",
    "TablePlan",
    "TableSpec",
    "Tables",
    "empty_single_table",
    "empty_table",
    "event_from_text",
    "event_index",
    "named_classes",
    "option_tables",
    "require_rank_table",
    "require_table",
    "require_table_by_class",
    "spec_difference",
    "stack_events",
    "table_of",
]

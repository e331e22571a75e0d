"""Tables and assessments from the sum of all partitions."""

from __future__ import annotations

from typing import Any

from trueness.assessment import Assessment, assess_table
from trueness.table import CalibrationTable, GroupedTables


def tables_by_group(tables: GroupedTables) -> CalibrationTable | dict[str, CalibrationTable]:
    """The table by variation of all rows, or of each group."""
    if tables.by is None:
        return tables.whole.by_variation
    return {str(name): group.by_variation for name, group in tables.groups.items()}


def assess_grouped(tables: GroupedTables, **how: Any) -> Assessment:
    """The result of `trueness.assess` from the tables; `how` are the other arguments of `assess_table`."""
    groups = None if tables.by is None else {str(name): group for name, group in tables.groups.items()}
    return assess_table(tables.whole, groups=groups, **how)

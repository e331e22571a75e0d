"""Tables and assessments from the sum of all partitions."""

from __future__ import annotations

from typing import Any, TypeAlias

from trueness.old_assessment import Assessment, assess_table
from trueness.old_table import AnyRankTable, GroupedTables, Tables

Tabulated: TypeAlias = AnyRankTable | Tables
"""The table by variation, or all tables if the one by class was asked for."""


def tables_by_group(tables: GroupedTables) -> Tabulated | dict[str, Tabulated]:
    """The table by variation of all rows, or of each group; with an event table of all classes, both as `Tables`."""
    if tables.by is None:
        return _tabulated(tables.whole)
    return {str(name): _tabulated(group) for name, group in tables.groups.items()}


def _tabulated(tables: Tables) -> Tabulated:
    return tables if tables.events else tables.by_variation


def assess_grouped(tables: GroupedTables, **how: Any) -> Assessment:
    """The result of `trueness.assess` from the tables; `how` are the other arguments of `assess_table`."""
    groups = None if tables.by is None else {str(name): group for name, group in tables.groups.items()}
    return assess_table(tables.whole, groups=groups, **how)

"""The calibration table: sums per bin that add exactly, what they are sums of, and their file."""

from trueness.table.calibration_table import CalibrationTable, require_table
from trueness.table.content import Sums, TableSpec
from trueness.table.plan import TablePlan
from trueness.table.tables import GroupedTables, Tables

__all__ = ["CalibrationTable", "GroupedTables", "Sums", "TablePlan", "TableSpec", "Tables", "require_table"]

"""Rows of predictions and labels: how they are read from what a user passed, and which of them are bad."""

from trueness.rows._rows import (
    BLOCK_VALUES,
    MAX_BLOCK_ROWS,
    SUM_TOLERANCE,
    Form,
    Rows,
    sum_tolerance,
    sum_tolerance_units,
)
from trueness.rows.option_rows import OptionRows, option_rows_of
from trueness.rows.row_checks import (
    RowCode,
    count_codes,
    refusal_of_row,
    refuse_bad_rows,
    row_codes,
    row_sums,
)

__all__ = [
    "BLOCK_VALUES",
    "MAX_BLOCK_ROWS",
    "SUM_TOLERANCE",
    "Form",
    "OptionRows",
    "RowCode",
    "Rows",
    "count_codes",
    "option_rows_of",
    "refusal_of_row",
    "refuse_bad_rows",
    "row_codes",
    "row_sums",
    "sum_tolerance",
    "sum_tolerance_units",
]

"""Rows of predictions and labels, validated once: the containers they come in, their labels, classes and groups."""

from trueness.rows._rows import (
    BLOCK_VALUES,
    MAX_BLOCK_ROWS,
    SUM_TOLERANCE,
    Form,
    Rows,
    sum_rounding,
    sum_tolerance,
)

__all__ = ["BLOCK_VALUES", "MAX_BLOCK_ROWS", "SUM_TOLERANCE", "Form", "Rows", "sum_rounding", "sum_tolerance"]

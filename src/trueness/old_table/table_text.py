"""A calibration table as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trueness._printing import plural

if TYPE_CHECKING:
    from trueness.old_table.calibration_table import CalibrationTable

FEW_ROWS = 10
"""With fewer rows than this, or than classes, the observed variation of a bin is biased downwards."""


def text_of(table: CalibrationTable) -> str:
    """The table as lines, one for each bin, followed by remarks."""
    kind = "weighted rows" if table.spec.weighted else "rows"
    head = (
        f"CalibrationTable: {table.n_rows} {kind}, {table.n_classes} classes, "
        f"{table.n_bins} bins of {table.spec.variation.name}, ties {table.spec.ties}"
    )
    if table.n_bins > 40:
        return f"{head}\n  ({np.count_nonzero(table.sums.rows)} bins hold rows; coarsen() merges them)"
    predicted, observed = (table.predicted_variation, table.observed_variation)
    counts = [_plain(count) for count in table.count.tolist()]
    width = max(12, *map(len, counts))
    lines = [
        f"  {low:z7.4f} {high:z7.4f} {count:>{width}}"
        + (f"{p:z11.4f}{o:z11.4f}{o - p:+z11.4f}" if rows else f"{'-':>11}" * 3)
        for low, high, count, p, o, rows in zip(
            table.edges[:-1], table.edges[1:], counts, predicted, observed, table.row_count, strict=True
        )
    ]
    titles = f"   V from      to {'count':>{width}}  predicted   observed        gap"
    return "\n".join([head, titles, *lines, *_remarks(table)])


def _remarks(table: CalibrationTable) -> list[str]:
    """Warnings about the rows, as lines of text."""
    remarks = []
    if table.tied_rows:
        remarks.append(f"  {table.tied_rows} rows: the true class shared its probability with another")
    if table.impossible_rows:
        remarks.append(
            f"  {table.impossible_rows} rows: the true class had probability 0, the log-score is -inf"
        )
    enough = max(FEW_ROWS, table.spec.n_cells)
    held = table.effective_count[table.row_count > 0]
    few = np.count_nonzero(held < enough * (1 - 1e-9))  # up to rounding of weights
    if few:
        rows = "effective rows" if table.spec.weighted else "rows"
        remarks.append(
            f"  {few} of {plural(held.size, 'non-empty bin')} {'has' if few == 1 else 'have'} fewer than "
            f"{enough} {rows}: their observed variation says little about the labels"
        )
    return remarks


def _plain(count: float) -> str:
    """Whole numbers to the last digit, other sums of weights to six digits or one decimal."""
    if isinstance(count, int) or (count.is_integer() and count < 2**53):
        return str(int(count))
    return f"{count:.1f}" if 1e5 <= count < 1e10 else f"{count:.6g}"

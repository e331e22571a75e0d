"""The warning about confidences of exactly 100 %, which graders write where none was stated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trueness._printing import plural
from trueness.bins import Bins
from trueness.old_assessment._cautions import Caution
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.of_table import merge_cells


def full_confidence(cells: EventCells, bins: Bins) -> list[Caution]:
    """The warning with the number of rows at exactly 100 %, and ECE and net gap of the other rows."""
    full = cells.predicted >= cells.count
    n = int(cells.count[full].sum())
    if not n:
        return []
    message = (
        f"in {plural(n, 'row')} of {cells.total:.0f} the confidence is exactly 100 %, which graders write if none is "
        "stated"
    )
    if full.all():
        return [Caution("full-confidence", message, "ask for a confidence in every answer")]
    others = _without(cells, ~full)
    merged = merge_cells(others, bins)
    ece = float(np.abs(merged.predicted - merged.observed).sum()) / merged.total
    net = float(others.predicted.sum() - others.observed.sum()) / others.total
    remedy = f"without them ECE is {ece:.4f} and the net gap {net:+.4f}"
    return [Caution("full-confidence", message, remedy)]


def _without(cells: EventCells, kept: np.ndarray) -> EventCells:
    return replace(
        cells,
        count=cells.count[kept],
        predicted=cells.predicted[kept],
        observed=cells.observed[kept],
        weight_square=cells.weight_square[kept],
    )

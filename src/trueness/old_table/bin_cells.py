"""The bins of a table as rows of named cells, for data frames, CSV, Markdown and LaTeX."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

_NAMES = ("from", "to", "n_rows", "count", "mean_variation", "predicted", "observed", "gap")


def bin_cells(table: Any) -> list[dict[str, Any]]:
    """One row for each bin of a table of ranks, numbered from 1; `count` is the sum of weights."""
    columns: tuple[NDArray[Any], ...] = (
        table.edges[:-1],
        table.edges[1:],
        table.row_count,
        table.count,
        table.mean_variation,
    )
    columns += (table.predicted_variation, table.observed_variation, table.gap)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [{"bin": number, **dict(zip(_NAMES, row, strict=True))} for number, row in enumerate(rows, 1)]

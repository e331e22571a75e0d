"""A calibration table for the rows that predict each class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueness._arguments import require_choice
from trueness._arrays import IntArray
from trueness.bins import Bins, as_bins
from trueness.old_table import CalibrationTable, TableSpec
from trueness.ranking import TIES
from trueness.refusals import InvalidValueError
from trueness.rows import Rows
from trueness.tabulation import edges_for, tabulate_groups
from trueness.variation import Variation, as_variation

MOST_BYTES = 2**28
"""Memory of the tables of all classes."""


@dataclass(frozen=True, slots=True, eq=False)
class PredictedClassTables:
    """The table of the rows that predict each class; tables of parts of the data add to those of all rows."""

    spec: TableSpec
    tables: Mapping[int, CalibrationTable]
    """By the index of the class, for the classes that are predicted."""
    class_names: tuple[str, ...] | None = None

    @property
    def n_rows(self) -> int:
        """The rows of all classes."""
        return sum(table.n_rows for table in self.tables.values())

    def name_of(self, index: int) -> str:
        """The name of a class; its index if classes have no names."""
        return str(index) if self.class_names is None else self.class_names[index]

    def __add__(self, other: object) -> PredictedClassTables:
        if not isinstance(other, PredictedClassTables):
            return NotImplemented
        difference = self.spec.difference(other.spec)
        if difference is not None:
            cause = f"these tables cannot be added: {difference}"
            raise InvalidValueError("different-tables", cause, "make both with the same options")
        together = dict(self.tables)
        for index, table in other.tables.items():
            together[index] = together[index] + table if index in together else table
        names = self.class_names if self.class_names is not None else other.class_names
        return PredictedClassTables(self.spec, dict(sorted(together.items())), names)

    def __radd__(self, other: object) -> PredictedClassTables:
        """`sum` begins with 0, which counts as no rows."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PredictedClassTables):
            return NotImplemented
        return self.spec == other.spec and dict(self.tables) == dict(other.tables)

    __hash__ = None  # type: ignore[assignment]


def tabulate_by_predicted_class(
    y_true: Any,
    y_prob: Any,
    *,
    variation: str | Variation = "entropy",
    bins: int | Bins = 5,
    ties: str = "first",
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    engine: str = "auto",
    n_threads: int | None = None,
) -> PredictedClassTables:
    """Sum the rows into a table for each predicted class: that of the largest probability, of equal ones the first.

    Arguments are as in `tabulate`. The memory grows with the square of the number of classes; above 256 megabytes it is
    refused.

    >>> y_prob = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.5, 0.3, 0.2]]
    >>> tables = tabulate_by_predicted_class([0, 2, 1], y_prob)
    >>> {index: table.n_rows for index, table in tables.tables.items()}
    {0: 2, 2: 1}
    """
    rows = Rows.of(
        y_true, y_prob, sample_weight, from_logits=from_logits, normalize=normalize, classes=classes
    )
    measure, chosen = as_variation(variation), as_bins(bins)
    require_choice("ties", ties, TIES)
    edges = edges_for(rows, measure, chosen, engine, n_threads)
    spec = TableSpec(rows.n_classes, measure, edges, ties, weighted=sample_weight is not None)
    _refuse_large(spec)
    found = tabulate_groups(
        rows, [spec], predicted_classes(rows), rows.n_classes, engine=engine, n_threads=n_threads
    )
    tables = {index: table for index, (table,) in enumerate(found) if isinstance(table, CalibrationTable)}
    filled = {index: table for index, table in tables.items() if table.n_rows}
    return PredictedClassTables(spec, filled, rows.class_names)


def predicted_classes(rows: Rows) -> IntArray:
    """The class of the largest probability of each row, of equal ones the first, (N,); bad rows have any class."""
    found = np.zeros(rows.n_rows, np.int64)
    for start, stop in rows.spans():
        found[start:stop] = rows.block(start, stop).argmax(axis=1)
    return found


def _refuse_large(spec: TableSpec) -> None:
    n_bytes = spec.n_bytes * spec.n_cells
    if n_bytes > MOST_BYTES:
        cause = (
            f"tables of {spec.n_classes} predicted classes with {spec.bins.n_bins} bins need "
            f"{n_bytes / 2**20:.0f} MB"
        )
        raise InvalidValueError("too-large", cause, "use fewer bins", argument="bins")

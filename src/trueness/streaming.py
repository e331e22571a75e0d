"""A table to which batches of rows are added."""

from __future__ import annotations

from threading import Lock
from typing import Any

from trueness._arguments import boolean, whole_number
from trueness.bins import Bins
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.rows import Rows
from trueness.rows.class_columns import Columns
from trueness.rows.labels import class_names
from trueness.table import CalibrationTable, TablePlan
from trueness.tabulation import tabulate_rows
from trueness.variation import Variation


class Accumulator:
    """A table to which batches are added. A batch that is refused leaves it exactly as it was.

    >>> stream = Accumulator(n_classes=2, bins=5)
    >>> stream.update([0, 1], [[0.9, 0.1], [0.4, 0.6]])
    >>> stream.update([1], [[0.3, 0.7]])
    >>> stream.n_rows
    3

    For bins of equal mass, fit them on a first batch (`bins=EqualMass(10).fit(y_prob)`), or use `FineGrid()` and call
    `table.coarsen(EqualMass(10))` at the end.
    """

    def __init__(
        self,
        n_classes: int,
        *,
        variation: str | Variation = "entropy",
        bins: int | Bins = 10,
        ties: str = "first",
        weighted: bool = False,
        from_logits: bool = False,
        normalize: bool = False,
        classes: Any = None,
        engine: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        n_classes, weighted = whole_number("n_classes", n_classes, 2), boolean("weighted", weighted)
        plan = TablePlan.of(variation, bins, ties=ties, with_confidence=False)
        (spec,) = plan.calibration_specs(n_classes, weighted=weighted)
        self._table = CalibrationTable.empty(spec)
        self._from_logits = boolean("from_logits", from_logits)
        self._normalize = boolean("normalize", normalize)
        self._classes = class_names(classes)
        self._columns: Columns | None = None
        self._engine, self._n_threads = engine, n_threads
        self._lock = Lock()

    @property
    def table(self) -> CalibrationTable:
        """The table of all rows so far."""
        return self._table

    @property
    def n_rows(self) -> int:
        """The number of rows added so far."""
        return self._table.n_rows

    def update(self, y_true: Any, y_prob: Any, *, sample_weight: Any = None) -> None:
        """Add a batch of rows; if one of them is refused, none is added.

        The columns of a data frame are matched by name to those of the first one.
        """
        spec = self._table.spec
        if spec.weighted != (sample_weight is not None):
            raise InvalidValueError(
                "bad-argument",
                "an Accumulator with weighted={weighted} {needs} {sample_weight}",
                argument="sample_weight",
                weighted=spec.weighted,
                needs="needs" if spec.weighted else "takes no",
            )
        rows = Rows.of(
            y_true,
            y_prob,
            sample_weight,
            from_logits=self._from_logits,
            normalize=self._normalize,
            classes=self._classes,
            first=self._columns,
        )
        if rows.n_classes != spec.n_classes:
            raise InvalidValueError(
                "wrong-shape",
                "{y_prob} has {n_classes} classes, this Accumulator has {expected}",
                argument="y_prob",
                n_classes=rows.n_classes,
                expected=spec.n_classes,
            )
        (batch,) = tabulate_rows(rows, [spec], self._engine, self._n_threads)
        self._add(batch)
        self._columns = self._columns or rows.columns_of_classes

    def merge(self, other: Accumulator) -> None:
        """Add all rows of another Accumulator with the same options."""
        if not isinstance(other, Accumulator):
            raise InvalidTypeError(
                "wrong-type",
                "merge takes an Accumulator, got {type}",
                "tables add with +",
                argument="other",
                type=type(other).__name__,
            )
        self._add(other.table)

    def _add(self, batch: CalibrationTable) -> None:
        with self._lock:  # threads may share an Accumulator
            self._table = self._table + batch

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())

    def __repr__(self) -> str:
        return f"Accumulator of {self._table!r}"

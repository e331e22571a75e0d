"""A mutable shell round an immutable table, for rows that come in batches."""

from __future__ import annotations

from threading import Lock
from typing import Any

from trueness._arguments import require_choice, whole_number, yes_or_no
from trueness.bins import Bins, EqualMass, as_bins
from trueness.ranking import TIES
from trueness.rows import Rows
from trueness.rows.class_columns import Columns
from trueness.rows.labels import class_names
from trueness.table import CalibrationTable, TableSpec
from trueness.tabulation import tabulate_rows
from trueness.variation import Variation, as_variation


class Accumulator:
    """Adds batch after batch to a table. A batch that is refused leaves it exactly as it was.

    >>> stream = Accumulator(n_classes=2, bins=5)
    >>> stream.update([0, 1], [[0.9, 0.1], [0.4, 0.6]])
    >>> stream.update([1], [[0.3, 0.7]])
    >>> stream.n_rows
    3

    For bins of equal mass, fit them on a first batch (`bins=EqualMass(10).fit(y_prob)`), or take `FineGrid()` and
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
        n_classes = whole_number("n_classes", n_classes, 2)
        require_choice("ties", ties, TIES)
        measure, chosen = as_variation(variation), as_bins(bins)
        if isinstance(chosen, EqualMass):
            raise ValueError(
                "EqualMass bins depend on all rows, which a stream has not seen: pass "
                f"EqualMass({chosen.n_bins}).fit(y_prob), or FineGrid() and coarsen the table at the end"
            )
        edges = chosen.resolve(*measure.range_for(n_classes))
        spec = TableSpec(n_classes, measure, edges, ties, yes_or_no("weighted", weighted))
        self._table = CalibrationTable.empty(spec)
        self._from_logits = yes_or_no("from_logits", from_logits)
        self._normalize = yes_or_no("normalize", normalize)
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
        """How many rows were added."""
        return self._table.n_rows

    def update(self, y_true: Any, y_prob: Any, *, sample_weight: Any = None) -> None:
        """Add a batch of rows, all or, if one is refused, none.

        The columns of a data frame are matched by name to those of the first one.
        """
        spec = self._table.spec
        if spec.weighted != (sample_weight is not None):
            needed = "needs" if spec.weighted else "takes no"
            raise ValueError(f"an Accumulator with weighted={spec.weighted} {needed} sample_weight")
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
            raise ValueError(f"y_prob has {rows.n_classes} classes, this Accumulator has {spec.n_classes}")
        (batch,) = tabulate_rows(rows, [spec], self._engine, self._n_threads)
        self._add(batch)
        self._columns = self._columns or rows.columns_of_classes

    def merge(self, other: Accumulator) -> None:
        """Add all rows of another stream of the same spec."""
        if not isinstance(other, Accumulator):
            raise TypeError(f"merge takes an Accumulator, got {type(other).__name__}; tables add with +")
        self._add(other.table)

    def _add(self, batch: CalibrationTable) -> None:
        with self._lock:  # threads may share a stream
            self._table = self._table + batch

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())

    def __repr__(self) -> str:
        return f"Accumulator of {self._table!r}"

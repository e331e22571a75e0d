"""Tables to which batches of rows are added."""

from __future__ import annotations

from threading import Lock
from typing import Any

from trueness._arguments import boolean
from trueness.bins import Bins
from trueness.old_table import AnyRankTable, TablePlan, Tables, empty_table, named_classes
from trueness.ranking import DEFAULT_TIES
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.rows import Rows
from trueness.rows.class_columns import Columns
from trueness.rows.labels import class_names
from trueness.rows.option_rows import classes_or_options, refuse_n_options, rows_with_options
from trueness.tabulation import AnyRows, tabulate_rows
from trueness.variation import Variation


class Accumulator:
    """Tables to which batches are added. A batch that is refused leaves it exactly as it was.

    >>> stream = Accumulator(n_classes=2, bins=5)
    >>> stream.update([0, 1], [[0.9, 0.1], [0.4, 0.6]])
    >>> stream.update([1], [[0.3, 0.7]])
    >>> stream.n_rows
    3

    For bins of equal mass, fit them on a first batch (`bins=EqualMass(10).fit(y_prob)`), or use `EqualWidth(4000)` and
    call `table.coarsen(EqualMass(10))` at the end.

    Rows may have options of their own:

    >>> stream = Accumulator(options=True)
    >>> stream.update([0, 2], [[0.9, 0.1], [0.2, 0.3, 0.5]])
    >>> stream.table.options
    {2: 1, 3: 1}

    Parameters
    ----------
    n_classes : int
        The number of classes, unless rows have options of their own.
    options : bool
        Whether rows have options of their own: batches are then lists of different lengths, or have `n_options`, and
        `table` is an `OptionTables`.
    confidence_bins : int or EqualWidth, Edges
        Also make a table by confidence, in these bins, for ECE.
    by_class : bool
        Also make the event table of all classes, for metrics by class.
    weighted : bool
        Whether each batch has a `sample_weight`.
    """

    def __init__(
        self,
        n_classes: int | None = None,
        *,
        options: bool = False,
        variation: str | Variation = "entropy",
        bins: int | Bins = 10,
        confidence_bins: int | Bins | None = None,
        by_class: bool = False,
        ties: str = DEFAULT_TIES,
        weighted: bool = False,
        from_logits: bool = False,
        normalize: bool = False,
        classes: Any = None,
        soft_labels: bool = False,
        engine: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        options, weighted = boolean("options", options), boolean("weighted", weighted)
        classes_of_rows = classes_or_options(n_classes, options)
        plan = TablePlan.of(
            variation,
            bins,
            confidence_bins,
            ties,
            with_confidence=confidence_bins is not None,
            by_class=by_class,
            options=options,
        )
        specs = plan.specs(classes_of_rows, weighted=weighted)
        self._options = options
        self._tables = Tables.of([empty_table(spec) for spec in specs])
        self._from_logits = boolean("from_logits", from_logits)
        self._normalize = boolean("normalize", normalize)
        self._classes = class_names(classes)
        self._soft_labels = boolean("soft_labels", soft_labels)
        self._columns: Columns | None = None
        self._engine, self._n_threads = engine, n_threads
        self._lock = Lock()

    @property
    def table(self) -> AnyRankTable:
        """The table by variation of all rows so far."""
        return self._tables.by_variation

    @property
    def tables(self) -> Tables:
        """All tables of all rows so far: `assess_table` takes them.

        >>> stream = Accumulator(n_classes=2, by_class=True)
        >>> stream.update([0, 1], [[0.9, 0.1], [0.4, 0.6]])
        >>> stream.tables.by_class.expected_total.round(3)
        array([0.7])
        """
        return self._tables

    @property
    def n_rows(self) -> int:
        """The number of rows added so far."""
        return self._tables.n_rows

    def update(self, y_true: Any, y_prob: Any, *, sample_weight: Any = None, n_options: Any = None) -> None:
        """Add a batch of rows; if one of them is refused, none is added.

        The columns of a data frame are matched by name to those of the first one. `n_options` is as in `tabulate`.
        """
        tables = self._tables
        spec = tables.by_variation.spec
        if spec.weighted != (sample_weight is not None):
            needs = "needs" if spec.weighted else "takes no"
            cause = f"an Accumulator with weighted={spec.weighted} {needs} `sample_weight`"
            raise InvalidValueError("bad-argument", cause, argument="sample_weight")
        rows = self._rows(y_true, y_prob, sample_weight, n_options)
        # Of a first batch with names, which those of later ones are matched to.
        specs = [named_classes(table.spec, rows.class_names) for table in tables]
        self._add(Tables.of(tabulate_rows(rows, specs, self._engine, self._n_threads)))
        self._columns = self._columns or rows.columns_of_classes

    def _rows(self, y_true: Any, y_prob: Any, sample_weight: Any, n_options: Any) -> AnyRows:
        how: dict[str, Any] = {
            "from_logits": self._from_logits,
            "normalize": self._normalize,
            "classes": self._classes,
        }
        if self._options:
            return rows_with_options(y_true, y_prob, sample_weight, n_options=n_options, **how)
        refuse_n_options(n_options)
        rows = Rows.of(
            y_true, y_prob, sample_weight, soft_labels=self._soft_labels, first=self._columns, **how
        )
        expected = self._tables.n_classes
        if rows.n_classes != expected:
            cause = f"`y_prob` has {rows.n_classes} classes, this Accumulator has {expected}"
            raise InvalidValueError("wrong-shape", cause, argument="y_prob")
        return rows

    def merge(self, other: Accumulator) -> None:
        """Add all rows of another Accumulator with the same options."""
        if not isinstance(other, Accumulator):
            raise InvalidTypeError(
                "wrong-type",
                f"merge takes an Accumulator, got {type(other).__name__}",
                "tables add with +",
                argument="other",
            )
        self._add(other.tables)

    def _add(self, batch: Tables) -> None:
        with self._lock:  # threads may share an Accumulator
            self._tables = self._tables + batch

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())

    def __repr__(self) -> str:
        return f"Accumulator of {self.table!r}"

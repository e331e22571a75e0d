"""Tables of rows with different numbers of options: one calibration table for each number, in common bins.

Gaps are averaged with their sign over the tables of a bin before their sizes are taken, so that the metrics do not
depend on the largest number of options in the data.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness.bins import Bins, Edges, as_bins, group_starts
from trueness.old_table import file as table_file
from trueness.old_table.calibration_table import CalibrationTable, require_table
from trueness.old_table.consistency import require
from trueness.old_table.option_spec import OptionSpec, require_same_spec
from trueness.old_table.option_sums import mean_by_rows, padded_sums, same_rows
from trueness.old_table.option_text import text_of_options
from trueness.old_table.score_sums import ScoreSums
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.variation import Variation


@dataclass(frozen=True, eq=False, repr=False)
class OptionTables(Mapping[int, CalibrationTable]):
    """A table for each number of options C, in common bins of the rows' own normalised variation.

    Made by `tabulate` from lists of different lengths or with `n_options`. Tables add with `+`; a number of options
    that one of them lacks counts as empty. It has the sums and means of a `CalibrationTable` over all rows, in which a
    rank that a row does not have counts as 0; predicted and observed variation are means over the rows of a bin,
    computed with each row's own number of options.

    >>> import trueness as tn
    >>> tables = tn.tabulate([0, 1, 0], [[0.9, 0.1], [0.5, 0.3, 0.2], [0.6, 0.3, 0.1]])
    >>> tables.options
    {2: 1, 3: 2}
    >>> tables + tables == sum([tables, tables])
    True
    """

    tables: Mapping[int, CalibrationTable]
    """By number of options, increasing, without tables of no rows."""
    spec: OptionSpec
    """What the tables have in common; needed only if there are none."""

    def __init__(
        self,
        tables: Mapping[int, CalibrationTable] | Iterable[CalibrationTable],
        spec: OptionSpec | None = None,
    ) -> None:
        given = tables
        listed = [*given.values()] if isinstance(given, Mapping) else [*given]
        if not all(isinstance(table, CalibrationTable) for table in listed):
            cause = "tables must be a mapping from numbers of options to CalibrationTable"
            raise InvalidTypeError("wrong-type", cause, argument="tables")
        if isinstance(given, Mapping) and [*given] != [table.n_classes for table in listed]:
            keys = [*given]
            found = [table.n_classes for table in listed]
            cause = f"tables has the keys {keys}, but its tables have {found} options"
            raise InvalidValueError("bad-argument", cause, argument="tables")
        if spec is None:
            _require_any(listed)
            spec = OptionSpec.shared_by(listed[0].spec)
        object.__setattr__(self, "spec", spec)
        for table in listed:
            require_same_spec(spec, OptionSpec.shared_by(table.spec))
        filled = {table.n_cells: table for table in listed if table.n_rows}
        object.__setattr__(self, "tables", dict(sorted(filled.items())))

    @classmethod
    def empty(cls, spec: OptionSpec) -> Self:
        """The tables of no rows: adding them changes nothing."""
        return cls({}, spec)

    # The mapping

    def __getitem__(self, n_options: int) -> CalibrationTable:
        return self.tables[n_options]

    def __iter__(self) -> Iterator[int]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def __bool__(self) -> bool:
        return True  # as a table; `len` is the number of numbers of options

    @property
    def options(self) -> dict[int, int]:
        """The number of rows by number of options."""
        return {c: table.n_rows for c, table in self.tables.items()}

    def only(self, n_options: int) -> OptionTables:
        """The rows with so many options alone."""
        return OptionTables({n_options: self.tables[n_options]}, self.spec)

    # All rows

    @cached_property
    def padded(self) -> CalibrationTable:
        """All rows as a table of the largest number of options; its variations have another base than those here."""
        most = max(self.tables, default=2)
        spec = self.spec.of(most)
        if not self.tables:
            return CalibrationTable.empty(spec)
        return CalibrationTable(spec, reduce(add, [padded_sums(t.sums, most) for t in self.tables.values()]))

    @property
    def n_rows(self) -> int:
        """Number of rows (with a positive weight, if weighted)."""
        return self.padded.n_rows

    @property
    def n_classes(self) -> int:
        """The largest number of options."""
        return self.padded.n_cells

    @property
    def n_cells(self) -> int:
        """The largest number of columns, which are ranks."""
        return self.n_classes

    @property
    def n_bins(self) -> int:
        """Number of bins M."""
        return self.spec.bins.n_bins

    @property
    def bins(self) -> Edges:
        """The bins as edges."""
        return self.spec.bins

    @property
    def edges(self) -> FloatArray:
        """Edges of the bins, (M + 1,)."""
        return self.padded.edges

    @property
    def row_count(self) -> IntArray:
        """Number of rows in each bin, regardless of weights, (M,)."""
        return self.padded.row_count

    @property
    def count(self) -> NDArray[Any]:
        """Number of rows in each bin, or the sum of their weights, (M,)."""
        return self.padded.count

    @property
    def ordered_sum(self) -> FloatArray:
        """Σq over each bin, 0 for ranks that a row does not have, (M, C)."""
        return self.padded.ordered_sum

    @property
    def rank_count(self) -> NDArray[Any]:
        """How often the true class had each rank, (M, C)."""
        return self.padded.rank_count

    @property
    def tied_rows(self) -> int:
        """Rows whose true class had the same probability as another class."""
        return self.padded.tied_rows

    @property
    def impossible_rows(self) -> int:
        """Rows whose true class had probability zero."""
        return self.padded.impossible_rows

    @property
    def log_score_sum(self) -> float:
        """Σ(ln p_y + H) in nats, over the rows with p_y > 0; mean zero if the model is calibrated."""
        return self.padded.log_score_sum

    @property
    def log_score_variance(self) -> float:
        """Σ of the rows' varentropies: the variance of `log_score_sum` if the model is calibrated."""
        return self.padded.log_score_variance

    @property
    def log_scores(self) -> ScoreSums:
        """Σ(ln p_y + H) of each bin and its variance."""
        return self.padded.log_scores

    log_scores_by_predicted_class: None = None
    """Options of different rows are not the same classes."""

    @property
    def accuracy(self) -> float:
        """The share of rows (or of weight) whose true class ranked first; NaN for tables without rows."""
        return self.padded.accuracy

    @property
    def brier_score(self) -> float:
        """The mean of Σ_c (p_c - 1[c = y])² over rows."""
        return self.padded.brier_score

    @property
    def log_loss(self) -> float:
        """The mean of -ln p_y over rows, in nats; infinite if `impossible_rows` is not 0."""
        return self.padded.log_loss

    @property
    def weight_square_sum(self) -> FloatArray:
        """Σw² over each bin, (M,); the count if rows are unweighted."""
        return self.padded.weight_square_sum

    @property
    def effective_count(self) -> FloatArray:
        """(Σw)²/Σw² of each bin, (M,)."""
        return self.padded.effective_count

    @property
    def mean_ordered(self) -> FloatArray:
        """The mean ordered prediction of each bin, 0 for ranks that a row does not have, (M, C)."""
        return self.padded.mean_ordered

    @property
    def rank_frequency(self) -> FloatArray:
        """The share of rows whose true class had each rank, (M, C)."""
        return self.padded.rank_frequency

    @property
    def mean_variation(self) -> FloatArray:
        """The mean of 𝒱(p) in each bin, (M,)."""
        return self.padded.mean_variation

    @property
    def predicted_variation(self) -> FloatArray:
        """𝒫_m = Σ_C n_mC·𝒱(q̄_mC)/n_m, (M,)."""
        return self.mean_over_options(lambda table: table.predicted_variation)

    @property
    def observed_variation(self) -> FloatArray:
        """𝒪_m = Σ_C n_mC·𝒱(r̄_mC)/n_m, (M,)."""
        return self.mean_over_options(lambda table: table.observed_variation)

    @property
    def gap(self) -> FloatArray:
        """𝒪_m - 𝒫_m, (M,)."""
        return self.mean_over_options(lambda table: table.gap)

    def rank_gap(self, distance: str = "tv") -> FloatArray:
        """r̄_m - q̄_m, (M, C), on the scale on which the distance over C ranks is that of rows with fewer options.

        A step over ranks counts 1/(C_i - 1) in the Wasserstein distance ("w1") of a row with C_i options: its gaps are
        multiplied by (C - 1)/(C_i - 1). The total variation ("tv") takes them as they are.
        """
        if distance != "w1":
            return self.rank_frequency - self.mean_ordered
        most = self.n_classes

        def scaled(table: CalibrationTable) -> FloatArray:
            gap = (table.rank_frequency - table.mean_ordered) * ((most - 1) / (table.n_cells - 1))
            return np.pad(gap, ((0, 0), (0, most - table.n_cells)))

        return self.mean_over_options(scaled)

    def mean_over_options(self, values_of: Callable[[CalibrationTable], FloatArray]) -> FloatArray:
        """Values of each table, (M,) or (M, C), averaged in each bin by the rows of each table; NaN in empty bins."""
        if len(self.tables) == 1:
            return values_of(next(iter(self.tables.values())))
        return mean_by_rows([(table.count, values_of(table)) for table in self.tables.values()], self.count)

    # Adding, comparing and coarsening

    def __add__(self, other: object) -> OptionTables:
        if isinstance(other, CalibrationTable):
            other = OptionTables({other.n_cells: other}, OptionSpec.shared_by(other.spec))
        if not isinstance(other, OptionTables):
            return NotImplemented
        require_same_spec(self.spec, other.spec)
        together = dict(self.tables)
        for c, table in other.tables.items():
            together[c] = together[c] + table if c in together else table
        return OptionTables(dict(sorted(together.items())), self.spec)

    def __radd__(self, other: object) -> OptionTables:
        """`sum` begins with 0, which counts as the empty table."""
        if isinstance(other, CalibrationTable):
            return self + other
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CalibrationTable):
            return [*self] == [other.n_cells] and same_rows(self[other.n_cells], other)
        if not isinstance(other, OptionTables):
            return NotImplemented
        return self.spec == other.spec and self.tables == other.tables

    __hash__ = None  # type: ignore[assignment]

    def coarsen(self, bins: int | Bins) -> OptionTables:
        """The same rows in coarser bins; those of equal mass are found from the counts of all tables together."""
        if self.n_rows == 0:
            raise InvalidValueError("no-rows", "a table without rows cannot be coarsened")
        starts, edges = group_starts(self.bins, self.count, as_bins(bins))
        spec = replace(self.spec, bins=Edges(edges, self.bins.snap))
        merged = {c: CalibrationTable(spec.of(c), t.sums.merge_runs(starts)) for c, t in self.tables.items()}
        return OptionTables(merged, spec)

    def __repr__(self) -> str:
        return text_of_options(self)

    # Files

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings, exact: each table as an ordinary one of its options."""
        return {
            "together": table_file.OPTIONS,
            "spec": table_file.encode_spec(self.spec.of(2)),
            "tables": [table.to_dict() for table in self.tables.values()],
        }

    @classmethod
    def from_dict(cls, content: Any, variation: Variation | None = None) -> Self:
        """The tables of `to_dict`; `variation` is needed if they were made with a measure of your own."""
        fits = isinstance(content, dict) and set(content) == {"together", "spec", "tables"}
        require(fits and content["together"] == table_file.OPTIONS, "it does not say what belongs together")
        require(isinstance(content["tables"], list), "it has no tables")
        spec = OptionSpec.shared_by(table_file.decode_spec(content["spec"], variation))
        tables = [CalibrationTable.from_dict(table, variation) for table in content["tables"]]
        require(len({table.n_cells for table in tables}) == len(tables), "a number of options occurs twice")
        return cls({table.n_cells: table for table in tables}, spec)

    @classmethod
    def of(cls, tables: Iterable[CalibrationTable]) -> Self:
        """Tables of different numbers of options as one value; refused if two have the same number."""
        listed = [*tables]
        _require_any(listed)
        by_options = {table.n_cells: table for table in listed}
        if len(by_options) < len(listed):
            cause = "two of the tables have the same number of options"
            raise InvalidValueError("different-tables", cause, "add them first")
        return cls(by_options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tables as versioned JSON, atomically."""
        _require_any([*self.tables.values()])
        table_file.write(
            [table.to_dict() for table in self.tables.values()], path, together=table_file.OPTIONS
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str], variation: Variation | None = None) -> Self:
        """The tables of a file, those of the first measure; an ordinary file is one of a single number of options."""
        tables = CalibrationTable.load_all(path, variation)
        return cls.of(table for table in tables if table.spec.variation == tables[0].spec.variation)


AnyRankTable: TypeAlias = CalibrationTable | OptionTables
"""A table of ranks in bins of a variation: of rows with the same, or with different numbers of options."""


def require_rank_table(argument: str, value: Any) -> None:
    """Refuse a value that is neither a table of ranks nor those of different numbers of options."""
    if not isinstance(value, OptionTables):
        require_table(argument, value)


def option_tables(table: AnyRankTable) -> list[CalibrationTable]:
    """The tables of each number of options; an ordinary table itself."""
    return [*table.tables.values()] if isinstance(table, OptionTables) else [table]


def _require_any(tables: list[CalibrationTable]) -> None:
    if not tables:
        raise InvalidValueError("no-rows", "tables is empty", "pass a table", argument="tables")

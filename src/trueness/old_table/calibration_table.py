"""The calibration table: an immutable table of sums per bin, from which every number is computed.

Sums can be merged, means cannot. Tables of batches, files, threads, workers and days add up with `+`, exactly if rows
are unweighted, and the rows are not needed again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray, ratio_or
from trueness.bins import Bins, Edges, as_bins, group_starts
from trueness.old_table import cluster_file
from trueness.old_table import file as table_file
from trueness.old_table.content import Sums, TableSpec
from trueness.old_table.exact_sums import ExactSum
from trueness.old_table.label_worth import row_worth, squared_distance
from trueness.old_table.score_sums import ScoreSums
from trueness.old_table.table_text import text_of
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.variation import Variation


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationTable:
    """Per bin: a count, the summed ordered probabilities, the counts of the true class's rank, and the summed V.

    Made by `tabulate`, merged by `+` or `sum`, read by the functions of `trueness.old_metrics`.

    >>> import trueness as tn
    >>> monday = tn.tabulate([0, 1, 0], [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]])
    >>> tuesday = tn.tabulate([1], [[0.2, 0.8]])
    >>> (monday + tuesday).n_rows
    4
    >>> monday + tuesday == sum([tuesday, monday])
    True
    """

    spec: TableSpec
    sums: Sums

    @classmethod
    def empty(cls, spec: TableSpec) -> Self:
        """The table of no rows: adding it changes nothing."""
        return cls(spec, Sums.zeros(spec))

    # Counts and sums

    @property
    def n_rows(self) -> int:
        """Number of rows (with a positive weight, if weighted)."""
        return int(self.sums.rows.sum())

    @property
    def n_classes(self) -> int:
        """Number of classes C."""
        return self.spec.n_classes

    @property
    def n_cells(self) -> int:
        """The number of columns, which are ranks."""
        return self.spec.n_cells

    @property
    def n_bins(self) -> int:
        """Number of bins M."""
        return self.spec.bins.n_bins

    @property
    def bins(self) -> Edges:
        """The bins as edges; pass them to another `tabulate` to get a table that adds to this one."""
        return self.spec.bins

    @property
    def edges(self) -> FloatArray:
        """Edges of the bins, (M + 1,)."""
        return np.array(self.spec.bins.edges)

    @property
    def row_count(self) -> IntArray:
        """Number of rows in each bin, regardless of weights, (M,)."""
        return self.sums.rows

    @property
    def count(self) -> NDArray[Any]:
        """Number of rows in each bin, or the sum of their weights, (M,)."""
        return self.sums.rows if self.sums.weight is None else self.sums.weight.value

    @property
    def ordered_sum(self) -> FloatArray:
        """Σq: ordered probabilities summed over each bin, (M, C)."""
        return self.sums.ordered.value

    @property
    def rank_count(self) -> NDArray[Any]:
        """Σr: how often the true class had each rank, (M, C); integers unless ties are split or rows are weighted."""
        rank = self.sums.rank
        plain = self.spec.ties == "first" and self.sums.label_spread is None
        return rank.whole if isinstance(rank, ExactSum) and plain else rank.value

    @property
    def variation_sum(self) -> FloatArray:
        """Σ𝒱(p) over each bin, (M,)."""
        return self.sums.variation.value

    @property
    def tied_rows(self) -> int:
        """Rows whose true class had the same probability as another class."""
        return int(self.sums.tied_rows)

    @property
    def impossible_rows(self) -> int:
        """Rows whose true class had probability zero."""
        return int(self.sums.impossible_rows)

    @property
    def log_score_sum(self) -> float:
        """Σ(ln p_y + H) in nats, over the rows with p_y > 0; mean zero if the model is calibrated."""
        return float(self.sums.log_score.total().value)

    @property
    def log_score_variance(self) -> float:
        """Σ of the rows' varentropies: the variance of `log_score_sum` if the model is calibrated."""
        return float(self.sums.log_score_variance.total().value)

    @property
    def log_scores(self) -> ScoreSums:
        """Σ(ln p_y + H) of each bin and its variance."""
        return ScoreSums(self.count, self.sums.log_score.value, self.sums.log_score_variance.value)

    @property
    def log_scores_by_predicted_class(self) -> ScoreSums | None:
        """Σ(ln p_y + H) of the rows that predict each class, and its variance."""
        rows, scores = self.sums.predicted_rows, self.sums.predicted_scores
        if rows is None or scores is None:
            return None
        return ScoreSums(rows, scores.value[:, 0], scores.value[:, 1])

    @property
    def accuracy(self) -> float:
        """The share of rows (or of weight) whose true class ranked first; NaN for a table without rows.

        Ties are counted according to `ties`: with "first" this is the accuracy of argmax, with "split" the accuracy
        expected if ties are broken at random.

        >>> import trueness as tn
        >>> table = tn.tabulate([0, 1, 0, 1], [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]])
        >>> table.accuracy, round(table.brier_score, 4), round(table.log_loss, 4)
        (0.75, 0.35, 0.5108)
        """
        return self._mean(self.sums.rank.value[:, 0].sum())

    @property
    def brier_score(self) -> float:
        """The mean of Σ_c (p_c - 1[c = y])² over rows: the sum over classes, from 0 (best) to 2.

        For two classes this is twice the score of one class alone. NaN for a table without rows.
        """
        return self._mean(squared_distance(self.sums))

    @property
    def log_loss(self) -> float:
        """The mean of -ln p_y over rows, in nats, from 0 (best) up; infinite if `impossible_rows` is not 0.

        NaN for a table without rows.
        """
        if (total := self.sums.log_likelihood) is None:
            return float("nan")
        return self._mean(float("inf") if self.impossible_rows else 0.0 - float(total.value))

    def _mean(self, total: float) -> float:
        """A sum over all rows divided by their number or weight; NaN if there are none."""
        return float(total / self.count.sum()) if self.n_rows else float("nan")

    @property
    def weight_square_sum(self) -> FloatArray:
        """Σw² over each bin, (M,); the count if rows are unweighted."""
        square = self.sums.weight_square
        return self.count.astype(np.float64) if square is None else square.value

    @property
    def row_worth(self) -> float:
        """How many rows with single labels a row is worth on average, if labels are soft; else 1."""
        return row_worth(self.sums)

    @property
    def effective_count(self) -> FloatArray:
        """(Σw)²/Σw² of each bin, (M,), times `row_worth`: the number of plain rows with the same information."""
        return self.row_worth * ratio_or(
            self.count.astype(np.float64) ** 2, self.weight_square_sum, empty=0.0
        )

    # Means and variations

    @property
    def mean_ordered(self) -> FloatArray:
        """q̄: the mean ordered prediction of each bin, (M, C)."""
        return ratio_or(self.ordered_sum, self.count[:, None])

    @property
    def rank_frequency(self) -> FloatArray:
        """r̄: the share of rows whose true class had each rank, (M, C)."""
        return ratio_or(self.rank_count, self.count[:, None])

    @property
    def mean_variation(self) -> FloatArray:
        """The mean of 𝒱(p) in each bin, (M,)."""
        return ratio_or(self.variation_sum, self.count)

    @property
    def predicted_variation(self) -> FloatArray:
        """𝒫(B_m) = 𝒱(q̄_m), (M,)."""
        return self._variations()[0]

    @property
    def observed_variation(self) -> FloatArray:
        """𝒪(B_m) = 𝒱(r̄_m), (M,)."""
        return self._variations()[1]

    @property
    def gap(self) -> FloatArray:
        """𝒪(B_m) - 𝒫(B_m), (M,)."""
        predicted, observed = self._variations()
        return np.asarray(observed - predicted)

    def _variations(self) -> tuple[FloatArray, FloatArray]:
        """𝒫 and 𝒪 of all bins, in one call of the measure, which takes most of the time of short inputs."""
        values = np.empty((2, self.n_bins))
        values.fill(np.nan)
        filled = self.sums.rows.nonzero()[0]
        if filled.size:  # `take` and `array` cost a third of indexing and `stack`
            totals = np.array([sums.take(filled, axis=0) for sums in (self.ordered_sum, self.rank_count)])
            values[:, filled] = self.spec.variation.of(totals / self.count.take(filled)[:, None])
        return values[0], values[1]

    # Adding, comparing and coarsening

    def __add__(self, other: object) -> CalibrationTable:
        if not isinstance(other, CalibrationTable):
            return NotImplemented
        difference = self.spec.difference(other.spec)
        if difference is not None:
            cause = f"these tables cannot be added: {difference}"
            raise InvalidValueError("different-tables", cause, "make both with the same options")
        return CalibrationTable(self.spec, self.sums + other.sums)

    def __radd__(self, other: object) -> CalibrationTable:
        """`sum` begins with 0, which counts as the empty table."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CalibrationTable):
            return NotImplemented
        return self.spec == other.spec and self.sums.same(other.sums)

    __hash__ = None  # type: ignore[assignment]

    def coarsen(self, bins: int | Bins) -> CalibrationTable:
        """The same rows in coarser bins, whose edges are among those of this table.

        >>> import trueness as tn
        >>> y_true, y_prob = tn.simulate.calibrated(1000, [1, 1, 1], rng=0)
        >>> fine = tn.tabulate(y_true, y_prob, bins=tn.EqualWidth(4000))
        >>> fine.coarsen(10) == tn.tabulate(y_true, y_prob, bins=10)
        True
        >>> fine.coarsen(tn.EqualMass(4)).count
        array([252, 248, 251, 249])
        """
        if self.n_rows == 0:
            raise InvalidValueError("no-rows", "a table without rows cannot be coarsened")
        starts, edges = group_starts(self.bins, self.count, as_bins(bins))
        spec = replace(self.spec, bins=Edges(edges, self.bins.snap))
        return CalibrationTable(spec, self.sums.merge_runs(starts))

    def __repr__(self) -> str:
        return text_of(self)

    # Files

    def to_dict(self) -> dict[str, Any]:
        """Everything in the table as plain numbers, lists and strings, exact."""
        return table_file.encode(self.spec, self.sums)

    @classmethod
    def from_dict(cls, content: dict[str, Any], variation: Variation | None = None) -> Self:
        """The table of `to_dict`; `variation` is needed if it was made with a measure of your own."""
        return cls(*table_file.decode(content, variation))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table as versioned JSON, atomically."""
        self.save_all([self], path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], variation: Variation | None = None) -> Self:
        """The (first) table of a file; `variation` is needed if it was made with a measure of your own."""
        return cls.load_all(path, variation)[0]

    @staticmethod
    def save_all(tables: Iterable[CalibrationTable], path: str | os.PathLike[str]) -> None:
        """Write several tables into one file, such as one by entropy and one by confidence of the same rows."""
        table_file.write([table.to_dict() for table in tables], path)

    @classmethod
    def load_all(cls, path: str | os.PathLike[str], variation: Variation | None = None) -> list[Self]:
        """All tables of a file that are binned by a measure; `Tables.load` reads event tables and clusters too."""
        found: list[Any] = table_file.read(
            path,
            lambda content: (
                cls.from_dict(content, variation) if table_file.is_by_measure(content) else content
            ),
        )
        cluster_file.warn_of_clusters(found, path)
        tables = [table for table in found if isinstance(table, cls)]
        if not tables:
            cause = f"{os.fsdecode(path)} holds event tables only"
            raise InvalidValueError("no-tables", cause, "read it with EventTable.load")
        return tables


def require_table(argument: str, value: Any) -> None:
    """Refuse a value that is not a table."""
    if not isinstance(value, CalibrationTable):
        empty_sum = ": the sum of no tables is the number 0" if isinstance(value, int) and value == 0 else ""
        cause = (
            f"`{argument}` must be a CalibrationTable, such as tabulate returns, got "
            f"{type(value).__name__}{empty_sum}"
        )
        raise InvalidTypeError("wrong-type", cause, argument=argument)

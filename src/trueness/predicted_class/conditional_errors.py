"""VCE and RCE over cells of predicted class and variation: class-conditional errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from trueness._arguments import confidence_level, whole_number
from trueness._arrays import FloatArray
from trueness._random import Seed, root_seed
from trueness.bins import Edges
from trueness.old_inference.estimates import ResampledTable, variation_error
from trueness.old_inference.ranked_errors import ranked_error
from trueness.old_inference.results import Estimate
from trueness.old_table import CalibrationTable, Sums, TableSpec
from trueness.old_table.exact_sums import concatenate_sums
from trueness.predicted_class.tables import PredictedClassTables
from trueness.refusals import InvalidTypeError, InvalidValueError


@dataclass(frozen=True, slots=True)
class PooledCell:
    """Rows that are compared together."""

    classes: tuple[int, ...]
    """The predicted class; several if each has too few rows for a cell of its own."""
    low: float
    """Lower end of the variation."""
    high: float
    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class ClassConditionalErrors:
    """VCE and RCE over cells of predicted class and variation, with their noise floors, p-values and intervals.

    Read them for the size and the direction of the error beside VCE; as a test, the log-score by predicted class
    (`assess(...).by_predicted_class`) is more powerful everywhere.
    """

    vce: Estimate
    """Σ n/N·|𝒱(r̄) - 𝒱(q̄)| over the cells; with the variation "confidence" the top-label ECE of Gupta and Ramdas."""
    rce: Estimate
    """The same with the total variation distance of r̄ and q̄, which detects exchanged ranks too."""
    cells: tuple[PooledCell, ...]
    """In the order of the gaps of `vce.centred_gap` and `vce.debiased_gap`."""
    gaps: FloatArray
    """Observed less predicted variation of each cell, above 0 where over-confident, (F,)."""

    @property
    def words(self) -> str:
        """What the numbers say, in one sentence."""
        return (
            f"over {len(self.cells)} cells of predicted class and variation: VCE {self.vce.value:.4f} "
            f"({self.vce.noise_floor:.4f} if calibrated, p = {self.vce.centred_p_value:.3g}), "
            f"RCE {self.rce.value:.4f} ({self.rce.noise_floor:.4f}, p = {self.rce.p_value:.3g})"
        )


def class_conditional_errors(
    tables: PredictedClassTables,
    *,
    least_rows: int | None = None,
    level: float = 0.95,
    resamples: int = 999,
    rng: Seed = 0,
) -> ClassConditionalErrors:
    """VCE and RCE over cells of predicted class and variation.

    Bins of a class are merged from the lowest up until each holds `least_rows` rows, by default max(20, min(C, 100));
    classes with fewer rows share one cell. This depends on the numbers of rows only, not on the labels.

    References
    ----------
    Gupta and Ramdas (2022), Top-label calibration and multiclass-to-binary reductions.

    Examples
    --------
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
    >>> found = class_conditional_errors(tn.tabulate_by_predicted_class(y_true, y_prob))
    >>> found.vce.centred_p_value > 0.05, len(found.cells)
    (True, ...)
    """
    if not isinstance(tables, PredictedClassTables):
        raise InvalidTypeError(
            "wrong-type",
            "tables must be PredictedClassTables, such as tabulate_by_predicted_class "
            f"returns, got {type(tables).__name__}",
            argument="tables",
        )
    if not tables.n_rows:
        raise InvalidValueError("no-rows", "tables without rows cannot be assessed", argument="tables")
    default = max(20, min(tables.spec.n_cells, 100))
    least = default if least_rows is None else whole_number("least_rows", least_rows, 1)
    level, seed = confidence_level(level), [root_seed(rng), 13]
    n_draws = whole_number("resamples", resamples, 1)
    parts = list(_pooled(tables, least))
    table = _joined(tables.spec, [table for table, _ in parts])
    resampled = ResampledTable.of(table, n_draws, seed)
    return ClassConditionalErrors(
        vce=variation_error(resampled, level, [*seed, 3]),
        rce=ranked_error(resampled, "tv", level),
        cells=tuple(cell for table, classes in parts for cell in _cells(table, classes)),
        gaps=table.gap * table.spec.variation.sign,
    )


def _pooled(tables: PredictedClassTables, least: int) -> Iterator[tuple[CalibrationTable, tuple[int, ...]]]:
    """The table of each class in merged bins, and one of a single bin for all small classes."""
    small: dict[int, CalibrationTable] = {}
    for index, table in tables.tables.items():
        if table.n_rows < least:
            small[index] = table
        else:
            yield _merged(table, _starts(table.row_count.tolist(), least)), (index,)
    if small:
        yield _merged(reduce(add, small.values()), [0]), tuple(small)


def _starts(rows: Sequence[int], least: int) -> list[int]:
    """The first bin of each run that holds enough rows; what is left at the end joins the last run."""
    starts, held = [0], 0
    for bin, count in enumerate(rows):
        if held >= least and sum(rows[bin:]) >= least:
            starts.append(bin)
            held = 0
        held += count
    return starts


def _merged(table: CalibrationTable, starts: Sequence[int]) -> CalibrationTable:
    edges = table.spec.bins.edges
    spec = table.spec
    coarse = Edges([*(edges[at] for at in starts), edges[-1]], snap=spec.bins.snap)
    merged = TableSpec(spec.n_classes, spec.variation, coarse, spec.ties, spec.weighted)
    return CalibrationTable(merged, table.sums.merge_runs(np.array(starts, np.int64)))


def _cells(table: CalibrationTable, classes: tuple[int, ...]) -> Iterator[PooledCell]:
    edges, rows = table.spec.bins.edges, table.row_count.tolist()
    return (PooledCell(classes, edges[m], edges[m + 1], rows[m]) for m in range(len(rows)))


_BY_BIN = (
    "rows",
    "ordered",
    "rank",
    "variation",
    "log_score",
    "log_score_variance",
    "weight",
    "weight_square",
)


def _joined(spec: TableSpec, tables: Sequence[CalibrationTable]) -> CalibrationTable:
    """One table whose bins are those of all tables, one after another."""
    named = [dict(table.sums.items()) for table in tables]
    fields: dict[str, Any] = {
        name: concatenate_sums([part[name] for part in named]) for name in _BY_BIN if name in named[0]
    }
    for name in ("tied_rows", "impossible_rows"):
        fields[name] = np.array(sum(int(part[name]) for part in named))
    low, high = spec.variation.range_for(spec.n_cells)
    n_bins = len(fields["rows"])
    edges = Edges(np.linspace(low, high, n_bins + 1).tolist())
    joined = TableSpec(spec.n_classes, spec.variation, edges, spec.ties, spec.weighted)
    return CalibrationTable(joined, Sums(**fields))

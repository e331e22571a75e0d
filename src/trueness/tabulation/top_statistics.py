"""What is summed of a row of which the k largest probabilities count, and everything beyond is one cell.

A row is read as even beyond rank k: L = V - k classes of m/L each, where m is what the k largest lack of 1.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness._row_arithmetic import (
    bits_to_classes,
    brier_variance_units,
    entropy_in_bits,
    log2_of_count,
    log2_of_positive,
    log_likelihood_units,
    log_moments,
    log_score_units,
    sum_cube_units,
    sum_square_units,
    sum_units,
    units,
    variance_of_moments,
    variance_units,
)
from trueness._scratch import Scratch
from trueness.ranking import ordered_rows
from trueness.rows import Rows, row_sums
from trueness.table import TableSpec
from trueness.tabulation.row_statistics import BlockStatistics, Describer, chosen, rank_and_ties


class Cells(NamedTuple):
    """The rows of a block as k + 1 cells."""

    lines: FloatArray
    """The k largest probabilities and what is beyond, (k + 1, n)."""
    cell: IntArray
    """The cell of the true class; of equal probabilities the first in the order of the classes or of the list."""
    rank: IntArray
    """The first of the ranks that the true class shares, if ties are split, else its cell."""
    tied: IntArray
    """The number of classes with the probability of the true class, itself included."""


class TopDescriber(Describer):
    """Computes what is summed of each row, of complete rows or of lists of the k largest, block by block.

    Rows of k + 1 values are lists: the last value is the mass beyond, and the label is the cell. If only one class is
    beyond, a list is a complete row.
    """

    def describe(self, rows: Rows, start: int, stop: int) -> BlockStatistics:
        """What is summed of rows start to stop; valid until the next call."""
        spec, scratch = self.spec, self.scratch
        is_list = rows.n_classes == spec.n_cells and spec.n_classes != spec.n_cells
        cells = self._list(rows, start, stop) if is_list else self._complete(rows, start, stop)
        lines, n = cells.lines, stop - start
        steps = scratch.array("steps of cells", (spec.n_cells + 1, n))
        np.add(lines, 1.0, out=steps[:-1])
        total = sum_units(steps[:-1])
        p_cell = lines[cells.cell, np.arange(n)]
        if spec.has_scores:
            variation, entropy, variance = even_entropy(lines, total, spec, scratch)
            scores = self._scores(cells, p_cell, entropy, variance)
        else:
            variation, scores = lines[0].copy(), _no_scores(n)
        np.add(variation, 1.0, out=steps[-1])
        weight = None if rows.sample_weight is None else rows.sample_weight[start:stop]
        statistics = BlockStatistics(
            lines,
            steps,
            variation,
            spec.bins.index(variation, self.thresholds),
            cells.rank,
            cells.tied,
            (p_cell == 0.0) & spec.has_scores,  # which rows are impossible changes if a table is cut
            *scores,
            predicted_class=np.zeros(n, np.intp),
            weight=weight,
        )
        return statistics if weight is None or weight.all() else statistics.select(weight > 0)

    def _complete(self, rows: Rows, start: int, stop: int) -> Cells:
        """Complete rows, cut: ranks from k + 1 on are one cell."""
        k = self.spec.n_cells - 1
        block = rows.block(start, stop)
        ordered = ordered_rows(block, self.scratch)
        steps = np.add(ordered, 1.0, out=self.scratch.array("steps", ordered.shape))
        row_sums(rows, ordered, steps, start)
        lines = self.scratch.array("cells", (k + 1, stop - start))
        lines[:k] = ordered[:k]
        lines[k] = sum_units(steps[k:]) * 2.0**-52
        assert rows.labels is not None
        labels = rows.labels.block(start, stop)
        given = rows.scores(start, stop) if rows.from_logits else block
        p_true = chosen(block, labels)
        find = partial(rank_and_ties, ordered, p_true, labels, given, from_logits=rows.from_logits)
        first, tied = find(ties="first")
        rank = first if self.spec.ties == "first" else find(ties="split")[0]
        return Cells(lines, np.minimum(first, k), np.minimum(rank, k), tied)

    def _list(self, rows: Rows, start: int, stop: int) -> Cells:
        """Lists of the k largest, in order, with the mass beyond them last: checked when they were built."""
        k = self.spec.n_cells - 1
        lines = self.scratch.array("cells", (k + 1, stop - start))
        lines[:] = rows.block(start, stop).T
        assert rows.labels is not None
        cell = rows.labels.block(start, stop).astype(np.int64)
        listed = cell < k
        p_true = lines[np.minimum(cell, k - 1), np.arange(stop - start)]
        more, tied = (
            np.add.reduce(compared, axis=0, dtype=np.int64)
            for compared in (lines[:k] > p_true, lines[:k] == p_true)
        )
        rank = np.where(listed, more, k) if self.spec.ties == "split" else cell
        return Cells(lines, cell, rank, np.where(listed, tied, 1))

    def _scores(
        self, cells: Cells, p_cell: FloatArray, entropy: FloatArray, variance: FloatArray
    ) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Log-scores, p_y, ‖p‖² and Brier residuals of the even rows: p_y is q_j, or m/L beyond the list."""
        lines, size, scratch = cells.lines, self.spec.n_beyond, self.scratch
        beyond = cells.cell == len(lines) - 1
        log2_p = log2_of_positive(p_cell, scratch) - np.where(beyond, log2_of_count(size), 0.0)
        log_scores = np.stack(
            [log_score_units(log2_p, entropy), log_likelihood_units(log2_p), variance_units(variance)]
        )
        log_scores[:2, p_cell == 0.0] = 0
        m = lines[-1]
        p_true = units(np.where(beyond, p_cell / size, p_cell))
        square = sum_square_units(lines[:-1], scratch) + units(m * m / size)
        cube = sum_cube_units(lines[:-1], scratch) + units(m * m * m / size / size)
        brier = np.stack([p_true - square, brier_variance_units(square, cube)])
        return log_scores, p_true, square, brier


def even_entropy(
    lines: FloatArray, total: IntArray, spec: TableSpec, scratch: Scratch
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """V, the entropy to base 2 and the variance of log₂ p of rows that are even beyond rank k, (n,) each.

    H = H of the cells + m·log₂ L, and Σp·log₂²p = that of the cells + m·log₂ L·(log₂ L - 2·log₂ m).
    """
    assert spec.n_classes is not None
    moments, m = log_moments(lines, scratch), lines[-1]
    log2_l = log2_of_count(spec.n_beyond)
    entropy = entropy_in_bits(moments) + m * log2_l
    log2_m = np.where(m > 0.0, log2_of_positive(m, scratch), 0.0)
    further = m * (log2_l * (log2_l - 2.0 * log2_m))
    variance = variance_of_moments(moments, entropy, total, further)
    variation = np.minimum(np.maximum(entropy * bits_to_classes(spec.n_classes), 0.0), 1.0)
    return variation, entropy, variance


def _no_scores(n: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    zero: IntArray = np.zeros(n, np.int64)
    return np.zeros((3, n), np.int64), zero, zero, np.zeros((2, n), np.int64)


def variations_of_rows(rows: Rows, spec: TableSpec) -> NDArray[np.float64]:
    """V of each row as `spec` reads it, (rows,)."""
    describer = TopDescriber(spec, rows.y_prob.eps, Scratch())
    with np.errstate(all="ignore"):
        parts = [describer.describe(rows, *span).variation.copy() for span in rows.spans()]
    return np.concatenate(parts)

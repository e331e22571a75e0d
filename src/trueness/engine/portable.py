"""The portable engine: rows to sums in NumPy, close to the paper's formulas.

What a row adds to a sum is a whole number of units of 2⁻⁵² or 2⁻⁴⁰. The rows of a block are put in
order of the cell that they are added to, such as a bin of a part, and each run is summed by
`reduceat`. Weights multiply what a row adds, and these sums are floats, added row by row in order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._row_arithmetic import ONE_BITS, UNIT, units
from trueness._scratch import Scratch
from trueness.bins import ProbabilityGrid
from trueness.exact_sums import PROBABILITY_BITS, IntArray
from trueness.old_table import TableSpec
from trueness.rows import Rows
from trueness.spec import FIELDS, Spec
from trueness.tabulation.row_statistics import BlockStatistics, Describer, shares
from trueness.tabulation.soft_labels import whole_units
from trueness.variation import CONFIDENCE

Sums = dict[str, NDArray[Any]]


def add(
    rows: Rows,
    spans: Iterable[tuple[int, int]],
    spec: Spec,
    part: IntArray,
    group: IntArray,
    sums: Sums,
) -> None:
    """Add each row to the sums of its part and of its group; the first bad row is refused."""
    assert spec.variation is not None
    assert spec.bins is not None
    of_bins = TableSpec(rows.n_classes, spec.variation, spec.bins, spec.ties)
    describer = Describer(of_bins, rows.y_prob.eps, Scratch())
    for start, stop in spans:
        with np.errstate(all="ignore"):  # probabilities underflow; bad rows are refused by row
            block = describer.describe(rows, start, stop)
            _Block(rows, start, stop, spec, block).add(part[start:stop], group[start:stop], sums)


class _Block:
    """What each row of a block adds to each sum: units as lines, and the cell within its part."""

    def __init__(self, rows: Rows, start: int, stop: int, spec: Spec, of: BlockStatistics) -> None:
        self.spec, self.weight = spec, of.weight
        self.counted: Any = slice(None)
        if rows.sample_weight is not None:
            self.counted = rows.sample_weight[start:stop] > 0
        n, c = len(of.bins), rows.n_classes
        ordered = of.steps[:-1].view(np.int64) - ONE_BITS
        ranks = _ranks(of, spec.ties, c) if of.rank_units is None else of.rank_units
        one = np.ones((1, n), np.int64)
        score, likelihood, variance = of.log_scores
        variance = np.where(of.impossible, 0, variance)
        spread = np.zeros(n, np.int64) if of.label_spread is None else of.label_spread
        self.cells = {"": np.zeros(n, np.int64), "bin": of.bins, "prediction": of.predicted_class}
        self.units: dict[str, NDArray[Any]] = {
            "rows": one,
            "ordered": ordered,
            "ranks": ranks,
            "variation": of.steps[-1:].view(np.int64) - ONE_BITS,
            "log_score": score,
            "log_score_variance": variance,
            "predicted_rows": one,
            "predicted_score": score,
            "predicted_score_variance": variance,
            "predicted_misses": UNIT - ordered[0],
            "log_likelihood": likelihood,
            "true_probability": of.true_probability,
            "square": of.square,
            "label_spread": spread,
            "residual_square": of.square - 2 * of.true_probability + UNIT - spread,
            "tied_rows": (of.tied > 1).astype(np.int64),
            "impossible_rows": of.impossible.astype(np.int64),
        }
        if spec.variation is not None and not spec.variation.kernel:  # else the steps have all of V
            self.units["variation"] += np.floor(of.variation).astype(np.int64) << PROBABILITY_BITS
        if spec.top_bins is not None:
            top = TableSpec(c, CONFIDENCE, spec.top_bins).thresholds(rows.y_prob.eps)
            self.cells["top_bin"] = spec.top_bins.index(of.ordered[0], top)
            self.units |= {"top_rows": one, "top_predicted": ordered[0], "top_observed": ranks[0]}
        if spec.classes:
            self._add_classes(rows, start, stop)

    def _add_classes(self, rows: Rows, start: int, stop: int) -> None:
        """The probability of each class, and whether it was the true one, as lines."""
        spec, chosen = self.spec, np.array(self.spec.classes)
        assert rows.labels is not None
        assert spec.class_bins is not None
        p = np.ascontiguousarray(rows.block(start, stop)[self.counted][:, chosen].T, float) + 0.0
        if rows.labels.soft:
            y = whole_units(rows.labels.shares(start, stop)[self.counted])[:, chosen].T
        else:
            labels = rows.labels.block(start, stop)[self.counted]
            y = (labels == chosen[:, None]).astype(np.int64) * UNIT
        n_cells = spec.class_bins.n_bins
        cell = ProbabilityGrid(spec.class_bins.edges).index(p, rows.y_prob.eps)
        self.cells["class cell"] = cell + np.arange(len(chosen))[:, None] * n_cells
        self.units |= {"class_rows": np.ones_like(y), "class_predicted": units(p)}
        self.units |= {"class_observed": y}
        self.units |= {"class_predicted_total": units(p), "class_observed_total": y}

    def add(self, part: IntArray, group: IntArray, sums: Sums) -> None:
        """Add all rows, with the numbers of their parts and groups."""
        of_axis = {"part": part[self.counted], "group": group[self.counted]}
        runs: dict[tuple[str, str], _Runs] = {}
        for name, its in self.spec.fields():
            lines = "rank" in its.dims or its.dims == ("class",)
            dims = "" if its.dims == ("class",) else " ".join(d for d in its.dims if d != "rank")
            tail = sums[name].ndim - 1 - len(its.dims)  # whole and fraction, or nothing
            n_cells = int(np.prod(sums[name].shape[: sums[name].ndim - tail - lines]))
            cells = sums[name].reshape(n_cells, -1, *sums[name].shape[sums[name].ndim - tail :])
            at = of_axis[its.axis] * (n_cells // max(1, sums[name].shape[0])) + self.cells[dims]
            if (key := (its.axis, dims)) not in runs:
                runs[key] = _Runs(at)
            if self.weight is None or its.counts:
                runs[key].add(np.atleast_2d(self.units[name]), its.bits, cells)
            else:
                self._add_weighted(name, at, cells)

    def _add_weighted(self, name: str, at: IntArray, cells: NDArray[Any]) -> None:
        """Add floats in the order of the rows: Σw·x, or Σw²·x of variances and squares."""
        assert self.weight is not None
        its, w = FIELDS[name], self.weight
        if name.endswith(("_square", "_variance")) and name != "square":
            w = w**2
        given = self.units.get(name)  # none for sums of weights
        value = w if given is None else np.atleast_2d(given) * 2.0**-its.bits * w
        value = np.broadcast_to(value, (cells.shape[1], at.shape[-1]) if at.ndim == 1 else at.shape)
        if at.ndim == 2:
            np.add.at(cells[:, 0], at.ravel(), value.ravel())
        else:
            np.add.at(cells, at, value.T)


class _Runs:
    """Rows in the order of their cells, so that one pass of `reduceat` sums each cell."""

    def __init__(self, at: IntArray) -> None:
        flat = at.ravel()
        self.order = np.argsort(flat, kind="stable")
        together = flat[self.order]
        self.starts = np.flatnonzero(np.diff(together, prepend=-1))
        self.cells = together[self.starts]

    def add(self, lines: IntArray, bits: int, sums: IntArray) -> None:
        """Add units, (K, n), to the whole parts and fractions of their cells, (cells, K, 2).

        Apart, since sums of units may not fit in 64 bits; those of fractions of 4095 rows do.
        """
        if not len(self.starts):
            return
        lines = lines.reshape(-1, len(self.order))[:, self.order]
        if bits == 0:
            sums[self.cells, 0] += np.add.reduceat(lines[0], self.starts)
            return
        mask = (1 << bits) - 1
        whole = np.add.reduceat(lines >> bits, self.starts, axis=1)
        fraction = np.add.reduceat((lines & mask).view(np.uint64), self.starts, axis=1)
        whole += (fraction >> np.uint64(bits)).view(np.int64)
        total = sums[self.cells, :, 1] + (fraction.view(np.int64) & mask).T
        sums[self.cells, :, 0] += whole.T + (total >> bits)
        sums[self.cells, :, 1] = total & mask


def _ranks(of: BlockStatistics, ties: str, n_classes: int) -> IntArray:
    """r of each row as units of 2⁻⁵², (C, n): one at the rank of the true class, or shared."""
    ranks = np.zeros((len(of.rank), n_classes), np.int64)
    alone = np.ones(len(of.rank), bool)
    flat = np.arange(len(of.rank)) * n_classes + of.rank
    if ties == "split" and (shared := of.tied > 1).any():
        alone = ~shared
        cells, worth = shares(flat[shared], of.tied[shared])
        ranks.reshape(-1)[cells] = worth.view(np.int64)
    ranks.reshape(-1)[flat[alone]] = UNIT
    return ranks.T

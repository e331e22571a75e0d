"""Checks of a table that was read from a file: what holds for the sums of any rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from trueness.bins import Edges
from trueness.old_table.content import Sums, TableSpec
from trueness.old_table.exact_sums import ExactSum, FloatSum, Sum
from trueness.ranking import LEAST_LOG
from trueness.refusals import InvalidValueError
from trueness.rows import sum_tolerance

COARSEST_EPS = 2.0**-7
"""That of bfloat16, the coarsest dtype that is read: the sum of a row may miss 1 by as much."""


def require_consistent(spec: TableSpec, sums: Sums, n_rows: Any) -> None:
    """Refuse sums that no rows can have: the file was damaged or tampered with."""
    rows = sums.rows
    require(bool(np.all(rows >= 0)), "a bin has a negative count")
    require(is_int(n_rows), f"n_rows must be an integer, got {type(n_rows).__name__}")
    require(abs(n_rows) < 2**62, "n_rows is too large")
    counted = sum(rows.tolist())
    require(n_rows == counted, f"n_rows is {n_rows}, but its bins hold {counted}")
    for name in ("tied_rows", "impossible_rows"):
        require(0 <= int(getattr(sums, name)) <= n_rows, f"{name} is not between 0 and the number of rows")
    weight, slack = _require_weights(sums)
    for name in ("rank", "ordered", "variation"):
        value = getattr(sums, name).value
        require(bool(np.all(value[rows == 0] == 0)), f"{name} is not zero in a bin without rows")
    require(bool(np.all(sums.rank.value >= 0)), "rank has a negative count")
    require(_close(sums.rank, weight, slack), "the ranks of a bin do not add up to its count")
    soft = sums.label_spread is not None
    whole_ranks = (
        soft or spec.ties == "split" or not isinstance(sums.rank, ExactSum) or not sums.rank.fraction.any()
    )
    require(whole_ranks, "ties are not split, but ranks have fractions")
    ordered, off = sums.ordered.value, sum_tolerance(spec.n_cells, COARSEST_EPS)
    require(bool(np.all(ordered >= 0)), "ordered has a negative sum")
    downwards = np.diff(ordered, axis=1) <= slack * weight[:, None]
    require(bool(np.all(downwards)), "the ordered probabilities of a bin increase")
    require(_close(sums.ordered, weight, off), "the probabilities of a bin do not add up to its count")
    require(_within_edges(spec, sums.variation, weight), "the summed variation of a bin is outside its edges")
    # For one row: H up to ln C, a varentropy below (ln C)²/4 + 1, and ln p_y from that of the farthest logit to 0.
    mass, log_c = float(weight.sum()), math.log(spec.n_classes)
    score, variance = sums.log_score.value, sums.log_score_variance.value
    reachable = np.all((score >= LEAST_LOG * weight) & (score <= (log_c + 1) * weight))
    require(bool(reachable), "log_score is out of range for so many rows")
    most = LEAST_LOG**2 if soft else log_c**2 + 2  # of soft labels the squares of the scores are summed
    reachable = np.all((variance >= 0) & (variance <= most * weight))
    require(bool(reachable), "log_score_variance is out of range for so many rows")
    if sums.possible_variance is not None:
        possible, square = sums.possible_variance.value, sums.weight_square
        least = variance if square is None else most * square.value
        reachable = np.all((possible >= 0) & (possible <= least))
        require(bool(reachable), "possible_variance is out of range for so many rows")
    if sums.label_spread is not None:
        within = 0 <= float(sums.label_spread.value) <= mass * (1 + 1e-9)
        require(within, "label_spread is out of range for so many rows")
    _require_scores(spec, sums, mass, slack)
    _require_predicted(sums, weight)


def _require_scores(spec: TableSpec, sums: Sums, mass: float, slack: float) -> None:
    """Refuse sums of p_y, p² and ln p_y that no rows can have: p_y is one of the ordered probabilities."""
    if sums.true_probability is None or sums.square is None or sums.log_likelihood is None:
        return
    slack = max(slack, 1e-15) * mass
    ordered = sums.ordered.value.sum(axis=0)
    least_p = ordered[-1]
    within = least_p - slack <= float(sums.true_probability.value) <= ordered[0] + slack
    require(within, "true_probability is not between the smallest and the largest probabilities")
    # Cauchy and Schwarz: (Σp)² ≤ C·Σp² ≤ C·Σp for each row.
    off = sum_tolerance(spec.n_cells, COARSEST_EPS)
    least, most = (1 - off) ** 2 / spec.n_classes, 1 + off
    within = least * mass - slack <= float(sums.square.value) <= most * mass + slack
    require(within, "square is out of range for so many rows")
    log_likelihood = float(sums.log_likelihood.value)
    require(LEAST_LOG * mass <= log_likelihood <= 0, "log_likelihood is out of range for so many rows")
    entropy = float(np.sum(sums.log_score.value)) - log_likelihood
    rounding = slack + 1e-12 * (mass - log_likelihood)
    within = -rounding <= entropy <= (math.log(spec.n_classes) + 1) * mass + rounding
    require(within, "log_score and log_likelihood do not belong to the same rows")


def _require_predicted(sums: Sums, weight: Any) -> None:
    """Refuse sums of predicted classes that no rows can have, or that differ from those of bins."""
    rows, scores, misses = sums.predicted_rows, sums.predicted_scores, sums.predicted_misses
    of_bins, of_classes = sums.possible_variance, sums.predicted_possible_variance
    if rows is None or scores is None or misses is None or of_bins is None or of_classes is None:
        return
    require(bool(np.all(rows >= 0)), "predicted_rows has a negative count")
    require(sum(rows.tolist()) == sum(sums.rows.tolist()), "predicted_rows does not add up to the rows")
    most = rows if sums.weight is None else np.where(rows > 0, np.inf, 0.0)
    within = np.all((misses.value >= 0) & (misses.value <= most))
    require(bool(within), "predicted_misses is out of range for so many rows")
    for by_bin, by_class, column in (
        (sums.log_score, scores, 0),
        (sums.log_score_variance, scores, 1),
        (of_bins, of_classes, ...),
        (_misses_of_bins(sums), misses, ...),
    ):
        require(
            _same_total(by_bin, by_class, column, weight),
            "the scores of bins and of predicted classes do not belong to the same rows",
        )


def _misses_of_bins(sums: Sums) -> Sum:
    """Σ(1 - q₁) over each bin, (M,)."""
    ordered = sums.ordered
    if isinstance(ordered, ExactSum):
        whole = sums.rows - ordered.whole[:, 0]
        return ExactSum.with_carry(whole, -ordered.fraction[:, 0], ordered.bits)
    return FloatSum(sums.mass - ordered.value[:, 0])


def _same_total(of_bins: Sum, of_classes: Sum, column: Any, weight: Any) -> bool:
    """Whether sums over bins, and over predicted classes, have the same total; up to rounding of weighted ones."""
    if isinstance(of_bins, ExactSum) and isinstance(of_classes, ExactSum):
        mine, theirs = of_bins.total(), of_classes.total()
        whole, fraction = int(theirs.whole[column]), int(theirs.fraction[column])
        return (int(mine.whole), int(mine.fraction)) == (whole, fraction)
    by_bin, by_class = of_bins.value, of_classes.value[:, column]
    scale = np.abs(by_bin).sum() + np.abs(by_class).sum() + weight.sum()
    return bool(abs(by_bin.sum() - by_class.sum()) <= 1e-9 * scale)


def _within_edges(spec: TableSpec, variation: Sum, weight: Any) -> bool:
    """Whether the mean V of each bin is between its edges, or above the upper one by no more than counts as on it.

    How much that is depends on the dtype of the rows, which the file does not hold: at most as much as for the coarsest
    dtype, and always less than half a bin.
    """
    low, high = spec.range
    coarsest = min(spec.span * 4 * COARSEST_EPS, narrowest(spec.bins) / 2)
    snap = coarsest if spec.bins.snap is None else spec.bins.snap
    edges = np.array(spec.bins.edges)
    edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)  # V was clipped to its range first
    least, most = np.maximum(edges[:-1], low), np.minimum(edges[1:] + snap, high)
    margin = 1e-9 * max(abs(low), abs(high))
    total = variation.value
    return bool(np.all((total >= (least - margin) * weight) & (total <= (most + margin) * weight)))


def _require_weights(sums: Sums) -> tuple[Any, float]:
    """The number of rows or the weight of each bin, and the relative rounding of sums over it."""
    if sums.weight is None or sums.weight_square is None:
        return sums.rows.astype(np.float64), 0.0
    weight, square = sums.weight.value, sums.weight_square.value
    require(bool(np.all((weight >= 0) & (square >= 0))), "a bin has a negative weight")
    require(
        bool(np.all((weight > 0) == (sums.rows > 0))), "a bin has weight without rows, or rows without weight"
    )
    cauchy = weight**2 <= sums.rows * square * (1 + 1e-9)
    require(bool(np.all(cauchy)), "weight_square of a bin is too small for its weight")
    return weight, 1e-9


def _close(lines: Sum, total: Any, slack: float) -> bool:
    """Whether the lines of a sum add up to the total of their bin; exactly if slack is 0."""
    if isinstance(lines, ExactSum) and slack == 0.0:
        units = lines.fraction.astype(object).sum(axis=1)
        exact = lines.whole.astype(object).sum(axis=1) * 2**lines.bits + units
        return bool(np.all(exact == total.astype(np.int64).astype(object) * 2**lines.bits))
    return bool(np.all(np.abs(lines.value.sum(axis=1) - total) <= slack * total))


def require(holds: bool, problem: str) -> None:
    """Refuse a table as damaged unless the condition holds."""
    if not holds:
        raise damaged_table_error(problem)


def damaged_table_error(problem: object) -> InvalidValueError:
    """The refusal of a table whose content cannot be right."""
    return InvalidValueError("damaged-file", f"this table is damaged: {problem}")


def narrowest(bins: Edges) -> float:
    """The width of the narrowest bin, apart from one that holds the lowest value alone."""
    widths = np.diff(bins.edges)
    return float(widths[widths > 0].min())


def is_int(value: Any) -> bool:
    """Whether a value of JSON is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)

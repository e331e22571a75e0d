"""Rows to table: the hot path, behind one function."""

from __future__ import annotations

from typing import Any

from trueness._border import Rows, require_choice, whole_number
from trueness._content import Sums, TableSpec
from trueness.binning import Bins, EqualMass, as_bins
from trueness.ranking import TIES
from trueness.table import CalibrationTable
from trueness.tabulation import portable
from trueness.variation import Variation, as_variation

ENGINES = ("auto", "portable")


def tabulate(
    y_true: Any,
    y_prob: Any,
    *,
    variation: str | Variation = "entropy",
    bins: int | Bins = 10,
    ties: str = "first",
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    engine: str = "auto",
    n_threads: int | None = None,
) -> CalibrationTable:
    """Sum the rows into a table, from which every number is read.

    Parameters
    ----------
    y_true : labels, shape (rows,)
        Class indices, or names from `classes`, or one-hot rows of shape (rows, classes).
    y_prob : predictions, shape (rows, classes) or (rows,)
        Probabilities; with one dimension, the probability of class 1 of two.
    variation : str or Variation
        What is binned and compared: a name in `trueness.variations`, or a measure of your own.
    bins : int or EqualWidth, EqualMass, Edges, FineGrid
        A number means bins of equal width over the measure's attainable range.
    ties : "first" or "split"
        Of equal probabilities the lower class index ranks first, as in argmax; or they share the rank count.
    sample_weight : weights, shape (rows,)
        Finite and not negative. Whole numbers mean the same as repeated rows.
    from_logits : bool
        Whether `y_prob` holds logits (of class 1, if it has one dimension), to be put through a softmax.
    normalize : bool
        Whether to divide each row by its sum. Otherwise a row that does not sum to 1 is refused.
    classes : list
        Class names in the order of the columns of `y_prob`, if labels are names.
    engine : "auto" or "portable"
        What does the work. Every engine gives the same counts, ordered sums and rank counts, bit for bit.
    n_threads : int
        On how many threads; the table does not depend on it (up to rounding, if weighted). Default one.

    Examples
    --------
    >>> table = tabulate([0, 0, 1, 2], [[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.4, 0.3, 0.3]], bins=2)
    >>> table.count
    array([0, 4])
    >>> table.rank_count
    array([[0, 0, 0],
           [2, 1, 1]])
    """
    rows = Rows.of(
        y_true, y_prob, sample_weight, from_logits=from_logits, normalize=normalize, classes=classes
    )
    measure, chosen = as_variation(variation), as_bins(bins)
    require_choice("ties", ties, TIES)
    require_choice("engine", engine, ENGINES)
    if isinstance(chosen, EqualMass):
        edges = chosen.fit_rows(rows, measure)
    else:
        edges = chosen.resolve(*measure.range_for(rows.n_classes))
    spec = TableSpec(rows.n_classes, measure, edges, ties, weighted=sample_weight is not None)
    return CalibrationTable(spec, _sum_rows(rows, spec, n_threads))


def tabulate_rows(rows: Rows, spec: TableSpec, n_threads: int | None = None) -> CalibrationTable:
    """`tabulate` for rows that have passed the border and a spec that is settled."""
    return CalibrationTable(spec, _sum_rows(rows, spec, n_threads))


def _sum_rows(rows: Rows, spec: TableSpec, n_threads: int | None) -> Sums:
    spans = list(rows.spans())
    workers = 1 if n_threads is None else min(whole_number("n_threads", n_threads, 1), len(spans))
    if workers == 1:
        return portable.sum_rows(rows, spec, spans)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        parts = pool.map(lambda first: portable.sum_rows(rows, spec, spans[first::workers]), range(workers))
        try:
            return sum(parts, Sums.zeros(spec))
        except ValueError:
            # Some thread met a bad row; the one to name is the first in order.
            return portable.sum_rows(rows, spec, spans)

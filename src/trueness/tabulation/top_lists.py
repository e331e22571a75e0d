"""`tabulate_top`: lists of the k largest probabilities of many classes to a table of k + 1 columns."""

from __future__ import annotations

from typing import Any

from trueness.bins import Bins
from trueness.rows.top_lists import rows_of_lists
from trueness.table import CalibrationTable, TablePlan
from trueness.tabulation.passes import tabulate_rows, top_specs
from trueness.variation import Variation


def tabulate_top(
    rank: Any,
    prob: Any,
    *,
    n_classes: int | None,
    variation: str | Variation = "entropy",
    bins: int | Bins = 10,
    ties: str = "split",
    sample_weight: Any = None,
) -> CalibrationTable:
    """Sum rows that list the k largest probabilities of many classes into a table of k + 1 columns.

    The columns are the ranks 1 to k and everything beyond. A row is read as even beyond its list: the missing mass is
    spread over the classes that are not listed. `tabulate(..., top_k=k)` does the same for complete rows.

    Parameters
    ----------
    rank : places, shape (rows,)
        The place of the true class in its list, from 0; k if it is not listed.
    prob : probabilities, shape (rows, k)
        The k largest probabilities of each row, the largest first. A complete list of fewer classes ends in zeros.
    n_classes : int or None
        The number V of classes, more than k. If it is None, the measure must be "confidence".
    variation : "entropy" or "confidence"
        The measure of the bins: the entropy of the row with an even tail, or its largest probability.
    bins : int or EqualWidth, EqualMass, Edges
        A number means bins of equal width over [0, 1].
    ties : "split" or "first"
        Whether equal probabilities of a list share the rank count, or rank in the order of the list.
    sample_weight : weights, shape (rows,)
        As in `tabulate`.

    Examples
    --------
    >>> table = tabulate_top([0, 0, 1, 2], [[0.6, 0.3]] * 4, n_classes=10)
    >>> table.rank_count[4], table.mean_ordered[4].round(6)
    (array([2., 1., 1.]), array([0.6, 0.3, 0.1]))
    """
    rows = rows_of_lists(rank, prob, n_classes, sample_weight)
    plan = TablePlan.of(variation, bins, ties=ties, with_confidence=False, top_k=rows.n_classes - 1)
    return tabulate_rows(rows, top_specs(rows, plan, n_classes))[0]

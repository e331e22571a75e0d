"""`tabulate`, which sums rows into a table, and the engines that do it."""

from __future__ import annotations

from typing import Any

from trueness._arguments import require_choice
from trueness.bins import Bins, as_bins
from trueness.ranking import TIES
from trueness.rows import Rows
from trueness.rows.images import pixels_of
from trueness.table import CalibrationTable, TableSpec
from trueness.tabulation.events import tabulate_events
from trueness.tabulation.passes import edges_for, tabulate_groups, tabulate_rows, variations_of
from trueness.tabulation.running_sums import RunningSums
from trueness.variation import Variation, as_variation

__all__ = [
    "RunningSums",
    "edges_for",
    "tabulate",
    "tabulate_events",
    "tabulate_groups",
    "tabulate_rows",
    "variations_of",
]


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
    soft_labels: bool = False,
    class_axis: int | None = None,
    ignore_index: int | None = None,
    engine: str = "auto",
    n_threads: int | None = None,
) -> CalibrationTable:
    """Sum the rows into a table, from which every number is computed.

    Parameters
    ----------
    y_true : labels, shape (rows,)
        Class indices, or class names (those in `classes` or of the columns of `y_prob`), or one-hot rows of shape
        (rows, classes). True and false are classes 1 and 0.
    y_prob : predictions, shape (rows, classes) or (rows,)
        Probabilities; with one dimension or one column, the probability of class 1 of two. Columns of a data frame are
        matched to class names by name where these are exactly the names or the endings of the columns; else they are
        taken by number (p_2 before p_10) if all endings are whole numbers, or in the order they have.
    variation : str or Variation
        The variation measure: a name in `trueness.variations`, or a measure of your own.
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
    classes : list, "columns" or "index"
        Class names, if labels are names that the columns of `y_prob` do not have: in the order of the columns, or in
        any order if the columns have these names. Names that match the columns only in part are refused. "columns"
        means that labels are the endings of columns such as p_1, p_2, …, "index" that labels count the columns from 0.
    soft_labels : bool
        Whether `y_true` holds a share of each class, (rows, classes), such as those of annotators, that sum to 1; of
        two classes also the share of class 1, (rows,). One-hot rows give the table of their labels.
    class_axis : int
        The axis of the classes of an array of more than two dimensions, such as 1 for (images, classes, height, width).
        Labels have the shape without this axis. Found by the shapes if only one axis fits.
    ignore_index : int
        Rows with this label are left out.
    engine : "auto", "portable" or "compiled"
        "portable" is NumPy, "compiled" a C library, for unweighted rows and the measures entropy, confidence and
        max_probability; "auto" is "compiled" if it can be used. Both give the same table, bit for bit.
    n_threads : int
        Number of threads; the table does not depend on it (up to rounding, if weighted). By default all cores with the
        compiled engine, one with the portable one.

    Examples
    --------
    >>> table = tabulate([0, 0, 1, 2], [[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.4, 0.3, 0.3]], bins=2)
    >>> table.count
    array([0, 4])
    >>> table.rank_count
    array([[0, 0, 0],
           [2, 1, 1]])
    """
    pixels = pixels_of(y_true, y_prob, class_axis, ignore_index)
    if pixels is not None:
        y_true, y_prob = pixels.y_true, pixels.y_prob
        sample_weight = pixels.spread("sample_weight", sample_weight)
    rows = Rows.of(
        y_true,
        y_prob,
        sample_weight,
        from_logits=from_logits,
        normalize=normalize,
        classes=classes,
        soft_labels=soft_labels,
    )
    measure, chosen = as_variation(variation), as_bins(bins)
    require_choice("ties", ties, TIES)
    edges = edges_for(rows, measure, chosen, engine, n_threads)
    spec = TableSpec(rows.n_classes, measure, edges, ties, weighted=sample_weight is not None)
    return tabulate_rows(rows, [spec], engine, n_threads)[0]

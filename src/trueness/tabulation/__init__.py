"""`tabulate`, which sums rows into a table, and the engines that do it."""

from __future__ import annotations

from typing import Any

from trueness.bins import Bins, as_bins
from trueness.old_table import CalibrationTable, OptionSpec, OptionTables, TableSpec
from trueness.ranking import DEFAULT_TIES, ties_for
from trueness.rows import OptionRows, Rows, option_rows_of
from trueness.rows.images import pixels_of
from trueness.rows.lists import rectangular
from trueness.rows.option_rows import refuse_soft_options
from trueness.tabulation.events import tabulate_events
from trueness.tabulation.options import AnyRows, edges_for, tabulate_groups, tabulate_rows, variations_of
from trueness.tabulation.running_sums import RunningSums
from trueness.variation import Variation, as_variation

__all__ = [
    "AnyRows",
    "RunningSums",
    "edges_for",
    "tabulate",
    "tabulate_events",
    "tabulate_groups",
    "tabulate_in_detail",
    "tabulate_rows",
    "variations_of",
]


def tabulate(
    y_true: Any,
    y_prob: Any,
    *,
    variation: str | Variation = "entropy",
    bins: int | Bins = 10,
    ties: str = DEFAULT_TIES,
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    n_options: Any = None,
    soft_labels: bool = False,
    class_axis: int | None = None,
    ignore_index: int | None = None,
    engine: str = "auto",
    n_threads: int | None = None,
) -> CalibrationTable | OptionTables:
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
        Rows may have different numbers of options: a list of lists, or a list column of a data frame or of Arrow.
    variation : str or Variation
        The variation measure: a name in `trueness.variations`, or a measure of your own.
    bins : int or EqualWidth, EqualMass, Edges
        A number means bins of equal width over the measure's attainable range.
    ties : "first" or "split"
        Of equal probabilities the lower class index ranks first, as in argmax; or they share the rank count. By default
        "first", and "split" if rows have options of their own.
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
    n_options : whole numbers, shape (rows,)
        The number of options of each row, if rows have options of their own and `y_prob` is an array (rows, options):
        entries beyond them must be exactly 0 (-inf for logits). The result is then an `OptionTables`: a table for each
        number of options, in common bins over [0, 1]. So it is for lists of different lengths.
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
    >>> tabulate([0, 2], [[0.9, 0.1], [0.2, 0.2, 0.6]]).options
    {2: 1, 3: 1}
    """
    return tabulate_in_detail(
        y_true,
        y_prob,
        variation=variation,
        bins=bins,
        ties=ties,
        sample_weight=sample_weight,
        from_logits=from_logits,
        normalize=normalize,
        classes=classes,
        n_options=n_options,
        soft_labels=soft_labels,
        class_axis=class_axis,
        ignore_index=ignore_index,
        engine=engine,
        n_threads=n_threads,
    )


def tabulate_in_detail(
    y_true: Any,
    y_prob: Any,
    *,
    variation: str | Variation,
    bins: int | Bins,
    ties: str = DEFAULT_TIES,
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    n_options: Any = None,
    soft_labels: bool = False,
    class_axis: int | None = None,
    ignore_index: int | None = None,
    engine: str = "auto",
    n_threads: int | None = None,
    detail: str = "scores",
) -> CalibrationTable | OptionTables:
    """`tabulate`, but a table sums only what `detail` says, one of `DETAILS`; tables of options sum everything."""
    measure, chosen = as_variation(variation), as_bins(bins)
    ragged = option_rows_of(
        y_true,
        y_prob,
        sample_weight,
        n_options=n_options,
        from_logits=from_logits,
        normalize=normalize,
        classes=classes,
    )
    refuse_soft_options(ragged, soft_labels)
    if ragged is not None:
        edges = edges_for(ragged, measure, chosen, engine, n_threads)
        weighted = sample_weight is not None
        own = OptionSpec(measure, edges, ties_for(ties, options=True), weighted)
        return _tabulate_options(ragged, own, engine, n_threads)
    y_prob = rectangular(y_prob)
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
    ties = ties_for(ties, options=False)
    edges = edges_for(rows, measure, chosen, engine, n_threads)
    spec = TableSpec(rows.n_classes, measure, edges, ties, sample_weight is not None, detail=detail)
    return tabulate_rows(rows, [spec], engine, n_threads)[0]


def _tabulate_options(rows: OptionRows, spec: OptionSpec, engine: str, n_threads: int | None) -> OptionTables:
    """The tables of rows with different numbers of options."""
    (tables,) = tabulate_rows(rows, [spec], engine, n_threads)
    assert isinstance(tables, OptionTables)
    return tables

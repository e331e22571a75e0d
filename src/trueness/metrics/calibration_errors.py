"""Calibration errors of rows, or of a table in place of rows, under one name.

    vce(y_true, y_prob, bins=15)        of rows
    vce(table)                          of a table, in its own bins

A table has its measure and its ties already: of the options only those of the metric apply to it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypedDict, TypeVar, Unpack

import numpy as np

from trueness._arguments import require_choice
from trueness.bins import Bins, EqualMass, as_bins, group_starts
from trueness.conventions import Convention, value_by_convention
from trueness.exact_sums import FloatArray
from trueness.metrics import gaps
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.spec import TableOptions
from trueness.table import EventBins, Table
from trueness.today import class_bins_of_rows, rank_bins_of_rows, read, table_of, tabulate_rows
from trueness.variation import ENTROPY, Variation, as_variation

Function = TypeVar("Function", bound=Callable[..., float])


class RowOptions(TypedDict, total=False):
    """The options of all metrics, which say how rows are read."""

    ties: str | None
    sample_weight: Any
    from_logits: bool
    normalize: bool
    classes: Any
    n_options: Any
    soft_labels: bool
    class_axis: int | None
    ignore_index: int | None


DEFAULTS = RowOptions(
    ties=None,
    sample_weight=None,
    from_logits=False,
    normalize=False,
    classes=None,
    n_options=None,
    soft_labels=False,
    class_axis=None,
    ignore_index=None,
)

PARAMETERS = """

    Parameters
    ----------
    y_true : labels, shape (rows,)
        Class indices, class names, or one-hot rows. Or a table, in place of the rows.
    y_prob : predictions, shape (rows, classes) or (rows,)
        Probabilities; with one dimension that of class 1 of two. Rows may be lists of different
        lengths.{own}
    ties : "first" or "split", optional
        Of equal probabilities the lower class index ranks first, or they share the rank.
    sample_weight : weights, shape (rows,), optional
        Whole numbers mean the same as repeated rows.
    from_logits, normalize : bool
        Whether `y_prob` holds logits, or rows that are to be divided by their sums.
    classes : list, "columns" or "index", optional
        The names of the classes, if labels are names that the columns do not have.
    n_options : whole numbers, shape (rows,), optional
        The number of options of each row, if they differ and `y_prob` is an array.
    soft_labels : bool
        Whether `y_true` holds a share of each class, such as those of several annotators.
    class_axis, ignore_index : int, optional
        The axis of the classes of an array of images, and a label whose pixels are left out.

    Returns
    -------
    float
    """

VARIATION = """
    variation : str or Variation
        The variation measure: a name in `trueness.variations`, or one of your own."""
BINS = """
    bins : int or EqualWidth, EqualMass, Edges
        A number means bins of equal width over the range of the measure.
    norm : "l1", "l2" or "max"
        The mean of the absolute gaps weighted by rows, the root of their mean square, the largest.
    """.rstrip()


def of_rows_or_table(own: str) -> Callable[[Function], Function]:
    """Write out the options of rows in a metric's signature and docstring, for `help`."""

    def changed(function: Function) -> Function:
        its = inspect.signature(function)
        mine = [it for it in its.parameters.values() if it.kind is not it.VAR_KEYWORD]
        shared = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in DEFAULTS.items()
        ]
        head, _, examples = (function.__doc__ or "").partition("\n\n    >>>")
        text = head.rstrip() + PARAMETERS.format(own=own)
        function.__doc__ = text + (
            f"\n    Examples\n    --------\n    >>>{examples}" if examples else ""
        )
        vars(function)["__signature__"] = its.replace(parameters=[*mine, *shared])
        return function

    return changed


@of_rows_or_table(VARIATION + BINS)
def vce(
    y_true: Any,
    y_prob: Any = None,
    *,
    variation: str | Variation = "entropy",
    bins: int | Bins = 10,
    norm: str = "l1",
    **rows: Unpack[RowOptions],
) -> float:
    """The variation calibration error, Σ_m |B_m|/N · |𝒪(B_m) - 𝒫(B_m)| (paper, equation 10).

    In each bin of the variation V, 𝒫 is V of the mean ordered prediction and 𝒪 that of the observed
    ranks of the true class. 0 for a calibrated model with unlimited data, at most the width of the
    measure's range if the measure is symmetric, as entropy is.

    >>> round(vce([0] * 9 + [1], [[0.9, 0.1]] * 10), 6)  # nine of ten right
    0.0
    >>> round(vce([0, 1] * 5, [[0.9, 0.1]] * 10), 6)  # five of ten right
    0.531004
    """
    if y_prob is None:
        table = _table(y_true, rows, variation=(variation, "entropy"), bins=(bins, 10))
        found, measure = table.rank_bins(), table.measure
    else:
        measure = as_variation(variation)
        found, _ = rank_bins_of_rows(
            y_true, y_prob, variation=measure, bins=bins, detail="ranks", **rows
        )
    return _error(found.rows.sum(axis=-2), gaps.variation_gap(found, measure), norm)


@of_rows_or_table(
    BINS
    + """
    convention : str, optional
        Another library, whose number on the same rows is returned instead: see
        `trueness.conventions`."""
)
def ece(
    y_true: Any,
    y_prob: Any = None,
    *,
    bins: int | Bins | None = None,
    norm: str = "l1",
    convention: str | Convention | None = None,
    **rows: Unpack[RowOptions],
) -> float:
    """The expected calibration error, Σ_m |B_m|/N · |acc(B_m) - conf(B_m)| (paper, equation 5).

    In ten bins of the largest probability over [1/C, 1], or over [0, 1] if rows have numbers of
    options of their own. From 0 to 1.

    >>> round(ece([0, 1] * 5, [[0.9, 0.1]] * 10), 6)
    0.4
    """
    if convention is not None:
        return _by_convention(convention, "ece", y_true, y_prob, bins, norm, rows)
    if y_prob is None:
        table = _table(y_true, rows, bins=(bins, None))
        if table.spec.top_bins is None:
            cause = "this table has no bins of the largest probability"
            raise InvalidValueError("wrong-table", cause, "make it with `confidence_bins=10`")
        of = table.top_bins()
        return _error(of.rows[..., 0, :], gaps.event_gap(of)[..., 0, :], norm)
    chosen = 10 if bins is None else bins
    found, _ = rank_bins_of_rows(
        y_true, y_prob, variation="confidence", bins=chosen, detail="first", **rows
    )
    first = (each[..., 0].sum(axis=-2) for each in (found.predicted, found.observed))
    of = EventBins(found.rows.sum(axis=-2), *first)
    return _error(of.rows, gaps.event_gap(of), norm)


@of_rows_or_table(
    BINS
    + """
    convention : str, optional
        Another library, whose number on the same rows is returned instead."""
)
def uce(
    y_true: Any,
    y_prob: Any = None,
    *,
    bins: int | Bins | None = None,
    norm: str = "l1",
    convention: str | Convention | None = None,
    **rows: Unpack[RowOptions],
) -> float:
    """The uncertainty calibration error, Σ_m |B_m|/N · |err(B_m) - uncert(B_m)|.

    Of Laves et al. (2019) (paper, equation 12), for comparison with published figures: it is not 0
    for a calibrated model.

    >>> round(uce([0] * 9 + [1], [[0.9, 0.1]] * 10), 6)
    0.368996
    """
    if convention is not None:
        return _by_convention(convention, "uce", y_true, y_prob, bins, norm, rows)
    if y_prob is None:
        table = _table(y_true, rows, bins=(bins, None))
        if table.measure != ENTROPY:
            cause = f"uce needs a table in bins of entropy, not in bins of {table.measure.name}"
            raise InvalidValueError("wrong-measure", cause, "make it with variation='entropy'")
        found, variation = table.rank_bins(), table.value("variation")
    else:
        chosen = 10 if bins is None else bins
        found, variation = rank_bins_of_rows(
            y_true, y_prob, variation=ENTROPY, bins=chosen, detail="scores", **rows
        )
    return _error(found.rows.sum(axis=-2), gaps.uncertainty_gap(found, variation), norm)


@of_rows_or_table(
    """
    distance : "tv" or "w1"
        Total variation, or the Wasserstein distance over ranks divided by C - 1."""
    + VARIATION
    + BINS
)
def rce(
    y_true: Any,
    y_prob: Any = None,
    *,
    distance: str = "tv",
    variation: str | Variation = "entropy",
    bins: int | Bins = 10,
    norm: str = "l1",
    **rows: Unpack[RowOptions],
) -> float:
    """The ranked calibration error, Σ_m |B_m|/N · d(r̄_m, q̄_m), from 0 to 1.

    Zero only if every rank is as frequent as predicted in every bin: unlike VCE by a symmetric
    measure it depends on the order of the ranks.

    >>> round(rce([0] + [1] * 9, [[0.9, 0.1]] * 10), 6)  # the ranks are exchanged, and VCE is 0
    0.8
    """
    if y_prob is None:
        of = (variation, "entropy")
        found = _table(y_true, rows, variation=of, bins=(bins, 10)).rank_bins()
    else:
        found, _ = rank_bins_of_rows(
            y_true, y_prob, variation=variation, bins=bins, detail="ranks", **rows
        )
    return _error(found.rows.sum(axis=-2), gaps.rank_distance(found, distance), norm)


@of_rows_or_table("""
    bins : int or EqualWidth, EqualMass, Edges
        Bins of the probability of each class over [0, 1]; of equal mass, those of its own rows.
    weights : "expected" or "observed", optional
        Weigh classes by their expected or observed number instead of equally.
    norm : "l1", "l2" or "max"
        Of the gaps of each class.""")
def cwece(
    y_true: Any,
    y_prob: Any = None,
    *,
    bins: int | Bins = 10,
    weights: str | None = None,
    norm: str = "l1",
    **rows: Unpack[RowOptions],
) -> float:
    """The classwise expected calibration error, (1/C)·Σ_c ECE_c (Kull et al. 2019), from 0 to 2/C.

    ECE_c = Σ_m n_m/N · |p̄_m - ȳ_m| in bins of the probability of class c over [0, 1]; of two
    classes it is that of class 1, since the other is its mirror image.

    >>> round(cwece([0, 1] * 5, [[0.9, 0.1]] * 10), 6)
    0.4
    """
    if weights is not None:
        require_choice("weights", weights, ("expected", "observed"))
    if y_prob is None:
        table = _table(y_true, rows)
        if table.spec.class_bins is None:
            cause = "this table has no sums of classes"
            raise InvalidValueError("wrong-table", cause, "make it with `by_class=True`")
        cells, edges = table.class_bins(), table.spec.class_bins
    else:
        cells, edges = class_bins_of_rows(y_true, y_prob, **rows)
    chosen, errors, events = as_bins(bins), list[float](), [cells]
    if isinstance(chosen, EqualMass):
        events = [EventBins(*(sums[None] for sums in each)) for each in zip(*cells, strict=True)]
    for of in events:
        starts, _ = group_starts(edges, of.rows[0], chosen)
        merged = EventBins(*(np.add.reduceat(each, starts, axis=-1) for each in of))
        errors += gaps.norm(_known(merged.rows), gaps.event_gap(merged), norm).tolist()
    if weights is None or len(errors) == 1:
        return float(np.mean(errors))
    total = (cells.predicted if weights == "expected" else cells.observed).sum(axis=-1)
    return float(total @ np.array(errors) / cells.rows[0].sum())


@of_rows_or_table("")
def ecd(y_true: Any, y_prob: Any = None, **rows: Unpack[RowOptions]) -> float:
    """The entropic calibration difference, the mean of -ln p_y - H(p) in nats (Sumler et al. 2025).

    0 for a calibrated model with unlimited data, positive if it is over-confident: if log-loss is
    higher than the model's own entropy. Infinite if a true class had probability 0.

    >>> abs(ecd([0] * 9 + [1], [[0.9, 0.1]] * 10)) < 1e-9  # nine of ten right
    True
    >>> round(ecd([0, 1] * 5, [[0.9, 0.1]] * 10), 6)
    0.87889
    """
    if y_prob is None:
        table = _table(y_true, rows)
    else:
        how: dict[str, Any] = {**rows}
        options = TableOptions(by_class=False, ties=how.pop("ties", None))
        table = tabulate_rows(read(y_true, y_prob, **how), options)
    score, mass = table.value("log_score").sum(), _known(table.mass())
    return float("inf") if table.impossible_rows else float(0.0 - score / mass.sum())


def _known(rows: FloatArray) -> FloatArray:
    """The number or weight of rows, refused if there are none."""
    if not rows.sum() > 0:
        raise InvalidValueError("no-rows", "a table without rows has no calibration error")
    return rows


def _error(rows: FloatArray, gap: FloatArray, norm: str) -> float:
    """The norm of the gaps of one table."""
    filled = np.flatnonzero(_known(rows))
    return float(gaps.norm(rows[filled], gap[filled], norm))


def _table(given: Any, rows: RowOptions, **own: tuple[Any, Any]) -> Table:
    """The table that is given in place of rows; refused with options that a table has already."""
    if not hasattr(given, "spec") and not hasattr(given, "by_variation"):
        cause = f"`y_prob` is None, and `y_true` is not a table but {type(given).__name__}"
        remedy = "pass an array of predictions, or a table in place of the rows"
        raise InvalidTypeError("wrong-type", cause, remedy, argument="y_prob")
    table = table_of(given)
    changed = [name for name, (value, default) in own.items() if value is not default]
    changed += [name for name, value in rows.items() if value is not DEFAULTS.get(name)]
    if changed:
        cause = f"a table is given, which was made with its own `{changed[0]}`"
        raise InvalidTypeError("bad-argument", cause, "leave it out", argument=changed[0])
    return table


def _by_convention(
    convention: str | Convention,
    metric: str,
    y_true: Any,
    y_prob: Any,
    bins: int | Bins | None,
    norm: str,
    rows: RowOptions,
) -> float:
    """The number that another library gives for these rows."""
    its = DEFAULTS | rows
    own = its["ties"] is not None, its["sample_weight"] is not None, its["n_options"] is not None
    given = (y_true, y_prob, its["from_logits"], its["normalize"], its["classes"])
    return value_by_convention(convention, metric, own, given, bins=bins, norm=norm)

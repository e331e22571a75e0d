"""The whole answer: `assess` from rows, `assess_table` from tables, `compare` for several models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from trueness._arguments import require_choice, whole_number
from trueness._arrays import IntArray
from trueness._progress import Progress, progress_callback
from trueness._random import Seed
from trueness.assessment._answer import Assessment, Caution, GroupAssessment
from trueness.assessment._judge import Clusters, Material, Settings, judge, with_groups
from trueness.assessment._side_by_side import Comparison
from trueness.assessment.comparison import Comparer, compare
from trueness.assessment.reported import REPORTED, as_limits
from trueness.assessment.sweep import BinSweep, sweep_bins
from trueness.assessment.verdict import Finding, Verdict
from trueness.bins import Bins, as_bins, confidence_bins_for
from trueness.inference.bootstrap_weights import ClusterWeights, stream_key
from trueness.inference.replicates import replicate
from trueness.ranking import TIES
from trueness.rows import Rows
from trueness.rows.groups import coded_groups, names_of
from trueness.table import CalibrationTable, TableSpec
from trueness.tabulation import edges_for, tabulate_groups, tabulate_rows
from trueness.variation import CONFIDENCE, Variation, as_variation

__all__ = [
    "REPORTED",
    "Assessment",
    "BinSweep",
    "Caution",
    "Comparer",
    "Comparison",
    "Finding",
    "GroupAssessment",
    "Settings",
    "Verdict",
    "as_limits",
    "assess",
    "assess_table",
    "compare",
    "sweep_bins",
]

MIN_GROUP_SIZE = 100
"""Groups of fewer rows are named but not assessed: a hundred rows reveal a net gap of about 0.1 at best."""

_CLUSTER_STREAM = 5


def assess(
    y_true: Any,
    y_prob: Any,
    *,
    variation: str | Variation = "entropy",
    bins: int | Bins = 10,
    confidence_bins: int | Bins | None = None,
    level: float = 0.95,
    tolerance: float | Mapping[str, float] | None = None,
    resamples: int = 999,
    p_resolution: float | None = None,
    rng: Seed = 0,
    groups: Any = None,
    min_group_size: int = MIN_GROUP_SIZE,
    clusters: Any = None,
    ties: str = "first",
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    engine: str = "auto",
    n_threads: int | None = None,
    progress: Progress | bool | None = None,
) -> Assessment:
    """Assess the calibration of predictions: metrics with their noise, and a verdict in words.

    Rows, bins, ties and engine are as in `tabulate`.

    Parameters
    ----------
    confidence_bins : int or EqualWidth, EqualMass, Edges
        The bins of confidence, over [1/C, 1], that ECE is made with. By default they are of the same kind and number
        as `bins`; if `bins` are Edges, of equal width.
    level : float
        Of the intervals; the verdict speaks of miscalibration where `Assessment.p_value` is at most 1 - level.
    tolerance : float or mapping from metrics to floats
        The largest error that does not matter in practice, for VCE, ECE and RCE alike or by metric, such as
        {"vce": 0.02, "ece": 0.01}. The verdict then says whether the error is negligible (the whole interval is within
        the tolerance), beyond it (the whole interval is), or cannot be told with so many rows.
    resamples : int
        How often the table of a calibrated model is drawn (or clusters are). The smallest p-value of a single test is
        1/(resamples + 1); where no draw reaches a test and a correction needs a smaller p-value, more are drawn.
    p_resolution : float
        The smallest p-value, after all corrections, that must be attainable; 1 - level by default.
    rng : int, None or numpy.random.Generator
        The same seed gives the same numbers; `Assessment.seed` is the one that was used. None takes a new one.
    groups : names, shape (rows,), or a data frame or mapping of such columns
        An assessment of each group too, in the same bins and the same pass, its p-value corrected for their number. Of
        several columns the groups are the combinations of their values that occur.
    min_group_size : int
        Groups of fewer rows are not assessed.
    clusters : names, shape (rows,)
        Which rows belong together (a patient, a session). Rows of one cluster carry less information than as many
        independent rows; without this the p-values of such data are too small and the intervals too short.
    progress : None, False or callable
        Of work with clusters or groups. None shows a bar if it takes longer than a second, stderr is a terminal and
        tqdm is installed; False shows nothing; a callable is called with the share of the work done, up to 1.

    Examples
    --------
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
    >>> result = tn.assess(y_true, tn.simulate.sharpen(y_prob, 1.5), rng=0)
    >>> print(result.verdict)
    over-confident: its first choice is right in 61.3 % of rows and stated at 69.1 %; outcomes vary more than ...
    """
    settings, progress = (
        Settings.of(level, resamples, rng, tolerance, p_resolution),
        progress_callback(progress),
    )
    min_group_size = whole_number("min_group_size", min_group_size, 1)
    rows = Rows.of(
        y_true, y_prob, sample_weight, from_logits=from_logits, normalize=normalize, classes=classes
    )
    measure, chosen = as_variation(variation), as_bins(bins)
    by_confidence = confidence_bins_for(chosen, confidence_bins)
    specs = specs_for(rows, measure, chosen, by_confidence, ties, engine=engine, n_threads=n_threads)
    weights = None
    if clusters is not None:
        key = stream_key([settings.seed, _CLUSTER_STREAM])
        weights = ClusterWeights(
            key, settings.resamples, names_of("clusters", clusters, rows.n_rows, rows.index)
        )
    if groups is None:
        tables = tabulate_rows(rows, specs, engine, n_threads)
        (drawn,) = _drawn(rows, specs, weights, settings.resamples, progress)
        return judge(Material(tables[0], tables[-1], drawn), settings)
    names, code = coded_groups(groups, rows.n_rows, rows.index)
    of_groups = tabulate_groups(rows, specs, code, len(names), engine=engine, n_threads=n_threads)
    drawn_of = _drawn(rows, specs, weights, settings.resamples, progress, group_of=code, n_groups=len(names))
    parts = {
        name: Material(tables[0], tables[-1], drawn)
        for name, tables, drawn in zip(names, of_groups, drawn_of, strict=True)
    }
    whole = judge(reduce(add, parts.values()), settings)
    # With clusters the draws take long, without them the groups, if they are many.
    return with_groups(whole, parts, settings, min_group_size, progress if clusters is None else None)


def _drawn(
    rows: Rows,
    specs: Sequence[TableSpec],
    weights: ClusterWeights | None,
    resamples: int,
    progress: Progress | None,
    *,
    group_of: IntArray | None = None,
    n_groups: int = 1,
) -> list[Clusters | None]:
    """For each group the replicates of its tables by clusters, if there are any."""
    if weights is None:
        return [None] * n_groups
    made = replicate(
        [(rows, specs)], weights, resamples, group_of=group_of, n_groups=n_groups, progress=progress
    )
    code = np.zeros(rows.n_rows, np.int64) if group_of is None else group_of
    return [
        Clusters(of_specs[0], of_specs[-1], weights.clusters(np.flatnonzero(code == number)))
        for number, (of_specs,) in enumerate(made)
    ]


def assess_table(
    table: CalibrationTable,
    *,
    confidence_table: CalibrationTable | None = None,
    bins: int | Bins | None = None,
    confidence_bins: int | Bins | None = None,
    level: float = 0.95,
    tolerance: float | Mapping[str, float] | None = None,
    resamples: int = 999,
    p_resolution: float | None = None,
    rng: Seed = 0,
    groups: Mapping[str, CalibrationTable | tuple[CalibrationTable, CalibrationTable | None]] | None = None,
    min_group_size: int = MIN_GROUP_SIZE,
    progress: Progress | bool | None = None,
) -> Assessment:
    """The assessment of `assess` from tables alone: the same numbers for the same `rng`.

    Parameters
    ----------
    table : CalibrationTable
        Binned by any measure.
    confidence_table : CalibrationTable
        Of the same rows, binned by confidence; without it ECE is None.
    bins : int or EqualWidth, EqualMass, Edges
        Coarser bins into which the tables are merged first, such as EqualMass(10) for tables of a FineGrid.
    confidence_bins : int or EqualWidth, EqualMass, Edges
        Coarser bins for the confidence table, if they are to differ from `bins`.
    level, tolerance, resamples, p_resolution, rng
        As in `assess`.
    groups : mapping of names to tables, or to pairs of a table and a confidence table
        To be assessed one by one, in bins like those of the whole.
    progress : None, False or callable
        Of work with groups, as in `assess`.

    Examples
    --------
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
    >>> by_confidence = tn.tabulate(y_true, y_prob, variation="confidence")
    >>> result = tn.assess_table(tn.tabulate(y_true, y_prob), confidence_table=by_confidence, rng=7)
    >>> result == tn.assess(y_true, y_prob, rng=7)
    True
    """
    settings, progress = (
        Settings.of(level, resamples, rng, tolerance, p_resolution),
        progress_callback(progress),
    )
    min_group_size = whole_number("min_group_size", min_group_size, 1)
    whole = _material("table", table, confidence_table)
    parts = {}
    for name, part in (groups or {}).items():
        pair = part if isinstance(part, tuple) else (part, None)
        parts[str(name)] = _material(f"groups[{name!r}]", *pair)
    if bins is not None or confidence_bins is not None:
        merged = _coarser(whole, bins, confidence_bins)
        # Groups are compared in the bins of all rows, not each in its own.
        edges = merged.table.bins, None if merged.confidence_table is None else merged.confidence_table.bins
        parts = {name: _coarser(part, *edges) for name, part in parts.items()}
        whole = merged
    answer = judge(whole, settings)
    return with_groups(answer, parts, settings, min_group_size, progress) if parts else answer


def specs_for(
    rows: Rows,
    measure: Variation,
    bins: Bins,
    confidence_bins: Bins,
    ties: str,
    *,
    engine: str,
    n_threads: int | None,
) -> list[TableSpec]:
    """What is tabulated: by the measure, and by confidence for ECE unless that is the measure."""
    require_choice("ties", ties, TIES)
    weighted = rows.sample_weight is not None
    wanted = [(measure, bins)]
    if measure != CONFIDENCE:
        wanted.append((CONFIDENCE, confidence_bins))
    return [
        TableSpec(rows.n_classes, of, edges_for(rows, of, chosen, engine, n_threads), ties, weighted)
        for of, chosen in wanted
    ]


def _material(argument: str, table: Any, confidence_table: Any) -> Material:
    for name, given in ((argument, table), ("confidence_table", confidence_table)):
        if not isinstance(given, CalibrationTable) and not (given is None and name == "confidence_table"):
            raise TypeError(
                f"{name} must be a CalibrationTable, such as tabulate returns, got {type(given).__name__}"
            )
    if table.spec.is_by_confidence and confidence_table is None:
        return Material(table, table)
    if confidence_table is not None:
        if not confidence_table.spec.is_by_confidence:
            raise ValueError(
                f"confidence_table is binned by {confidence_table.spec.variation.name}: tabulate with "
                "variation='confidence'"
            )
        if confidence_table.n_rows != table.n_rows or confidence_table.n_classes != table.n_classes:
            raise ValueError(
                f"{argument} holds {table.n_rows} rows of {table.n_classes} classes, confidence_table "
                f"{confidence_table.n_rows} of {confidence_table.n_classes}: they must be of the same rows"
            )
    return Material(table, confidence_table)


def _coarser(
    material: Material, bins: int | Bins | None, confidence_bins: int | Bins | None = None
) -> Material:
    """The same rows in coarser bins; a kind of bins that is None stays as it is."""
    by_confidence = material.confidence_table
    table = material.table if bins is None else material.table.coarsen(as_bins(bins))
    if by_confidence is material.table:
        return Material(table, table)
    if by_confidence is None:
        return Material(table, None)
    if bins is None:
        chosen = None if confidence_bins is None else as_bins(confidence_bins)
    else:
        chosen = confidence_bins_for(as_bins(bins), confidence_bins)
    return Material(table, by_confidence if chosen is None else by_confidence.coarsen(chosen))

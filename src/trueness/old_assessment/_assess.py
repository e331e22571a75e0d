"""`assess` and `assess_table`: the assessment of rows, or of tables, with groups and clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from trueness._arguments import whole_number
from trueness._arrays import IntArray
from trueness._progress import Progress, progress_callback
from trueness._random import Seed
from trueness.bins import Bins
from trueness.old_assessment._cautions import Caution, about_images, about_labels
from trueness.old_assessment._estimation import assessment_of
from trueness.old_assessment._groups import with_groups, with_options
from trueness.old_assessment._result import Assessment
from trueness.old_assessment._sample import Sample
from trueness.old_assessment._settings import DEFAULT_CLASS_BINS, MIN_GROUP_SIZE, Settings
from trueness.old_table import (
    AnyRankTable,
    AnySpec,
    CalibrationTable,
    EventTable,
    OptionTables,
    require_rank_table,
    require_table_by_class,
)
from trueness.old_table.plan import TablePlan
from trueness.old_table.tables import Tables, sum_pairwise
from trueness.ranking import DEFAULT_TIES
from trueness.refusals import Refusal
from trueness.rows import Rows, option_rows_of
from trueness.rows.clusters import ClustersOfRows, clusters_given
from trueness.rows.groups import encode_groups_of_rows, rows_of_groups
from trueness.rows.images import pixels_of
from trueness.rows.lists import rectangular
from trueness.rows.option_rows import refuse_soft_options
from trueness.tabulation import AnyRows, edges_for, tabulate_groups, tabulate_rows
from trueness.tabulation.clusters import RowsDone, tabulate_clusters
from trueness.tabulation.events import refuse_many_groups
from trueness.variation import Variation


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
    class_axis: int | None = None,
    ignore_index: int | None = None,
    by_class: bool = True,
    class_bins: int | Bins = DEFAULT_CLASS_BINS,
    ties: str = DEFAULT_TIES,
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    n_options: Any = None,
    soft_labels: bool = False,
    engine: str = "auto",
    n_threads: int | None = None,
    progress: Progress | bool | None = None,
) -> Assessment:
    """Assess the calibration of predictions: metrics with their noise, and a verdict in words.

    Rows, bins, ties, `n_options` and engine are as in `tabulate`. If rows have options of their own, those of each
    number of options are assessed too (`Assessment.by_options`), and classes are not.

    Parameters
    ----------
    confidence_bins : int or EqualWidth, EqualMass, Edges
        The bins of confidence, over [1/C, 1], for ECE. By default they are of the same kind and number as `bins`; if
        `bins` are Edges, of equal width. If rows have options of their own, they are over [0, 1].
    level : float
        The level of the intervals; the verdict is miscalibration if `Assessment.p_value` is at most 1 - level.
    tolerance : float or mapping from metrics to floats
        The largest error that does not matter in practice, for VCE, ECE and RCE alike or by metric, such as
        {"vce": 0.02, "ece": 0.01}. The verdict then says whether the error is negligible (all intervals lie within the
        tolerance), beyond it (a whole interval does), or undecided at this sample size.
    resamples : int
        The number of resamples of the table of a calibrated model, or of bootstrap replicates of the clusters. The
        smallest p-value of a single test is 1/(resamples + 1); if no resample is as extreme as the data and a
        correction needs a smaller p-value, more are made.
    p_resolution : float
        The smallest p-value, after all corrections, that must be attainable; 1 - level by default.
    rng : int, None or numpy.random.Generator
        The same seed gives the same numbers; `Assessment.seed` is the one that was used. None uses a new one.
    groups : array of names, shape (rows,), or a data frame or mapping of such columns
        Also assess each group, in the same bins and the same pass, with p-values adjusted for the number of groups.
        With several columns, the groups are the combinations of their values that occur.
    min_group_size : int
        Groups of fewer rows are not assessed.
    clusters : array of names, shape (rows,), or False
        Which rows belong together (a patient, a session). Rows of one cluster carry less information than as many
        independent rows; without this argument the p-values of such data are too small and the intervals too short.
        If `y_prob` has more than two dimensions, rows that share the first index (pixels of an image) are one cluster,
        and a name for each first index can be given; False means that all rows are independent.
    class_axis : int
        The axis of the classes of an array of more than two dimensions: 1 for (images, classes, height, width), -1 for
        (sequences, steps, classes). Labels have the shape without this axis. Found by the shapes if only one axis fits.
    ignore_index : int
        Rows with this label are left out.
    by_class : bool
        Whether to assess each class too: how often it was expected and observed, and whether its probabilities are too
        extreme or too timid (`Assessment.classes`).
    class_bins : int or EqualWidth, EqualMass
        The bins of the probability of each class, over [0, 1], for its ECE; a number must divide 60.
    progress : None, False or callable
        Progress of work with clusters or groups. None shows a bar if it takes longer than a second, stderr is a
        terminal and tqdm is installed; False shows nothing; a callable is called with the share of the work done, up
        to 1.

    Examples
    --------
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
    >>> result = tn.assess(y_true, tn.simulate.sharpen(y_prob, 1.5), rng=0)
    >>> print(result.verdict)
    over-confident: its top class is correct in 61.3 % of rows, with a mean confidence of 69.1 %; outcomes vary ...
    """
    settings, progress = (
        Settings.of(level, resamples, rng, tolerance, p_resolution, class_bins=class_bins),
        progress_callback(progress),
    )
    min_group_size = whole_number("min_group_size", min_group_size, 1)
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
    plan = TablePlan.of(variation, bins, confidence_bins, ties, by_class=by_class, options=ragged is not None)
    y_prob = rectangular(y_prob) if ragged is None else y_prob
    pixels = pixels_of(y_true, y_prob, class_axis, ignore_index) if ragged is None else None
    if pixels is not None:
        y_true, y_prob = pixels.y_true, pixels.y_prob
        sample_weight, groups = (
            pixels.spread("sample_weight", sample_weight),
            pixels.spread("groups", groups),
        )
    rows = ragged or Rows.of(
        y_true,
        y_prob,
        sample_weight,
        from_logits=from_logits,
        normalize=normalize,
        classes=classes,
        soft_labels=soft_labels,
    )
    specs = specs_of(rows, plan, engine, n_threads)
    if pixels is not None:
        found = pixels.clusters(clusters)
        notes = about_images(pixels.counts(by_default=clusters is None and pixels.many_dimensions))
    else:
        found = clusters_given(clusters, rows.n_rows, rows.index)
        notes = () if ragged is None else about_labels(ragged, plan.ties)
    return assess_rows(
        rows,
        specs,
        settings,
        found=found,
        groups=groups,
        min_group_size=min_group_size,
        notes=notes,
        engine=engine,
        n_threads=n_threads,
        progress=progress,
    )


def assess_rows(
    rows: AnyRows,
    specs: Sequence[AnySpec],
    settings: Settings,
    *,
    found: ClustersOfRows | None,
    groups: Any,
    min_group_size: int,
    notes: tuple[Caution, ...] = (),
    engine: str = "auto",
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> Assessment:
    """The assessment of validated rows, with groups and clusters, from tables of these specs."""
    if found is not None:
        summing = _SumClusters(rows, specs, found, engine, n_threads, RowsDone(rows.n_rows, progress))
    if groups is None:
        tables = Tables.of(tabulate_rows(rows, specs, engine, n_threads)) if found is None else summing()
        whole = with_options(assessment_of(Sample(tables), settings), settings, min_group_size)
        return with_notes(whole, notes)
    names_of_groups, code = encode_groups_of_rows(groups, rows.n_rows, rows.index)
    refuse_many_groups(specs, len(names_of_groups))
    if found is None:
        of_groups = tabulate_groups(
            rows, specs, code, len(names_of_groups), engine=engine, n_threads=n_threads
        )
        tables_of_groups = [Tables.of(of_group) for of_group in of_groups]
    else:
        tables_of_groups = [summing(which) for which in rows_of_groups(code, len(names_of_groups))]
    whole = assessment_of(Sample(sum_pairwise(tables_of_groups)), settings)
    whole = with_options(whole, settings, min_group_size)
    by_name = dict(zip(names_of_groups, map(Sample, tables_of_groups), strict=True))
    # With clusters the passes over the rows take long, without them the groups, if they are many.
    result = with_groups(whole, by_name, settings, min_group_size, progress if found is None else None)
    return with_notes(result, notes)


def with_notes(result: Assessment, notes: tuple[Caution, ...]) -> Assessment:
    """The assessment with further warnings."""
    return replace(result, warnings=(*result.warnings, *notes)) if notes else result


class _SumClusters(NamedTuple):
    """Makes the tables of rows in clusters, of all rows or of some."""

    rows: AnyRows
    specs: Sequence[AnySpec]
    found: ClustersOfRows
    engine: str
    n_threads: int | None
    done: RowsDone

    def __call__(self, which: IntArray | None = None) -> Tables:
        return tabulate_clusters(
            self.rows,
            self.specs,
            self.found,
            which=which,
            engine=self.engine,
            n_threads=self.n_threads,
            done=self.done,
        )


def specs_of(
    rows: AnyRows, plan: TablePlan, engine: str = "auto", n_threads: int | None = None
) -> list[AnySpec]:
    """The specs of the planned tables, with edges fitted to the rows if the bins depend on them."""
    return plan.specs(
        rows.n_classes,
        weighted=rows.sample_weight is not None,
        edges_of=lambda measure, bins: edges_for(rows, measure, bins, engine, n_threads),
        class_names=rows.class_names,
    )


def assess_table(
    table: CalibrationTable | OptionTables | Tables,
    *,
    confidence_table: CalibrationTable | OptionTables | None = None,
    class_table: EventTable | None = None,
    bins: int | Bins | None = None,
    confidence_bins: int | Bins | None = None,
    class_bins: int | Bins = DEFAULT_CLASS_BINS,
    level: float = 0.95,
    tolerance: float | Mapping[str, float] | None = None,
    resamples: int = 999,
    p_resolution: float | None = None,
    rng: Seed = 0,
    groups: Mapping[str, Tables | AnyRankTable | tuple[AnyRankTable, AnyRankTable | None]] | None = None,
    min_group_size: int = MIN_GROUP_SIZE,
    progress: Progress | bool | None = None,
) -> Assessment:
    """Assess the calibration of predictions from their tables: the same numbers as `assess` for the same `rng`.

    Parameters
    ----------
    table : CalibrationTable, OptionTables or Tables
        A table binned by any measure, or the tables of the same rows as one value.
    confidence_table : CalibrationTable or OptionTables
        A table of the same rows, binned by confidence; without it ECE is None.
    class_table : EventTable
        A table of the same rows and all classes, such as `tabulate_events` makes; without it classes are not assessed.
    bins : int or EqualWidth, EqualMass, Edges
        Coarser bins into which the tables are merged first, such as EqualMass(10) for tables of many narrow bins.
    confidence_bins : int or EqualWidth, EqualMass, Edges
        Coarser bins for the confidence table, if they are to differ from `bins`.
    class_bins, level, tolerance, resamples, p_resolution, rng
        As in `assess`. Classes are assessed if the tables have the event table of all classes.
    groups : mapping of names to Tables, or to a table, or to pairs of a table and a confidence table
        The tables of groups, which are assessed too, in the bins of the whole.
    progress : None, False or callable
        Progress of work with groups, as in `assess`.

    Examples
    --------
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
    >>> by_confidence = tn.tabulate(y_true, y_prob, variation="confidence")
    >>> by_class = tn.tabulate_events(y_true, y_prob)
    >>> table = tn.tabulate(y_true, y_prob)
    >>> result = tn.assess_table(table, confidence_table=by_confidence, class_table=by_class, rng=7)
    >>> result == tn.assess(y_true, y_prob, rng=7)
    True
    """
    settings, progress = (
        Settings.of(level, resamples, rng, tolerance, p_resolution, class_bins=class_bins),
        progress_callback(progress),
    )
    min_group_size = whole_number("min_group_size", min_group_size, 1)
    whole = _as_tables("table", table, confidence_table, class_table)
    parts = {str(name): _group_tables(name, part) for name, part in (groups or {}).items()}
    if bins is not None or confidence_bins is not None:
        whole = whole.coarsen(bins, confidence_bins)
        # Groups are compared in the bins of all rows, not each in its own.
        parts = {name: part.in_bins_of(whole) for name, part in parts.items()}
    result = with_options(assessment_of(Sample(whole), settings), settings, min_group_size)
    if not parts:
        return result
    samples = {name: Sample(part) for name, part in parts.items()}
    return with_groups(result, samples, settings, min_group_size, progress)


def _group_tables(name: str, part: Any) -> Tables:
    table, confidence_table = part if isinstance(part, tuple) else (part, None)
    return _as_tables(f"groups[{name!r}]", table, confidence_table)


def _as_tables(argument: str, table: Any, confidence_table: Any, class_table: Any = None) -> Tables:
    """A table and those given beside it as one value; refused unless they are of the same rows."""
    if isinstance(table, Tables) and confidence_table is None and class_table is None:
        return table
    require_rank_table(argument, table)
    if confidence_table is not None:
        require_rank_table("confidence_table", confidence_table)
    if class_table is not None:
        require_table_by_class("class_table", class_table)
    try:
        return Tables(table, confidence_table, events=() if class_table is None else (class_table,))
    except Refusal as error:
        cause = error.cause if argument == "table" else f"`{argument}`: {error.cause}"
        raise error.with_facts(argument=argument, cause=cause) from None

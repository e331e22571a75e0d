"""Several models on the same rows: which is better calibrated, and is the difference more than noise?

All models get the same bootstrap weights, so that what the rows have in common cancels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, TypeAlias

from trueness._arguments import boolean, whole_number
from trueness._progress import Progress, progress_callback
from trueness._random import Seed
from trueness.bins import Bins, Edges
from trueness.old_assessment._assess import specs_of, with_notes
from trueness.old_assessment._cautions import Caution, about_images
from trueness.old_assessment._comparison_result import Comparison, GroupComparison
from trueness.old_assessment._contrasts import adjust_groups, comparison_of
from trueness.old_assessment._images_of_models import rows_of_models
from trueness.old_assessment._rows_in_common import (
    common_index,
    first_columns,
    refuse_equal_mass,
    refuse_other_models,
    refuse_other_rows,
)
from trueness.old_assessment._settings import MIN_GROUP_SIZE, Settings
from trueness.old_assessment._sums_of_models import SumsOfModels, sums_of_models
from trueness.old_table import AnySpec, EventSpec
from trueness.old_table.plan import TablePlan
from trueness.old_table.tables import named_classes
from trueness.ranking import DEFAULT_TIES
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.rows import Rows
from trueness.rows.class_columns import Columns
from trueness.rows.clusters import ClustersOfRows, clusters_of_rows
from trueness.rows.groups import EncodedNames, encode_groups_of_rows, rows_of_groups
from trueness.rows.images import ImageCounts
from trueness.rows.lists import rectangular
from trueness.rows.option_rows import (
    classes_or_options,
    option_rows_of,
    refuse_n_options,
    rows_with_options,
)
from trueness.tabulation import AnyRows
from trueness.tabulation.clusters import RowsDone
from trueness.tabulation.events import refuse_many_groups
from trueness.variation import Variation


def compare(
    y_true: Any,
    y_probs: Mapping[str, Any],
    *,
    variation: str | Variation = "entropy",
    bins: int | Bins = 10,
    confidence_bins: int | Bins | None = None,
    level: float = 0.95,
    tolerance: float | Mapping[str, float] | None = None,
    resamples: int = 999,
    rng: Seed = 0,
    groups: Any = None,
    min_group_size: int = MIN_GROUP_SIZE,
    clusters: Any = None,
    class_axis: int | None = None,
    ignore_index: int | None = None,
    by_class: bool = True,
    ties: str = DEFAULT_TIES,
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    n_options: Any = None,
    progress: Progress | bool | None = None,
) -> Comparison:
    """Compare the calibration of several models on the same rows.

    Differences are between debiased values. Their noise comes from a bootstrap over rows (or clusters) in which all
    models have the same weights. Two models are said to differ by the p-value of all metrics together
    (`Pair.p_value`), corrected over the pairs of models by Holm. Options are as in `assess`; the errors of classes are
    in ten bins of equal width. Of two classes the gap of class 1, the Brier score and the log-loss are compared too.
    If rows have options of their own, all models need the same number of them in each row, and classes are not
    compared.

    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
    >>> print(tn.compare(y_true, {"good": y_prob, "sharp": tn.simulate.sharpen(y_prob, 1.5)}, rng=0).verdict)
    good is better calibrated than sharp: VCE(good) - VCE(sharp) = -0.0981 [...], ECE(good) - ...
    """
    models, progress = _as_models(y_probs), progress_callback(progress)
    how = {"from_logits": from_logits, "normalize": normalize}
    ragged = {
        name: option_rows_of(None, y_prob, sample_weight, n_options=n_options, classes=classes, **how)
        for name, y_prob in models.items()
    }
    options = any(rows is not None for rows in ragged.values())
    given = rows_of_models(
        y_true,
        models if options else {name: rectangular(y_prob) for name, y_prob in models.items()},
        sample_weight=sample_weight,
        groups=groups,
        clusters=clusters,
        class_axis=class_axis,
        ignore_index=ignore_index,
        options=options,
    )
    sample_weight = given.sample_weight
    plan = TablePlan.of(variation, bins, confidence_bins, ties, by_class=by_class, options=options)
    n_classes, edges = None, {}
    for name, y_prob in given.y_probs.items():
        rows: AnyRows
        if options:
            rows = ragged[name] or rows_with_options(None, y_prob, sample_weight, n_options=n_options, **how)
        else:
            rows = Rows.of_predictions(y_prob, sample_weight, **how)
            n_classes = n_classes or rows.n_classes
        edges[name] = tuple(spec.bins for spec in specs_of(rows, plan) if not isinstance(spec, EventSpec))
    comparer = Comparer(
        n_classes,
        options=options,
        models=list(models),
        variation=plan.variation,
        bins=edges,
        level=level,
        tolerance=tolerance,
        resamples=resamples,
        rng=rng,
        min_group_size=min_group_size,
        by_class=by_class,
        ties=ties,
        weighted=sample_weight is not None,
        from_logits=from_logits,
        normalize=normalize,
        classes=classes,
    )
    comparer.update(
        given.y_true,
        given.y_probs,
        sample_weight=sample_weight,
        groups=given.groups,
        clusters=given.clusters,
        n_options=n_options,
        progress=progress,
    )
    return _with_notes(comparer.result(), about_images(given.counts))


def _with_notes(result: Comparison, notes: tuple[Caution, ...]) -> Comparison:
    """The comparison with further warnings about each model."""
    if not notes:
        return result
    noted = {name: with_notes(alone, notes) for name, alone in result.assessments.items()}
    return replace(result, assessments=noted)


def _as_models(y_probs: Any) -> dict[str, Any]:
    if not isinstance(y_probs, Mapping) or len(y_probs) < 2:
        cause = 'y_probs must be a mapping of two or more models, {"a": prob_a, "b": prob_b}'
        raise InvalidTypeError("wrong-type", cause, argument="y_probs", value=type(y_probs).__name__)
    return {str(name): y_prob for name, y_prob in y_probs.items()}


BinsOfModels: TypeAlias = Mapping[str, Sequence[Edges]]
"""For each model the bins by the measure and those by confidence."""


class Comparer:
    """`compare` for rows that come in batches: the same result for the same rows in the same order.

    Parameters are as in `compare`. `bins` may also be a mapping from each model to a pair of Edges: those by the
    measure and those by confidence. Bins of equal mass must be given in this way, because they depend on all rows.
    Of arrays of images (`class_axis`, `ignore_index`), each batch has further images.

    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
    >>> comparer = tn.Comparer(3, models=["good", "sharp"], rng=0)
    >>> for part in (slice(0, 700), slice(700, 2000)):
    ...     batch = y_prob[part]
    ...     comparer.update(y_true[part], {"good": batch, "sharp": tn.simulate.sharpen(batch, 1.5)})
    >>> print(comparer.result().verdict)
    good is better calibrated than sharp: VCE(good) - VCE(sharp) = -0.0981 [...], ECE(good) - ...
    """

    def __init__(
        self,
        n_classes: int | None = None,
        *,
        models: Sequence[str],
        options: bool = False,
        variation: str | Variation = "entropy",
        bins: int | Bins | BinsOfModels = 10,
        confidence_bins: int | Bins | None = None,
        level: float = 0.95,
        tolerance: float | Mapping[str, float] | None = None,
        resamples: int = 999,
        rng: Seed = 0,
        min_group_size: int = MIN_GROUP_SIZE,
        by_class: bool = True,
        ties: str = DEFAULT_TIES,
        weighted: bool = False,
        from_logits: bool = False,
        normalize: bool = False,
        classes: Any = None,
        class_axis: int | None = None,
        ignore_index: int | None = None,
    ) -> None:
        self._with_options = boolean("options", options)
        self._n_classes = classes_or_options(n_classes, self._with_options)
        if isinstance(models, str) or len(set(models)) != len(models) or len(models) < 2:
            cause = f"models must be two or more different names, got {models!r}"
            raise InvalidValueError("bad-argument", cause, argument="models", value=models)
        self._settings = Settings.of(level, resamples, rng, tolerance)
        self._min_group_size = whole_number("min_group_size", min_group_size, 1)
        weighted = boolean("weighted", weighted)
        self._specs: dict[str, list[AnySpec]] = {}
        for name in map(str, models):
            own: Sequence[Any] = bins[name] if isinstance(bins, Mapping) else (bins, confidence_bins)
            plan = TablePlan.of(
                variation, own[0], own[-1], ties, by_class=by_class, options=self._with_options
            )
            refuse_equal_mass(plan)
            self._specs[name] = plan.specs(self._n_classes, weighted=weighted)
        self._options = {"from_logits": from_logits, "normalize": normalize, "classes": classes}
        self._axes: dict[str, Any] = {"class_axis": class_axis, "ignore_index": ignore_index}
        self._counts = ImageCounts()
        self._first_row = self._first_image = self._n_rows = 0
        self._columns: Columns | None = None
        self._sums: dict[str | None, SumsOfModels] = {}

    @property
    def n_rows(self) -> int:
        """How many rows were added."""
        return self._n_rows

    def starting_at(self, first_row: int, first_image: int = 0) -> Comparer:
        """An empty Comparer with the same settings, for rows that begin at this position among all rows.

        Independent rows are resampled by their positions. Comparers of parts of the rows, each with the position of its
        first row, add up to that of all rows, in any order. Images without `clusters` are clusters that are named by
        their numbers: of these, `first_image` is the first.

        >>> import trueness as tn
        >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
        >>> whole = tn.Comparer(3, models=["good", "sharp"])
        >>> first, second = whole.starting_at(0), whole.starting_at(700)
        >>> for comparer, part in ((whole, slice(2000)), (first, slice(700)), (second, slice(700, 2000))):
        ...     batch = y_prob[part]
        ...     comparer.update(y_true[part], {"good": batch, "sharp": tn.simulate.sharpen(batch, 1.5)})
        >>> (second + first).result().to_dict() == whole.result().to_dict()
        True
        """
        made = copy(self)
        made._first_row, made._n_rows = whole_number("first_row", first_row, 0), 0
        made._first_image, made._counts = whole_number("first_image", first_image, 0), ImageCounts()
        made._columns, made._sums = None, {}
        return made

    def __add__(self, other: Comparer) -> Comparer:
        """The Comparer of the rows of both, which must have the same settings and no row in common."""
        if not isinstance(other, Comparer):
            return NotImplemented
        if self._setup != other._setup:
            cause = "the Comparers have different settings"
            remedy = "make one of them by starting_at of the other"
            raise InvalidValueError("different-tables", cause, remedy)
        first = self if self._first_row <= other._first_row else other
        made = self.starting_at(first._first_row, first._first_image)
        made._counts = self._counts.plus(other._counts)
        made._n_rows, made._columns = self._n_rows + other._n_rows, self._columns or other._columns
        made._sums = _added(self._sums, other._sums)
        return made

    @property
    def _setup(self) -> tuple[Any, ...]:
        return self._settings, self._min_group_size, self._specs, self._options, self._axes

    def update(
        self,
        y_true: Any,
        y_probs: Mapping[str, Any],
        *,
        sample_weight: Any = None,
        groups: Any = None,
        clusters: Any = None,
        n_options: Any = None,
        progress: Progress | None = None,
    ) -> None:
        """Add a batch of rows, with the predictions of all models; if a row is refused, none is added.

        `n_options` is as in `tabulate`, for a Comparer with options=True. A callable as `progress` is called with the
        share of the batch that is done; no bar is shown.
        """
        refuse_other_models(y_probs, self._specs)
        given = rows_of_models(
            y_true,
            y_probs,
            sample_weight=sample_weight,
            groups=groups,
            clusters=clusters,
            n_before=self._first_image + self._counts.n_images,
            options=self._with_options,
            **self._axes,
        )
        rows = self._rows(given.y_true, given.y_probs, given.sample_weight, n_options)
        refuse_other_rows(rows, self._specs, self._n_classes, options=self._with_options)
        n_rows, index = next(iter(rows.values())).n_rows, common_index(rows)
        position = self._first_row + self._n_rows
        found = position if given.clusters is None else clusters_of_rows(given.clusters, n_rows, index)
        encoded = None if given.groups is None else encode_groups_of_rows(given.groups, n_rows, index)
        batch = self._sums_of(rows, found, encoded, RowsDone(n_rows * len(rows), progress))
        # All together, so that a refusal leaves nothing half added.
        self._sums = _added(self._sums, batch)
        self._n_rows += n_rows
        self._counts = self._counts.plus(given.counts)
        self._columns = self._columns or first_columns(rows)

    def _sums_of(
        self,
        rows: Mapping[str, AnyRows],
        found: ClustersOfRows | int,
        groups: EncodedNames | None,
        done: RowsDone,
    ) -> dict[str | None, SumsOfModels]:
        """The sums of all rows, as group None, and of each group."""
        specs = {
            name: [named_classes(spec, rows[name].class_names) for spec in of_model]
            for name, of_model in self._specs.items()
        }
        if groups is None:
            return {None: sums_of_models(rows, specs, found, None, done)}
        refuse_many_groups(next(iter(specs.values())), len(groups.names) * len(specs))
        of_groups: dict[str | None, SumsOfModels] = {
            name: sums_of_models(rows, specs, found, which, done)
            for name, which in zip(groups.names, rows_of_groups(groups.codes, len(groups.names)), strict=True)
        }
        return {**of_groups, None: reduce(add, of_groups.values())}

    def _rows(
        self, y_true: Any, y_probs: Mapping[str, Any], sample_weight: Any, n_options: Any
    ) -> dict[str, AnyRows]:
        """The rows of each model; columns of data frames are matched by name to those of the first one."""
        rows: dict[str, AnyRows] = {}
        if not self._with_options:
            refuse_n_options(n_options)
        for name in self._specs:
            y_prob = next(given for key, given in y_probs.items() if str(key) == name)
            if self._with_options:
                rows[name] = rows_with_options(
                    y_true, y_prob, sample_weight, n_options=n_options, **self._options
                )
                continue
            first = self._columns or first_columns(rows)
            rows[name] = Rows.of(y_true, y_prob, sample_weight, first=first, **self._options)
        return rows

    def result(self) -> Comparison:
        """The comparison of all rows so far."""
        if not self._sums:
            raise InvalidValueError("no-rows", "no rows were added", "call update first")
        whole = comparison_of(self._sums[None].samples(self._settings), self._settings)
        groups = [
            self._group(name, sums)
            for name, sums in sorted(self._sums.items(), key=lambda item: str(item[0]))
            if name is not None
        ]
        compared = replace(whole, groups=tuple(adjust_groups(groups, len(whole.pairs))))
        return _with_notes(compared, about_images(self._counts))

    def _group(self, name: str, sums: SumsOfModels) -> GroupComparison:
        some = sums.some_sample
        reason = some.reason_to_skip(self._min_group_size)
        comparison = comparison_of(sums.samples(self._settings), self._settings) if reason is None else None
        return GroupComparison(name, some.n_rows, comparison, (), reason)


def _added(
    one: Mapping[str | None, SumsOfModels], other: Mapping[str | None, SumsOfModels]
) -> dict[str | None, SumsOfModels]:
    """The sums of each group of both."""
    return {**one, **{group: one[group] + sums if group in one else sums for group, sums in other.items()}}

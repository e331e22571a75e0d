"""Several models on the same rows: which is better calibrated, and is the difference more than noise?

All models are seen through the same bootstrap weights, so that what the rows have in common cancels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from trueness._arguments import require_choice, whole_number, yes_or_no
from trueness._progress import Progress, progress_callback
from trueness._random import Seed
from trueness.assessment._contrasts import Part, adjusted, compared
from trueness.assessment._judge import Settings, too_small
from trueness.assessment._side_by_side import Comparison, GroupComparison
from trueness.bins import Bins, Edges, EqualMass, as_bins, confidence_bins_for
from trueness.inference.bootstrap_weights import ClusterWeights, RowWeights, stream_key
from trueness.inference.replicates import Replicates, replicate
from trueness.ranking import TIES
from trueness.rows import Rows
from trueness.rows.class_columns import Columns
from trueness.rows.containers import refuse_other_index
from trueness.rows.groups import coded_groups, names_of
from trueness.table import CalibrationTable, TableSpec
from trueness.tabulation import edges_for, tabulate_groups, tabulate_rows
from trueness.variation import CONFIDENCE, Variation, as_variation

_STREAM = 6


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
    min_group_size: int = 100,
    clusters: Any = None,
    ties: str = "first",
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    progress: Progress | bool | None = None,
) -> Comparison:
    """Compare the calibration of several models on the same rows.

    Differences are of debiased values; their noise is that of a bootstrap over rows (or clusters) in which all models
    see the same weights. Whether two models differ rests on the differences of all metrics together (`Pair.p_value`),
    Holm-corrected over the pairs of models. Options are as in `assess`.

    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
    >>> print(tn.compare(y_true, {"good": y_prob, "sharp": tn.simulate.sharpen(y_prob, 1.5)}, rng=0).verdict)
    good is better calibrated than sharp: VCE good - sharp = -0.0984 [...], ECE good - sharp = ...
    """
    models, progress = _checked_models(y_probs), progress_callback(progress)
    chosen = as_bins(bins)
    measure = as_variation(variation)
    edges = {
        name: _edges(
            y_prob,
            (measure, chosen),
            confidence_bins_for(chosen, confidence_bins),
            sample_weight,
            from_logits=from_logits,
            normalize=normalize,
        )
        for name, y_prob in models.items()
    }
    some = next(iter(edges.values()))
    comparer = Comparer(
        some[2],
        models=list(models),
        variation=measure,
        bins={name: pair[:2] for name, pair in edges.items()},
        level=level,
        tolerance=tolerance,
        resamples=resamples,
        rng=rng,
        min_group_size=min_group_size,
        ties=ties,
        weighted=sample_weight is not None,
        from_logits=from_logits,
        normalize=normalize,
        classes=classes,
    )
    comparer.update(
        y_true, models, sample_weight=sample_weight, groups=groups, clusters=clusters, progress=progress
    )
    return comparer.result()


def _checked_models(y_probs: Any) -> dict[str, Any]:
    if not isinstance(y_probs, Mapping) or len(y_probs) < 2:
        raise TypeError('y_probs must be a mapping of two or more models, {"a": prob_a, "b": prob_b}')
    return {str(name): y_prob for name, y_prob in y_probs.items()}


def _edges(
    y_prob: Any,
    by_measure: tuple[Variation, Bins],
    confidence_bins: Bins,
    sample_weight: Any,
    **options: bool,
) -> tuple[Edges, Edges, int]:
    """Bins of a model by the measure and by confidence, and the number of classes."""
    rows = Rows.of_predictions(y_prob, sample_weight, **options)
    return (
        edges_for(rows, *by_measure, "auto", None),
        edges_for(rows, CONFIDENCE, confidence_bins, "auto", None),
        rows.n_classes,
    )


class Comparer:
    """`compare` for rows that come in batches: the same answer for the same rows in the same order.

    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
    >>> comparer = tn.Comparer(3, models=["good", "sharp"], rng=0)
    >>> for part in (slice(0, 700), slice(700, 2000)):
    ...     batch = y_prob[part]
    ...     comparer.update(y_true[part], {"good": batch, "sharp": tn.simulate.sharpen(batch, 1.5)})
    >>> print(comparer.result().verdict)
    good is better calibrated than sharp: VCE good - sharp = -0.0984 [...], ECE good - sharp = ...
    """

    def __init__(
        self,
        n_classes: int,
        *,
        models: Sequence[str],
        variation: str | Variation = "entropy",
        bins: int | Bins | Mapping[str, tuple[Edges, Edges]] = 10,
        confidence_bins: int | Bins | None = None,
        level: float = 0.95,
        tolerance: float | Mapping[str, float] | None = None,
        resamples: int = 999,
        rng: Seed = 0,
        min_group_size: int = 100,
        ties: str = "first",
        weighted: bool = False,
        from_logits: bool = False,
        normalize: bool = False,
        classes: Any = None,
    ) -> None:
        n_classes = whole_number("n_classes", n_classes, 2)
        require_choice("ties", ties, TIES)
        if isinstance(models, str) or len(set(models)) != len(models) or len(models) < 2:
            raise ValueError(f"models must be two or more different names, got {models!r}")
        self._settings = Settings.of(level, resamples, rng, tolerance)
        self._min_group_size = whole_number("min_group_size", min_group_size, 1)
        measure, weighted = as_variation(variation), yes_or_no("weighted", weighted)
        self._specs = {
            str(name): [
                TableSpec(n_classes, of, edges, ties, weighted)
                for of, edges in zip(
                    (measure, CONFIDENCE),
                    _resolved(bins, confidence_bins, str(name), measure, n_classes),
                    strict=True,
                )
            ]
            for name in models
        }
        self._options = {"from_logits": from_logits, "normalize": normalize, "classes": classes}
        self._key = stream_key([self._settings.seed, _STREAM])
        self._n_rows = 0
        self._columns: Columns | None = None
        self._parts: dict[str | None, Part] = {}

    @property
    def n_rows(self) -> int:
        """How many rows were added."""
        return self._n_rows

    def update(
        self,
        y_true: Any,
        y_probs: Mapping[str, Any],
        *,
        sample_weight: Any = None,
        groups: Any = None,
        clusters: Any = None,
        progress: Progress | None = None,
    ) -> None:
        """Add a batch of rows, with the predictions of all models; all or, if one is refused, none.

        A callable as `progress` is called with the share of the batch that is done; there is no bar of its own.
        """
        if not isinstance(y_probs, Mapping) or set(map(str, y_probs)) != set(self._specs):
            given = sorted(map(str, y_probs)) if isinstance(y_probs, Mapping) else type(y_probs).__name__
            raise ValueError(f"y_probs must hold the predictions of {sorted(self._specs)}, got {given}")
        rows = self._rows(y_true, y_probs, sample_weight)
        self._check(rows)
        n_rows, index = next(iter(rows.values())).n_rows, _common_index(rows)
        weights: RowWeights | ClusterWeights = RowWeights(self._key, self._settings.resamples, self._n_rows)
        if clusters is not None:
            names = names_of("clusters", clusters, n_rows, index)
            weights = ClusterWeights(self._key, self._settings.resamples, names)
        tables = {name: tabulate_rows(rows[name], specs) for name, specs in self._specs.items()}
        drawn = partial(replicate, [(rows[name], specs) for name, specs in self._specs.items()], weights)
        parts: dict[str | None, Part] = {}
        if groups is None:
            (of_all,) = drawn(self._settings.resamples, progress=progress)
            parts[None] = self._part(tables, of_all, weights.clusters(np.arange(n_rows)))
        else:
            named, code = coded_groups(groups, n_rows, index)
            made = drawn(self._settings.resamples, group_of=code, n_groups=len(named), progress=progress)
            of_group = {
                name: tabulate_groups(rows[name], specs, code, len(named))
                for name, specs in self._specs.items()
            }
            for number, group in enumerate(named):
                mine = {name: of_model[number] for name, of_model in of_group.items()}
                parts[group] = self._part(
                    mine, made[number], weights.clusters(np.flatnonzero(code == number))
                )
            parts[None] = replace(reduce(add, parts.values()), tables=tables)
        # All together, so that a refusal leaves nothing half added.
        self._parts |= {
            key: self._parts[key] + part if key in self._parts else part for key, part in parts.items()
        }
        self._n_rows += n_rows
        self._columns = self._columns or _first_columns(rows)

    def _rows(self, y_true: Any, y_probs: Mapping[str, Any], sample_weight: Any) -> dict[str, Rows]:
        """The rows of each model; columns of data frames are matched by name to those of the first one."""
        rows: dict[str, Rows] = {}
        for name in self._specs:
            y_prob = next(given for key, given in y_probs.items() if str(key) == name)
            first = self._columns or _first_columns(rows)
            rows[name] = Rows.of(y_true, y_prob, sample_weight, first=first, **self._options)
        return rows

    def _part(
        self,
        tables: dict[str, list[CalibrationTable]],
        made: list[list[Replicates]],
        clusters: frozenset[int] | None,
    ) -> Part:
        return Part(tables, dict(zip(self._specs, made, strict=True)), clusters)

    def _check(self, rows: Mapping[str, Rows]) -> None:
        for name, given in rows.items():
            spec = self._specs[name][0]
            if given.n_classes != spec.n_classes:
                raise ValueError(
                    f"the predictions of {name!r} have {given.n_classes} classes, not {spec.n_classes}"
                )
            if spec.weighted != (given.sample_weight is not None):
                needed = "needs" if spec.weighted else "takes no"
                raise ValueError(f"a Comparer with weighted={spec.weighted} {needed} sample_weight")

    def result(self) -> Comparison:
        """The comparison of all rows so far."""
        if not self._parts:
            raise ValueError("no rows were added; call update first")
        whole = compared(self._parts[None], self._settings)
        groups = [
            self._group(name, part)
            for name, part in sorted(self._parts.items(), key=lambda item: str(item[0]))
            if name is not None
        ]
        return replace(whole, groups=tuple(adjusted(groups, len(whole.pairs))))

    def _group(self, name: str, part: Part) -> GroupComparison:
        reason = too_small(part.material(next(iter(self._specs))), self._min_group_size)
        comparison = compared(part, self._settings) if reason is None else None
        return GroupComparison(name, part.n_rows, comparison, (), reason)


def _first_columns(rows: Mapping[str, Rows]) -> Columns | None:
    """The named columns of the first model that has such."""
    return next((given.columns_of_classes for given in rows.values() if given.columns_of_classes), None)


def _common_index(rows: Mapping[str, Rows]) -> Any:
    """The row labels that models have in common; refused where they differ."""
    indexes = {name: given.index for name, given in rows.items() if given.index is not None}
    if not indexes:
        return None
    first, *others = indexes
    for name in others:
        refuse_other_index(f"y_probs[{first!r}]", indexes[first], f"y_probs[{name!r}]", indexes[name])
    return indexes[first]


def _resolved(
    bins: Any, confidence_bins: Any, name: str, measure: Variation, n_classes: int
) -> tuple[Edges, Edges]:
    """Bins of a model by the measure and by confidence."""
    if isinstance(bins, Mapping):
        by_measure, by_confidence = bins[name]
        return by_measure, by_confidence
    chosen = as_bins(bins)
    by_confidence = confidence_bins_for(chosen, confidence_bins)
    if isinstance(chosen, EqualMass) or isinstance(by_confidence, EqualMass):
        raise ValueError(
            "EqualMass bins depend on all rows, which a stream has not seen: pass a mapping from each model to a pair, "
            "(EqualMass(...).fit(y_prob), EqualMass(...).fit(y_prob, variation='confidence'))"
        )
    return (
        chosen.resolve(*measure.range_for(n_classes)),
        by_confidence.resolve(*CONFIDENCE.range_for(n_classes)),
    )

"""Tests of all classes, with their correction for the number of tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat

import numpy as np

from trueness.old_inference.classwise.errors import classwise_errors, is_measured, stream_of
from trueness.old_inference.classwise.results import (
    ClassAssessment,
    ClasswiseAssessment,
    PooledClasses,
    words_of,
)
from trueness.old_inference.corrections import benjamini_hochberg
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.clusters import ClusteredEvent
from trueness.old_inference.events.in_the_large import GapTest, gap_interval, gap_test, gap_tests
from trueness.old_inference.events.prevalence import adjust_prevalence
from trueness.old_inference.events.spread import SpreadTest, spread_test, spread_tests
from trueness.refusals import InvalidValueError

_UNTESTED = "never predicted and never observed"


def assess_classes(
    cells: Sequence[EventCells],
    bins: Sequence[EventCells],
    n_classes: int,
    *,
    level: float,
    resamples: int,
    seed: int,
    names: Sequence[str] | None = None,
    clusters: Sequence[ClusteredEvent] | None = None,
) -> ClasswiseAssessment:
    """Gap, spread and calibration error of every class, from the cells and the bins of its probability.

    `cells` and `bins` have one entry for each class; for two classes one only, that of class 1. Gap and spread are
    computed from the cells, the calibration error from the bins. `names` are those of all classes, if they have
    names: the random stream of a class then depends on its name, so that the order of the classes does not matter.
    `clusters` are the variances of rows in clusters.
    """
    indices = _indices(cells, bins, n_classes)
    labels = [str(c) if names is None else names[c] for c in indices]
    streams = [stream_of(seed, c, None if names is None else names[c]) for c in indices]
    gaps, spreads = _gap_tests(cells, level), spread_tests(cells)
    of_spreads = list(cells)
    if clusters is not None:
        gaps = [*map(gap_of_clusters, gaps, clusters, cells, repeat(level))]
        of_spreads = [noise.of_spread(each) for noise, each in zip(clusters, cells, strict=True)]
        spreads = [*map(larger_spread, spreads, spread_tests(of_spreads))]
        bins = [noise.of_bins(each) for noise, each in zip(clusters, bins, strict=True)]
    errors = classwise_errors(bins, level, resamples, streams)
    adjusted = _adjusted(gaps, spreads)
    limit = 1 - level + 1e-12  # 1 - 0.9 is rounded to below 0.1
    remaining = [_remaining(*both, each, limit) for both, each in zip(adjusted, of_spreads, strict=True)]
    classes = tuple(
        ClassAssessment(
            name=labels[k],
            index=c,
            gap=gaps[k],
            spread=spreads[k],
            ece=errors.by_class[k],
            measured=is_measured(cells[k]),
            adjusted_gap_p_value=adjusted[k][0],
            adjusted_spread_p_value=adjusted[k][1],
            words=words_of(gaps[k], remaining[k] or spreads[k], adjusted[k], limit),
            remaining_spread=remaining[k],
            gap_explains_spread=(left := remaining[k]) is not None and left.p_value > limit,
        )
        for k, c in enumerate(indices)
    )
    return ClasswiseAssessment(
        classes=classes,
        mean=errors.mean,
        total=errors.total,
        expected_weighted=errors.expected_weighted,
        observed_weighted=errors.observed_weighted,
        pooled=_pooled(classes, cells),
        evidence_p_value=_evidence(gaps, spreads),
        level=level,
    )


def _remaining(gap_p: float, spread_p: float, cells: EventCells, limit: float) -> SpreadTest | None:
    """The spread once the gap is removed, if both are significant and the gap can be removed."""
    if not (gap_p <= limit and spread_p <= limit):
        return None
    without_gap = adjust_prevalence(cells, 0.95).cells
    test = None if without_gap is None else spread_test(without_gap)
    return None if test is None or math.isnan(test.p_value) else test


def _indices(cells: Sequence[EventCells], bins: Sequence[EventCells], n_classes: int) -> list[int]:
    """The classes that the cells belong to."""
    indices = [1] if n_classes == 2 else list(range(n_classes))
    if not len(cells) == len(bins) == len(indices):
        cause = (
            f"cells has {len(cells)} entries and bins has {len(bins)}, but {len(indices)} are "
            f"needed for {n_classes} classes"
        )
        remedy = "pass the cells and the bins of each class; of two classes only those of class 1"
        raise InvalidValueError("bad-argument", cause, remedy, argument="cells", value=len(cells))
    return indices


def _gap_tests(cells: Sequence[EventCells], level: float) -> list[GapTest]:
    """The tests of the gaps with their intervals; without a p-value for classes that cannot be tested."""
    tests = gap_tests(cells)
    return [
        replace(test, p_value=math.nan, reason=test.reason or _UNTESTED)
        if test.expected == 0 and test.observed == 0
        else replace(test, interval=gap_interval(each, level))
        for test, each in zip(tests, cells, strict=True)
    ]


def gap_of_clusters(test: GapTest, noise: ClusteredEvent, cells: EventCells, level: float) -> GapTest:
    """The test of a gap with the interval of rows in clusters and the larger p-value; an impossible one as it is."""
    if test.impossible or math.isnan(test.p_value):
        return test
    p_value = max(test.p_value, noise.gap_p_value(cells))
    return replace(test, p_value=p_value, interval=gap_interval(noise.of_gap(cells), level))


def larger_spread(independent: SpreadTest, clustered: SpreadTest) -> SpreadTest:
    """The test of a spread by the noise of clusters, with the larger of both p-values."""
    return replace(clustered, p_value=max(independent.p_value, clustered.p_value))


def _adjusted(gaps: Sequence[GapTest], spreads: Sequence[SpreadTest]) -> list[tuple[float, float]]:
    """The p-values of gap and spread of each class, corrected together; NaN where there is no test."""
    p = np.array([(gap.p_value, spread.p_value) for gap, spread in zip(gaps, spreads, strict=True)])
    known = ~np.isnan(p)
    p[known] = benjamini_hochberg(p[known].tolist())
    return [(float(gap), float(spread)) for gap, spread in p]


def _evidence(gaps: Sequence[GapTest], spreads: Sequence[SpreadTest]) -> float:
    """The smallest corrected p-value of the possible classes; NaN if none was tested.

    Impossible rows are reported by themselves: other evidence does not depend on them.
    """
    possible = [not gap.impossible for gap in gaps]
    tests = [
        p
        for gap, spread, counts in zip(gaps, spreads, possible, strict=True)
        if counts
        for p in (gap.p_value, spread.p_value)
        if not math.isnan(p)
    ]
    return min(benjamini_hochberg(tests), default=math.nan)


def _pooled(classes: Sequence[ClassAssessment], cells: Sequence[EventCells]) -> PooledClasses | None:
    """The test of the sum of the gaps of the classes that are not measured."""
    few = [
        (each, own) for each, own in zip(classes, cells, strict=True) if not each.measured and len(own.count)
    ]
    if not few:
        return None
    count, predicted, observed, square = (
        np.concatenate([getattr(own, name) for _, own in few])
        for name in ("count", "predicted", "observed", "weight_square")
    )
    joined = EventCells(count, predicted, observed, square, few[0][1].weighted)
    test = gap_test(joined)
    names = tuple(each.name for each, _ in few)
    return PooledClasses(names, test.expected, test.observed, test.p_value)

"""The event in the large: how often it was expected, and how often it was observed, over all rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray
from trueness.old_inference.events._batch import CellBatch, where_cells
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.poisson_binomial import poisson_binomial_tails
from trueness.old_inference.normal import normal_quantile, normal_upper_tail
from trueness.old_inference.results import Interval

NO_ROWS = "no rows"
IMPOSSIBLE = "impossible: observed more often than its probability was above 0, or less often than it was 1"


@dataclass(frozen=True, slots=True)
class GapTest:
    """The gap of an event over all rows, (expected - observed)/rows, with its exact test."""

    value: float
    """(E - O)/N, from -1 to 1; above 0 the event was predicted too often."""
    expected: float
    """E = Σp."""
    observed: float
    """O = Σy."""
    p_value: float
    """Two-sided: min(1, 2·min(P(X ≤ O), P(X ≥ O))) for the observed number X of a calibrated event."""
    lower_tail: float
    """P(X ≤ O)."""
    upper_tail: float
    """P(X ≥ O)."""
    ratio: float
    """O/E; NaN if E = 0."""
    reason: str | None = None
    """Why there is no value, or why the p-value is 0."""
    interval: Interval | None = None
    """The interval of the value, if it was asked for."""

    @property
    def impossible(self) -> bool:
        """Whether the observed number cannot occur if the predictions are right."""
        return self.reason == IMPOSSIBLE


def in_the_large(cells: EventCells, level: float) -> GapTest:
    """The test of the gap, with the interval of its value."""
    return replace(gap_test(cells), interval=gap_interval(cells, level))


def gap_test(cells: EventCells) -> GapTest:
    """The test of the gap of one event.

    >>> one = np.array([1.0, 1.0])
    >>> gap_test(EventCells(one, np.array([0.1, 0.2]), one, one)).p_value
    0.04...
    """
    return gap_tests([cells])[0]


def gap_tests(events: Sequence[EventCells]) -> list[GapTest]:
    """`gap_test` of each event, at once: a thousand events of some dozens of cells take about a tenth of a second."""
    found = [_without_rows()] * len(events)
    for weighted in (False, True):
        some = [k for k in where_cells(events) if events[k].weighted == weighted]
        tests = _gap_tests([events[k] for k in some], weighted) if some else []
        for k, test in zip(some, tests, strict=True):
            found[k] = test
    return found


def _gap_tests(events: Sequence[EventCells], weighted: bool) -> list[GapTest]:
    """The tests of events with rows, all of them weighted or none."""
    batch = CellBatch.of(events)
    expected, observed = batch.total(batch.predicted), batch.total(batch.observed)
    if weighted:
        lower, upper = _normal_tails(batch, expected, observed)
    else:
        lower, upper = poisson_binomial_tails(batch.count, batch.mean_predicted, batch.starts, observed)
    columns = (expected, observed, batch.total(batch.count), lower, upper)
    tests = [_gap_test(*row) for row in np.stack(columns).T.tolist()]
    for k in np.flatnonzero(_impossible(batch, observed)).tolist():
        tests[k] = replace(tests[k], p_value=0.0, reason=IMPOSSIBLE)
    return tests


def _impossible(batch: CellBatch, observed: FloatArray) -> NDArray[np.bool_]:
    """Whether the observed number is below the rows with p̄ = 1, or above those with p̄ > 0, (K,)."""
    p, slack = batch.mean_predicted, 1e-9 * batch.total(batch.count)
    least, most = (
        batch.total(np.where(p >= 1, batch.count, 0.0)),
        batch.total(np.where(p > 0, batch.count, 0.0)),
    )
    return np.asarray((observed < least - slack) | (observed > most + slack))


def _normal_tails(
    batch: CellBatch, expected: FloatArray, observed: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The tails of a weighted sum, by its variance Σw²·p̄(1 - p̄)."""
    sd = np.sqrt(batch.total(batch.variance))
    apart = observed - expected
    near = np.abs(apart) <= 1e-9 * np.maximum(expected, 1e-300)
    z = np.divide(apart, sd, out=np.where(near, 0.0, np.copysign(np.inf, apart)), where=sd > 0)
    # Without noise and without a gap, both tails hold everything.
    lower, upper = (np.where((sd <= 0) & near, 1.0, normal_upper_tail(side * z)) for side in (-1, 1))
    return lower, upper


def _gap_test(expected: float, observed: float, total: float, lower: float, upper: float) -> GapTest:
    return GapTest(
        value=(expected - observed) / total,
        expected=expected,
        observed=observed,
        p_value=min(1.0, 2 * min(lower, upper)),
        lower_tail=lower,
        upper_tail=upper,
        ratio=observed / expected if expected > 0 else math.nan,
    )


def _without_rows() -> GapTest:
    return GapTest(math.nan, 0.0, 0.0, math.nan, math.nan, math.nan, math.nan, NO_ROWS)


def frequency_sd(cells: EventCells) -> FloatArray:
    """σ = √(max(p̄(1 - p̄), r(1 - r))/n) of the observed frequency of each cell, with r = (n·ȳ + p̄)/(n + 1).

    The noise under calibration or as observed, whichever is larger; one row at p̄ is added to the observed ones, so
    that cells without any variation still have noise.
    """
    n, p = cells.effective_count, cells.mean_predicted
    r = (n * cells.mean_observed + p) / (n + 1)
    return np.asarray(np.sqrt(np.maximum(p * (1 - p), r * (1 - r)) / n))


def gap_interval(cells: EventCells, level: float) -> Interval:
    """The normal interval of (E - O)/N, with the standard deviation √Σn²σ²/N; NaN without rows."""
    if not len(cells.count):
        return Interval(math.nan, math.nan, level, "normal")
    value = float(cells.predicted.sum() - cells.observed.sum()) / cells.total
    sd = float(np.sqrt(np.sum((cells.count * frequency_sd(cells)) ** 2))) / cells.total
    return Interval.around(value, normal_quantile(level) * sd, (-1.0, 1.0), level, "normal")

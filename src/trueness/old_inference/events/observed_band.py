"""The numbers between which an event is observed if it is calibrated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.events._batch import CellBatch, where_cells
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.poisson_binomial import poisson_binomial_tails
from trueness.old_inference.normal import normal_quantile

_SLACK = 1e-12


def observed_bands(events: Sequence[EventCells], level: float) -> tuple[FloatArray, FloatArray]:
    """The smallest and the largest observed number of each calibrated event with at least the given probability, (K,).

    Exact: the quantiles (1 ∓ level)/2 of the sum of the binomials of its cells. With weights, by the normal
    distribution with the variance Σw²·p̄(1 - p̄). NaN for events without rows.

    >>> one = np.array([10.0])
    >>> low, high = observed_bands([EventCells(one, np.array([9.0]), one, one)], 0.95)
    >>> low.tolist(), high.tolist()
    ([7.0], [10.0])
    """
    low, high = np.full(len(events), np.nan), np.full(len(events), np.nan)
    for weighted in (False, True):
        some = [k for k in where_cells(events) if events[k].weighted == weighted]
        if some:
            batch = CellBatch.of([events[k] for k in some])
            low[some], high[some] = (_by_normal if weighted else _by_tails)(batch, level)
    return low, high


def _by_normal(batch: CellBatch, level: float) -> tuple[FloatArray, FloatArray]:
    reach = normal_quantile(level) * np.sqrt(batch.total(batch.variance))
    expected = batch.total(batch.predicted)
    return np.maximum(expected - reach, 0.0), np.minimum(expected + reach, batch.total(batch.count))


def _by_tails(batch: CellBatch, level: float) -> tuple[FloatArray, FloatArray]:
    tail = (1 - level) / 2
    return _quantile(batch, tail), _quantile(batch, 1 - tail)


def _quantile(batch: CellBatch, share: float) -> FloatArray:
    """The smallest number k of each event with P(X ≤ k) ≥ share, by bisection."""
    n, p = batch.count, batch.mean_predicted
    below, reached = np.full(len(batch.starts), -1.0), batch.total(n)
    while np.any(reached - below > 1):
        middle = np.floor((below + reached) / 2)
        enough = poisson_binomial_tails(n, p, batch.starts, middle)[0] >= share - _SLACK
        below, reached = np.where(enough, below, middle), np.where(enough, middle, reached)
    return reached

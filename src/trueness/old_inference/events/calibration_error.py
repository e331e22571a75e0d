"""The calibration error of an event: the mean absolute gap over bins, with noise floor, p-value and interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.binomial import absolute_deviation
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.draws import by_draws, independent_rows
from trueness.old_inference.events.in_the_large import NO_ROWS, frequency_sd
from trueness.old_inference.normal import QUANTILE_DRAWS, debiased_total, half_normal_quantile
from trueness.old_inference.null import p_value
from trueness.old_inference.results import Interval

Norm: TypeAlias = Literal["l1", "l2", "max"]
"""Mean absolute gap, root of the mean squared gap, or largest gap."""

_DEBIASING_DRAWS = 500
_NOISE_PART = 1111  # of 9999 draws
_BISECTIONS = 40


@dataclass(frozen=True, slots=True)
class EventError:
    """The calibration error of one event over its bins."""

    value: float
    """The plug-in value: Σ(n/N)·|p̄ - ȳ| for the norm "l1"."""
    noise_floor: float
    """Its mean if the event is calibrated."""
    p_value: float
    """The probability of a value at least as large if the event is calibrated, by draws."""
    debiased: float
    """An estimate of the value with unlimited data."""
    interval: Interval
    reason: str | None = None
    """Why there is no value."""


def event_calibration_error(
    bins: EventCells, level: float, seed: list[int], resamples: int, norm: Norm = "l1"
) -> EventError:
    """The calibration error of an event whose cells are the bins; draws come from the stream `seed`."""
    if not len(bins.count):
        nan = math.nan
        return EventError(nan, nan, nan, nan, Interval(nan, nan, level, "triangle"), NO_ROWS)
    value = float(error_of_gaps(bins, gap := _gap(bins), norm))
    null = null_errors(bins, seed, resamples, norm)
    sd = frequency_sd(bins)
    if norm == "l1":
        weight = bins.count / bins.total
        floor = expected_absolute_gap(bins)
        debiased = float(debiased_total(weight, gap, sd))
        reach, method = half_normal_quantile(weight * sd, level, [*seed, 1]), "half-normal"
    else:
        floor, method = float(null.mean()), "triangle"
        debiased = _debiased(bins, gap, sd, norm, [*seed, 2])
        reach = float(np.quantile(_noise_norms(bins, sd, norm, [*seed, 1]), level))
    interval = Interval.around(value, reach, (0.0, 1.0), level, method)
    return EventError(value, floor, p_value(null, value), debiased, interval)


def expected_absolute_gap(bins: EventCells) -> float:
    """The noise floor Σ(n/N)·E|X/n - p̄| of a calibrated event, X ~ Binomial(n, p̄); exact, NaN without rows.

    Weighted rows count as (Σw)²/Σw² ones, rounded.

    >>> one = np.array([2.0])
    >>> round(expected_absolute_gap(EventCells(one, np.array([1.0]), one, one)), 12)
    0.25
    """
    if not len(bins.count):
        return math.nan
    n, p = independent_rows(bins), bins.mean_predicted
    return float(bins.count @ (absolute_deviation(n, p) / n)) / bins.total


def error_of_gaps(bins: EventCells, gap: FloatArray, norm: Norm) -> FloatArray:
    """The norm of gaps over the last axis, each bin with its share of the rows."""
    weight = bins.count / bins.total
    if norm == "l1":
        return np.asarray(np.abs(gap) @ weight)
    if norm == "l2":
        return np.sqrt(gap**2 @ weight)
    return np.asarray(np.abs(gap).max(axis=-1))


def null_errors(bins: EventCells, seed: list[int], resamples: int, norm: Norm = "l1") -> FloatArray:
    """The error of each of R draws of a calibrated event, (R,), from the stream `seed`."""
    return by_draws(bins, seed, resamples, lambda y: error_of_gaps(bins, bins.mean_predicted - y, norm))


def _gap(bins: EventCells) -> FloatArray:
    """Predicted less observed frequency of each bin."""
    return bins.mean_predicted - bins.mean_observed


def _noise_norms(bins: EventCells, sd: FloatArray, norm: Norm, seed: list[int]) -> FloatArray:
    """The norm of normal noise alone: by the triangle inequality, no value is further than this from the true one."""
    stream, shape = np.random.default_rng(seed), (_NOISE_PART, len(sd))
    parts = range(0, QUANTILE_DRAWS, _NOISE_PART)
    return np.concatenate([error_of_gaps(bins, sd * stream.standard_normal(shape), norm) for _ in parts])


def _debiased(bins: EventCells, gap: FloatArray, sd: FloatArray, norm: Norm, seed: list[int]) -> float:
    """t·T with t in [0, 1] such that gaps t·g with normal noise would give the value T on average.

    As `debiased_total`, for any norm. The noise comes in pairs ±Z, so that the mean does not fall as t grows.
    """
    noise = sd * np.random.default_rng(seed).standard_normal((_DEBIASING_DRAWS, len(sd)))
    value = float(error_of_gaps(bins, gap, norm))

    def mean(t: float) -> float:
        up, down = (float(error_of_gaps(bins, t * gap + side * noise, norm).mean()) for side in (1, -1))
        return (up + down) / 2

    low, high = 0.0, 1.0
    if mean(low) >= value:
        return 0.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < value else (low, middle)
    return low * value

"""The calibration error of classes over bins of their probability, and its mean and total over the classes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.classwise.results import ClasswiseError
from trueness.old_inference.events.calibration_error import expected_absolute_gap
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.draws import by_draws
from trueness.old_inference.events.in_the_large import NO_ROWS, frequency_sd
from trueness.old_inference.normal import debiased_total, normal_quantile
from trueness.old_inference.null import p_value
from trueness.old_inference.results import Debiased, Interval
from trueness.rows.clusters import identity

LEAST_EXPECTED = 10
NOT_MEASURED = f"fewer than {LEAST_EXPECTED} rows are expected with this class, or without it"

_STREAM = 6

_HALF_NORMAL = (math.sqrt(2 / math.pi), 1 - 2 / math.pi, math.sqrt(2 / math.pi) * (4 / math.pi - 1))
"""Mean, variance and third central moment of |Z|."""


@dataclass(frozen=True, slots=True)
class ClassBins:
    """The bins of all classes that have rows, with zeros where a class has fewer bins than others, (K, B) each."""

    share: FloatArray
    """n/N, the share of the rows of the class in each bin."""
    gap: FloatArray
    """p̄ - ȳ."""
    sd: FloatArray
    """The standard deviation of ȳ."""

    @classmethod
    def of(cls, bins: Sequence[EventCells]) -> ClassBins:
        """The bins of the classes as arrays."""
        shape = (len(bins), max((len(each.count) for each in bins), default=0))
        share, gap, sd = (np.zeros(shape) for _ in range(3))
        for k, each in enumerate(bins):
            filled = slice(0, len(each.count))
            share[k, filled] = each.count / each.total if len(each.count) else 0.0
            gap[k, filled], sd[k, filled] = each.mean_predicted - each.mean_observed, frequency_sd(each)
        return cls(share, gap, sd)

    def shares_in(self, weights: Iterable[FloatArray]) -> FloatArray:
        """The share of each bin of each class in means over the classes with these weights, (means, K·B)."""
        return np.stack([(weight[:, None] * self.share).ravel() for weight in weights])

    def debiased(self, shares: FloatArray) -> FloatArray:
        """The debiased values of such means."""
        return debiased_total(shares, self.gap.ravel(), self.sd.ravel())

    @property
    def value(self) -> FloatArray:
        """ECE of each class, (K,)."""
        return np.asarray((self.share * np.abs(self.gap)).sum(axis=1))


@dataclass(frozen=True, slots=True)
class ClasswiseErrors:
    """The calibration error of each class, and its means over all classes."""

    by_class: tuple[ClasswiseError, ...]
    mean: ClasswiseError
    total: ClasswiseError
    expected_weighted: ClasswiseError
    observed_weighted: ClasswiseError


def is_measured(cells: EventCells) -> bool:
    """Whether at least 10 rows are expected with the class and 10 without, which does not depend on labels."""
    if not len(cells.count):
        return False
    rows = cells.total**2 / float(cells.weight_square.sum())
    expected = float(cells.predicted.sum()) / cells.total * rows
    return expected >= LEAST_EXPECTED and rows - expected >= LEAST_EXPECTED


def stream_of(seed: int, index: int, name: str | None) -> list[int]:
    """The random stream of a class: by its name, so that the order of classes does not matter, or by its index."""
    return [seed, _STREAM, index if name is None else identity(name)]


def classwise_errors(
    bins: Sequence[EventCells], level: float, resamples: int, streams: Sequence[list[int]]
) -> ClasswiseErrors:
    """The errors of all classes, or of the one event of two classes; each is drawn from its own stream.

    The draws of a mean are those of the classes, added as if these were independent. They are not, but the standard
    deviation of the sum is right to a few per cent from three classes on.
    """
    arrays, weights, floors = ClassBins.of(bins), _weights(bins), _floors(bins)
    drawn, p_values = _draw(bins, arrays.value, weights, resamples, streams)
    means = _means(arrays, weights, drawn, floors, level)
    return ClasswiseErrors(
        by_class=tuple(_by_class(bins, arrays, floors, p_values, level)),
        mean=means["mean"],
        total=_scaled(means["mean"], _total_of_mean(len(bins))),
        expected_weighted=means["expected"],
        observed_weighted=means["observed"],
    )


def debiased_means(bins: Sequence[EventCells]) -> tuple[Debiased, Debiased]:
    """The mean and the total over the classes, as `classwise_errors` has them, without tests and intervals."""
    arrays, weights, none = ClassBins.of(bins), _weights(bins), np.empty(0)
    value = float(weights["mean"] @ arrays.value)
    debiased = float(arrays.debiased(arrays.shares_in(weights.values()))[list(weights).index("mean")])
    mean, total = (
        Debiased(value * factor, debiased * factor, none, none) for factor in (1.0, _total_of_mean(len(bins)))
    )
    return mean, total


def _total_of_mean(n_events: int) -> float:
    """Half the number of classes; 1 for the only event of two classes."""
    return max(n_events / 2, 1.0)


def _floors(bins: Sequence[EventCells]) -> FloatArray:
    """The noise floor of each class, (K,)."""
    return np.array([expected_absolute_gap(each) if len(each.count) else 0.0 for each in bins])


def _weights(bins: Sequence[EventCells]) -> dict[str, FloatArray]:
    """The weight of each class in the three means; 1 for the only event of two classes."""
    if len(bins) == 1:
        return {name: np.ones(1) for name in ("mean", "expected", "observed")}
    shares = np.array([_shares(each) for each in bins]).T
    return {"mean": np.full(len(bins), 1 / len(bins)), "expected": shares[0], "observed": shares[1]}


def _shares(cells: EventCells) -> tuple[float, float]:
    """E/N and O/N."""
    if not len(cells.count):
        return 0.0, 0.0
    return float(cells.predicted.sum()) / cells.total, float(cells.observed.sum()) / cells.total


def _draw(
    bins: Sequence[EventCells],
    values: FloatArray,
    weights: dict[str, FloatArray],
    resamples: int,
    streams: Sequence[list[int]],
) -> tuple[dict[str, FloatArray], list[float]]:
    """R draws of each mean over the classes, and the p-value of each class."""
    drawn, p_values = {name: np.zeros(resamples) for name in weights}, []
    for k, (each, stream) in enumerate(zip(bins, streams, strict=True)):
        if not len(each.count):
            p_values.append(math.nan)
            continue
        errors, observed = _drawn_errors(each, stream, resamples)
        p_values.append(p_value(errors, float(values[k])))
        for name in drawn:
            # Weights by label are drawn too: if they were fixed, a class that was observed too often would weigh more.
            weight = observed if name == "observed" and len(bins) > 1 else weights[name][k]
            drawn[name] += errors * weight
    return drawn, p_values


def _drawn_errors(bins: EventCells, stream: list[int], resamples: int) -> tuple[FloatArray, FloatArray]:
    """ECE and the observed share of the rows in each draw of a calibrated class, (R,) each."""
    share, p = bins.count / bins.total, bins.mean_predicted

    def numbers(y: FloatArray) -> FloatArray:
        return np.stack([np.abs(y - p) @ share, y @ share], axis=1)

    errors, observed = by_draws(bins, stream, resamples, numbers).T
    return errors, observed


def _means(
    arrays: ClassBins,
    weights: dict[str, FloatArray],
    drawn: dict[str, FloatArray],
    floors: FloatArray,
    level: float,
) -> dict[str, ClasswiseError]:
    """The weighted means over the classes."""
    shares = arrays.shares_in(weights.values())
    debiased, reach = arrays.debiased(shares), half_normal_reach(shares * arrays.sd.ravel(), level)
    errors = {}
    for k, (name, weight) in enumerate(weights.items()):
        value = float(weight @ arrays.value)
        # With weights from the draws, the noise floor has no formula.
        floor = drawn[name].mean() if name == "observed" and len(weight) > 1 else weight @ floors
        interval = Interval.around(value, float(reach[k]), (0.0, 1.0), level, "half-normal")
        p = p_value(drawn[name], value)
        errors[name] = ClasswiseError(value, float(floor), p, float(debiased[k]), interval)
    return errors


def half_normal_reach(scale: FloatArray, level: float) -> FloatArray:
    """The level-quantile of Σ s·|Z| over the last axis, for independent standard normal Z.

    By Cornish and Fisher's expansion with the skewness of the sum, without draws: for a single term it is exact to 1 %
    at levels up to .95 and 2.5 % too large at .99, for more terms it is closer.

    >>> half_normal_reach(np.array([[1.0], [2.0]]), 0.95).round(2).tolist()
    [1.96, 3.92]
    """
    mean, variance, third = (
        factor * (scale**power).sum(axis=-1) for power, factor in enumerate(_HALF_NORMAL, start=1)
    )
    sd = np.sqrt(variance)
    skewness = np.divide(third, sd**3, out=np.zeros(sd.shape), where=sd > 0)
    z = normal_quantile(2 * level - 1)
    return np.asarray(mean + sd * (z + skewness * (z**2 - 1) / 6))


def _scaled(error: ClasswiseError, factor: float) -> ClasswiseError:
    """The error in other units, at most 1."""
    assert error.interval is not None
    interval = error.interval
    return replace(
        error,
        value=error.value * factor,
        noise_floor=error.noise_floor * factor,
        debiased=error.debiased * factor,
        interval=replace(
            interval, low=min(1.0, interval.low * factor), high=min(1.0, interval.high * factor)
        ),
    )


def _by_class(
    bins: Sequence[EventCells],
    arrays: ClassBins,
    floors: FloatArray,
    p_values: Sequence[float],
    level: float,
) -> list[ClasswiseError]:
    """The error of each class; debiased, with an interval, if the class is measured."""
    errors = [
        ClasswiseError(value, floor, p, math.nan, None, NOT_MEASURED)
        if len(each.count)
        else ClasswiseError(math.nan, math.nan, p, math.nan, None, NO_ROWS)
        for each, value, floor, p in zip(bins, arrays.value.tolist(), floors.tolist(), p_values, strict=True)
    ]
    measured = [k for k, each in enumerate(bins) if is_measured(each)]
    if measured:
        share, gap, sd = arrays.share[measured], arrays.gap[measured], arrays.sd[measured]
        debiased = debiased_total(share, gap, sd).tolist()
        reaches = half_normal_reach(share * sd, level).tolist()
        for k, value, reach in zip(measured, debiased, reaches, strict=True):
            interval = Interval.around(errors[k].value, reach, (0.0, 1.0), level, "half-normal")
            errors[k] = replace(errors[k], debiased=value, interval=interval, reason=None)
    return errors

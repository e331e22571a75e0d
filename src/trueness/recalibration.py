"""The temperature at which the predicted variation equals the observed one.

At temperature T a row becomes p^(1/T), divided by its sum. That changes its dispersion but not the order of its
classes, so the observed ranks do not change. The expected variation of the ranks increases with T in every bin, and
there is one T at which it equals the observed one over all bins: the centred net gap is 0. (The usual temperature
scaling maximises the likelihood of the labels instead.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arguments import whole_number
from trueness._arrays import FloatArray
from trueness.bins import Bins, EqualMass, as_bins
from trueness.old_inference.null import NullBins, mean_variation, multinomial_frequencies
from trueness.old_table import CalibrationTable, TableSpec
from trueness.ranking import ordered_blocks
from trueness.rows import Rows
from trueness.tabulation import edges_for, tabulate_rows
from trueness.variation import Variation, as_variation, log_or_finite

DEFAULT_BINS = EqualMass(10)

LOWEST, HIGHEST = 2.0**-7, 2.0**7
"""Beyond these temperatures all predictions are nearly one-hot or uniform."""

_STEP = 2.0**-6
"""The step of ln T for the numerical slope of the net gap."""


@dataclass(frozen=True, slots=True)
class Temperature:
    """The number by which logits, or logarithms of probabilities, are divided."""

    value: float
    """Above 1 if the predictions were over-confident."""
    standard_error: float
    """From the noise of the outcomes, if the predictions at this temperature are calibrated.

    Infinite if the gap is not 0 at any temperature from `LOWEST` to `HIGHEST`; `value` is then the nearer end. This
    happens if every true class has rank 1, or if outcomes vary more than under uniform predictions.
    """


def variation_temperature(
    y_true: Any,
    y_prob: Any,
    *,
    variation: str | Variation = "entropy",
    bins: int | Bins = DEFAULT_BINS,
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    resamples: int = 999,
) -> Temperature:
    """The temperature at which the centred net gap is zero: Σ_m w_m (𝒱(r̄_m) - E₀[𝒱(r̄*_m)]) = 0.

    Rows, measure and bins are as in `tabulate`; the bins are those of the predictions as given. `resamples` is the
    number of simulations for measures whose mean under calibration is not known exactly, always from the same seed.

    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(5000, [1, 1, 1], rng=0)
    >>> found = variation_temperature(y_true, tn.simulate.sharpen(y_prob, 1.5))
    >>> round(found.value, 2), round(found.standard_error, 2)
    (1.53, 0.04)
    """
    resamples = whole_number("resamples", resamples, 1)
    rows = Rows.of(
        y_true, y_prob, sample_weight, from_logits=from_logits, normalize=normalize, classes=classes
    )
    measure = as_variation(variation)
    edges = edges_for(rows, measure, as_bins(bins), "portable", None)
    spec = TableSpec(rows.n_classes, measure, edges, weighted=sample_weight is not None)
    (table,) = tabulate_rows(rows, [spec], "portable")
    return _solve(_Tempered(rows, table, resamples))


class _Tempered:
    """The rows in the bins of a table, at any temperature."""

    def __init__(self, rows: Rows, table: CalibrationTable, resamples: int) -> None:
        self.bins, self.resamples = NullBins.of(table), resamples
        spec = table.spec
        thresholds = spec.thresholds(rows.y_prob.eps)
        logs, places = np.empty((rows.n_rows, spec.n_cells)), np.empty(rows.n_rows, np.int64)
        for start, stop, ordered in ordered_blocks(rows):
            values = spec.variation.of_rows(ordered.T, rows.sum_tolerance)
            places[start:stop] = spec.bins.index(values, thresholds)
            logs[start:stop] = np.where(ordered > 0, log_or_finite(ordered), -np.inf).T
        weight = np.ones(rows.n_rows) if rows.sample_weight is None else rows.sample_weight
        kept = np.flatnonzero(weight > 0)
        order = kept[np.argsort(places[kept], kind="stable")]
        self.logs, self.weight = logs[order], weight[order]
        self.starts = np.searchsorted(places[order], self.bins.index)

    def at(self, temperature: float) -> NullBins:
        """The bins at a temperature: with other predictions, and the same ranks."""
        p = np.exp((self.logs - self.logs[:, :1]) / temperature)
        p *= (self.weight / p.sum(axis=1))[:, None]
        totals = np.add.reduceat(p, self.starts, axis=0)
        return replace(self.bins, predicted=totals / totals.sum(axis=1, keepdims=True))

    def net(self, temperature: float) -> float:
        """The centred net gap, which decreases with the temperature and is above 0 if over-confident."""
        bins = self.at(temperature)
        observed = bins.variation.of(bins.observed)
        return bins.sign * float(bins.weight @ (observed - mean_variation(bins, self.resamples, [0])))

    def net_sd(self, temperature: float) -> float:
        """Its standard deviation if the predictions at this temperature are calibrated."""
        bins = self.at(temperature)
        frequencies = multinomial_frequencies(bins, self.resamples, [1])
        spread = [
            np.concatenate([bins.variation.of(r) for r in frequencies(m)]).var()
            for m in range(len(bins.count))
        ]
        return math.sqrt(float(bins.weight**2 @ np.array(spread)))


def _solve(rows: _Tempered) -> Temperature:
    """The root of the net gap: bracketed by steps away from T = 1, then found by linear interpolation in ln T."""
    at = _Point(0.0, rows.net(1.0))
    step = math.log(2.0) if at.net > 0 else -math.log(2.0)
    while True:
        beyond = _Point(at.log, 0.0) if at.net == 0 else _point(rows, at.log + step)
        if beyond.net * at.net <= 0:
            break
        if abs(beyond.log) > math.log(HIGHEST) - 1e-9:
            return Temperature(HIGHEST if step > 0 else LOWEST, math.inf)
        at = beyond
    value = math.exp(_root(rows, at, beyond))
    slope = (rows.net(value * math.exp(-_STEP)) - rows.net(value * math.exp(_STEP))) / (2 * _STEP)
    return Temperature(value, value * rows.net_sd(value) / slope if slope > 0 else math.inf)


class _Point(NamedTuple):
    log: float
    net: float


def _point(rows: _Tempered, log: float) -> _Point:
    return _Point(log, rows.net(math.exp(log)))


def _root(rows: _Tempered, one: _Point, other: _Point) -> float:
    """Regula falsi by the "Illinois" rule: the end that stays has its gap halved, which speeds up convergence."""
    while abs(one.log - other.log) > 1e-9 and other.net != 0:
        between = one.log + (other.log - one.log) * one.net / (one.net - other.net)
        found = _point(rows, between)
        one = other if found.net * other.net < 0 else _Point(one.log, one.net / 2)
        # The newest point is `other`; if two steps hardly differ, it has converged.
        if abs(found.log - other.log) < 1e-10:
            return found.log
        other = found
    return other.log


def scale_by_temperature(y_prob: NDArray[Any], temperature: float) -> FloatArray:
    """Rows p^(1/T), divided by their sums.

    >>> scale_by_temperature(np.array([[0.8, 0.2]]), 2.0).round(4)
    array([[0.6667, 0.3333]])
    """
    wide = y_prob.astype(np.float64)
    powers = (wide / wide.max(axis=1, keepdims=True)) ** (1 / temperature)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))

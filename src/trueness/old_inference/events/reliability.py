"""The gaps of an event over its bins as root mean square and as parts of the Brier score, and its log-score."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.normal import normal_quantile
from trueness.old_inference.results import ZTest

POWER = 0.8
"""A gap that is detected with this probability is called detectable."""

IMPOSSIBLE = "minus infinity: an event of probability 0 was observed, or one of probability 1 was not"


@dataclass(frozen=True, slots=True)
class RmsError:
    """The root mean square of the gaps d_m = p̄_m - ȳ_m over the bins."""

    value: float
    """√Σw_m d_m²."""
    debiased: float
    """√max(0, Σ w_m (d_m² - ȳ_m(1 - ȳ_m)/(n_m - 1))) over the bins of at least two rows."""


def rms_error(bins: EventCells) -> RmsError:
    """The root mean square of the gaps, as it is and without the noise of the observed frequencies."""
    weight, gap, y = bins.count / bins.total, _gap(bins), bins.mean_observed
    n = bins.effective_count
    noise = np.divide(y * (1 - y), n - 1, out=np.zeros_like(y), where=n > 1)
    several = n >= 2 * (1 - 1e-9)
    without = float(weight[several] @ (gap**2 - noise)[several])
    return RmsError(math.sqrt(float(weight @ gap**2)), math.sqrt(max(0.0, without)))


@dataclass(frozen=True, slots=True)
class BrierParts:
    """The parts of the Brier score over bins: reliability - resolution + uncertainty, if a bin holds one probability.

    Reference: Murphy (1973), A new vector partition of the probability score.
    """

    reliability: float
    """Σw_m(p̄_m - ȳ_m)², which is 0 for a calibrated event with unlimited data."""
    resolution: float
    """Σw_m(ȳ_m - ȳ)²: how much the observed frequency differs between bins."""
    uncertainty: float
    """ȳ(1 - ȳ)."""


def brier_parts(bins: EventCells) -> BrierParts:
    """Reliability, resolution and uncertainty over these bins."""
    weight, y = bins.count / bins.total, bins.mean_observed
    mean = float(bins.observed.sum()) / bins.total
    return BrierParts(float(weight @ _gap(bins) ** 2), float(weight @ (y - mean) ** 2), mean * (1 - mean))


def largest_gap(bins: EventCells) -> float:
    """The largest |p̄_m - ȳ_m| over the bins."""
    return float(np.abs(_gap(bins)).max())


def log_score_test(cells: EventCells, impossible_rows: float, inflation: float = 1.0) -> ZTest:
    """Z = Σ(y - p)·logit(p)/√Σp(1 - p)·logit²(p): Σ(ln p_y + H)/√ΣVE of the two classes p and 1 - p.

    Two-sided; below 0 the probabilities are too extreme. p is the mean of a fine cell. Minus infinity if the event was
    observed with probability 0, or was not with probability 1. `inflation` is that of the variance by clusters.
    """
    if impossible_rows:
        return ZTest(-math.inf, 0.0, IMPOSSIBLE)
    p = cells.mean_predicted
    inside = (p > 0) & (p < 1)
    x = np.where(inside, p, 0.5)
    logit = np.log(x) - np.log1p(-x)
    variance = float((cells.variance * logit**2).sum()) * inflation
    if variance <= 1e-14 * cells.total:
        return ZTest(math.nan, math.nan, "every probability is 0, 0.5 or 1, so the log-score cannot vary")
    z = float((cells.observed - cells.predicted) @ logit) / math.sqrt(variance)
    return ZTest(z, math.erfc(abs(z) / math.sqrt(2)))


def detectable_gap(cells: EventCells, level: float) -> float:
    """The gap over all rows for which twice the p-value is at most 1 - level with probability `POWER`.

    As in `assess`: among tests that are combined, a single one needs about half the p-value.
    """
    sd = math.sqrt(float(cells.variance.sum())) / cells.total
    return (normal_quantile((1 + level) / 2) + normal_quantile(2 * POWER - 1)) * sd


def _gap(bins: EventCells) -> FloatArray:
    return np.asarray(bins.mean_predicted - bins.mean_observed)

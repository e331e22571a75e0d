"""Estimates: calibration errors and gaps with their noise floor, debiased value and interval.

Intervals hold for independent rows and, by the design effect and Student's quantile, for clusters
(see `sample`). Where no interval would hold, `low` and `high` are None and `reason` says why.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trueness.exact_sums import FloatArray
from trueness.inference.binomial import logistic_fits
from trueness.inference.debiasing import VariationGaps, debiased_total, half_normal_reach
from trueness.inference.distributions import normal_quantile
from trueness.inference.noise import RankDraws
from trueness.inference.sample import Events, Sample


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with what is known about it; what is not known is None, never NaN."""

    value: float | None
    """The plug-in value, as it is defined."""
    noise_floor: float | None = None
    """Its mean if the model were calibrated."""
    debiased: float | None = None
    """An estimate of the value with unlimited data, of which the interval is, from `low` on."""
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    """Why there is no value or no interval."""


def _estimate(
    sample: Sample,
    value: float,
    centre: float,
    reach: float,
    limits: tuple[float, float],
    noise_floor: float | None = None,
    debiased: float | None = None,
) -> Estimate:
    """An estimate with the interval centre ± reach within its limits, if an interval holds."""
    if (reason := sample.without_interval()) is not None:
        return Estimate(value, noise_floor, debiased, reason=reason)
    low, high = (min(limits[1], max(limits[0], end)) for end in (centre - reach, centre + reach))
    return Estimate(value, noise_floor, debiased, low, high)


def variation_error(sample: Sample, gaps: VariationGaps, level: float) -> Estimate:
    """VCE = Σ w|𝒪 - 𝒫| (Thompson and Desai 2026).

    The interval is Σ w|g| ± the quantile of Σ wσ|Z|, which holds at 0 too; all gaps share the error
    of the bias.
    """
    w, most = gaps.weight, _largest_gap(sample)
    root = math.sqrt(float(w**2 @ gaps.sd**2))
    shared = 1 + gaps.bias_error / root if root > 0 else 1.0
    reach = _wider(sample, level) * float(half_normal_reach(w * gaps.sd * shared, level))
    value, centre = (float(w @ np.abs(of)) for of in (gaps.observed - gaps.predicted, gaps.gap))
    floor = float((np.abs(gaps.null - gaps.predicted) @ w).mean())
    debiased = float(debiased_total(w, gaps.gap, gaps.sd))
    reach = most if gaps.is_noiseless else reach
    return _estimate(sample, value, centre, reach, (0.0, most), floor, debiased)


def net_gap(sample: Sample, gaps: VariationGaps, level: float) -> Estimate:
    """Σ w(𝒪 - 𝒫), above 0 if outcomes vary more than predicted: over-confidence."""
    w, most = sample.variation.sign * gaps.weight, _largest_gap(sample)
    value, debiased = (float(w @ of) for of in (gaps.observed - gaps.predicted, gaps.gap))
    floor = float(w @ (gaps.null.mean(axis=0) - gaps.predicted))
    reach = sample.quantile(level) * (math.sqrt(float(w**2 @ gaps.sd**2)) + gaps.bias_error)
    reach = 2 * most if gaps.is_noiseless else reach
    return _estimate(sample, value, debiased, reach, (-most, most), floor, debiased)


def rank_error(sample: Sample, draws: RankDraws, level: float) -> Estimate:
    """RCE = Σ w·½‖r̄ - q̄‖₁; its interval is that of the triangle inequality, never too short."""
    rows = sample.ranks.rows.sum(axis=0)
    apart = (sample.ranks.observed - sample.ranks.predicted).sum(axis=0)[rows > 0]
    weight = np.full(apart.size, 0.5 / rows.sum())  # of |Σ(r - q)|, rows included
    value = float(np.abs(apart).sum() * weight[0])
    sd = (draws.sizes * rows[:, None])[rows > 0] * math.sqrt(math.pi / 2)
    debiased = float(debiased_total(weight, apart.ravel(), sd.ravel()))
    reach, floor = float(np.quantile(draws.distance, level)), float(draws.distance.mean())
    return _estimate(sample, value, value, reach, (0.0, 1.0), floor, debiased)


def top_error(sample: Sample, noise: FloatArray, level: float) -> Estimate:
    """ECE = Σ w|confidence - accuracy| over bins of confidence, with draws of it (see `noise`)."""
    assert sample.top is not None
    n, predicted, observed, square = (each[0, sample.top.rows[0] > 0] for each in sample.top)
    p, y, w = predicted / n, observed / n, n / n.sum()
    rows = n**2 / (square * sample.rank_effects()[1][0])
    r = (rows * y + p) / (rows + 1)
    sd = np.sqrt(np.maximum(p * (1 - p), r * (1 - r)).clip(0.0) / rows)
    value, debiased = float(w @ np.abs(p - y)), float(debiased_total(w, p - y, sd))
    reach = _wider(sample, level) * float(half_normal_reach(w * sd, level))
    return _estimate(sample, value, value, reach, (0.0, 1.0), float(noise.mean()), debiased)


def confidence_gap(sample: Sample, level: float) -> Estimate:
    """Mean confidence less accuracy: above 0 over-confident."""
    assert sample.top is not None
    return _frequency_gaps(sample, sample.top, sample.rank_effects()[1][:1], level)[0]


def class_gaps(sample: Sample, level: float) -> tuple[Estimate, ...]:
    """(Expected - observed)/N of each class: above 0 if it is predicted too often."""
    assert sample.classes is not None
    return _frequency_gaps(sample, sample.classes, sample.class_effects(), level)


def _frequency_gaps(
    sample: Sample, events: Events, effect: FloatArray, level: float
) -> tuple[Estimate, ...]:
    """(Σp - Σy)/N ± z·√(D·max(Σp(1 - p), Σ(n + 1)·r(1 - r)))/N, r = (n·ȳ + p̄)/(n + 1) in tenths.

    The larger of the variances under calibration and as observed: the first alone covers .87.
    """
    tenth = np.clip(np.ceil(10 * events.mean - 1e-9).astype(np.int64) - 1, 0, 9)
    place = (np.arange(len(tenth))[:, None] * 10 + tenth).ravel()
    n, expected, observed, square = (
        np.bincount(place, each.ravel(), 10 * len(tenth)).reshape(-1, 10) for each in events
    )
    rows = n**2 / np.where(n > 0, square, 1.0)
    r = (rows * observed + expected) / np.where(n > 0, n * (rows + 1), 1.0)
    seen = square * (r * (1 - r)).clip(0.0) * (1 + 1 / np.maximum(rows, 1.0))
    variance = np.maximum(events.variance, seen.sum(axis=1))
    values = (expected - observed).sum(axis=1) / sample.totals.mass
    reach = sample.quantile(level) * np.sqrt(effect * variance) / sample.totals.mass
    both = zip(values.tolist(), reach.tolist(), strict=True)
    return tuple(_estimate(sample, value, value, its, (-1.0, 1.0)) for value, its in both)


def class_slopes(sample: Sample, level: float) -> tuple[Estimate, ...]:
    """The slope of each class on its log-odds, 1 if calibrated, below if too extreme (Cox 1958)."""
    assert sample.classes is not None
    fits, limits, found = logistic_fits(sample.classes), (-math.inf, math.inf), []
    reach = sample.quantile(level) * fits.slope_error * np.sqrt(sample.class_effects())
    for value, its, reason in zip(fits.slope.tolist(), reach.tolist(), fits.reasons, strict=True):
        none = Estimate(None, reason=reason)
        found.append(none if reason else _estimate(sample, value, value, its, limits))
    return tuple(found)


def entropic_difference(sample: Sample, level: float) -> Estimate:
    """Mean of -ln p_y - H(p), in nats: above 0 over-confident (Sumler et al. 2025).

    Rows whose class had probability 0 are left out. The variance of a bin is Σw²·VE, or as many
    times that as -ln q̄ varies more under (n·r̄ + q̄)/(n + 1) than under q̄.
    """
    null, seen = np.zeros((2, len(sample.score)))
    for stratum in sample.strata:
        n, q = stratum.rows[:, None], stratum.predicted
        logs = np.log(np.maximum(q, 1e-3 / (n * q.shape[1])))
        for total, p in ((null, q), (seen, (n * stratum.observed + q) / (n + 1))):
            varies = (p * logs**2).sum(axis=1) - (p * logs).sum(axis=1) ** 2
            total[stratum.bins] += stratum.rows * varies.clip(0.0)
    more = np.divide(seen, null, out=np.ones(len(null)), where=null > 0)
    variance = sample.score_effect() * float(sample.score_variance @ np.maximum(more, 1.0))
    value, mass = -float(sample.score.sum()), sample.totals.mass
    reach = sample.quantile(level) * math.sqrt(variance) / mass
    return _estimate(sample, value / mass, value / mass, reach, (-math.inf, math.inf))


def detectable_gap(sample: Sample) -> float:
    """The difference of confidence and accuracy that is found with 80 % power at the 5 % level."""
    variance, effect = sample.rank_effects()
    return 2.8 * math.sqrt(float(variance[0] * effect[0])) / sample.totals.mass


def _wider(sample: Sample, level: float) -> float:
    """How much wider Student's interval is than the normal one."""
    return sample.quantile(level) / normal_quantile(level)


def _largest_gap(sample: Sample) -> float:
    """The largest possible |𝒪 - 𝒫|."""
    return max(sample.variation.largest_gap_for(c) for c in sample.ranks.options)

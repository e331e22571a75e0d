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
from trueness.inference.sample import Sample
from trueness.table import EventBins


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with what is known about it; what is not known is None, never NaN."""

    value: float | None
    """The plug-in value, as it is defined."""
    noise_floor: float | None = None
    """Its mean if the model were calibrated."""
    debiased: float | None = None
    """An estimate of the value with unlimited data."""
    low: float | None = None
    """Lower end of the interval of the value with unlimited data."""
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


def variation_error(sample: Sample, gaps: VariationGaps, draws: RankDraws, level: float) -> Estimate:
    """VCE = Σ w|𝒪 - 𝒫| (Thompson and Desai 2026).

    The interval is Σ w|g| ± the quantile of Σ wσ|Z|, which holds at 0 too; all gaps share the error
    of the bias.
    """
    w, most = gaps.weight, _largest_gap(sample)
    root = math.sqrt(float(w**2 @ gaps.sd**2))
    wider = 1 + gaps.bias_error / root if root > 0 else 1.0
    reach = _wider(sample, level) * float(half_normal_reach(w * gaps.sd * wider, level))
    noise = np.abs(draws.variation[:, sample.ranks.rows.sum(axis=0) > 0] - gaps.predicted) @ w
    return _estimate(
        sample,
        value=float(w @ np.abs(gaps.observed - gaps.predicted)),
        centre=float(w @ np.abs(gaps.gap)),
        reach=most if gaps.is_noiseless else reach,
        limits=(0.0, most),
        noise_floor=float(noise.mean()),
        debiased=float(debiased_total(w, gaps.gap, gaps.sd)),
    )


def net_gap(sample: Sample, gaps: VariationGaps, draws: RankDraws, level: float) -> Estimate:
    """Σ w(𝒪 - 𝒫), above 0 if outcomes vary more than predicted: over-confidence."""
    w, sign, most = gaps.weight, sample.variation.sign, _largest_gap(sample)
    noise = (draws.variation[:, sample.ranks.rows.sum(axis=0) > 0] - gaps.predicted) @ w
    debiased = sign * float(w @ gaps.gap)
    reach = sample.quantile(level) * (math.sqrt(float(w**2 @ gaps.sd**2)) + gaps.bias_error)
    return _estimate(
        sample,
        value=sign * float(w @ (gaps.observed - gaps.predicted)),
        centre=debiased,
        reach=2 * most if gaps.is_noiseless else reach,
        limits=(-most, most),
        noise_floor=sign * float(noise.mean()),
        debiased=debiased,
    )


def rank_error(sample: Sample, draws: RankDraws, level: float) -> Estimate:
    """RCE = Σ w·½‖r̄ - q̄‖₁, with the interval of the triangle inequality: wide, never too short."""
    rows = sample.ranks.rows.sum(axis=0)
    apart = (sample.ranks.observed - sample.ranks.predicted).sum(axis=0)[rows > 0]
    w, gap = rows[rows > 0] / rows.sum(), apart / rows[rows > 0][:, None]
    value = float(w @ np.abs(gap).sum(axis=1)) / 2
    weights = np.broadcast_to(w[:, None] / 2, gap.shape).ravel()
    sd = draws.sizes[rows > 0] * math.sqrt(math.pi / 2)
    return _estimate(
        sample,
        value=value,
        centre=value,
        reach=float(np.quantile(draws.distance, level)),
        limits=(0.0, 1.0),
        noise_floor=float(draws.distance.mean()),
        debiased=float(debiased_total(weights, gap.ravel(), sd.ravel())),
    )


def top_error(sample: Sample, noise: FloatArray, level: float) -> Estimate:
    """ECE = Σ w|confidence - accuracy| over bins of confidence, with draws of it under calibration."""
    assert sample.top is not None
    filled = sample.top.rows[0] > 0
    n, predicted, observed = (each[0, filled] for each in sample.top)
    p, y, w = predicted / n, observed / n, n / n.sum()
    rows = n**2 / (sample.top_square[0, filled] * top_effect(sample))
    sd = np.sqrt(_spread(rows, p, y) / rows)
    value = float(w @ np.abs(p - y))
    return _estimate(
        sample,
        value=value,
        centre=value,
        reach=_wider(sample, level) * float(half_normal_reach(w * sd, level)),
        limits=(0.0, 1.0),
        noise_floor=float(noise.mean()),
        debiased=float(debiased_total(w, p - y, sd)),
    )


def top_effect(sample: Sample) -> float:
    """The design effect of "the predicted class is right"."""
    sums = None
    variance = rank_variance(sample)[:1]
    if sample.units is not None:
        sums = sample.units.residual[:, :1]
    return float(np.max(sample.effect(sums, variance, sample.rare_in_ranks(variance)[:1]))) * sample.design.soft


def rank_variance(sample: Sample) -> FloatArray:
    """The variance of how often the true class is among the top k, Σw²·Q(1 - Q), (C - 1,)."""
    found = np.zeros(sample.ranks.predicted.shape[-1] - 1)
    for stratum in sample.strata:
        among = np.clip(np.cumsum(stratum.predicted, axis=1)[:, :-1], 0.0, 1.0)
        found[: among.shape[1]] += stratum.weight**2 / stratum.rows @ (among * (1 - among))
    return found


def confidence_gap(sample: Sample, level: float) -> Estimate:
    """Mean confidence less accuracy: above 0 over-confident, in a unit that needs no explanation."""
    its, square = sample.top, sample.top_square
    assert its is not None
    effect = np.array([top_effect(sample)])
    return _frequency_gaps(sample, its, square, effect, level)[0]


def class_gaps(sample: Sample, level: float) -> tuple[Estimate, ...]:
    """(Expected - observed)/N of each class: above 0 if it is predicted too often."""
    assert sample.classes is not None
    return _frequency_gaps(sample, sample.classes, sample.class_square, class_effects(sample), level)


def class_effects(sample: Sample) -> FloatArray:
    """The design effect of the number of each class, (K,)."""
    assert sample.classes is not None
    n, total, _ = sample.classes
    p = np.divide(total, n, out=np.zeros(n.shape), where=n > 0)
    variance = (sample.class_square * p * (1 - p)).sum(axis=1)
    sums = None if sample.units is None else sample.units.classes
    return sample.effect(sums, variance, sample.rare_in_classes()) * sample.design.soft


def _frequency_gaps(
    sample: Sample, events: EventBins, square: FloatArray, effect: FloatArray, level: float
) -> tuple[Estimate, ...]:
    """(Σp - Σy)/N ± z·√(D·max(Σp(1 - p), Σ n·r(1 - r)))/N, r = (n·ȳ + p̄)/(n + 1) in tenths.

    The larger of the variances under calibration and as observed: the first alone covers .87, the
    second nothing where all rows of a tenth have one outcome.
    """
    total, found = sample.totals.mass, []
    for n, expected, observed, squares, d in zip(*events, square, effect, strict=True):
        p = np.divide(expected, n, out=np.zeros(n.shape), where=n > 0)
        tenth = np.clip(np.ceil(10 * p).astype(np.intp) - 1, 0, 9)
        n10, e10, o10, s10 = (np.bincount(tenth, each, 10) for each in (n, expected, observed, squares))
        some = n10 > 0
        rows = n10[some] ** 2 / s10[some]
        r = (rows * (o10 / np.where(some, n10, 1.0))[some] + e10[some] / n10[some]) / (rows + 1)
        variance = d * max(float(squares @ (p * (1 - p))), float(s10[some] @ (r * (1 - r))))
        value = float(expected.sum() - observed.sum()) / total
        reach = sample.quantile(level) * math.sqrt(variance) / total
        found.append(_estimate(sample, value, value, reach, (-1.0, 1.0)))
    return tuple(found)


def class_slopes(sample: Sample, level: float) -> tuple[Estimate, ...]:
    """The slope of each class on its log-odds: 1 if calibrated, below 1 if too extreme (Cox 1958)."""
    assert sample.classes is not None
    fits = logistic_fits(sample.classes, sample.class_square)
    found = []
    for slope, error, reason, d in zip(fits.slope, fits.slope_error, fits.reasons, class_effects(sample), strict=True):
        if reason is not None:
            found.append(Estimate(None, reason=reason))
            continue
        reach = sample.quantile(level) * float(error) * math.sqrt(d)
        found.append(_estimate(sample, float(slope), float(slope), reach, (-math.inf, math.inf)))
    return tuple(found)


def entropic_difference(sample: Sample, level: float) -> Estimate:
    """Mean of -ln p_y - H(p), in nats: above 0 over-confident (Sumler et al. 2025).

    The variance is that of a calibrated model, Σw²·VE; rows whose class had probability 0 are left out.
    """
    variance = float(sample.score_variance.sum())
    sums = None if sample.units is None else sample.units.score.sum(axis=1)
    d = float(sample.effect(sums, variance, sample.rare_in_score()))
    value = -float(sample.score.sum()) / sample.totals.mass
    reach = sample.quantile(level) * math.sqrt(d * variance) / sample.totals.mass
    return _estimate(sample, value, value, reach, (-math.inf, math.inf))


def detectable_gap(sample: Sample) -> float:
    """The difference of confidence and accuracy that is found with 80 % power at the 5 % level."""
    variance = float(rank_variance(sample)[:1].sum())
    return 2.8 * math.sqrt(top_effect(sample) * variance) / sample.totals.mass


def _spread(rows: FloatArray, p: FloatArray, y: FloatArray) -> FloatArray:
    """p(1 - p) or r(1 - r) with r = (n·ȳ + p̄)/(n + 1), whichever is larger."""
    r = (rows * y + p) / (rows + 1)
    return np.maximum(p * (1 - p), r * (1 - r)).clip(0.0)


def _wider(sample: Sample, level: float) -> float:
    """How much wider Student's interval is than the normal one."""
    return sample.quantile(level) / normal_quantile(level)


def _largest_gap(sample: Sample) -> float:
    """The largest possible |𝒪 - 𝒫|."""
    return max(sample.variation.largest_gap_for(c) for c in sample.ranks.options)

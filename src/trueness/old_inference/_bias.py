"""The bias of 𝒱(r̄), computed for predictions at the temperature that fits the observed ranks.

𝒱 of frequencies from few rows is biased: entropy is too low, the more so the more classes there are. For a calibrated
model the bias is known, but that of a miscalibrated model differs; with 100 classes and 30 rows in a bin the difference
exceeds the error to be measured. So the bias is computed at q_β ∝ q̄^β, the predictions at the temperature that makes
the observed ranks most likely. Most models err in this direction; if a model errs in another one, β stays near 1 and
the bias is that of a calibrated model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.old_inference.null import NullBins, mean_variations
from trueness.old_inference.option_bins import AnyBins, combined, seeds_of, single_parts

_MOST = 2.0**10
_MOST_STEPS = 60
_SMALL_STEP = 1e-14


@dataclass(frozen=True, slots=True)
class Bias:
    """The expected shortfall of 𝒱(r̄) below 𝒱 of the frequencies that r̄ estimates, and its standard error."""

    by_bin: FloatArray
    """𝒱(q_β) - E[𝒱(r̄*)] for r̄* from q_β, (F,)."""
    standard_error: float
    """Standard error of the mean of `by_bin` over all rows, which comes from that of β."""
    beta: float


def at_power(bins: NullBins, beta: float) -> NullBins:
    """These bins with the predictions q_β ∝ q̄^β."""
    return replace(bins, predicted=_powers(_logs(bins), beta))


def _powers(logs: FloatArray, beta: float) -> FloatArray:
    """q_β ∝ q̄^β from ln q̄, (F, C)."""
    powers = beta * logs
    powers = np.exp(powers - powers.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def fitted_bias(bins: AnyBins, resamples: int, seed: list[int]) -> Bias:
    """The bias at the most likely β; its standard error is half its change over β ± one standard error.

    Rows with different numbers of options share one β, and their biases are averaged in each bin.
    """
    if bins.variation.linear:
        return Bias(np.zeros(len(bins.count)), 0.0, 1.0)
    parts, seeds = single_parts(bins), seeds_of(bins, seed)
    beta, error = most_likely_beta(bins)
    betas = (beta, beta - error, beta + error)
    biases = [_biases(part, betas, resamples, own) for part, own in zip(parts, seeds, strict=True)]
    here, below, above = (combined(bins, of_parts) for of_parts in zip(*biases, strict=True))
    return Bias(here, float(abs(bins.weight @ (above - below))) / 2, beta)


def most_likely_beta(bins: AnyBins) -> tuple[float, float]:
    """The β that maximises Σ_m n_m Σ_c r̄_c ln q_β,c over all bins and numbers of options, and its standard error.

    This is the likelihood of an exponential family: at its maximum the mean of ln q̄ equals the observed one, and its
    variance is the information. β is below 0 if the ranks are observed in reverse order.
    """
    parts = single_parts(bins)
    logs = [_logs(part) for part in parts]
    observed = sum(
        float(part.count @ (part.observed * own).sum(axis=1)) for part, own in zip(parts, logs, strict=True)
    )

    @cache
    def excess(beta: float) -> tuple[float, float]:
        """How far the mean of ln q̄ exceeds the observed one, and the information, which is its slope."""
        total, information = -observed, 0.0
        for part, own in zip(parts, logs, strict=True):
            p = _powers(own, beta)
            total += float(part.count @ (p * own).sum(axis=1))
            information += _information(part.count, p, own)
        return total, information

    low, high = 0.0, 1.0
    while excess(high)[0] < 0 and high < _MOST:
        low, high = high, 2 * high
    if excess(low)[0] > 0:
        low, high = -1.0, low
    while excess(low)[0] > 0 and low > -_MOST:
        low, high = 2 * low, low
    beta = 1.0 if low <= 1.0 <= high else (low + high) / 2  # most models are nearly calibrated
    for _ in range(_MOST_STEPS):
        above, information = excess(beta)
        low, high = (beta, high) if above < 0 else (low, beta)
        # Newton's step, or half the interval where that leads out of it.
        newton = beta - above / information if information > 0 else math.inf
        following = newton if low < newton < high else (low + high) / 2
        done, beta = abs(following - beta) <= _SMALL_STEP * max(1.0, abs(beta)), following
        if done:
            break
    information = excess(beta)[1]
    # If all q̄ are uniform or one-hot, β has no effect.
    return beta, 1 / math.sqrt(information) if information > 1e-9 else 0.0


def _information(count: IntArray, predicted: FloatArray, logs: FloatArray) -> float:
    """The variance of Σ n ln q̄ of the rank under these predictions."""
    mean = (predicted * logs).sum(axis=1)
    return float(count @ ((predicted * logs**2).sum(axis=1) - mean**2))


def _biases(bins: NullBins, betas: Sequence[float], resamples: int, seed: list[int]) -> list[FloatArray]:
    """The bias of each bin at each β, (F,) each."""
    tilted = [at_power(bins, beta) for beta in betas]
    means = mean_variations(tilted, resamples, seed)
    return [bins.variation.of(each.predicted) - mean for each, mean in zip(tilted, means, strict=True)]


def _logs(bins: NullBins) -> FloatArray:
    """ln q̄, bounded below where less than a thousandth of a row is expected."""
    return np.log(np.maximum(bins.predicted, 1e-3 / (bins.count[:, None] * bins.n_classes)))

"""A calibrated neighbour of the observed ranks, at which the bias of 𝒱(r̄) is read off.

𝒱 of frequencies from few rows is biased: entropy reads low, and the more so the more classes there are. At the null the
bias is known, but a model that is not calibrated has another one; with 100 classes and 30 rows in a bin the difference
is larger than the error to be measured. So the bias is read where the data are: at q_β ∝ q̄^β, the predictions at the
temperature that makes the observed ranks most likely. This is the one direction in which most models err, and where the
model errs in another way β stays near 1 and the bias is that of the null.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from trueness._arrays import FloatArray
from trueness.inference.null import FilledBins, mean_variation

_MOST = 2.0**10


@dataclass(frozen=True, slots=True)
class Bias:
    """How far 𝒱(r̄) falls short of 𝒱 of what it estimates, and how uncertain that is."""

    by_bin: FloatArray
    """𝒱(q_β) - E[𝒱(r̄*)] for r̄* from q_β, (F,)."""
    standard_error: float
    """Of the mean of `by_bin` over all rows, from that of β."""
    beta: float


def tilted(bins: FilledBins, beta: float) -> FilledBins:
    """These bins as if q_β ∝ q̄^β were predicted."""
    powers = beta * _logs(bins)
    powers = np.exp(powers - powers.max(axis=1, keepdims=True))
    return replace(bins, predicted=powers / powers.sum(axis=1, keepdims=True))


def fitted_bias(bins: FilledBins, resamples: int, seed: list[int]) -> Bias:
    """The bias at the most likely β, and half of its change between one standard error of β below and above."""
    if bins.variation.linear:
        return Bias(np.zeros(len(bins.count)), 0.0, 1.0)
    beta, error = most_likely_beta(bins)
    here, below, above = (_bias(tilted(bins, b), resamples, seed) for b in (beta, beta - error, beta + error))
    return Bias(here, float(abs(bins.weight @ (above - below))) / 2, beta)


def most_likely_beta(bins: FilledBins) -> tuple[float, float]:
    """The β that maximises Σ_m n_m Σ_c r̄_c ln q_β,c, and its standard error.

    The likelihood of an exponential family: at its maximum the mean of ln q̄ is as observed, and its variance is the
    information. Below 0 the ranks are observed in reverse: a model and its negation get the same bias.
    """
    logs, n = _logs(bins), bins.count
    observed = float(n @ (bins.observed * logs).sum(axis=1))

    def excess(beta: float) -> float:
        return float(n @ (tilted(bins, beta).predicted * logs).sum(axis=1)) - observed

    low, high = 0.0, 1.0
    while excess(high) < 0 and high < _MOST:
        low, high = high, 2 * high
    if excess(low) > 0:
        low, high = -1.0, low
    while excess(low) > 0 and low > -_MOST:
        low, high = 2 * low, low
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    beta = (low + high) / 2
    p = tilted(bins, beta).predicted
    mean = (p * logs).sum(axis=1)
    information = float(n @ ((p * logs**2).sum(axis=1) - mean**2))
    # Where all q̄ are uniform or one-hot every β is as good, and the bias is the same at all of them.
    return beta, 1 / math.sqrt(information) if information > 1e-9 else 0.0


def _bias(bins: FilledBins, resamples: int, seed: list[int]) -> FloatArray:
    return np.asarray(bins.variation.of(bins.predicted) - mean_variation(bins, resamples, seed))


def _logs(bins: FilledBins) -> FloatArray:
    """ln q̄, and no lower than where not even a thousandth of a row is expected in all."""
    return np.log(np.maximum(bins.predicted, 1e-3 / (bins.count[:, None] * bins.n_classes)))

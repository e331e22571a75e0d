"""The frequency of a single rank if the model is calibrated, from the binomial distribution.

The count of one rank among n rows is Binomial(n, q̄_c). For a thousand ranks in each of many bins simulation would be
slow, and too coarse in the tail, where less than one row is expected.
"""

from __future__ import annotations

import math

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness._binomial import binomial_window
from trueness.old_inference._stirling import stirling_errors
from trueness.old_inference.normal import normal_quantile

MANY = 400.0
"""For larger variances of the count, a normal approximation with skewness is correct to one row."""

_CHUNK = 2**12


def frequency_band(n: FloatArray, q: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """The frequencies between which X/n lies with at least the given probability, for X ~ Binomial(n, q).

    >>> low, high = frequency_band(np.array([10.0]), np.array([0.9]), 0.95)
    >>> low.tolist(), high.tolist()
    ([0.7], [1.0])
    """
    count, chance = n.ravel(), np.clip(q.ravel(), 0.0, 1.0)
    low, high = np.empty(count.shape), np.empty(count.shape)
    many = count * chance * (1 - chance) > MANY
    low[many], high[many] = _by_normal(count[many], chance[many], level)
    few = np.flatnonzero(~many)
    for start in range(0, len(few), _CHUNK):
        part = few[start : start + _CHUNK]
        low[part], high[part] = _by_probabilities(count[part, None], chance[part, None], level)
    return (low / count).reshape(q.shape), (high / count).reshape(q.shape)


def _by_normal(n: FloatArray, q: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """The first terms of Cornish and Fisher's expansion."""
    z, sd = normal_quantile(level), np.sqrt(n * q * (1 - q))
    skew = (1 - 2 * q) * (z**2 - 1) / 6
    low, high = (np.clip(np.ceil(n * q + side * z * sd + skew - 0.5), 0, n) for side in (-1, 1))
    return low, high


def _by_probabilities(n: FloatArray, q: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """The smallest counts at which the cumulated probability reaches (1 ∓ level)/2, (k,) each."""
    reach = 8 * np.sqrt(n * q * (1 - q)) + 20
    start = np.maximum(0.0, np.floor(n * q - reach))
    width = int((np.minimum(n, np.ceil(n * q + reach)) - start).max()) + 1
    k, weight = binomial_window(n, q, start, width)
    # With q = 0 or 1 all of the probability is at 0 or at n, which may be a number of independent rows with a fraction.
    certain = (q <= 0) | (q >= 1)
    weight = np.where(certain, k == start, weight)
    cumulated = np.cumsum(weight, axis=1) / weight.sum(axis=1, keepdims=True)
    tail = (1 - level) / 2
    found = (start[:, 0] + np.argmax(cumulated >= share - 1e-12, axis=1) for share in (tail, 1 - tail))
    low, high = (np.where(certain[:, 0], (n * q)[:, 0], counts) for counts in found)
    return low, high


def absolute_deviation(n: FloatArray | IntArray, p: FloatArray) -> FloatArray:
    """E|X - np| for X ~ Binomial(n, p), by de Moivre's formula: 2k(1 - p)·P(X = k) with k = ⌊np⌋ + 1.

    P(X = k) is computed as by Loader (2000), with k near np: no large terms cancel.

    >>> absolute_deviation(np.array([1, 4]), np.array([0.5, 0.25])).round(6).tolist()
    [0.5, 0.632812]
    """
    p = np.clip(p, 0.0, 1.0)
    n, q = np.broadcast_to(np.asarray(n, np.float64), p.shape), 1 - p
    k = np.minimum(np.floor(n * p) + 1, n)  # n·p may round up to n
    inside = (p > 0) & (k < n)
    safe, other = np.where(inside, k, 1.0), np.where(inside, n - k, 1.0)
    apart = np.where(inside, safe - n * p, 0.0)
    mean, mean_of_others = np.where(inside, n * p, 1.0), np.where(inside, n * q, 1.0)
    with np.errstate(over="ignore"):  # of a frequency below 1e-300
        far = np.log1p(apart / mean)
    log = stirling_errors(n) - stirling_errors(safe) - stirling_errors(other)
    log -= safe * far + other * np.log1p(-apart / mean_of_others)
    probability = np.exp(log) * np.sqrt(n / (2 * math.pi * safe * other))
    probability = np.where(inside, probability, p**n)  # k = n
    return np.asarray(2 * k * q * probability)


def standardised_gap(n: FloatArray, observed: FloatArray, predicted: FloatArray) -> FloatArray:
    """The difference of an observed from a predicted frequency in units of its standard deviation.

    This is the signed root of the likelihood ratio, ±√(2n·KL(r‖q)) for two outcomes: close to (r - q)/√(q(1-q)/n) if
    many rows are expected. If few are, it is still nearly standard normal, unlike that quotient (one row where 0.01
    were expected is not ten standard deviations). Infinite if a frequency predicted as 0 or 1 is observed otherwise.

    >>> n, q = np.array([1000.0, 100.0]), np.array([0.5, 0.0001])
    >>> standardised_gap(n, np.array([0.53, 0.01]), q).round(2).tolist()
    [1.9, 2.69]
    """
    r, q = np.clip(observed, 0.0, 1.0), np.clip(predicted, 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = np.where(r > 0, r * np.log(r / q), 0.0)
        miss = np.where(r < 1, (1 - r) * np.log((1 - r) / (1 - q)), 0.0)
    return np.asarray(np.sign(r - q) * np.sqrt(2 * n * np.maximum(hit + miss, 0.0)))

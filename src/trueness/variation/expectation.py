"""The exact mean entropy of rank frequencies, whose bias is large if there are many classes.

H(r̄) is a sum over ranks of η(X/n) with η(x) = -x ln x, and each X is binomial; so the mean needs no simulation, only
the binomial probabilities of each rank.
"""

from __future__ import annotations

import math

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness._binomial import binomial_window

MANY = 1e4
"""For more expected rows than this, three terms of a series are exact to 1e-12 of the probability."""

_CHUNK = 2**18


def expected_entropy(count: IntArray, probability: FloatArray) -> FloatArray:
    """E[H(X/n)] for X ~ Multinomial(n, p), with H in base C, for each row p of `probability`, (M, C)."""
    n_classes = probability.shape[-1]
    n = np.broadcast_to(np.asarray(count, dtype=np.float64)[:, None], probability.shape).ravel()
    p = probability.ravel()
    terms = np.zeros(p.shape)
    inside = (p > 0) & (p < 1)
    many = inside & (n * p > MANY)
    terms[many] = _by_series(n[many], p[many])
    few = np.flatnonzero(inside & ~many)
    terms[few] = _by_probabilities(n[few], p[few])
    return np.asarray(terms.reshape(probability.shape).sum(axis=-1) / math.log(n_classes))


def _by_series(n: FloatArray, p: FloatArray) -> FloatArray:
    """η(p) + Σ_k η⁽ᵏ⁾(p)·μ_k/k! up to k = 4, with the central moments μ_k of X/n."""
    spread = p * (1 - p)
    second = spread / n
    third = spread * (1 - 2 * p) / n**2
    fourth = spread * (1 + 3 * (n - 2) * spread) / n**3
    return np.asarray(-p * np.log(p) - second / (2 * p) + third / (6 * p**2) - fourth / (12 * p**3))


def _by_probabilities(n: FloatArray, p: FloatArray) -> FloatArray:
    """Σ_k P(X = k)·η(k/n) over all k that matter, ten standard deviations and more around the mean."""
    reach = 10 * np.sqrt(n * p * (1 - p)) + 40
    low = np.maximum(0.0, np.floor(n * p - reach))
    width = (np.minimum(n, np.ceil(n * p + reach)) - low).astype(np.int64) + 1
    result = np.empty(len(p))
    order = np.argsort(width)
    start = 0
    while start < len(order):
        # Windows of about the same width share an array; the surplus counts have almost no probability.
        stop = start + max(1, int(np.searchsorted(np.cumsum(width[order[start:]]), _CHUNK)))
        part = order[start:stop]
        result[part] = _line_sums(n[part, None], p[part, None], low[part, None], int(width[part].max()))
        start = stop
    return result


def _line_sums(n: FloatArray, p: FloatArray, low: FloatArray, width: int) -> FloatArray:
    k, weight = binomial_window(n, p, low, width)
    share = np.minimum(k, n) / n
    eta = -share * np.log(np.maximum(share, 1e-300))
    return np.asarray((weight * eta).sum(axis=1) / weight.sum(axis=1))

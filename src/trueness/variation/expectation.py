"""The mean and the variance of the entropy of rank frequencies, without simulation.

H(r̄) is a sum over ranks of η(X/n) with η(x) = -x ln x, and each X is binomial; so the mean, whose bias is large if
there are many classes, is exact from the binomial probabilities of each rank. The variance is a series in 1/n.
"""

from __future__ import annotations

import math

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness._binomial import binomial_window

MANY = 500
"""For more expected rows than this, seven terms of a series are exact to 1e-12 of the probability."""

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


def entropy_variance(count: IntArray, probability: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The variance of H(X/n), X ~ Multinomial(n, p), in nats, and a bound of the relative error of its root, (M,) each.

    With a = -ln p, K the number of ranks with p > 0 and H = Σpa,

        [Σpa² - H²]/n + (K - 1)/2n² + [Σ(1 + a - H)/p - 1]/6n³.

    The first term is the variance of the linear part L = Σ(r̄ - p)a, and H(r̄) - L is H less the divergence
    KL(r̄‖p). Both further terms of 2·Cov(L, H(r̄)) follow from the derivative of E[H(r̄)] by the parameter of p·exp(ta),
    and the variance of 2n·KL is that of χ² with Bartlett's correction. The bound is the share of the last sum, with the
    sizes of its terms, in the other two; it holds up to a twentieth, and beyond the error is unknown.

    >>> variance, error = entropy_variance(np.array([1000]), np.array([[0.6, 0.3, 0.1]]))
    >>> [f"{x:.3g}" for x in (*variance, *error)]
    ['0.000316', '1.55e-05']
    """
    n, inside = np.asarray(count, dtype=np.float64), probability > 0
    p = np.where(inside, probability, 1.0)
    a = np.where(inside, -np.log(p), 0.0)
    mean = (probability * a).sum(axis=-1, keepdims=True)
    linear = (probability * (a - mean) ** 2).sum(axis=-1)
    last = np.where(inside, (1 + a - mean) / p, 0.0)
    freedom = np.count_nonzero(inside, axis=-1) - 1
    varies = freedom > 0
    two_terms = linear / n + freedom / (2 * n**2)
    third, size = ((total / (6 * n**3)) for total in (last.sum(axis=-1) - 1, np.abs(last).sum(axis=-1)))
    error = np.divide(size, two_terms, out=np.zeros(n.shape), where=varies)
    return np.maximum(two_terms + np.where(varies, third, 0.0), 0.0), error


def _by_series(n: FloatArray, p: FloatArray) -> FloatArray:
    """η(p) + Σ_k η⁽ᵏ⁾(p)·μ_k/k! up to k = 8, with the central moments μ_k of X/n; μ_k/pᵏ are those of X/np.

    The moments follow from the cumulants κ_j: μ_k = Σ_j C(k - 1, j - 1)·κ_j·μ_(k-j).
    """
    s, skew, rows = p * (1 - p), 1 - 2 * p, n * p
    of_row: tuple[FloatArray | float, ...] = (  # κ_j of a single row, divided by s
        1.0,
        skew,
        1 - 6 * s,
        skew * (1 - 12 * s),
        1 - s * (30 - 120 * s),
        skew * (1 - s * (60 - 360 * s)),
        1 - s * (126 - s * (1680 - 5040 * s)),
    )
    cumulants = [(1 - p) / rows ** (j - 1) * own for j, own in enumerate(of_row, 2)]
    moments: list[FloatArray | float] = [1.0, 0.0]
    found = -np.log(p)
    for k in range(2, len(cumulants) + 2):
        moments.append(
            sum(math.comb(k - 1, j - 1) * cumulants[j - 2] * moments[k - j] for j in range(2, k + 1))
        )
        found += (-1) ** (k - 1) * moments[k] / (k * (k - 1))
    return np.asarray(p * found)


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

"""p-values of differences that are larger than the noise of every replicate."""

from __future__ import annotations

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.null import SLACK

TAIL_LEVELS = (0.9, 0.95)
"""Quantiles of the noise beyond which a tail is fitted."""

LEAST_TAIL = 1e-6

LEAST_RESAMPLES_OF_TAIL = 99
"""With fewer replicates too few are in the tail."""

LEAST_EXCESSES = 3

_TIE = 1e-9
"""Noises that differ by less, relative to the largest, differ by rounding only."""

_MAX_SHAPE = 0.49
"""The variance of the excesses, from which the shape is estimated, is infinite from 1/2 on."""


def tail_p_values(noise: FloatArray, size: FloatArray) -> FloatArray:
    """The share of replicates whose noise is as large; beyond all of them, by a tail fitted to the largest noises.

    Without the tail no p-value would be below 1/(B + 1), and after a correction for many pairs or groups none would be
    small enough. The noises above a high quantile u exceed it by a generalised Pareto distribution,

        P(noise ≥ u + x) = (k + 1)/(B + 1) · (1 + ξx/σ)^(-1/ξ),

    with k the number of excesses (Pickands 1975; Knijnenburg et al. 2009 for p-values of permutations). To be too large
    rather than too small, the mean of the excesses is increased by two standard errors and ξ by one; ξ is at least 0,
    an exponential tail, which is heavier than that of a normal distribution; and of the tails above the 90 and the 95 %
    point the heavier one counts. The tail is not used below 10⁻⁶, nor below (B + 1)⁻², since k excesses show little of
    what is beyond. It needs noise with a smooth tail: errors so rare that no replicate has them are not in it.

    `noise` are the replicates of several differences, (D, B), and `size` how large these are, (D,).

    >>> noise = np.abs(np.random.default_rng(1).standard_normal((1, 999))).repeat(4, axis=0)
    >>> [f"{p:.0e}" for p in tail_p_values(noise, np.array([2.0, 4.0, 6.0, 20.0]))]
    ['5e-02', '1e-03', '4e-05', '1e-06']

    References
    ----------
    Hosking, J. R. M. and Wallis, J. R. (1987). Parameter and quantile estimation for the generalized Pareto
    distribution. Technometrics 29, 339-349.
    Knijnenburg, T. A., Wessels, L. F. A., Reinders, M. J. T. and Shmulevich, I. (2009). Fewer permutations, more
    accurate P-values. Bioinformatics 25, i161-i168.
    Pickands, J. (1975). Statistical inference using extreme order statistics. Annals of Statistics 3, 119-131.
    """
    n, total = noise.shape[1], noise.shape[1] + 1
    p: FloatArray = (np.count_nonzero(noise >= size[:, None] - SLACK, axis=1) + 1) / total
    beyond = p <= (1 + 1e-9) / total
    if n < LEAST_RESAMPLES_OF_TAIL or not beyond.any():
        return p
    some = noise[beyond]
    starts = np.quantile(some, TAIL_LEVELS, axis=1)
    above = np.max([_pareto_tails(some, start, size[beyond]) for start in starts], axis=0)
    p[beyond] = np.minimum(p[beyond], np.maximum(above, max(LEAST_TAIL, total**-2)))
    return p


def _pareto_tails(noise: FloatArray, start: FloatArray, size: FloatArray) -> FloatArray:
    """P(noise ≥ size) by the excesses over `start`; 1 if there are fewer than three, as if many noises are equal.

    ξ = (1 - m²/s²)/2 and σ = m(1 - ξ), with m and s² the mean and variance of the excesses (Hosking and Wallis 1987).
    For ξ = 0 the standard errors of m and ξ are m/√k and 1/√k.
    """
    is_above = noise > (start + _TIE * noise.max(axis=1))[:, None]
    k = np.count_nonzero(is_above, axis=1)
    few, root = k < LEAST_EXCESSES, np.sqrt(np.maximum(k, 1))
    excess = np.where(is_above, noise - start[:, None], 0.0)
    mean = excess.sum(axis=1) / root**2
    variance = np.where(is_above, (excess - mean[:, None]) ** 2, 0.0).sum(axis=1) / root**2
    ratio = np.divide(mean**2, variance, out=np.full(len(k), np.inf), where=variance > 0)
    shape = np.clip((1 - ratio) / 2 + 1 / root, 0.0, _MAX_SHAPE)
    scale = np.where(few, 1.0, mean * (1 + 2 / root) * (1 - shape))
    far = (size - start) / scale
    heavy = shape > 0
    log_tail = np.where(heavy, np.log1p(np.where(heavy, shape * far, 0.0)) / np.where(heavy, shape, 1.0), far)
    return np.where(few, 1.0, (k + 1) / (noise.shape[1] + 1) * np.exp(-log_tail))

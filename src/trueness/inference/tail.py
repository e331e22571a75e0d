"""p-values of differences that are larger than the noise of every replicate."""

from __future__ import annotations

import math

import numpy as np

from trueness._arrays import FloatArray
from trueness.inference.null import p_value

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


def tail_p_value(noise: FloatArray, size: float) -> float:
    """The share of replicates whose noise is as large; beyond all of them, by a tail fitted to the largest noises.

    Without the tail no p-value would be below 1/(B + 1), and after a correction for many pairs or groups none would be
    small enough. The noises above a high quantile u exceed it by a generalised Pareto distribution,

        P(noise ≥ u + x) = (k + 1)/(B + 1) · (1 + ξx/σ)^(-1/ξ),

    with k the number of excesses (Pickands 1975; Knijnenburg et al. 2009 for p-values of permutations). To be too large
    rather than too small, the mean of the excesses is increased by two standard errors and ξ by one; ξ is at least 0,
    an exponential tail, which is heavier than that of a normal distribution; and of the tails above the 90 and the 95 %
    point the heavier one counts. The tail is not used below 10⁻⁶, nor below (B + 1)⁻², since k excesses show little of
    what is beyond. It needs noise with a smooth tail: errors so rare that no replicate has them are not in it.

    >>> noise = np.abs(np.random.default_rng(1).standard_normal(999))
    >>> [f"{tail_p_value(noise, size):.0e}" for size in (2.0, 4.0, 6.0, 20.0)]
    ['5e-02', '1e-03', '4e-05', '1e-06']

    References
    ----------
    Hosking, J. R. M. and Wallis, J. R. (1987). Parameter and quantile estimation for the generalized Pareto
    distribution. Technometrics 29, 339-349.
    Knijnenburg, T. A., Wessels, L. F. A., Reinders, M. J. T. and Shmulevich, I. (2009). Fewer permutations, more
    accurate P-values. Bioinformatics 25, i161-i168.
    Pickands, J. (1975). Statistical inference using extreme order statistics. Annals of Statistics 3, 119-131.
    """
    counted, total = p_value(noise, size), len(noise) + 1
    if counted > (1 + 1e-9) / total or len(noise) < LEAST_RESAMPLES_OF_TAIL:
        return counted
    above = [_pareto_tail(noise, float(start), size) for start in np.quantile(noise, TAIL_LEVELS)]
    return min(counted, max(*above, LEAST_TAIL, total**-2))


def _pareto_tail(noise: FloatArray, start: float, size: float) -> float:
    """P(noise ≥ size) by the excesses over `start`; 1 if there are fewer than three, as if many noises are equal.

    ξ = (1 - m²/s²)/2 and σ = m(1 - ξ), with m and s² the mean and variance of the excesses (Hosking and Wallis 1987).
    For ξ = 0 the standard errors of m and ξ are m/√k and 1/√k.
    """
    excess = noise[noise > start + _TIE * float(noise.max())] - start
    k = len(excess)
    if k < LEAST_EXCESSES:
        return 1.0
    mean, variance = float(excess.mean()), float(excess.var())
    shape = (1 - mean**2 / variance) / 2 + 1 / math.sqrt(k) if variance > 0 else 0.0
    shape = min(max(shape, 0.0), _MAX_SHAPE)
    scale = mean * (1 + 2 / math.sqrt(k)) * (1 - shape)
    log_tail = math.log1p(shape * (size - start) / scale) / shape if shape > 0 else (size - start) / scale
    return (k + 1) / (len(noise) + 1) * math.exp(-log_tail)

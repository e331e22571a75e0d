"""Moments of a Dirichlet vector: the mean entropy in closed form, the mean of the largest entry by quadrature."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from trueness.refusals import MissingLibraryError

try:
    from scipy.integrate import quad
    from scipy.special import gammaincc, gammainccinv, gammaincinv, psi
except ImportError as error:
    remedy = "pip install 'trueness[reproduction]'"
    raise MissingLibraryError("missing-library", "the reproduction needs SciPy", remedy) from error

TINY = 1e-18
"""Tail probabilities below this do not change a float64."""


def mean_entropy(alpha: Sequence[float]) -> float:
    """E[H(p)] = [ψ(α₀ + 1) - Σ (α_c/α₀) ψ(α_c + 1)]/ln C for p ~ Dirichlet(α).

    >>> round(mean_entropy([1, 1]), 12) == round(0.5 / math.log(2), 12)
    True
    """
    a = np.asarray(alpha, dtype=np.float64)
    total = a.sum()
    return float((psi(total + 1) - a @ psi(a + 1) / total) / math.log(len(a)))


def mean_largest(alpha: Sequence[float]) -> float:
    """E[max p] = α₀⁻¹ ∫ (1 - Π F_Γ(α_c)(x)) dx for p ~ Dirichlet(α).

    p is a vector of gamma variates over their sum, and the sum is independent of p with mean α₀. So the largest variate
    has the mean α₀·E[max p]. The integral is over ln x, in which the integrand is smooth for small α too.

    >>> round(mean_largest([1, 1, 1]), 12) == round((1 + 1 / 2 + 1 / 3) / 3, 12)
    True
    """
    shapes, times = np.unique(np.asarray(alpha, dtype=np.float64), return_counts=True)

    def integrand(log_x: float) -> float:
        """x·P(the largest variate is above x), to full precision in the upper tail."""
        with np.errstate(divide="ignore"):
            log_below = times @ np.log1p(-gammaincc(shapes, math.exp(log_x)))
        return float(-math.exp(log_x) * np.expm1(log_below))

    low = max(float(gammaincinv(shapes[-1], TINY)), math.exp(-60))
    high = float(gammainccinv(shapes[-1], TINY / len(alpha)))
    integral, _ = quad(integrand, math.log(low), math.log(high), epsabs=0, epsrel=1e-13, limit=500)
    return (low + float(integral)) / sum(alpha)  # below `low` the integrand is x

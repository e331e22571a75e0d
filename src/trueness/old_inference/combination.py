"""One p-value for several tests of the same rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

MAX_P_VALUE = 0.9
"""Larger p-values count as this one: the cotangent of a value near 1 would cancel any evidence."""

_SMALLEST = 1e-300


def combined_p_value(p_values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """The Cauchy combination of p-values (Liu and Xie 2020), without those that are NaN; NaN if there are none.

    The mean T of cot(π·p), weighted if there are weights, has for small p-values the tail of a standard Cauchy variable
    if every hypothesis holds, however the tests depend on one another, so that p = 1/2 - arctan(T)/π. Tests that agree
    give their common p-value, and one small p-value among k gives about k times itself, as Bonferroni's correction
    would.

    >>> round(combined_p_value([0.01, 0.01, 0.01]), 4)
    0.01
    >>> round(combined_p_value([0.001, 0.5, 0.5, 0.5]), 4)
    0.004
    >>> round(combined_p_value([0.001, 0.5, 0.5], weights=[2, 1, 1]), 4)
    0.002

    References
    ----------
    Liu, Y. and Xie, J. (2020). Cauchy combination test: a powerful test with analytic p-value calculation under
    arbitrary dependency structures. Journal of the American Statistical Association 115, 393-402.
    """
    counts = [1.0] * len(p_values) if weights is None else weights
    known = [(p, weight) for p, weight in zip(p_values, counts, strict=True) if not math.isnan(p)]
    if not known:
        return math.nan
    smallest = min(p for p, _ in known)
    if smallest >= MAX_P_VALUE:
        return smallest
    total = sum(weight for _, weight in known)
    mean = sum(weight * _cotangent(p) for p, weight in known) / total
    # arctan near its limit keeps no digits: 1/2 - arctan(T)/π = arctan(1/T)/π for T > 0.
    return math.atan(1 / mean) / math.pi if mean > 0 else 0.5 - math.atan(mean) / math.pi


def _cotangent(p: float) -> float:
    """cot(π·p), bounded where p is near 0 or 1."""
    return 1 / math.tan(math.pi * min(max(p, _SMALLEST), MAX_P_VALUE))

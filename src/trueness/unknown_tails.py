"""What the probabilities that a list of the k largest leaves out could make of VCE, net gap and RCE.

Per bin, with u = r̄_+ (the share of true classes beyond the list), m = q̄_+ (the mean missing mass), L = V - k classes
beyond the list, η(x) = -x ln x, and K_p, K_o the sums of η over the first k cells of q̄ and r̄:

    P_most  = K_p + m ln(L/m)                      every tail is even
    P_least = K_p + s·η(q̄_k) + η(m - s·q̄_k)        as many entries of q̄_k as fit, s = ⌊m/q̄_k⌋, and the rest
    O_most  = K_o + u ln(L/u),  O_least = K_o + η(u)

Entropy is Schur-concave: among tails of one total with entries up to a cap, the even one has the most, "as many caps as
fit" the least. Ordered tails keep this when they are averaged, and the mean tail has entries up to q̄_k.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from trueness._arrays import FloatArray
from trueness.refusals import InvalidValueError
from trueness.table import CalibrationTable, require_table
from trueness.variation import ENTROPY

_ROUNDING = 1e-12
"""The floor ⌊m/q̄_k⌋ is guarded against a quotient that is a whole number up to rounding."""


class TailBounds(NamedTuple):
    """The least and largest values that whole distributions with the same k largest entries could have."""

    vce: tuple[float, float]
    net: tuple[float, float]
    rce: tuple[float, float]
    """Of the total variation distance."""


def tail_bounds(table: CalibrationTable) -> TailBounds:
    """Bounds of VCE, net gap and RCE over all ways in which the mass beyond the list could be distributed.

    Of a table of the k largest classes by entropy, in its bins. They are about the plug-in values: they have no p-value
    and no interval. With one class beyond the list, both bounds are the value itself.

    >>> from trueness.tabulation import tabulate_top
    >>> low, high = tail_bounds(tabulate_top([0, 0, 1, 2], [[0.6, 0.3]] * 4, n_classes=10)).rce
    >>> round(low, 6), round(high, 6)
    (0.15, 0.25)
    """
    require_table("table", table)
    spec = table.spec
    if spec.top_k is None or spec.n_classes is None or spec.variation != ENTROPY:
        raise InvalidValueError(
            "wrong-table",
            "tail_bounds reads a table of the k largest of a known number of classes by entropy",
            "make one with tabulate_top(..., n_classes=)",
            argument="table",
        )
    filled = np.flatnonzero(table.row_count)
    if not filled.size:
        raise InvalidValueError("no-rows", "a table without rows has no bounds", argument="table")
    weight = table.count[filled] / table.count.sum()
    q, r = table.mean_ordered[filled], table.rank_frequency[filled]
    low, high = gap_bounds(q, r, spec.n_classes)
    least = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    most = np.maximum(np.abs(low), np.abs(high))
    nearest, furthest = distance_bounds(q, r, spec.n_beyond)
    return TailBounds(*(_pair(weight, *ends) for ends in ((least, most), (low, high), (nearest, furthest))))


def _pair(weight: FloatArray, low: FloatArray, high: FloatArray) -> tuple[float, float]:
    return float(weight @ low), float(weight @ high)


def gap_bounds(q: FloatArray, r: FloatArray, n_classes: int) -> tuple[FloatArray, FloatArray]:
    """[O_least - P_most, O_most - P_least]/ln V of each bin, from mean predictions and frequencies, (M, k + 1)."""
    size = n_classes - (q.shape[1] - 1)
    predicted, observed = _eta(q[:, :-1]).sum(axis=1), _eta(r[:, :-1]).sum(axis=1)
    m, u = q[:, -1], r[:, -1]
    if size == 1:
        gap = (observed + _eta(u) - predicted - _eta(m)) / math.log(n_classes)
        return gap, gap
    most_predicted, most_observed = predicted + even_tail(m, size), observed + even_tail(u, size)
    low = observed + _eta(u) - most_predicted
    high = most_observed - (predicted + concentrated_tail(m, q[:, -2]))
    return low / math.log(n_classes), high / math.log(n_classes)


def distance_bounds(q: FloatArray, r: FloatArray, n_beyond: int) -> tuple[FloatArray, FloatArray]:
    """½[Σ_{j≤k}|r̄_j - q̄_j| + |u - m|] and ½[… + u + m] of each bin, which are equal if one class is beyond."""
    listed = np.abs(r[:, :-1] - q[:, :-1]).sum(axis=1)
    m, u = q[:, -1], r[:, -1]
    nearest = (listed + np.abs(u - m)) / 2
    return nearest, nearest if n_beyond == 1 else (listed + u + m) / 2


def even_tail(mass: FloatArray, size: int) -> FloatArray:
    """m ln(L/m), the entropy of a mass that is spread evenly over L classes, in nats."""
    return np.asarray(_eta(mass) + mass * math.log(size))


def concentrated_tail(mass: FloatArray, cap: FloatArray) -> FloatArray:
    """s·η(cap) + η(m - s·cap) with s = ⌊m/cap⌋: the least entropy of a mass in entries up to a cap, in nats."""
    usable = np.where(cap > 0, cap, 1.0)
    times = np.where(cap > 0, np.floor(mass / usable * (1 + _ROUNDING)), 0.0)
    return np.asarray(times * _eta(cap) + _eta(np.maximum(mass - times * cap, 0.0)))


def _eta(x: FloatArray) -> FloatArray:
    """-x ln x, with 0 at 0."""
    return np.asarray(-x * np.log(np.where(x > 0, x, 1.0)))

"""Ranks in groups that widen towards the last, for pictures of many classes."""

from __future__ import annotations

import math

import numpy as np

from trueness._arrays import IntArray

MOST_RANKS = 30
"""Up to this number of classes each rank is shown by itself."""
RANK_GROUPS = 24
X_LABEL = "rank of the true class"


def rank_starts(n_classes: int) -> IntArray:
    """First ranks of the groups, from 0: each rank by itself, or groups that widen in proportion to the rank.

    >>> rank_starts(4).tolist(), rank_starts(1000)[:12].tolist()
    ([0, 1, 2, 3], [0, 1, 2, 3, 4, 6, 8, 10, 14, 18, 23, 30])
    """
    if n_classes <= MOST_RANKS:
        return np.arange(n_classes)
    return np.unique(np.floor(np.geomspace(1, n_classes + 1, RANK_GROUPS + 5)[:-1]).astype(np.int64)) - 1


def rank_labels(first: IntArray, last: IntArray) -> list[str]:
    """Names of groups of ranks: 3, or 5–8 for several ranks."""
    return [str(a) if a == b else f"{a}–{b}" for a, b in zip(first.tolist(), last.tolist(), strict=True)]


def gap_text(gap: float) -> str:
    """A standardised gap in two or three characters.

    >>> [gap_text(x) for x in (-0.04, 1.26, -3.0, 14.2, float("inf"))]
    ['0', '+1.3', '−3', '+14', '+∞']
    """
    if math.isinf(gap):
        return "+∞" if gap > 0 else "−∞"
    rounded = round(float(gap), 1 if abs(gap) < 9.95 else 0)
    return "0" if rounded == 0 else f"{rounded:+g}".replace("-", "−")

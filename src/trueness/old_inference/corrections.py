"""Corrections of p-values for multiple comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction, in the order given, which controls the family-wise error rate.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _in_original_order(np.minimum(stepped, 1.0), order)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's step-up correction, in the order given, which controls the false discovery rate.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = p[order] * len(p) / np.arange(1, len(p) + 1)
    return _in_original_order(np.minimum(np.minimum.accumulate(stepped[::-1])[::-1], 1.0), order)


def _in_original_order(adjusted: np.ndarray, order: np.ndarray) -> list[float]:
    result = np.empty(len(adjusted))
    result[order] = adjusted
    return [float(p) for p in result]

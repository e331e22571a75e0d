"""The entropy of the k largest of many classes, with what is left spread evenly over the others."""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.variation.definition import Variation
from trueness.variation.expectation import entropy_variance, expected_entropy
from trueness.variation.measures import ENTROPY, log_or_finite


@cache
def even_tail_entropy(n_classes: int, top_k: int) -> Variation:
    """𝒱(x) = [Σ η(x_j) + x_+ ln L]/ln V of k + 1 cells, the last of which holds L = V - k classes.

    It is the entropy to base V of the distribution that is even within the last cell, from 0 to 1. With L = 1 it is the
    ordinary entropy of V classes.

    >>> round(even_tail_entropy(10, 2)([0.6, 0.3, 0.1]), 12)
    0.480281872053
    """
    if n_classes == top_k + 1:
        return ENTROPY
    return Variation(
        f"even_tail_entropy({n_classes}, {top_k})",
        partial(_entropy, n_classes, top_k),
        expectation=partial(_expected, n_classes, top_k),
        label=ENTROPY.display_name,
        variance=partial(_variance, n_classes, top_k),
    )


def _entropy(n_classes: int, top_k: int, x: FloatArray) -> FloatArray:
    of_cells = 0.0 - np.add.reduce(x * log_or_finite(x), axis=-1)
    return np.asarray((of_cells + x[..., -1] * math.log(n_classes - top_k)) / math.log(n_classes))


def _expected(n_classes: int, top_k: int, count: IntArray, probability: FloatArray) -> FloatArray:
    """E[𝒱(X/n)] for X ~ Multinomial(n, p): the mean entropy of the cells is exact, and x_+ is linear."""
    of_cells = expected_entropy(count, probability) * math.log(probability.shape[-1])
    return np.asarray((of_cells + probability[..., -1] * math.log(n_classes - top_k)) / math.log(n_classes))


def _variance(
    n_classes: int, top_k: int, count: IntArray, probability: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The variance of 𝒱(X/n), and a bound of the relative error of its root."""
    log_sizes = np.zeros(probability.shape[-1])
    log_sizes[-1] = math.log(n_classes - top_k)
    variance, error = entropy_variance(count, probability, log_sizes)
    return variance / math.log(n_classes) ** 2, error

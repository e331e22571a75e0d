"""Rows with different numbers of options: those of vectors, and simulated like the tasks of benchmarks."""

from __future__ import annotations

from typing import Any

import numpy as np

O1_PROB = [[0.9, 0.1]] * 10 + [[0.85, 0.06, 0.05, 0.04]] * 10
O1_TRUE = [0] * 7 + [1] * 3 + [0] * 6 + [1] * 2 + [2, 3]
O2_TRUE = [0] * 10 + O1_TRUE[10:]
O3_PROB, O3_TRUE = [[1.0, 0.0, 0.0], [0.4, 0.3, 0.2, 0.1]], [2, 0]

TRUTHFULQA = {2: 41, 3: 80, 4: 204, 5: 163, 6: 114, 7: 82, 8: 57, 9: 33, 10: 20, 11: 12, 12: 7, 13: 4}
"""About the numbers of options of TruthfulQA MC1: 817 rows, 2 to 13 options."""

ARC = {3: 12, 4: 1154, 5: 6}


def simulated(
    counts: dict[int, int], rng: Any, power: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, predictions (rows, most) with zeros beyond the options, and the numbers of options, in random order.

    Softmax of normal logits times .7, 1.5 or 3; labels from the row, predictions its `power`.
    """
    stream = np.random.default_rng(rng)
    n_options = stream.permutation(np.repeat(list(counts), list(counts.values())))
    logits = (
        stream.standard_normal((len(n_options), max(counts)))
        * stream.choice([0.7, 1.5, 3.0], len(n_options))[:, None]
    )
    logits[np.arange(max(counts)) >= n_options[:, None]] = -np.inf
    truth = np.exp(logits - logits.max(axis=1, keepdims=True))
    truth /= truth.sum(axis=1, keepdims=True)
    labels = (stream.random(len(n_options))[:, None] > np.cumsum(truth, axis=1)).sum(axis=1)
    y_prob = truth**power
    return np.minimum(labels, n_options - 1), y_prob / y_prob.sum(axis=1, keepdims=True), n_options


def as_lists(y_prob: np.ndarray, n_options: np.ndarray) -> list[list[float]]:
    """The rows as lists of different lengths."""
    return [row[:c].tolist() for row, c in zip(y_prob, n_options.tolist(), strict=True)]


Y_TRUE, Y_PROB, N_OPTIONS = simulated({2: 30, 3: 60, 4: 90, 7: 20}, 5)
ROWS = as_lists(Y_PROB, N_OPTIONS)

"""Rows as NumPy arrays, and their tables: rows in any other container must give the same tables."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import oracle

import trueness as tn
from trueness.old_table.exact_sums import ExactSum

RNG = np.random.default_rng(42)
N = 60
Y_PROB = RNG.dirichlet([0.7, 0.7, 0.7], N)
Y_TRUE = RNG.integers(0, 3, N)
SINGLE = Y_PROB.astype(np.float32)
NAMES = ["cat", "dog", "cow"]
WORDS = [NAMES[y] for y in Y_TRUE]
PLAIN = tn.tabulate(Y_TRUE, Y_PROB)
PLAIN_SINGLE = tn.tabulate(Y_TRUE, SINGLE)
WEIGHT = RNG.gamma(1.0, 1.0, N) + 0.1
WEIGHTED = tn.tabulate(Y_TRUE, Y_PROB, sample_weight=WEIGHT)
LOGITS = np.random.default_rng(5).normal(0, 4, (N, 3))


def dyadic(eps: float, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Rows of k/64, exact in every dtype, whose V no snap up to 4 eps can move to another bin."""
    rng = np.random.default_rng(8)
    rows = rng.multinomial(64, rng.dirichlet(np.ones(n_classes), 400)) / 64
    v = np.array([oracle.entropy(sorted(row, reverse=True)) for row in rows.tolist()])
    rows = rows[(v * 10) % 1 > 10 * 4 * eps + 0.01]
    return rng.integers(0, n_classes, len(rows)), rows


def in_class_order(table: tn.CalibrationTable, order: Sequence[int]) -> tn.CalibrationTable:
    """The table of columns in another order, with the sums by predicted class in the order of the classes."""
    back = np.argsort(order)
    sums = table.sums
    assert sums.predicted_rows is not None

    def reordered(value: Any) -> ExactSum:
        return ExactSum(value.whole[back], value.fraction[back], value.bits)

    by_class = {
        "predicted_rows": sums.predicted_rows[back],
        "predicted_scores": reordered(sums.predicted_scores),
        "predicted_possible_variance": reordered(sums.predicted_possible_variance),
        "predicted_misses": reordered(sums.predicted_misses),
    }
    return tn.CalibrationTable(table.spec, replace(sums, **by_class))

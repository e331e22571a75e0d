"""The squared kernel calibration error, `skce`: three estimators."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueness._arguments import require_choice, whole_number
from trueness._arrays import FloatArray
from trueness._random import Seed, root_seed
from trueness.refusals import InvalidValueError
from trueness.simplex.bandwidth import bandwidth_for
from trueness.simplex.rows_as_arrays import SimplexRows
from trueness.simplex.tiles import Pairs

ESTIMATORS = ("biased", "unbiased", "block")

_BATCH_VALUES = 2**20
"""Probabilities of the blocks that are computed at a time."""


def skce(
    y_true: Any,
    y_prob: Any,
    estimator: str = "unbiased",
    *,
    block: int = 2,
    bandwidth: float | None = None,
    rng: Seed = 0,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    n_threads: int | None = None,
) -> float:
    """The squared kernel calibration error, with h_ij = exp(-TV(p_i, p_j)/γ)·(e_yi - p_i)·(e_yj - p_j).

    0 for a calibrated model with unlimited data; it has no unit. For comparison with papers: `skce_test` gives noise
    floor and p-value. Rows and labels are as in `tabulate`. The time grows with the square of the rows, the memory does
    not.

    Parameters
    ----------
    estimator : "biased", "unbiased" or "block"
        Σ_ij h_ij/N², which is above 0 for calibrated models too; Σ_{i≠j} h_ij/(N(N - 1)), which may be negative; or the
        mean of the unbiased values of consecutive blocks of rows.
    block : int
        Rows of a block, for "block"; 2 is the estimator called linear. Rows after the last whole block are left out.
    bandwidth : float
        γ. By default the median of the distances TV(p_i, p_j) of all N² ordered pairs, those of rows with themselves
        included; above 20 000 rows that of 5000 rows drawn with `rng`.
    rng : seed or numpy.random.Generator
        Used only for the bandwidth of more than 20 000 rows.
    n_threads : int
        Number of threads, by default all cores; the result does not depend on it.

    References
    ----------
    Widmann, Lindsten and Zachariah (2019), Calibration tests in multi-class classification: a unifying framework.

    Examples
    --------
    >>> round(skce([1, 0], [[1.0, 0.0], [0.0, 1.0]], "biased", bandwidth=1.0), 9)    # 1 - 1/e
    0.632120559
    """
    require_choice("estimator", estimator, ESTIMATORS)
    size, workers = whole_number("block", block, 2), as_threads(n_threads)
    seed = root_seed(rng)
    rows = SimplexRows.of(y_true, y_prob, from_logits=from_logits, normalize=normalize, classes=classes)
    require_pairs(rows, size if estimator == "block" else 2)
    gamma = bandwidth_for(rows, bandwidth, seed, workers)
    if estimator == "block":
        return float(block_values(rows, gamma, size).mean())
    return estimate(Pairs.of(rows), gamma, workers, biased=estimator == "biased")


def estimate(pairs: Pairs, bandwidth: float, n_threads: int | None, *, biased: bool) -> float:
    """The biased or the unbiased estimate."""
    total, n = pairs.total_of_pairs(bandwidth, n_threads), pairs.n_rows
    return (total + float(pairs.own_terms.sum())) / n**2 if biased else total / (n * (n - 1))


def block_values(rows: SimplexRows, bandwidth: float, size: int) -> FloatArray:
    """The unbiased estimate of each consecutive block of `size` rows, (⌊N/size⌋,)."""
    n_blocks, n_classes = len(rows.labels) // size, rows.predictions.shape[1]
    used = slice(0, n_blocks * size)
    shape = (n_blocks, size, n_classes)
    predictions, residuals = rows.predictions[used].reshape(shape), rows.residuals[used].reshape(shape)
    step = max(1, _BATCH_VALUES // (size * n_classes))
    parts = [slice(first, first + step) for first in range(0, n_blocks, step)]
    return np.concatenate([_sums_within(predictions[part], residuals[part], bandwidth) for part in parts]) / (
        size * (size - 1)
    )


def _sums_within(predictions: FloatArray, residuals: FloatArray, bandwidth: float) -> FloatArray:
    """Σ_{i≠j} h_ij within each block of (blocks, rows, classes): pairs that are one row apart, two rows apart, …"""
    total = np.zeros(len(predictions))
    for apart in range(1, predictions.shape[1]):
        distance = np.abs(predictions[:, apart:] - predictions[:, :-apart]).sum(axis=2) / 2
        products = np.einsum("bic,bic->bi", residuals[:, apart:], residuals[:, :-apart])
        total += 2 * (np.exp(-distance / bandwidth) * products).sum(axis=1)
    return total


def as_threads(n_threads: Any) -> int | None:
    """The argument `n_threads`, checked."""
    return None if n_threads is None else whole_number("n_threads", n_threads, 1)


def require_pairs(rows: SimplexRows, least: int) -> None:
    """Refuse fewer rows than an estimator needs."""
    if len(rows.labels) < least:
        cause = f"`y_prob` has {len(rows.labels)} rows"
        remedy = f"at least {least} are needed"
        raise InvalidValueError("too-few-rows", cause, remedy, argument="y_prob")

"""Draws of the log-score of a calibrated model from resampled ranks, with the skewness of rare outcomes.

If most of the variance of the log-score comes from rare outcomes, it is skewed, and a normal p-value is too small. The
ranks of a bin, resampled from its mean prediction q̄, have such outcomes as rarely as the rows do. Their score
n·Σ(r̄ - q̄)·ln q̄ is scaled to the variance of the rows of the bin, which differ from q̄, and compared with the score of
the rows themselves: a score of the observed ranks against q̄ would miss what differs within a bin.
"""

from __future__ import annotations

import numpy as np

from trueness._arrays import FloatArray, IntArray


def score_draws(
    log_score: FloatArray,
    count: FloatArray | IntArray,
    predicted: FloatArray,
    variance: FloatArray,
) -> FloatArray:
    """Draws of Σ(ln p_y + H) in each bin if the model is calibrated, (R, F).

    `log_score` is Σ_c(r̄*_c - q̄_c)·ln q̄_c of each resample, (R, F); `count` the rows that were resampled, (F,);
    `predicted` q̄, (F, C); `variance` ΣVE of the rows of each bin, (F,).

    >>> even = np.array([[0.8, 0.2]])
    >>> score_draws(np.array([[0.1], [-0.2]]), np.array([50.0]), even, np.array([6.0])).round(2).tolist()
    [[3.12], [-6.25]]
    """
    logs = np.where(predicted > 0, np.log(np.where(predicted > 0, predicted, 1.0)), 0.0)
    per_row = (predicted * logs**2).sum(axis=1) - (predicted * logs).sum(axis=1) ** 2
    varies = (per_row > 0) & (variance > 0)
    square = np.divide(count * variance, per_row, out=np.zeros(len(variance)), where=varies)
    return np.asarray(log_score * np.sqrt(square))

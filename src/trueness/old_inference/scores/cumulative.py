"""The score cumulated over the bins of variation: it detects errors that change sign along V, and shows where."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.null import p_value
from trueness.old_inference.scores.predicted_class import NO_VARIANCE, impossible_reason

_STREAM = 9
_BATCH_VALUES = 2**20


@dataclass(frozen=True, slots=True, eq=False)
class CumulativeTest:
    """T = max_j |Σ_{bins ≤ j} s|/√ΣVE, with the Z of each bin."""

    value: float
    """T, without impossible rows."""
    p_value: float
    """By normal increments with the variances of the bins; 0 if there are impossible rows, whose log-score is -∞."""
    drawn_p_value: float
    """By draws from resampled ranks, correct also where rare outcomes make the score skewed; NaN without them."""
    safe_p_value: float
    """The larger of the two, without impossible rows: for evidence beside other tests."""
    where: int | None
    """The bin at whose upper end the cumulated score is furthest from 0."""
    cumulated: FloatArray
    """Σ_{bins ≤ j} s/√ΣVE after each bin, (M,)."""
    bin_values: FloatArray
    """Z_m of each bin, (M,): below 0 where the model is over-confident; NaN in bins without variance."""
    reason: str | None = None
    """Why there is no value, or what it leaves out."""


def cumulative_score(
    score: FloatArray,
    variance: FloatArray,
    resamples: int,
    seed: int,
    *,
    draws: Sequence[FloatArray] = (),
    impossible_rows: int = 0,
) -> CumulativeTest:
    """The test of the cumulated score, from its sum and variance in each bin, (M,) each, in the order of V.

    `draws` are scores of the bins that have rows under one or more nulls, (R, F) each, as `score_draws` makes them;
    the largest of their p-values counts. The random stream of the normal increments is [seed, 9].
    """
    root = np.sqrt(np.maximum(variance, 0.0))
    z = np.divide(score, root, out=np.full(score.shape, np.nan), where=root > 0)
    total = math.sqrt(float(variance.sum())) if variance.sum() > 0 else 0.0
    if total == 0:
        return _without_variance(z, impossible_rows)
    cumulated = np.cumsum(score) / total
    value = float(np.abs(cumulated).max())
    nulls = [_largest(null / total) for null in draws]
    normal = p_value(_null_maxima(root / total, resamples, seed), value)
    drawn = max((p_value(null, value) for null in nulls), default=math.nan)
    return CumulativeTest(
        value=value,
        p_value=0.0 if impossible_rows else normal,
        drawn_p_value=drawn,
        safe_p_value=normal if math.isnan(drawn) else max(normal, drawn),
        where=int(np.argmax(np.abs(cumulated))),
        cumulated=cumulated,
        bin_values=z,
        reason=impossible_reason(impossible_rows) if impossible_rows else None,
    )


def _without_variance(z: FloatArray, impossible_rows: int) -> CumulativeTest:
    """The test of predictions whose score cannot vary; all of `z` are NaN."""
    nan, reason = math.nan, NO_VARIANCE
    if impossible_rows:
        reason = f"{impossible_reason(impossible_rows)}; {reason}"
    return CumulativeTest(nan, 0.0 if impossible_rows else nan, nan, nan, None, z, z, reason)


def _null_maxima(sd: FloatArray, resamples: int, seed: int) -> FloatArray:
    """T of resamples with independent normal increments, (R,)."""
    stream, filled = np.random.default_rng([seed, _STREAM]), sd[sd > 0]
    batch = max(1, _BATCH_VALUES // len(filled))
    sizes = [min(batch, resamples - start) for start in range(0, resamples, batch)]
    return np.concatenate([_largest(stream.standard_normal((size, len(filled))) * filled) for size in sizes])


def _largest(steps: FloatArray) -> FloatArray:
    """The largest |cumulated sum| of each line."""
    return np.asarray(np.abs(np.cumsum(steps, axis=1)).max(axis=1))

"""The equations of the paper, as functions of the sums of bins.

A gap is the difference between what was predicted in a bin and what was observed, positive where
the model is over-confident. An error is the norm of the gaps of all bins. Arrays may have any axes
in front (groups, clusters, draws); bins without rows have the gap NaN. Numbers in brackets count
the displayed equations of the paper.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trueness._arguments import require_choice
from trueness.exact_sums import FloatArray
from trueness.table import EventBins, RankBins
from trueness.variation import Variation

NORMS = ("l1", "l2", "max")
DISTANCES = ("tv", "w1")


def variation_gap(bins: RankBins, variation: Variation) -> FloatArray:
    """𝒪(B_m) - 𝒫(B_m), (..., M); negated for measures that fall with dispersion.

    𝒫(B_m) = V(q̄_m) is the variation of the mean ordered prediction (7), 𝒪(B_m) = V(r̄_m) that of
    the observed ranks (9).
    """
    both = np.array([bins.observed, bins.predicted])  # one call of the measure is faster than two
    observed, predicted = bins.variation(both, variation)
    return np.asarray(variation.sign * (observed - predicted))


def event_gap(bins: EventBins) -> FloatArray:
    """p̄_m - ȳ_m, the mean predicted probability of an event less its frequency, (..., K, G).

    Of the event that the top label is right it is conf(B_m) - acc(B_m) (3, 4).
    """
    return mean(bins.predicted, bins.rows) - mean(bins.observed, bins.rows)


def uncertainty_gap(bins: RankBins, variation: FloatArray) -> FloatArray:
    """err(B_m) - uncert(B_m), (..., M), from `variation`, the sum of V over each bin (13, 14).

    Not zero for a calibrated model, since the mean entropy is not the rate of errors.
    """
    rows = bins.rows.sum(axis=-2)
    return 1.0 - mean(bins.observed[..., 0].sum(axis=-2), rows) - mean(variation, rows)


def rank_distance(bins: RankBins, distance: str = "tv") -> FloatArray:
    """The distance of the rank frequencies r̄_m from the mean ordered prediction q̄_m, (..., M).

    "tv" is the total variation ½Σ|r̄ - q̄|, "w1" the Wasserstein distance over ranks divided by
    C - 1: the mean over k < C of the top-k calibration error. The sign is that of the shift of the
    mean rank: positive if the true class ranks lower than predicted.
    """
    require_choice("distance", distance, DISTANCES)
    n_ranks, rows = bins.predicted.shape[-1], bins.rows.sum(axis=-2)[..., None]
    step = np.ones(len(bins.options))
    if distance == "w1":  # a step over ranks counts 1/(C - 1) of a row's own C
        step = (n_ranks - 1) / (np.array(bins.options) - 1.0)
    summed = ((step[:, None, None] * each).sum(axis=-3) for each in bins[1:3])
    predicted, observed = (mean(each, rows) for each in summed)
    apart = observed - predicted
    behind = np.cumsum(apart, axis=-1)[..., :-1]  # Σ_{c≤k} (r̄ - q̄), for k < C
    total = np.abs(apart).sum(axis=-1) / 2
    if distance == "w1":
        total = np.abs(behind).sum(axis=-1) / (n_ranks - 1)
    return np.asarray(np.copysign(total, -behind.sum(axis=-1)))


def norm(rows: FloatArray, gap: FloatArray, kind: str = "l1") -> FloatArray:
    """Σ_m |B_m|/N · |gap_m| over the last axis, (...): ECE (5), VCE (10), UCE (12).

    "l2" is √(Σ_m |B_m|/N · gap_m²), "max" the largest |gap_m|. Bins without rows do not count.
    """
    require_choice("norm", kind, NORMS)
    size = np.where(rows > 0, np.abs(gap), 0.0)
    if kind == "max":
        return np.asarray(size.max(axis=-1))
    weight = (rows / rows.sum(axis=-1, keepdims=True))[..., None, :]
    total = (weight @ (size if kind == "l1" else size**2)[..., None])[..., 0, 0]
    return np.asarray(total if kind == "l1" else np.sqrt(total))


class SignedParts(NamedTuple):
    """An L1 error split by direction: over + under = the error, over - under = net."""

    over: FloatArray
    under: FloatArray
    net: FloatArray


def signed_parts(rows: FloatArray, gap: FloatArray) -> SignedParts:
    """The part of an error that is over-confidence, the part that is under-confidence, and net."""
    weight, known = rows / rows.sum(axis=-1, keepdims=True), np.where(rows > 0, gap, 0.0)
    over, under = ((weight * np.maximum(sign * known, 0)).sum(axis=-1) for sign in (1, -1))
    return SignedParts(over, under, over - under)


def mean(sums: FloatArray, rows: FloatArray) -> FloatArray:
    """sums / rows; NaN where there are no rows."""
    rows = np.broadcast_to(rows, sums.shape)
    found: FloatArray = np.full(sums.shape, np.nan)
    return np.divide(sums, rows, out=found, where=rows > 0)

"""Metrics of today's tables; `metrics` has those of rows and of the new table.

An error is a *norm* of the *gaps* of all bins: there are four gaps (of the variation, of the top class, of the
uncertainty, of the ranks) and three norms. A positive gap means over-confident, whatever is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from trueness._arguments import require_choice
from trueness._arrays import FloatArray
from trueness.event_metrics import (
    class_gap,
    classwise_error,
    classwise_total,
    event_calibration_error,
    hle_calibration_error,
    top_label_event,
)
from trueness.old_table import AnyRankTable, OptionTables, require_rank_table
from trueness.refusals import InvalidValueError
from trueness.variation import CONFIDENCE, ENTROPY, Variation

__all__ = [
    "DISTANCES",
    "NORMS",
    "Gap",
    "SignedParts",
    "class_gap",
    "classwise_error",
    "classwise_total",
    "event_calibration_error",
    "expected_calibration_error",
    "hle_calibration_error",
    "ranked_calibration_error",
    "ranked_gap",
    "signed_parts",
    "top_label_error",
    "top_label_event",
    "top_label_gap",
    "uncertainty_calibration_error",
    "uncertainty_gap",
    "variation_calibration_error",
    "variation_gap",
]

Gap = Callable[[AnyRankTable], FloatArray]

NORMS = ("l1", "l2", "max")
DISTANCES = ("tv", "w1")


def variation_gap(table: AnyRankTable) -> FloatArray:
    """𝒪(B_m) - 𝒫(B_m), with the opposite sign for measures that fall with dispersion, (M,); NaN in empty bins.

    Positive if the outcomes varied more than predicted, which is over-confidence.
    """
    require_rank_table("table", table)
    return table.gap * table.spec.variation.sign


def top_label_gap(table: AnyRankTable) -> FloatArray:
    """conf(B_m) - acc(B_m), (M,); NaN in empty bins."""
    require_rank_table("table", table)
    return np.asarray(table.mean_ordered[:, 0] - table.rank_frequency[:, 0])


def uncertainty_gap(table: AnyRankTable) -> FloatArray:
    """err(B_m) - uncert(B_m), (M,); NaN in empty bins. Not zero for a calibrated model."""
    _require_measure(table, ENTROPY, "uncertainty_gap")
    return np.asarray(1.0 - table.rank_frequency[:, 0] - table.mean_variation)


def ranked_gap(table: AnyRankTable, distance: str = "tv") -> FloatArray:
    """d(r̄_m, q̄_m), (M,), with the sign of the shift in mean rank; NaN in empty bins.

    Positive if the mean rank of the true class is lower in the order than predicted.
    """
    require_rank_table("table", table)
    require_choice("distance", distance, DISTANCES)
    observed, predicted = table.rank_frequency, table.mean_ordered
    if isinstance(table, OptionTables) and distance == "w1":
        observed, predicted = table.rank_gap("w1"), np.zeros_like(predicted)
    ahead = np.cumsum(predicted - observed, axis=1)[:, :-1]  # Σ_{c≤k} predicted minus observed, for k < C
    return np.asarray(np.copysign(_DISTANCES[distance](observed, predicted), ahead.sum(axis=1)))


def _total_variation(r: FloatArray, q: FloatArray) -> FloatArray:
    """½ Σ_c |r̄_c - q̄_c|."""
    return np.asarray(np.abs(r - q).sum(axis=1) / 2)


def _wasserstein(r: FloatArray, q: FloatArray) -> FloatArray:
    """Σ_k |Σ_{c≤k} (r̄_c - q̄_c)|/(C - 1): the mean over k < C of the top-k calibration error."""
    return np.asarray(np.abs(np.cumsum(r - q, axis=1)[:, :-1]).sum(axis=1) / (r.shape[1] - 1))


_DISTANCES = {"tv": _total_variation, "w1": _wasserstein}


class SignedParts(NamedTuple):
    """An L1 error split by direction: over - under = net, over + under = the error."""

    over: float
    under: float
    net: float


def signed_parts(table: AnyRankTable, gap: Gap = variation_gap) -> SignedParts:
    """The part of the error that is over-confidence, the part that is under-confidence, and their difference.

    >>> from trueness import tabulate
    >>> signed_parts(tabulate([0, 1] * 5, [[0.9, 0.1]] * 10)).net.__round__(6)
    0.531004
    """
    require_rank_table("table", table)
    weight, gaps = _weights_and_gaps(table, gap(table))
    over = float(weight @ np.maximum(gaps, 0.0))
    under = float(weight @ np.maximum(-gaps, 0.0))
    return SignedParts(over, under, over - under)


def variation_calibration_error(table: AnyRankTable, *, norm: str = "l1") -> float:
    """VCE = Σ_m |B_m|/N · |𝒪(B_m) - 𝒫(B_m)| (the paper, section 2.2).

    0 for a calibrated model with unlimited data; at most the width of the measure's range if the measure is symmetric.
    `confidence` and `margin` depend on the order of the ranks: at most 1 and 2. `norm` may also be "l2" (√Σ w·gap²) or
    "max" (the largest gap).
    """
    return _error(table, variation_gap(table), norm)


def expected_calibration_error(table: AnyRankTable, *, norm: str = "l1") -> float:
    """ECE = Σ_m |B_m|/N · |acc(B_m) - conf(B_m)| (the paper, section 2.2), of a table binned by confidence."""
    _require_measure(table, CONFIDENCE, "expected_calibration_error")
    return top_label_error(table, norm=norm)


def top_label_error(table: AnyRankTable, *, norm: str = "l1") -> float:
    """Σ_m |B_m|/N · |acc(B_m) - conf(B_m)| in the bins of any table; equal to ECE if it is binned by confidence."""
    return _error(table, top_label_gap(table), norm)


def uncertainty_calibration_error(table: AnyRankTable, *, norm: str = "l1") -> float:
    """UCE = Σ_m |B_m|/N · |err(B_m) - uncert(B_m)| (Laves et al. 2019), of a table binned by entropy.

    For comparison with published figures only: it is not 0 for a calibrated model.
    """
    return _error(table, uncertainty_gap(table), norm)


def ranked_calibration_error(table: AnyRankTable, distance: str = "tv", *, norm: str = "l1") -> float:
    """RCE = Σ_m |B_m|/N · d(r̄_m, q̄_m): zero only if every rank is as frequent as predicted, in every bin.

    `distance` is "tv" (total variation) or "w1" (Wasserstein over ranks, divided by C - 1: the mean top-k calibration
    error). Unlike VCE by a symmetric measure, it depends on the order of the ranks.
    """
    return _error(table, ranked_gap(table, distance), norm)


def _error(table: AnyRankTable, gap: FloatArray, norm: str) -> float:
    require_choice("norm", norm, NORMS)
    weight, gaps = _weights_and_gaps(table, gap)
    if norm == "max":
        return float(np.abs(gaps).max())
    return float(weight @ np.abs(gaps)) if norm == "l1" else float(np.sqrt(weight @ gaps**2))


def _weights_and_gaps(table: AnyRankTable, gap: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weights |B_m|/N and gaps of the bins that have rows."""
    filled, count = table.row_count.nonzero()[0], table.count
    if not filled.size:
        raise InvalidValueError("no-rows", "a table without rows has no calibration error", argument="table")
    return count.take(filled) / count.sum(), gap.take(filled)


def _require_measure(table: AnyRankTable, measure: Variation, reader: str) -> None:
    require_rank_table("table", table)
    if table.spec.variation != measure:
        raise InvalidValueError(
            "wrong-measure",
            f"{reader} needs a table binned by {measure.name}, this one is binned by "
            f"{table.spec.variation.name}",
            f"tabulate with variation={measure.name!r}",
            argument="table",
            value=table.spec.variation.name,
        )

"""Sums of tables of different numbers of options: added over the ranks of the largest, and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray
from trueness.old_table.calibration_table import CalibrationTable
from trueness.old_table.content import BY_PREDICTED_CLASS, Sums
from trueness.old_table.exact_sums import ExactSum, FloatSum

_BY_RANK = frozenset({"ordered", "rank"})


def padded_sums(sums: Sums, n_classes: int) -> Sums:
    """The sums with zeros for ranks up to `n_classes`, without those by predicted class."""

    def padded(name: str) -> Any:
        value = getattr(sums, name)
        if name in BY_PREDICTED_CLASS:
            return None
        return _wider(value, n_classes) if name in _BY_RANK else value

    return Sums(**{field.name: padded(field.name) for field in fields(Sums)})


def _wider(value: ExactSum | FloatSum, n_classes: int) -> ExactSum | FloatSum:
    more = ((0, 0), (0, n_classes - value.value.shape[1]))
    if isinstance(value, FloatSum):
        return FloatSum(np.pad(value.value, more))
    return ExactSum(np.pad(value.whole, more), np.pad(value.fraction, more), value.bits)


def same_rows(mine: CalibrationTable, other: CalibrationTable) -> bool:
    """Whether tables are equal; how ties are ranked makes no difference if there are none, though its default does."""
    untied = mine.tied_rows == other.tied_rows == 0
    spec = replace(mine.spec, ties=other.spec.ties) if untied else mine.spec
    return spec == other.spec and mine.sums.same(other.sums)


def mean_by_rows(values: Sequence[tuple[NDArray[Any], FloatArray]], count: NDArray[Any]) -> FloatArray:
    """Values of several tables, each with its rows by bin, averaged in each bin, (M,) or (M, C); NaN in empty bins."""
    total: FloatArray = np.zeros_like(values[0][1]) if values else np.zeros(len(count))
    for own, of_table in values:
        share = np.divide(own, count, out=np.zeros(len(count)), where=count > 0)
        share = share.reshape(-1, *(1,) * (of_table.ndim - 1))
        total = total + np.where(share > 0, share * np.nan_to_num(of_table), 0.0)
    total[count == 0] = np.nan
    return total

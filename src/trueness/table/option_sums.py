"""Sums of tables of different numbers of options: added over the ranks of the largest, and compared."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from trueness.table.calibration_table import CalibrationTable
from trueness.table.content import BY_PREDICTED_CLASS, Sums
from trueness.table.exact_sums import ExactSum, FloatSum

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

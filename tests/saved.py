"""Tables of every kind, to be saved and loaded."""

from collections.abc import Collection

import numpy as np

import trueness as tn
from trueness.table import Sums
from trueness.table.file import SINCE_SCHEMA_2, SINCE_SCHEMA_3

RNG = np.random.default_rng(12)


Y_PROB = RNG.multinomial(8, [0.5, 0.3, 0.2], 40) / 8


Y_TRUE = RNG.integers(0, 3, 40)


WEIGHT = RNG.gamma(1.0, 1.0, 40)


TABLES = {
    "first": tn.tabulate(Y_TRUE, Y_PROB, bins=4),
    "split": tn.tabulate(Y_TRUE, Y_PROB, bins=4, ties="split"),
    "confidence": tn.tabulate(Y_TRUE, Y_PROB, bins=4, variation="confidence"),
    "equal mass": tn.tabulate(Y_TRUE, Y_PROB, bins=tn.EqualMass(4)),
    "edges": tn.tabulate(Y_TRUE, Y_PROB, bins=tn.Edges([0, 0.1 + 0.2, 1 / 3 + 1 / 3, 1])),
    "family": tn.tabulate(Y_TRUE, Y_PROB, bins=4, variation=tn.renyi(1.5)),
    "weighted": tn.tabulate(Y_TRUE, Y_PROB, bins=4, sample_weight=WEIGHT),
    "empty": tn.CalibrationTable.empty(tn.tabulate(Y_TRUE, Y_PROB).spec),
    "fine": tn.tabulate(Y_TRUE, Y_PROB, bins=tn.EqualWidth(500)),
}


def without_scores(table: tn.CalibrationTable) -> tn.CalibrationTable:
    """The table as a file of schema 1 would have held it."""
    return _without(without_columns(table), SINCE_SCHEMA_2)


def without_columns(table: tn.CalibrationTable) -> tn.CalibrationTable:
    """The table as a file of schema 2 would have held it: log-scores of all bins together, no Brier residuals."""
    return _without(table, SINCE_SCHEMA_3, ("log_score", "log_score_variance"))


def _without(
    table: tn.CalibrationTable, absent: Collection[str], totals: Collection[str] = ()
) -> tn.CalibrationTable:
    kept = {
        name: value.total() if name in totals else value
        for name, value in table.sums.items()
        if name not in absent
    }
    return tn.CalibrationTable.from_dict(tn.CalibrationTable(table.spec, Sums(**kept)).to_dict())

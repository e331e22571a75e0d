"""A look as it is kept: its name, its tables and the values of its bets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from trueness._arrays import FloatArray
from trueness.monitoring.watched import Watched
from trueness.old_table import AnyRankTable
from trueness.refusals import InvalidValueError


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A look with its tables, by group; under None without groups."""

    at: str
    tables: Mapping[str | None, Watched]
    late: bool = False
    log_bets: Mapping[str | None, FloatArray] = field(default_factory=dict)
    """ln e_j of each group with rows, (J,); empty until it is computed. It follows from the tables."""

    @property
    def n_rows(self) -> int:
        """The rows of all groups."""
        return sum(each.n_rows for each in self.tables.values())


def top_label_gap(parts: Iterable[Watched]) -> float:
    """(ΣQ_1 - ΣR_1)/N over all bins and groups; NaN without rows."""
    ranks = [part.ranks for part in parts if part.ranks is not None]
    total = sum(float(table.count.sum()) for table in ranks)
    if total <= 0:
        return float("nan")
    return sum(float((table.ordered_sum[:, 0] - table.rank_count[:, 0]).sum()) for table in ranks) / total


def require_addable(entries: Iterable[Entry]) -> None:
    """Refuse tables that would not add, in the words of `+`."""
    parts = [each for entry in entries for each in entry.tables.values()]
    for part in parts[1:]:
        if not part.adds_to(parts[0]):
            parts[0] + part


def require_weights(tables: Mapping[str | None, Watched], max_weight: float | None) -> None:
    """Refuse weighted tables unless a largest weight was declared that they do not contradict."""
    for watched in tables.values():
        for table in watched.tables:
            if table.spec.weighted and max_weight is None:
                cause = "this table has weights, and the monitor has no `max_weight`"
                remedy = (
                    "pass the largest weight of a row, known beforehand; weights must not "
                    "depend on the labels"
                )
                raise InvalidValueError("weights-undeclared", cause, remedy, argument="max_weight")
            if max_weight is not None and not table.spec.weighted:
                cause = f"`max_weight` is {max_weight}, but this table has no weights"
                raise InvalidValueError(
                    "bad-argument", cause, "leave it out", argument="max_weight", value=max_weight
                )
            if max_weight is not None:
                _require_largest(table.weight_square_sum, table.count, max_weight)


def _require_largest(squares: FloatArray, weights: FloatArray, most: float) -> None:
    """Σw² > W·Σw in a bin: some weight must be above W."""
    if np.any(squares > most * weights * (1 + 1e-9)):
        ratio = float(np.max(squares[weights > 0] / weights[weights > 0]))
        cause = f"a row has a weight above `max_weight={most:g}`, since Σw² is {ratio:.6g} times Σw in a bin"
        remedy = "declare the largest weight that can occur"
        raise InvalidValueError("weight-too-large", cause, remedy, argument="max_weight", value=most)


def rank_tables(entry: Entry) -> list[AnyRankTable]:
    """The rank tables of all groups."""
    return [each.ranks for each in entry.tables.values() if each.ranks is not None]

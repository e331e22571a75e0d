"""Tables that grow from look to look: each look is what the next table has gained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from trueness.monitoring.subtraction import gained
from trueness.monitoring.watched import Watched, as_watched

if TYPE_CHECKING:
    from trueness.monitoring import Monitor
    from trueness.old_table import GroupedTables


class Growing:
    """A monitor that is updated with tables that hold the rows of all looks before."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        self._totals: dict[str | None, Watched] = {}
        self._after: dict[str, dict[str | None, Watched]] = {}
        for entry in monitor.entries:
            self._add(entry.at, entry.tables)

    def _add(self, at: str, tables: Mapping[str | None, Watched]) -> None:
        for name, each in tables.items():
            self._totals[name] = self._totals[name] + each if name in self._totals else each
        self._after[at] = dict(self._totals)

    def update(self, tables: GroupedTables, at: str) -> None:
        """Count what the tables have gained; a look that was counted with the same sums is not counted again."""
        grown = as_watched(tables)
        if at in self._after and grown == self._after[at]:
            return
        new = {name: gained(each, self._totals.get(name), at) for name, each in grown.items()}
        self._monitor.update(list(new[None].tables) if None in new else _listed(new), at=at)
        self._add(at, new)


def _listed(groups: Mapping[str | None, Watched]) -> dict[str, list[object]]:
    return {str(name): list(each.tables) for name, each in groups.items()}

"""The order in which groups are printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Group = TypeVar("Group")


def flagged_first(groups: Iterable[Group], p_value: Callable[[Group], float], limit: float) -> list[Group]:
    """Groups whose p-value is at most the limit, smallest first; then the others in their order."""

    def place(group: Group) -> tuple[bool, float]:
        p = p_value(group)
        return (False, p) if p <= limit else (True, 0.0)  # NaN is above any limit

    return sorted(groups, key=place)

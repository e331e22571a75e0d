"""The settings of a monitor: fixed before the first look."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trueness._arguments import require_choice, whole_number
from trueness.bins import Bins, Edges, EqualMass, EqualWidth, as_bins
from trueness.monitoring.watched import Watched, as_watched
from trueness.refusals import InvalidValueError

DEPENDENCES = ("rows", "look")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a monitor; `Monitor` says what each means."""

    alpha: float
    tolerance: float
    reference: Mapping[str | None, Watched] | None
    """By group; under None for all groups."""
    bins: Bins | None
    max_cluster: int
    max_weight: float | None
    dependence: str
    average_run: float | None
    restarted: str | None = field(default=None)
    """The name of the look that a restarted monitor begins with."""

    @classmethod
    def of(
        cls,
        *,
        alpha: Any,
        tolerance: Any,
        reference: Any,
        bins: Any,
        max_cluster: Any,
        max_weight: Any,
        dependence: Any,
        average_run: Any,
        restarted: str | None = None,
    ) -> Settings:
        """The settings for these arguments; a refusal names the argument."""
        require_choice("dependence", dependence, DEPENDENCES)
        references = None if reference is None else as_watched(reference)
        if references is not None and dependence == "look":
            cause = (
                "`reference` cannot be combined with `dependence='look'`: with one bet for "
                "each look there is no reference"
            )
            remedy = "leave out one of them"
            raise InvalidValueError("conflicting-arguments", cause, remedy, argument="reference")
        if references is not None and any(each.n_rows == 0 for each in references.values()):
            raise InvalidValueError("no-rows", "`reference` has no rows", argument="reference")
        return cls(
            alpha=_between("alpha", alpha, 0.0, 0.5, "a number above 0 and up to 0.5, such as 0.01"),
            tolerance=_between("tolerance", tolerance, -math.inf, 0.5, "a number from 0 to 0.5", least=0.0),
            reference=references,
            bins=None if bins is None else as_bins(bins),
            max_cluster=whole_number("max_cluster", max_cluster, 1),
            max_weight=None
            if max_weight is None
            else _between("max_weight", max_weight, 0.0, 1e300, "a number above 0"),
            dependence=dependence,
            average_run=None
            if average_run is None
            else _between("average_run", average_run, 1.0, 1e300, "a number above 1, of looks"),
            restarted=restarted,
        )

    @property
    def largest_cluster(self) -> float:
        """W: the largest weight of a cluster (equation 5)."""
        return self.max_cluster * (1.0 if self.max_weight is None else self.max_weight)

    @property
    def level(self) -> float:
        """The level of an alarm: α, or what the bound on the reference leaves of it."""
        return self.alpha - self.reference_level

    @property
    def reference_level(self) -> float:
        """γ: the level of the bounds on the reference, half of α; 0 without a reference."""
        return 0.0 if self.reference is None else self.alpha / 2

    @property
    def log_limit(self) -> float:
        """ln E at which one stream alarms."""
        return math.log(1 / self.level if self.average_run is None else self.average_run)

    def reference_for(self, group: str | None) -> Watched | None:
        """The reference of a group."""
        if self.reference is None:
            return None
        found = self.reference.get(group, self.reference.get(None))
        if found is None:
            cause = f"`reference` has no group {group!r}"
            remedy = "pass a reference for each group, or one for all"
            raise InvalidValueError("unknown-group", cause, remedy, argument="reference")
        return found

    def difference(self, other: Settings) -> str | None:
        """The first setting in which two monitors differ, with both values; None if they are equal."""
        for name in self.__dataclass_fields__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if name == "reference":
                if not _same_reference(mine, theirs):
                    return "reference differs"
            elif mine != theirs:
                return f"{name} differs: {mine!r} and {theirs!r}"
        return None


def _same_reference(mine: Mapping[Any, Watched] | None, theirs: Mapping[Any, Watched] | None) -> bool:
    if mine is None or theirs is None:
        return mine is theirs
    return mine.keys() == theirs.keys() and all(mine[name] == theirs[name] for name in mine)


def _between(
    argument: str, value: Any, above: float, most: float, expected: str, *, least: float | None = None
) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    number = number or (hasattr(value, "item") and getattr(value, "ndim", 1) == 0)
    fits = number and above < float(value) <= most and (least is None or float(value) >= least)
    if not fits:
        cause = f"`{argument}` must be {expected}, got {value!r}"
        raise InvalidValueError("bad-argument", cause, argument=argument, value=value)
    return float(value)


def encode_bins(bins: Bins | None) -> Any:
    """Bins as plain numbers and strings."""
    if bins is None:
        return None
    if isinstance(bins, Edges):
        return {"edges": list(bins.edges), "snap": bins.snap}
    names = {EqualWidth: "equal_width", EqualMass: "equal_mass"}
    return {names[type(bins)]: bins.n_bins}


def decode_bins(content: Any) -> Bins | None:
    """The bins of `encode_bins`; a ValueError if it is something else."""
    if content is None:
        return None
    if not isinstance(content, dict):
        raise ValueError("bins must be an object")
    if set(content) == {"edges", "snap"}:
        return Edges(content["edges"], content["snap"])
    kinds: dict[str, Any] = {"equal_width": EqualWidth, "equal_mass": EqualMass}
    if len(content) != 1 or next(iter(content)) not in kinds:
        raise ValueError("bins are of an unknown kind")
    ((name, number),) = content.items()
    bins: Bins = kinds[name](number)
    return bins

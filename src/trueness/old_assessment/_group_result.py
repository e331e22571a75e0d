"""One group of rows in a result, or one event of several: its assessment with a corrected p-value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, Protocol, TypeVar

from trueness.old_assessment._to_json import plain
from trueness.old_assessment.verdict import Verdict, significance_limit
from trueness.old_inference.corrections import benjamini_hochberg


class _Result(Protocol):
    """What the assessments of all rows and of events have in common."""

    @property
    def level(self) -> float: ...

    @property
    def verdict(self) -> Verdict: ...

    def flat(self, prefix: str = "") -> dict[str, float]: ...


Assessed = TypeVar("Assessed", bound=_Result)
Group = TypeVar("Group")

MOST_GROUPS = 40
"""Groups that a page lists."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupAssessment(Generic[Assessed]):
    """One group of rows: its assessment, unless it is too small, and a p-value adjusted for the number of groups."""

    name: str
    n_rows: int
    assessment: Assessed | None
    p_value: float
    """Of all the evidence in the group, as `Assessment.p_value`; NaN if it was not assessed."""
    adjusted_p_value: float
    """The p-value corrected over the groups that were assessed, by Benjamini and Hochberg."""
    reason: str | None = None
    """Why it was not assessed."""

    @property
    def flagged(self) -> bool:
        """Whether the group is called miscalibrated after the correction for the number of groups."""
        return self.assessment is not None and self.adjusted_p_value <= significance_limit(
            self.assessment.level
        )

    @property
    def kind(self) -> str | None:
        """The kind of its verdict after the correction: "none" unless flagged; None if it was not assessed."""
        if self.assessment is None:
            return None
        return self.assessment.verdict.kind if self.flagged else "none"

    def _repr_html_(self) -> str:
        """The group as a notebook displays it."""
        from trueness import old_report as report

        return report.group_fragment(self)

    def to_dict(self) -> dict[str, Any]:
        """As plain numbers, lists and strings."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)} | {
            "flagged": self.flagged
        }


def flat_groups(groups: Iterable[GroupAssessment[Assessed]]) -> dict[str, dict[str, float]]:
    """The flat numbers of the groups that were assessed, by name, with their adjusted p-values."""
    return {
        group.name: group.assessment.flat()
        | ({} if math.isnan(group.adjusted_p_value) else {"adjusted_p_value": group.adjusted_p_value})
        for group in groups
        if group.assessment is not None
    }


def correct_groups(
    groups: Mapping[str, GroupAssessment[Assessed]],
) -> dict[str, GroupAssessment[Assessed]]:
    """The groups with p-values corrected over those that were assessed, by Benjamini and Hochberg."""
    known = {name: group.p_value for name, group in groups.items() if not math.isnan(group.p_value)}
    adjusted = dict(zip(known, benjamini_hochberg(list(known.values())), strict=True))
    return {
        name: replace(group, adjusted_p_value=adjusted.get(name, math.nan)) for name, group in groups.items()
    }


def flagged_first(groups: Iterable[Group], p_value: Callable[[Group], float], limit: float) -> list[Group]:
    """Groups whose p-value is at most the limit, smallest first; then the others in their order."""

    def place(group: Group) -> tuple[bool, float]:
        p = p_value(group)
        return (False, p) if p <= limit else (True, 0.0)  # NaN is above any limit

    return sorted(groups, key=place)

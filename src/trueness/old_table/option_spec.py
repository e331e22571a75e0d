"""What the tables of rows with different numbers of options have in common: measure, bins over [0, 1], ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueness.bins import Edges
from trueness.old_table.content import TableSpec
from trueness.refusals import InvalidValueError
from trueness.variation import CONFIDENCE, ENTROPY, Variation

_CHECKED = (2, 3, 10, 1000)


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """What the tables of all numbers of options have in common. Only tables of equal specs add."""

    variation: Variation
    bins: Edges
    ties: str = "split"
    weighted: bool = False

    def of(self, n_options: int) -> TableSpec:
        """The spec of the table of rows with so many options."""
        return TableSpec(n_options, self.variation, self.bins, self.ties, self.weighted)

    @classmethod
    def shared_by(cls, spec: TableSpec) -> OptionSpec:
        """The spec that a table shares with those of other numbers of options."""
        return cls(spec.variation, spec.bins, spec.ties, spec.weighted)

    @property
    def n_bytes(self) -> int:
        """The memory of the sums of ten different numbers of options, up to ten, about."""
        return 10 * self.of(10).n_bytes

    @property
    def range(self) -> tuple[float, float]:
        """The range of the measure for every number of options."""
        return 0.0, 1.0

    cells: ClassVar[str] = "ranks"
    """The columns of each table are ranks."""
    has_scores: ClassVar[bool] = True
    """Log-scores are summed and impossible rows counted."""

    @property
    def is_by_confidence(self) -> bool:
        """Whether the bins are of confidence, as ECE needs."""
        return self.variation == CONFIDENCE

    @property
    def is_by_entropy(self) -> bool:
        """Whether the bins are of entropy, as UCE needs."""
        return self.variation == ENTROPY

    def difference(self, other: OptionSpec) -> str | None:
        """The first field in which two specs differ, with both values; None if they are equal."""
        return self.of(2).difference(other.of(2))


def range_over_options(variation: Variation) -> tuple[float, float]:
    """The range of the bins of rows with different numbers of options, [0, 1]; refused for measures of other ranges.

    Confidence begins at 1/C, so that its bins begin at 0.
    """
    ranges = [variation.range_for(c) for c in _CHECKED]
    if all(high == 1.0 and 0.0 <= low <= 1 / c for c, (low, high) in zip(_CHECKED, ranges, strict=True)):
        return 0.0, 1.0
    cause = (
        f"variation {variation.name!r} has a range that depends on the number of options "
        f"({ranges[0][0]:g} to {ranges[0][1]:g} for 2, {ranges[2][0]:g} to {ranges[2][1]:g} "
        "for 10)"
    )
    remedy = "use a measure between 0 and 1 for every number of options, such as entropy"
    raise InvalidValueError("bad-range", cause, remedy, argument="variation")


def require_same_spec(mine: OptionSpec, theirs: OptionSpec) -> None:
    """Refuse tables that do not add."""
    difference = mine.difference(theirs)
    if difference is not None:
        cause = f"these tables cannot be added: {difference}"
        raise InvalidValueError("different-tables", cause, "make both with the same options")

"""Models side by side as a value: differences between them, ready to print and to store."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trueness._printing import visible
from trueness._version import __version__
from trueness.assessment._answer import SCHEMA, Assessment, plain
from trueness.assessment._groups import flagged_first
from trueness.assessment._words import limit_of, short_p
from trueness.inference._estimates import Interval

if TYPE_CHECKING:
    from trueness.plots import ForestDisplay


@dataclass(frozen=True, slots=True)
class Contrast:
    """The difference of one number between two models: the first less the second."""

    difference: float
    """Of the debiased values."""
    interval: Interval
    p_value: float
    adjusted_p_value: float
    """By Holm, across all pairs of models."""


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two models, and by how much their numbers differ."""

    first: str
    second: str
    vce: Contrast
    net: Contrast
    ece: Contrast
    rce: Contrast
    rce_w1: Contrast


@dataclass(frozen=True, slots=True, eq=False)
class GroupComparison:
    """One group of rows; p-values of its pairs are corrected across groups as well."""

    name: str
    n_rows: int
    comparison: Comparison | None
    adjusted_p_values: tuple[float, ...]
    """Of the difference in VCE, for each pair, by Benjamini and Hochberg across groups."""
    reason: str | None = None


def _smallest_p(group: GroupComparison) -> float:
    return min(group.adjusted_p_values, default=math.inf)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Models side by side, made by `compare`."""

    assessments: Mapping[str, Assessment]
    pairs: tuple[Pair, ...]
    level: float
    resamples: int
    seed: int
    groups: tuple[GroupComparison, ...] = ()

    @property
    def verdict(self) -> str:
        """One sentence for each pair of models."""
        return "\n".join(self._sentence(pair) for pair in self.pairs)

    def _sentence(self, pair: Pair) -> str:
        vce = pair.vce
        span = f"[{vce.interval.low:+.4f}, {vce.interval.high:+.4f}]"
        if vce.adjusted_p_value > limit_of(self.level):
            return (
                f"no evidence that {pair.first} and {pair.second} differ in VCE: {vce.difference:+.4f} {span}, "
                f"p = {vce.adjusted_p_value:.3f}"
            )
        better, worse = (pair.second, pair.first) if vce.difference > 0 else (pair.first, pair.second)
        return (
            f"{better} is better calibrated than {worse}: VCE {pair.first} - {pair.second} = {vce.difference:+.4f} "
            f"{span}, p = {vce.adjusted_p_value:.3f}"
        )

    def __str__(self) -> str:
        table = next(iter(self.assessments.values())).table
        measure, drawn = table.spec.variation.name, f"{self.resamples} draws, seed {self.seed}"
        width = max(5, *map(len, self.assessments))
        lines = [
            f"{table.n_rows} rows, {table.n_classes} classes, bins of {measure}; {drawn}",
            "",
            f"{'model':{width}}{'VCE':>9}{'debiased':>10}{'net gap':>10}{'ECE':>9}{'RCE':>9}{'p':>8}",
        ]
        for name, it in self.assessments.items():
            assert it.ece is not None
            lines.append(
                f"{name:{width}}{it.vce.value:9.4f}{it.vce.debiased:10.4f}{it.net.debiased:+10.4f}"
                f"{it.ece.debiased:9.4f}{it.rce.debiased:9.4f}{short_p(it.p_value):>8}"
            )
        lines += ["", self.verdict]
        for group in flagged_first(self.groups, _smallest_p, limit_of(self.level)):
            said = group.reason if group.comparison is None else group.comparison.verdict
            lines += ["", f"{visible(group.name)}, {group.n_rows} rows", f"{said}"]
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, ax: Any = None, *, number: str = "vce") -> ForestDisplay:
        """Draw the difference between each pair of models with its interval (extra `plots`)."""
        from trueness.plots import ForestDisplay

        return ForestDisplay.from_comparison(self, number=number, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings."""
        return {
            "schema": SCHEMA,
            "kind": "comparison",
            "trueness": __version__,
            "verdict": self.verdict,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "assessments": plain(self.assessments),
            "pairs": [plain(pair) for pair in self.pairs],
            "groups": [plain(group) for group in self.groups],
        }

"""The groups of an assessment compared with each other or with the rest, as a part of its text, JSON and report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trueness._printing import p_text, plural, visible
from trueness.old_assessment._pair_verdict import pair_verdict
from trueness.old_assessment._to_json import plain
from trueness.old_assessment.reported import REPORTED
from trueness.old_assessment.verdict import significance_limit

if TYPE_CHECKING:
    from trueness.old_assessment._comparison_result import Comparison, Contrast, Pair

SHOWN = ("net", "vce", "ece", "rce")
"""The metrics whose differences are listed, as far as the tables have them."""

MOST_LINES = 40
"""Pairs that a page lists: those with the smallest p-values."""


@dataclass(frozen=True, slots=True, eq=False)
class ComparedGroups:
    """The differences between groups, which have different rows."""

    against: str
    """How: "rest", each group with all other rows of assessed groups, or "each", each group with each."""
    comparison: Comparison

    @property
    def pairs(self) -> list[Pair]:
        """All pairs, those with the smallest p-values first."""
        return sorted(self.comparison.pairs, key=lambda pair: pair.adjusted_p_value)

    @property
    def metrics(self) -> list[str]:
        """The keys of the metrics that are listed."""
        return [key for key in SHOWN if all(key in pair.contrasts for pair in self.comparison.pairs)]

    @property
    def sentence(self) -> str:
        """How many differences are significant."""
        pairs, limit = self.comparison.pairs, significance_limit(self.comparison.level)
        found = sum(pair.adjusted_p_value <= limit for pair in pairs)
        if self.against == "rest":
            what = f"{found} of {len(pairs)} groups {'differs' if found == 1 else 'differ'} from the rest"
        else:
            what = (
                f"{found} of {plural(len(pairs), 'pair')} of groups {'differs' if found == 1 else 'differ'}"
            )
        return f"{what} in calibration, at significance level {limit:.2g} after Holm's correction"

    def name_of(self, pair: Pair) -> str:
        """The group, or both groups of a pair."""
        return pair.first if self.against == "rest" else f"{pair.first} − {pair.second}"

    def verdict_of(self, pair: Pair) -> str:
        """Which side of a pair is better calibrated, in a few words; empty unless the difference is significant."""
        verdict = pair_verdict(self.comparison, pair)
        if verdict.kind == "none":
            return ""
        if verdict.better is None:
            return "differs" if self.against == "rest" else "differ"
        if self.against == "each":
            return f"{verdict.better} is better"
        return "better than the rest" if verdict.better == pair.first else "worse than the rest"

    def lines(self) -> list[str]:
        """The differences as lines of text."""
        shown = self.pairs[:MOST_LINES]
        width = max(5, *(len(visible(self.name_of(pair))) for pair in shown))
        heads = "".join(f"{REPORTED[key].label + ' difference':>28}" for key in self.metrics[:2])
        lines = [
            self.sentence,
            f"{'group' if self.against == 'rest' else 'pair':{width}}{heads}{'adjusted p':>12}  calibration",
        ]
        for pair in shown:
            numbers = "".join(f"{_difference(pair.contrasts[key]):>28}" for key in self.metrics[:2])
            line = f"{visible(self.name_of(pair)):{width}}{numbers}{p_text(pair.adjusted_p_value):>12}"
            lines.append(f"{line}  {visible(self.verdict_of(pair))}".rstrip())
        left_out = len(self.comparison.pairs) - len(shown)
        return [*lines, *([f"and {left_out} more"] if left_out else [])]

    def to_dict(self) -> dict[str, Any]:
        """As plain numbers, lists and strings; the groups' own numbers are those of the assessment."""
        return {
            "against": self.against,
            "difference_of": "debiased values",
            "pairs": [plain(pair) for pair in self.comparison.pairs],
            "verdicts": [plain(verdict) for verdict in self.comparison.verdicts],
        }


def _difference(contrast: Contrast) -> str:
    return f"{contrast.difference:+.4f} [{contrast.interval.low:+.4f}, {contrast.interval.high:+.4f}]"

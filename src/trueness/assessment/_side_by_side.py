"""Models side by side as a value: differences between them, ready to print and to store."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trueness._printing import p_is, p_text, visible
from trueness._version import __version__
from trueness.assessment._answer import SCHEMA, Assessment, plain
from trueness.assessment._groups import flagged_first
from trueness.assessment.reported import BY_KEY, REPORTED
from trueness.assessment.text import NO_SCORES, bins_of
from trueness.assessment.verdict import limit_of
from trueness.inference.corrections import holm
from trueness.inference.estimates import Estimate, Interval

if TYPE_CHECKING:
    from trueness.plots import ForestDisplay


@dataclass(frozen=True, slots=True)
class Contrast:
    """The difference of one metric between two models: the first minus the second."""

    difference: float
    """Of the debiased values."""
    interval: Interval
    p_value: float
    adjusted_p_value: float
    """By Holm, across all pairs of models."""


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two models, and by how much their metrics differ."""

    first: str
    second: str
    vce: Contrast
    net: Contrast
    ece: Contrast
    rce: Contrast
    rce_w1: Contrast
    p_value: float
    """Of the differences of all metrics together: that the two models differ at all."""
    adjusted_p_value: float
    """The same by Holm, across all pairs of models."""

    def clear_keys(self, level: float) -> list[str]:
        """The metrics whose difference is clear by itself (Holm over metrics); the clearest one if none is."""
        p_values = {metric.key: getattr(self, metric.key).p_value for metric in REPORTED}
        corrected = holm(list(p_values.values()))
        clear = [key for key, p in zip(p_values, corrected, strict=True) if p <= limit_of(level)]
        return clear or [min(p_values, key=lambda key: p_values[key])]


@dataclass(frozen=True, slots=True, eq=False)
class GroupComparison:
    """One group of rows; p-values of its pairs are corrected across groups as well."""

    name: str
    n_rows: int
    comparison: Comparison | None
    adjusted_p_values: tuple[float, ...]
    """Of all metrics together, for each pair, by Benjamini and Hochberg across groups."""
    reason: str | None = None


def _smallest_p(group: GroupComparison) -> float:
    return min(group.adjusted_p_values, default=math.inf)


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """What is concluded about two models; `str(verdict)` is one sentence."""

    kind: str
    """"better" (one is better calibrated), "differ" (neither is better in all respects) or "none" (no evidence)."""
    better: str | None
    p_value: float
    sentence: str

    def __str__(self) -> str:
        return self.sentence


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
        return "\n".join(str(verdict) for verdict in self.verdicts)

    @property
    def verdicts(self) -> tuple[PairVerdict, ...]:
        """What is concluded about each pair of models."""
        return tuple(self._judged(pair) for pair in self.pairs)

    def _judged(self, pair: Pair) -> PairVerdict:
        p = pair.adjusted_p_value
        if p > limit_of(self.level):
            said = f"no evidence that {pair.first} and {pair.second} differ in calibration: {_shown(pair, 'vce')}"
            return PairVerdict("none", None, p, f"{said}, {p_is(p)}")
        keys = pair.clear_keys(self.level)
        votes = {key: self._better(pair, key) for key in keys}
        known = {vote for vote in votes.values() if vote is not None}
        shown = ", ".join(_shown(pair, key) for key in _telling(keys))
        if not known:
            return PairVerdict("differ", None, p, f"{self._apart(pair)}; {shown}, {p_is(p)}")
        if len(known) > 1:
            said = f"{pair.first} and {pair.second} differ, but neither is better calibrated in all respects"
            return PairVerdict("differ", None, p, f"{said}: {shown}, {p_is(p)}")
        (better,) = known
        worse = pair.first if better == pair.second else pair.second
        said = f"{better} is better calibrated than {worse}: {shown}, {p_is(p)}"
        return PairVerdict("better", better, p, said)

    def _apart(self, pair: Pair) -> str:
        """How two models differ of which neither is known to be better: a signed difference alone does not tell."""
        first, second = (self.assessments[name].net for name in (pair.first, pair.second))
        if _is_clear(first) and _is_clear(second):
            words = [
                f"{name} is {'over' if net.debiased > 0 else 'under'}-confident"
                for name, net in ((pair.first, first), (pair.second, second))
            ]
            return f"{pair.first} and {pair.second} err in opposite directions: {', '.join(words)}"
        surer, other = (
            (pair.first, pair.second) if first.debiased > second.debiased else (pair.second, pair.first)
        )
        return f"{surer} states more certainty than {other}, but these rows do not show which is better calibrated"

    def _better(self, pair: Pair, key: str) -> str | None:
        """The model with the smaller error in a metric; None if that is not known."""
        first, second = (getattr(self.assessments[name], key) for name in (pair.first, pair.second))
        smaller = pair.first if abs(first.debiased) < abs(second.debiased) else pair.second
        if not BY_KEY[key].signed or (
            _is_clear(first) and _is_clear(second) and first.debiased * second.debiased > 0
        ):
            return smaller
        # The difference of signed numbers is not that of their sizes unless both are on one side of 0.
        (low_a, _, high_a), (low_b, _, high_b) = (BY_KEY[key].magnitude(it) for it in (first, second))
        return smaller if high_a < low_b or high_b < low_a else None

    def __str__(self) -> str:
        some = next(iter(self.assessments.values()))
        facts = [
            f"{some.n_rows} rows",
            f"{some.table.n_classes} classes",
            f"{bins_of(some)}; {self.resamples} draws",
            f"seed {self.seed}; {100 * self.level:g} % intervals",
        ]
        if some.n_clusters is not None:
            facts.append(f"{some.n_clusters} clusters")
        lines = [", ".join(facts), "", self.model_table, "", self.verdict]
        lines += self._remarks()
        for group in flagged_first(self.groups, _smallest_p, limit_of(self.level)):
            lines += ["", *_group_lines(group)]
        return "\n".join(lines)

    def _remarks(self) -> list[str]:
        """The verdict on each model where a tolerance was given, and the warnings by their codes."""
        lines = []
        for name, it in self.assessments.items():
            if it.tolerance is not None:
                lines.append(f"{visible(name)}: {it.verdict}")
            if it.warnings:
                codes = ", ".join(caution.code for caution in it.warnings)
                lines.append(f"{visible(name)}: warnings {codes} (see assess)")
        return ["", *lines] if lines else []

    @property
    def model_table(self) -> str:
        """One line for each model, under two lines of heads."""
        width = max(5, *(len(visible(name)) for name in self.assessments))
        kinds = "".join(f"{word:>10}" for word in ("plug-in", *["debiased"] * 4))
        metrics = "".join(f"{word:>10}" for word in ("VCE", "VCE", "net gap", "ECE", "RCE"))
        scores = f"{'accuracy':>10}{'Brier':>8}{'log-loss':>10}"
        lines = [f"{'':{width}}{kinds}", f"{'model':{width}}{metrics}{'p':>8}{scores}"]
        lines += [_model_line(f"{visible(name):{width}}", it) for name, it in self.assessments.items()]
        if any(math.isnan(it.brier_score) for it in self.assessments.values()):
            lines.append(f"Brier score and log-loss: {NO_SCORES}")
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, ax: Any = None, *, number: str = "vce") -> ForestDisplay:
        """Draw the difference between each pair of models with its interval (extra `plots`)."""
        from trueness.plots import ForestDisplay

        return ForestDisplay.from_comparison(self, metric=number, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings."""
        return {
            "schema": SCHEMA,
            "kind": "comparison",
            "trueness": __version__,
            "verdict": self.verdict,
            "verdicts": [plain(verdict) for verdict in self.verdicts],
            "difference_of": "debiased values",
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "assessments": plain(self.assessments),
            "pairs": [plain(pair) for pair in self.pairs],
            "groups": [plain(group) for group in self.groups],
        }


def _is_clear(estimate: Estimate) -> bool:
    """Whether the interval excludes 0."""
    return estimate.interval.low > 0 or estimate.interval.high < 0


def _group_lines(group: GroupComparison) -> list[str]:
    head = f"{visible(group.name)}, {group.n_rows} rows"
    if group.comparison is None:
        return [head, f"{group.reason}"]
    adjusted = ", ".join(p_text(p) for p in group.adjusted_p_values)
    return [f"{head}; p adjusted for the number of groups: {adjusted}", group.comparison.verdict]


def _shown(pair: Pair, key: str) -> str:
    """A difference in a sentence."""
    contrast: Contrast = getattr(pair, key)
    return (
        f"{BY_KEY[key].label} {pair.first} - {pair.second} = {contrast.difference:+.4f} "
        f"[{contrast.interval.low:+.4f}, {contrast.interval.high:+.4f}]"
    )


def _telling(keys: list[str]) -> list[str]:
    """The metrics that a sentence names: those that bound others instead of these, and at most two."""
    bounding = [key for key in keys if BY_KEY[key].bounded_by not in keys]
    return bounding[:2]


def _model_line(name: str, it: Assessment) -> str:
    assert it.ece is not None
    return (
        f"{name}{it.vce.value:10.4f}{it.vce.debiased:10.4f}{it.net.debiased:+10.4f}{it.ece.debiased:10.4f}"
        f"{it.rce.debiased:10.4f}{p_text(it.p_value):>8}{it.accuracy:10.4f}{it.brier_score:8.4f}{it.log_loss:10.4f}"
    )

"""The verdict on two models: whether they differ in calibration, and which is better calibrated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trueness._printing import p_sentence
from trueness.old_assessment.compared import compared_numbers
from trueness.old_assessment.reported import REPORTED
from trueness.old_assessment.verdict import significance_limit
from trueness.old_inference.events.in_the_large import GapTest
from trueness.old_inference.results import Estimate

if TYPE_CHECKING:
    from trueness.old_assessment._comparison_result import Comparison, Pair
    from trueness.old_assessment._result import Assessment


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The conclusion about two models; `str(verdict)` is one sentence."""

    kind: str
    """"better" (one is better calibrated), "differ" (neither is better in all respects) or "none" (no evidence)."""
    better: str | None
    """The name of the better calibrated model, if the kind is "better"."""
    p_value: float
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def pair_verdict(comparison: Comparison, pair: Pair) -> PairVerdict:
    """The conclusion about one pair of models."""
    p, both = pair.adjusted_p_value, f"{pair.first} and {pair.second}"
    if p > significance_limit(comparison.level):
        sentence = (
            f"no evidence that {both} differ in calibration: {_contrast_text(pair, 'vce')}, {p_sentence(p)}"
        )
        return PairVerdict("none", None, p, sentence)
    keys = pair.clear_keys(comparison.level)
    better = {_better(comparison, pair, key) for key in keys} - {None}
    numbers = ", ".join([*(_contrast_text(pair, key) for key in _bounding_keys(keys)[:2]), p_sentence(p)])
    if not better:
        how = _how_events_differ if "net" not in keys and "event_gap" in keys else _how_they_differ
        return PairVerdict("differ", None, p, f"{how(comparison, pair)}; {numbers}")
    if len(better) > 1:
        sentence = f"{both} differ, but neither is better calibrated in all respects: {numbers}"
        return PairVerdict("differ", None, p, sentence)
    (name,) = better
    worse = pair.first if name == pair.second else pair.second
    return PairVerdict("better", name, p, f"{name} is better calibrated than {worse}: {numbers}")


def _how_they_differ(comparison: Comparison, pair: Pair) -> str:
    """How two models differ if neither is known to be better: a signed difference alone does not decide that."""
    first, second = (comparison.assessments[name].net for name in (pair.first, pair.second))
    if _is_clear(first) and _is_clear(second):
        words = [
            f"{name} is {'over' if net.debiased > 0 else 'under'}-confident"
            for name, net in ((pair.first, first), (pair.second, second))
        ]
        return f"{pair.first} and {pair.second} err in opposite directions: {', '.join(words)}"
    names = (pair.first, pair.second)
    surer, other = names if first.debiased > second.debiased else names[::-1]
    return f"{surer} is more confident than {other}; these rows do not decide which one is better calibrated"


def _how_events_differ(comparison: Comparison, pair: Pair) -> str:
    """The same for the gaps of class 1 of two."""
    names = (pair.first, pair.second)
    gaps = [_gap_of_event(comparison.assessments[name]) for name in names]
    if all(gap.interval is not None and gap.interval.low * gap.interval.high > 0 for gap in gaps):
        words = [
            f"{name} forecasts class 1 too {'often' if gap.value > 0 else 'seldom'}"
            for name, gap in zip(names, gaps, strict=True)
        ]
        return f"{pair.first} and {pair.second} err in opposite directions: {', '.join(words)}"
    more, other = names if gaps[0].value > gaps[1].value else names[::-1]
    return f"{more} forecasts class 1 more often than {other}; these rows do not decide which one is better calibrated"


def _gap_of_event(result: Assessment) -> GapTest:
    assert result.classes is not None
    return result.classes.classes[0].gap


def _better(comparison: Comparison, pair: Pair, key: str) -> str | None:
    """The model with the smaller error by a metric; None if that is not known."""
    if key not in REPORTED:
        return None
    metric = REPORTED[key]
    first, second = (metric.of(comparison.assessments[name]) for name in (pair.first, pair.second))
    assert first is not None
    assert second is not None
    smaller = pair.first if abs(first.debiased) < abs(second.debiased) else pair.second
    if not metric.signed or (_is_clear(first) and _is_clear(second) and first.debiased * second.debiased > 0):
        return smaller
    # The difference of signed numbers is not that of their sizes unless both are on one side of 0.
    (low_a, _, high_a), (low_b, _, high_b) = (metric.magnitude(it) for it in (first, second))
    return smaller if high_a < low_b or high_b < low_a else None


def _is_clear(estimate: Estimate) -> bool:
    """Whether the interval excludes 0."""
    return estimate.interval.low > 0 or estimate.interval.high < 0


def _contrast_text(pair: Pair, key: str) -> str:
    """A difference in a sentence."""
    contrast, label = pair.contrasts[key], compared_numbers()[key].label
    return (
        f"{label}({pair.first}) - {label}({pair.second}) = {contrast.difference:+.4f} "
        f"[{contrast.interval.low:+.4f}, {contrast.interval.high:+.4f}]"
    )


def _bounding_keys(keys: list[str]) -> list[str]:
    """The metrics without those that another one of them bounds."""
    return [key for key in keys if key not in REPORTED or REPORTED[key].bounded_by not in keys]

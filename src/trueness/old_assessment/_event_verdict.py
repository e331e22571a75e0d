"""The verdict on an event: forecast too often or too seldom, too extreme or too timid, and how sure that is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from trueness._printing import about_text, count_text, p_sentence, plural, visible
from trueness.old_assessment.verdict import Verdict, clear_keys, significance_limit

if TYPE_CHECKING:
    from trueness.old_assessment._event_result import EventAssessment, EventAssessments

_ADJUST = (
    "If the prevalence differs from that of the training data, multiply the odds by {factor:.3g}; otherwise "
    "recalibrate."
)
_RECALIBRATE = (
    "Recalibrate before relying on the probabilities, for example by a logistic regression on other rows."
)
_RECALIBRATE_EACH = "Recalibrate each of these events on other rows."
_ISOTONIC = "Recalibrate with isotonic regression on other rows."
_MORE_ROWS = "Collect more rows if a smaller error would matter."


def event_verdict(result: EventAssessment) -> Verdict:
    """The conclusion from the evidence: what is largest in practice first, the rest in a clause each."""
    p = result.p_value
    if not p <= significance_limit(result.level):
        sentence = f"{expected_and_observed(result)}, {_interval(result)}, {p_sentence(p)}"
        headline = f"No evidence of miscalibration of {result.label_in_sentence}"
        return Verdict("none", None, p, None, headline, sentence, _MORE_ROWS)
    clear = clear_keys(result.evidence, result.level, 1 / (result.resamples + 1))
    large = "in_the_large" in clear
    wide = "spread" in clear and not (large and _slope_may_be_one(result))
    if large and (not wide or abs(result.in_the_large.value) >= result.ece.debiased / 2):
        return _in_the_large(result, p, also=[spread_words(result)] if wide else [])
    if wide:
        return _spread(result, p, also=[_gap_words(result)] if large else [])
    return _curve(result, p)


MOST_NAMED = 3
"""Events that a sentence about several names."""


def verdict_of_events(results: EventAssessments) -> Verdict:
    """The conclusion about the events of a multi-label model, after the correction for their number."""
    flagged, p, n = results.flagged, results.p_value, len(results)
    if not flagged:
        headline = f"No evidence of miscalibration of {plural(n, 'event')}"
        return Verdict("none", None, p, None, headline, f"{p_sentence(p)} after the correction", _MORE_ROWS)
    headline = f"{len(flagged)} of {plural(n, 'event')} {'is' if len(flagged) == 1 else 'are'} miscalibrated"
    named = [f"{visible(it.name)} {_in_short(it)}" for it in flagged[:MOST_NAMED]]
    more = [f"and {len(flagged) - MOST_NAMED} more"] if len(flagged) > MOST_NAMED else []
    sentence = "; ".join([*named, *more, f"smallest adjusted {p_sentence(p)}"])
    return Verdict("events", None, p, None, headline, sentence, _RECALIBRATE_EACH)


def _in_short(event: EventAssessment) -> str:
    """What is wrong with one of several events."""
    kind = event.verdict.kind
    if kind.endswith("forecast"):
        return _gap_words(event)
    return spread_words(event) if kind.startswith("too-") else "miscalibrated in some ranges"


def expected_and_observed(result: EventAssessment) -> str:
    """How often the event was expected and observed."""
    gap = result.in_the_large
    return f"{about_text(gap.expected)} expected, {count_text(gap.observed)} observed"


def spread_words(result: EventAssessment) -> str:
    """The direction of the spread, with the slope of a logistic recalibration."""
    return f"too {'extreme' if _is_extreme(result) else 'timid'}, {_slope_words(result)}"


def _is_extreme(result: EventAssessment) -> bool:
    """Whether high probabilities are too high: by the slope if its interval excludes 1, otherwise by the spread.

    A large gap alone gives the spread a sign; the slope is estimated beside an intercept, which takes up the gap.
    """
    slope = result.cox.slope
    if slope.reason is None and not _slope_may_be_one(result):
        return slope.value < 1
    return result.spread.statistic < 0


def _slope_words(result: EventAssessment) -> str:
    slope = result.cox.slope
    if slope.reason is not None:
        return f"slope {result.spread.slope:.2f}"
    return f"slope {slope.value:.2f} [{slope.interval.low:.2f}, {slope.interval.high:.2f}]"


def _slope_may_be_one(result: EventAssessment) -> bool:
    """Whether the interval of the slope holds 1: the test of the spread also responds to a large gap."""
    interval = result.cox.slope.interval
    return result.cox.slope.reason is None and interval.low <= 1 <= interval.high


def _gap_words(result: EventAssessment) -> str:
    return f"forecast too {'often' if result.in_the_large.value > 0 else 'seldom'}, {expected_and_observed(result)}"


def _in_the_large(result: EventAssessment, p: float, also: list[str]) -> Verdict:
    over = result.in_the_large.value > 0
    kind = "over-forecast" if over else "under-forecast"
    headline = f"Forecasts {result.label_in_sentence} too {'often' if over else 'seldom'}"
    sentence = "; ".join([f"{expected_and_observed(result)}, {p_sentence(p)}", *also, *_impossible(result)])
    factor = result.prevalence.odds_factor
    advice = _RECALIBRATE if math.isnan(factor) else _ADJUST.format(factor=factor)
    return Verdict(kind, "over" if over else "under", p, None, headline, sentence, advice)


def _spread(result: EventAssessment, p: float, also: list[str]) -> Verdict:
    extreme = _is_extreme(result)
    kind = "too-extreme" if extreme else "too-timid"
    headline = f"The probabilities of {result.label_in_sentence} are too {'extreme' if extreme else 'timid'}"
    high, low = ("high", "low") if extreme else ("low", "high")
    found = f"high ones are too {high} and low ones too {low}, {_slope_words(result)}, {p_sentence(p)}"
    sentence = "; ".join([found, *also, *_impossible(result)])
    return Verdict(kind, "over" if extreme else "under", p, None, headline, sentence, _RECALIBRATE)


def _curve(result: EventAssessment, p: float) -> Verdict:
    headline = f"The probabilities of {result.label_in_sentence} are miscalibrated in some ranges"
    ece = result.ece
    numbers = f"ECE {ece.debiased:.4f} [{ece.interval.low:.4f}, {ece.interval.high:.4f}], {p_sentence(p)}"
    sentence = "; ".join([numbers, expected_and_observed(result), *_impossible(result)])
    return Verdict("curve", None, p, None, headline, sentence, _ISOTONIC)


def _impossible(result: EventAssessment) -> list[str]:
    rows = result.table.sums.impossible_rows
    if rows is None or not rows[0]:
        return []
    return [f"in {plural(int(rows[0]), 'row')} the outcome had probability 0"]


def _interval(result: EventAssessment) -> str:
    interval = result.in_the_large.interval
    if interval is None:
        return ""
    return f"gap {result.in_the_large.value:+.4f} [{interval.low:+.4f}, {interval.high:+.4f}]"

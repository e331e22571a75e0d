"""The verdict on a stated confidence: stated too high or too low, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trueness._printing import p_sentence, plural
from trueness.old_assessment.verdict import Verdict, significance_limit
from trueness.old_inference.corrections import holm

if TYPE_CHECKING:
    from trueness.old_assessment._event_result import EventAssessment

_MAP = "Map stated confidences to the observed frequencies of other answers before relying on them."
_MORE_ROWS = "Collect more answers if a smaller error would matter."


def stated_verdict(result: EventAssessment) -> Verdict:
    """The conclusion from the evidence about the stated confidence of answers."""
    p, limit = result.p_value, significance_limit(result.level)
    adjusted = dict(
        zip((it.key for it in result.evidence), holm([it.p_value for it in result.evidence]), strict=True)
    )
    if adjusted.get("in_the_large", 1.0) <= limit:
        return _one_direction(result, p)
    if p <= limit:
        return _in_some_bins(result, p)
    return _spread(result) if result.spiegelhalter.p_value <= limit else _no_evidence(result, p)


def _one_direction(result: EventAssessment, p: float) -> Verdict:
    gap, rows = result.in_the_large, float(result.table.count.sum())
    high = gap.value > 0
    ends = ""
    if gap.interval is not None:
        ends = f" [{gap.interval.low:+.3f}, {gap.interval.high:+.3f}]"
    sentence = (
        f"{gap.expected / rows:.2f} on average, right {gap.observed / rows:.2f} of the time, "
        f"net gap {gap.value:+.3f}{ends}, {p_sentence(p)}"
    )
    kind = "stated-too-high" if high else "stated-too-low"
    headline = f"Stated too {'high' if high else 'low'}"
    return Verdict(kind, "over" if high else "under", p, None, headline, sentence + _impossible(result), _MAP)


def _in_some_bins(result: EventAssessment, p: float) -> Verdict:
    ece = result.ece
    sentence = (
        f"ECE {ece.debiased:.3f} [{ece.interval.low:.3f}, {ece.interval.high:.3f}], "
        f"net gap {result.in_the_large.value:+.3f}, {p_sentence(p)}"
    )
    headline = "Too high in some bins, too low in others"
    return Verdict("curve", None, p, None, headline, sentence + _impossible(result), _MAP)


def _spread(result: EventAssessment) -> Verdict:
    """Too extreme or too timid, shown by the Brier score alone."""
    z = result.spiegelhalter
    extreme = z.value > 0
    words = f"too {'extreme' if extreme else 'timid'}"
    sentence = f"but the Brier score says {words} (Z = {z.value:+.1f}, {p_sentence(z.p_value)})"
    kind, direction = ("too-extreme", "over") if extreme else ("too-timid", "under")
    headline = "Bins show nothing at this sample size"
    return Verdict(kind, direction, result.p_value, None, headline, sentence + _impossible(result), _MAP)


def _no_evidence(result: EventAssessment, p: float) -> Verdict:
    least = f"a net gap of {result.detectable_net_gap:.3g} or more would be detected with 80 % power"
    headline = "No evidence of miscalibration at this sample size"
    return Verdict("none", None, p, None, headline, f"{p_sentence(p)}; {least}", _MORE_ROWS)


def _impossible(result: EventAssessment) -> str:
    rows = result.impossible_rows
    return "" if not rows else f"; in {plural(rows, 'row')} the confidence was 0 or 100 % and wrong"

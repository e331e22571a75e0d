"""The assessment of an event as a printed page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trueness._printing import about_text, count_text, p_text, plural, visible

if TYPE_CHECKING:
    from trueness.assessment._event_result import EventAssessment, EventAssessments

_WIDTH = 22


def page(result: EventAssessment) -> str:
    """The numbers as a table, the bins, the verdict and the warnings."""
    parts = [heading(result), "", *number_lines(result), "", *bin_lines(result), "", str(result.verdict)]
    parts.append(result.verdict.advice)
    if result.warnings:
        parts += ["", "warnings", *(f"- {caution}" for caution in result.warnings)]
    return "\n".join(parts)


def heading(result: EventAssessment) -> str:
    """The event, its rows, resamples and seed."""
    event = "top label" if result.table.events == ("top",) else f"class {visible(result.name)}"
    gap = result.in_the_large
    share = 100 * gap.observed / result.table.count.sum()
    return (
        f"{event}: {plural(result.n_rows, 'row')}, observed in {share:.3g} %; "
        f"{result.resamples} resamples, seed {result.seed}"
    )


def number_lines(result: EventAssessment) -> Iterator[str]:
    """One line for each number of the event."""
    yield f"{'':{_WIDTH}}{'value':>10}{'calibrated':>12}{'p':>8}  {100 * result.level:g} % interval"
    gap = result.in_the_large
    yield _line("gap in the large", gap.value, 0.0, gap.p_value, gap.interval, sign="+")
    numbers = f"{about_text(gap.expected)} expected, {count_text(gap.observed)} observed"
    yield f"{'':{_WIDTH}}{numbers}, ratio {gap.ratio:.3f}"
    yield _line("spread (signed root)", result.spread.signed_root, 0.0, result.spread.p_value, sign="+")
    slope, intercept = result.cox.slope, result.cox.intercept
    yield _line("Cox slope", slope.value, 1.0, math.nan, slope.interval, reason=slope.reason)
    yield _line("Cox intercept", intercept.value, 0.0, result.cox.p_value, intercept.interval, sign="+")
    ece = result.ece
    yield _line("ECE, plug-in", ece.value, ece.noise_floor, ece.p_value)
    yield _line("ECE, debiased", ece.debiased, 0.0, math.nan, ece.interval)
    yield _line(f"ICI ({result.curve.curve})", result.ici.value, result.ici.noise_floor, result.ici.p_value)
    for label, it in (("E50", result.e50), ("E90", result.e90), ("Emax", result.e_max)):
        yield _line(label, it.value, it.noise_floor, it.p_value)
    yield _line("KS", result.ks.value, result.ks.noise_floor, result.ks.p_value)
    yield _line("Kuiper", result.kuiper.value, result.kuiper.noise_floor, result.kuiper.p_value)
    z = result.spiegelhalter
    yield _line("Spiegelhalter Z", z.value, 0.0, z.p_value, sign="+", reason=z.reason)
    hosmer = result.hosmer_lemeshow
    yield _line("Hosmer-Lemeshow", hosmer.value, float(hosmer.degrees), hosmer.p_value)
    yield _line("Brier score", result.brier_score, result.brier.calibrated_value, math.nan)
    yield _line("log-loss", result.log_loss, result.log.calibrated_value, math.nan)


def _line(
    label: str,
    value: float,
    calibrated: float,
    p: float,
    interval: object = None,
    *,
    sign: str = "",
    reason: str | None = None,
) -> str:
    if math.isnan(value):
        return f"{label:{_WIDTH}}{'-':>10}  {reason or 'not defined for these rows'}"
    shown = "infinite" if math.isinf(value) else f"{value:{sign}.4f}"
    expected = "" if math.isnan(calibrated) else f"{calibrated:{sign if calibrated else ''}.4f}"
    ends = ""
    if interval is not None and not math.isnan(interval.low):  # type: ignore[attr-defined]
        ends = f"  [{interval.low:{sign}.4f}, {interval.high:{sign}.4f}]"  # type: ignore[attr-defined]
    return f"{label:{_WIDTH}}{shown:>10}{expected:>12}{p_text(p):>8}{ends}"


def bin_lines(result: EventAssessment) -> Iterator[str]:
    """One line for each bin that holds rows."""
    yield f"{'rows':>10}{'predicted':>12}{'observed':>12}{'gap':>10}"
    bins = result.bins
    for count, p, y in zip(bins.count.tolist(), bins.mean_predicted, bins.mean_observed, strict=True):
        yield f"{count_text(count):>10}{p:12.4f}{y:12.4f}{p - y:+10.4f}"


def list_of(results: EventAssessments) -> str:
    """One line for each event of a multi-label model."""
    width = max(6, *(len(visible(name)) for name in results.events))
    lines = [
        f"{'event':{width}}{'expected':>12}{'observed':>10}{'gap':>10}{'ECE':>9}{'adjusted p':>12}  verdict"
    ]
    for name, event in results.events.items():
        gap = event.in_the_large
        lines.append(
            f"{visible(name):{width}}{about_text(gap.expected):>12}{count_text(gap.observed):>10}{gap.value:+10.4f}"
            f"{event.ece.debiased:9.4f}{p_text(event.adjusted_p_value):>12}  "
            f"{event.verdict.kind if event in results.flagged else 'none'}"
        )
    return "\n".join(lines)

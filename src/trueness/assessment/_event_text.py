"""The assessment of an event as a printed page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trueness._printing import about_text, count_text, p_text, plural, visible
from trueness.assessment.event_numbers import EventNumber, event_numbers

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
    first, *others = event_numbers(result)
    yield _line(first)
    gap = result.in_the_large
    numbers = f"{about_text(gap.expected)} expected, {count_text(gap.observed)} observed"
    yield f"{'':{_WIDTH}}{numbers}, ratio {gap.ratio:.3f}"
    yield from map(_line, others)


def _line(it: EventNumber) -> str:
    if math.isnan(it.value):
        return f"{it.label:{_WIDTH}}{'-':>10}  {it.reason or 'not defined for these rows'}"
    sign = "+" if it.signed else ""
    shown = "infinite" if math.isinf(it.value) else f"{it.value:{sign}.4f}"
    expected = "" if math.isnan(it.calibrated) else f"{it.calibrated:{sign if it.calibrated else ''}.4f}"
    interval, ends = it.interval, ""
    if interval is not None and not math.isnan(interval.low):
        ends = f"  [{interval.low:{sign}.4f}, {interval.high:{sign}.4f}]"
    return f"{it.label:{_WIDTH}}{shown:>10}{expected:>12}{p_text(it.p_value):>8}{ends}"


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

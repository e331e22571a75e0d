"""The assessment of an event as a printed page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from trueness._printing import about_text, count_text, p_text, plural, visible
from trueness.old_assessment._group_result import MOST_GROUPS, flagged_first
from trueness.old_assessment.event_numbers import (
    EventNumber,
    event_numbers,
    frequencies,
    frequency_heads,
    has_slope,
)
from trueness.old_assessment.verdict import significance_limit
from trueness.old_inference.events.of_table import event_cells

if TYPE_CHECKING:
    from trueness.old_assessment._event_result import EventAssessment, EventAssessments
    from trueness.old_assessment._group_result import GroupAssessment

_WIDTH = 22


def page(result: EventAssessment) -> str:
    """The numbers as a table, the bins, the verdict and the warnings."""
    parts = [heading(result), "", *number_lines(result), "", *bin_lines(result), *pile_lines(result)]
    parts += ["", str(result.verdict), result.verdict.advice]
    if result.groups:
        parts += ["", *group_lines(result.groups, "group", result.level, result.what)]
    if result.warnings:
        parts += ["", "warnings", *(f"- {caution}" for caution in result.warnings)]
    return "\n".join(parts)


def heading(result: EventAssessment) -> str:
    """The event, its rows, resamples and seed."""
    gap = result.in_the_large
    share = 100 * gap.observed / result.table.count.sum()
    clusters = "" if result.n_clusters is None else f"; {plural(result.n_clusters, 'cluster')}"
    observed = "right" if result.what == "right" else "observed"
    return (
        f"{result.label}: {plural(result.n_rows, 'row')}, {observed} in {share:.3g} %; "
        f"{result.resamples} resamples, seed {result.seed}{clusters}"
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
    infinite = "-infinite" if it.value < 0 else "infinite"
    shown = infinite if math.isinf(it.value) else f"{it.value:{sign}.4f}"
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


MOST_PILES = 5
LARGE_PILE = 0.05
"""A value that so large a share of the rows has is a pile."""


def pile_lines(result: EventAssessment) -> list[str]:
    """The values that are stated most often, which no bin parts; nothing unless confidence is stated."""
    if result.what is None:
        return []
    (cells,) = event_cells(result.table)
    share = cells.count / cells.total
    order = np.argsort(-share, kind="stable")[:MOST_PILES]
    piles = [
        f"{cells.mean_predicted[k]:.4g} in {100 * share[k]:.0f} %" for k in order if share[k] >= LARGE_PILE
    ]
    return ["", f"stated most often: {', '.join(piles)} of the rows"] if piles else []


def page_of_events(results: EventAssessments) -> str:
    """The events of a multi-label model as a table, the clearest error first, and the verdict."""
    head = f"{plural(len(results), 'event')}, {plural(results.n_rows, 'row')}; p adjusted for the number of events"
    table = group_lines(results.as_groups, "event", results.level)
    return "\n".join([head, "", *table, "", str(results.verdict), results.verdict.advice])


def group_lines(
    groups: Sequence[GroupAssessment[EventAssessment]], of: str, level: float, what: str | None = None
) -> Iterator[str]:
    """One line for each group, or for each of several events; flagged ones first."""
    width = max(len(of), *(len(visible(group.name)) for group in groups)) + 1
    expected, observed, gap = frequency_heads(what)
    slope = f"{'slope':>8}" if has_slope(what) else ""
    heads = f"{'rows':>10}{expected:>12}{observed:>10}{gap:>10}{slope}{'ECE':>9}{'p':>8}{'adjusted p':>12}"
    yield f"{of:{width}}{heads}  verdict"
    ordered = flagged_first(groups, lambda group: group.adjusted_p_value, significance_limit(level))
    for group in ordered[:MOST_GROUPS]:
        yield _group_line(group, width)
    if len(groups) > MOST_GROUPS:
        yield f"… and {len(groups) - MOST_GROUPS} more {of}s"


def _group_line(group: GroupAssessment[EventAssessment], width: int) -> str:
    start = f"{visible(group.name):{width}}{group.n_rows:>10}"
    event = group.assessment
    if event is None:
        return f"{start}  {group.reason}"
    (expected, observed), slope = frequencies(event), event.cox.slope.value
    shown = f"{'-' if math.isnan(slope) else f'{slope:.2f}':>8}" if has_slope(event.what) else ""
    return (
        f"{start}{expected:>12}{observed:>10}{event.in_the_large.value:+10.4f}{shown}{event.ece.debiased:9.4f}"
        f"{p_text(group.p_value):>8}{p_text(group.adjusted_p_value):>12}  {group.kind}"
    )

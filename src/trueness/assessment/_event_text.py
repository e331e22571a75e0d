"""The assessment of an event as a printed page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from trueness._printing import about_text, count_text, p_text, plural, visible
from trueness.assessment.event_numbers import EventNumber, by_p_value, event_numbers
from trueness.inference.events.of_table import event_cells

if TYPE_CHECKING:
    from trueness.assessment._event_result import EventAssessment, EventAssessments, EventGroup

_WIDTH = 22


def page(result: EventAssessment) -> str:
    """The numbers as a table, the bins, the verdict and the warnings."""
    parts = [heading(result), "", *number_lines(result), "", *bin_lines(result), *pile_lines(result)]
    parts += ["", str(result.verdict), result.verdict.advice]
    if result.groups:
        parts += ["", *group_lines(result)]
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
        f"{subject(result)}: {plural(result.n_rows, 'row')}, {observed} in {share:.3g} %; "
        f"{result.resamples} resamples, seed {result.seed}{clusters}"
    )


def subject(result: EventAssessment) -> str:
    """What the probabilities are, in a heading."""
    if result.what == "right":
        return "stated confidence"
    return "top label" if result.table.events == ("top",) else f"class {visible(result.name)}"


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


MOST_GROUPS = 40


def group_lines(result: EventAssessment) -> Iterator[str]:
    """One line for each group, those with the smallest p-value first."""
    width = max(5, *(len(visible(group.name)) for group in result.groups))
    heads = f"{'rows':>10}{'stated':>10}{'observed':>10}{'net gap':>10}{'ECE':>9}{'p':>8}{'adjusted p':>12}"
    yield f"{'group':{width}}{heads}  verdict"
    ordered = by_p_value(result.groups)
    for group in ordered[:MOST_GROUPS]:
        yield _group_line(group, width)
    if len(ordered) > MOST_GROUPS:
        yield f"… and {len(ordered) - MOST_GROUPS} more groups, in .groups"


def _group_line(group: EventGroup, width: int) -> str:
    start, own = f"{visible(group.name):{width}}{group.n_rows:>10}", group.assessment
    if own is None:
        return f"{start}  {group.reason}"
    gap, rows = own.in_the_large, float(own.table.count.sum())
    means = f"{gap.expected / rows:10.4f}{gap.observed / rows:10.4f}{gap.value:+10.4f}{own.ece.debiased:9.4f}"
    kind = own.verdict.kind if group.flagged else "none"
    return f"{start}{means}{p_text(group.p_value):>8}{p_text(group.adjusted_p_value):>12}  {kind}"


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

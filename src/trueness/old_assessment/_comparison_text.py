"""A comparison as a printed page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trueness._printing import p_text, visible
from trueness.old_assessment._group_result import flagged_first
from trueness.old_assessment.reported import ReportedMetric, headline_metrics
from trueness.old_assessment.text import (
    bins_of,
    classes_of,
    debiased_columns,
    metric_heads,
    what_is_compared,
)
from trueness.old_assessment.verdict import significance_limit

if TYPE_CHECKING:
    from trueness.old_assessment._comparison_result import Comparison, GroupComparison
    from trueness.old_assessment._result import Assessment


MOST_PAIRS = 6
"""The differences of more pairs are not printed."""

_LABEL = 16


def page(comparison: Comparison) -> str:
    """The models as a table, the verdicts, remarks on single models, and the groups."""
    lines = [_heading(comparison), "", model_table(comparison), "", *difference_lines(comparison), ""]
    lines += [comparison.verdict, *_remarks(comparison)]
    for group in flagged_first(comparison.groups, _smallest_p, significance_limit(comparison.level)):
        lines += ["", *_group_lines(group)]
    return "\n".join(lines)


def _heading(comparison: Comparison) -> str:
    some = next(iter(comparison.assessments.values()))
    rows = {visible(name): result.n_rows for name, result in comparison.assessments.items()}
    facts = [
        f"{some.n_rows} rows" if comparison.paired else "different rows",
        classes_of(some),
        f"{bins_of(some)}; {comparison.resamples} resamples",
        f"seed {comparison.seed}; {100 * comparison.level:g} % intervals",
    ]
    if some.n_clusters is not None and comparison.paired:
        facts.append(f"{some.n_clusters} clusters")
    own = "" if comparison.paired else "\nrows: " + ", ".join(f"{name} {n}" for name, n in rows.items())
    return ", ".join(facts) + own


def model_table(comparison: Comparison) -> str:
    """One line for each model, or for each table of different rows, under two lines of heads."""
    assessments = comparison.assessments
    width = max(5, *(len(visible(name)) for name in assessments))
    metrics = [
        metric
        for metric in headline_metrics()
        if not metric.by_class or any(metric.of(result) is not None for result in assessments.values())
    ]
    kinds, labels = metric_heads(metrics)
    scores = f"{'accuracy':>10}{'Brier':>8}{'log-loss':>10}"
    lines = [
        f"{'':{width}}{'plug-in':>10}{kinds}",
        f"{what_is_compared(comparison):{width}}{'VCE':>10}{labels}{'p':>8}{scores}",
        *(
            f"{visible(name):{width}}{_model_columns(result, metrics)}"
            for name, result in assessments.items()
        ),
    ]
    return "\n".join(lines)


def _model_columns(result: Assessment, metrics: Sequence[ReportedMetric]) -> str:
    scores = f"{result.accuracy:10.4f}{result.brier_score:8.4f}{result.log_loss:10.4f}"
    return f"{result.vce.value:10.4f}{debiased_columns(result, metrics)}{p_text(result.p_value):>8}{scores}"


def difference_lines(comparison: Comparison) -> list[str]:
    """The differences of all numbers between the models of each pair, unless the pairs are many."""
    if len(comparison.pairs) > MOST_PAIRS:
        return [f"differences of {len(comparison.pairs)} pairs: see pairs, or the JSON"]
    numbers, lines = comparison.metrics, []
    for pair in comparison.pairs:
        lines.append(f"{visible(pair.first)} - {visible(pair.second)}")
        for key, contrast in pair.contrasts.items():
            low, high = contrast.interval.low, contrast.interval.high
            lines.append(
                f"  {numbers[key].label:{_LABEL}}{contrast.difference:+9.4f}  [{low:+.4f}, {high:+.4f}]"
                f"{p_text(contrast.adjusted_p_value):>9}"
            )
    head = (
        f"{'differences':{_LABEL + 2}}{'value':>9}  {100 * comparison.level:g} % interval{'adjusted p':>13}"
    )
    return [head, *lines]


def _remarks(comparison: Comparison) -> list[str]:
    """The verdict on each model if there is a tolerance, and the messages of its warnings."""
    lines = []
    for name, result in comparison.assessments.items():
        if result.tolerance is not None:
            lines.append(f"{visible(name)}: {result.verdict}")
        lines += [f"{visible(name)}: {caution.message}" for caution in result.warnings]
    return ["", *lines] if lines else []


def _smallest_p(group: GroupComparison) -> float:
    return min(group.adjusted_p_values, default=math.inf)


def _group_lines(group: GroupComparison) -> list[str]:
    head = f"{visible(group.name)}, {group.n_rows} rows"
    if group.comparison is None:
        return [head, f"{group.reason}"]
    adjusted = ", ".join(p_text(p) for p in group.adjusted_p_values)
    return [f"{head}; p adjusted for the number of groups: {adjusted}", group.comparison.verdict]

"""An assessment as a printed page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from trueness._printing import about_text, count_text, p_text, plural, visible
from trueness.old_assessment import _event_text
from trueness.old_assessment._class_words import fault_of
from trueness.old_assessment._group_result import MOST_GROUPS, flagged_first
from trueness.old_assessment.cluster_text import cluster_lines
from trueness.old_assessment.reported import REPORTED, ReportedMetric, headline_metrics
from trueness.old_assessment.verdict import significance_limit
from trueness.old_table.option_text import options_text

if TYPE_CHECKING:
    from trueness.old_assessment._comparison_result import Comparison
    from trueness.old_assessment._group_result import GroupAssessment
    from trueness.old_assessment._result import Assessment
    from trueness.old_inference.classwise.results import ClassAssessment


NO_UCE = "requires a table binned by entropy"

MOST_CLASSES = 20
"""Classes that a page lists."""


def page(result: Assessment) -> str:
    """The metrics as a table, the verdict, the groups and the warnings."""
    event = result.event
    first = [] if event is None else [_event_text.heading(event), "", *_event_text.number_lines(event), ""]
    parts = [heading(result), "", *first, *_metric_lines(result), "", scores(result)]
    if event is None:
        parts += class_lines(result)
    parts += ["", str(result.verdict), result.verdict.advice]
    parts += cluster_lines(result.cluster_spread)
    if result.by_options:
        parts += ["", *_group_lines(result, result.by_options, "options")]
    if result.groups:
        parts += ["", *_group_lines(result, result.groups, "group")]
    if result.compared_groups is not None:
        parts += ["", *result.compared_groups.lines()]
    if result.warnings:
        parts += ["", "warnings", *(f"- {caution}" for caution in result.warnings)]
    return "\n".join(parts)


def heading(result: Assessment) -> str:
    """Rows, classes or options, bins, resamples and seed."""
    facts = [
        f"{plural(result.n_rows, 'row')}, {classes_of(result)}, {bins_of(result)}",
        f"{result.resamples} resamples, seed {result.seed}",
    ]
    if result.n_clusters is not None:
        facts.append(f"{result.n_clusters} clusters")
    return "; ".join(facts)


def what_is_compared(comparison: Comparison) -> str:
    """What has the names of a comparison: "model", or "table" if each has rows of its own, such as those of a day."""
    return "model" if comparison.paired else "table"


def classes_of(result: Assessment) -> str:
    """The number of classes, or the numbers of options with their rows."""
    if result.options is not None:
        return options_text(result.options)
    return f"{result.tables.n_classes} classes"


def bins_of(result: Assessment) -> str:
    """The number and measure of the bins, those of ECE included, and ties if rows have options of their own."""
    table, by_confidence, own = result.table, result.confidence_table, result.options is not None
    words = f"{plural(table.n_bins, 'bin')} of {table.spec.variation.display_name}"
    if own and table.spec.variation.grows_with_dispersion:
        words += " to each row's own base"
    if by_confidence is not None and by_confidence is not table:
        over = " over [0, 1]" if own else ""
        words += f" (ECE: {plural(by_confidence.n_bins, 'bin')} of confidence{over})"
    return f"{words}, ties {table.spec.ties}" if own else words


def scores(result: Assessment) -> str:
    """Accuracy, Brier score and log-loss, which a recalibration may change too."""
    loss = "infinite" if math.isinf(result.log_loss) else f"{result.log_loss:.4f}"
    return f"accuracy {result.accuracy:.4f}, Brier score {result.brier_score:.4f}, log-loss {loss}"


def _metric_lines(result: Assessment) -> Iterator[str]:
    width = max(12, *(len(metric.label) + 1 for metric in REPORTED.values()))
    interval = f"{100 * result.level:g} % interval"
    yield f"{'':{width}}{'plug-in':>9}{'noise floor':>13}{'p':>8}{'centred p':>11}{'debiased':>10}  {interval}"
    for metric in REPORTED.values():
        if metric.of(result) is not None or not metric.by_class or result.options is None:
            yield _metric_line(metric, result, width)
    yield _uce_line(result, width)
    yield _log_score_line(result, width)
    yield from _score_lines(result, width)
    yield "centred p: each bin is compared with its mean for a calibrated model"


def _metric_line(metric: ReportedMetric, result: Assessment, width: int) -> str:
    estimate, sign = metric.of(result), metric.sign
    if estimate is None:
        return f"{metric.label:{width}}{'-':>9}  {metric.reason(result)}"
    return (
        f"{metric.label:{width}}{estimate.value:{sign}9.4f}{estimate.noise_floor:{sign}13.4f}"
        f"{p_text(estimate.p_value):>8}{p_text(estimate.centred_p_value):>11}{estimate.debiased:{sign}10.4f}  "
        f"[{estimate.interval.low:{sign}.4f}, {estimate.interval.high:{sign}.4f}]"
    )


def _uce_line(result: Assessment, width: int) -> str:
    uce = result.uce
    if uce is None:
        return f"{'UCE':{width}}{'-':>9}  {NO_UCE}"
    start = f"{'UCE':{width}}{uce.value:9.4f}{'':13}{p_text(uce.p_value):>8}"
    return f"{start}  expected for a calibrated model: {uce.calibrated_value:.4f}"


def _log_score_line(result: Assessment, width: int) -> str:
    z = result.log_score_z
    drawn = z.drawn_p_value
    remarks = [f"p by resampling = {p_text(drawn)}"] if drawn > max(z.p_value, 0.001) else []
    remarks += [z.reason] if z.reason else []
    tail = f"  ({'; '.join(remarks)})" if remarks else ""
    value = "-" if math.isnan(z.value) else f"{z.value:+.2f}"
    return f"{'log-score Z':{width}}{value:>9}{'':13}{p_text(z.p_value):>8}{tail}"


def _score_lines(result: Assessment, width: int) -> Iterator[str]:
    """The log-score cumulated over the bins, and by predicted class."""
    test = result.cumulative_log_score
    if not math.isnan(test.value):
        yield f"{'cumulated':{width}}{test.value:9.2f}{'':13}{p_text(test.safe_p_value):>8}  log-score over the bins"
    by_class = result.by_predicted_class
    if by_class is not None and not math.isnan(by_class.value):
        yield (
            f"{'by class Q':{width}}{by_class.value:9.2f}{by_class.degrees:13d}{p_text(by_class.safe_p_value):>8}  "
            "log-score by predicted class"
        )


def class_lines(result: Assessment) -> list[str]:
    """The classes that are called, clearest first; a sentence if none is."""
    classes = result.classes
    if classes is None:
        return []
    limit = significance_limit(result.level)
    called = [it for it in classes.by_adjusted_p_value if it.adjusted_p_value <= limit]
    if not called:
        return ["", f"no class of {len(classes.classes)} is significantly wrong after the correction"]
    width = max(5, *(len(visible(it.name)) for it in called[:MOST_CLASSES]))
    heads = f"{'expected':>12}{'observed':>10}{'gap':>10}{'slope':>8}{'ECE':>9}{'adjusted p':>12}"
    lines = ["", f"{'class':{width}}{heads}"]
    lines += [_class_line(it, width) for it in called[:MOST_CLASSES]]
    if len(called) > MOST_CLASSES:
        lines.append(f"… and {len(called) - MOST_CLASSES} more classes, in .classes")
    return lines


def _class_line(it: ClassAssessment, width: int) -> str:
    ece = "-" if math.isnan(it.ece.debiased) else f"{it.ece.debiased:.4f}"
    slope = "-" if math.isnan(it.spread.slope) else f"{it.spread.slope:.2f}"
    return (
        f"{visible(it.name):{width}}{about_text(it.gap.expected):>12}{count_text(it.gap.observed):>10}"
        f"{it.gap.value:+10.4f}{slope:>8}{ece:>9}{p_text(it.adjusted_p_value):>12}  {fault_of(it)}"
    )


def debiased_columns(result: Assessment, metrics: Sequence[ReportedMetric] | None = None) -> str:
    """The debiased values of the headline metrics, or of others, under `metric_heads`."""
    return "".join(_debiased_text(metric, result) for metric in metrics or headline_metrics())


def metric_heads(metrics: Sequence[ReportedMetric] | None = None) -> tuple[str, str]:
    """Two lines of heads for `debiased_columns`: what the values are, and of which metrics."""
    columns = [(column_width(metric), metric.label) for metric in metrics or headline_metrics()]
    kinds = "".join(f"{'debiased':>{width}}" for width, _ in columns)
    return kinds, "".join(f"{label:>{width}}" for width, label in columns)


def column_width(metric: ReportedMetric) -> int:
    """The width of a metric's column."""
    return max(10, len(metric.label) + 2)


def _debiased_text(metric: ReportedMetric, result: Assessment) -> str:
    estimate = metric.of(result)
    value = "-" if estimate is None else f"{estimate.debiased:{metric.sign}.4f}"
    return f"{value:>{column_width(metric)}}"


def _group_lines(
    result: Assessment, groups: Sequence[GroupAssessment[Assessment]], head: str
) -> Iterator[str]:
    """A line for each group; numbers of options stay in their order."""
    metrics = [metric for metric in headline_metrics() if result.options is None or not metric.by_class]
    width = max(5, len(head), *(len(visible(group.name)) for group in groups))
    kinds, labels = metric_heads(metrics)
    yield f"{'':{width}}{'':>10}{kinds}{'':>8}{'adjusted':>10}"
    yield f"{head:{width}}{'rows':>10}{labels}{'p':>8}{'p':>10}  verdict"
    ordered = (
        list(groups)
        if groups is result.by_options
        else flagged_first(groups, lambda group: group.adjusted_p_value, significance_limit(result.level))
    )
    for group in ordered[:MOST_GROUPS]:
        yield _group_line(group, width, metrics)
    if len(groups) > MOST_GROUPS:
        yield f"… and {len(groups) - MOST_GROUPS} more groups, in .groups"


def _group_line(group: GroupAssessment[Assessment], width: int, metrics: Sequence[ReportedMetric]) -> str:
    start = f"{visible(group.name):{width}}{group.n_rows:>10}"
    if group.assessment is None:
        return f"{start}  {group.reason}"
    p_values = f"{p_text(group.p_value):>8}{p_text(group.adjusted_p_value):>10}"
    return f"{start}{debiased_columns(group.assessment, metrics)}{p_values}  {group.kind}"

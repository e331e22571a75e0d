"""An assessment as a printed page."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from trueness._printing import p_text, plural, visible
from trueness.assessment._groups import flagged_first
from trueness.assessment.reported import REPORTED
from trueness.assessment.verdict import limit_of

if TYPE_CHECKING:
    from trueness.assessment._answer import Assessment

NO_ECE = "needs a table binned by confidence"
NO_UCE = "is defined on a table binned by entropy"
NO_SCORES = "the table was saved by an older version, without these sums"

MOST_GROUPS = 40
"""Groups that a page lists."""


def page(result: Assessment) -> str:
    """The metrics as a table, the verdict, the groups and the warnings."""
    parts = [heading(result), "", *_metric_lines(result), "", scores(result), "", str(result.verdict)]
    parts.append(result.verdict.advice)
    if result.groups:
        parts += ["", *_group_lines(result)]
    if result.warnings:
        parts += ["", "warnings", *(f"- {caution}" for caution in result.warnings)]
    return "\n".join(parts)


def heading(result: Assessment) -> str:
    """Rows, classes, bins, draws and seed."""
    table = result.table
    facts = [
        f"{plural(result.n_rows, 'row')}, {table.n_classes} classes, {bins_of(result)}",
        f"{result.resamples} draws, seed {result.seed}",
    ]
    if result.n_clusters is not None:
        facts.append(f"{result.n_clusters} clusters")
    return "; ".join(facts)


def bins_of(result: Assessment) -> str:
    """With which bins the metrics were made, those of ECE included."""
    table, by_confidence = result.table, result.confidence_table
    said = f"{plural(table.n_bins, 'bin')} of {table.spec.variation.display_name}"
    if by_confidence is None or by_confidence is table:
        return said
    return f"{said} (ECE: {by_confidence.n_bins} of confidence)"


def scores(result: Assessment) -> str:
    """Accuracy, Brier score and log-loss: what a change of calibration may cost."""
    if math.isnan(result.brier_score):
        return f"accuracy {result.accuracy:.4f} (Brier score and log-loss: {NO_SCORES})"
    loss = "infinite" if math.isinf(result.log_loss) else f"{result.log_loss:.4f}"
    return f"accuracy {result.accuracy:.4f}, Brier score {result.brier_score:.4f}, log-loss {loss}"


def _metric_lines(result: Assessment) -> Iterable[str]:
    interval = f"{100 * result.level:g} % interval"
    yield f"{'':12}{'plug-in':>9}{'noise':>9}{'p':>8}{'centred p':>11}{'debiased':>10}  {interval}"
    for metric in REPORTED:
        estimate = metric.of(result)
        if estimate is None:
            yield f"{metric.label:12}{'-':>9}  {NO_ECE}"
            continue
        sign = "+" if metric.signed else ""
        yield (
            f"{metric.label:12}{estimate.value:{sign}9.4f}{estimate.noise_floor:{sign}9.4f}"
            f"{p_text(estimate.p_value):>8}{p_text(estimate.centred_p_value):>11}{estimate.debiased:{sign}10.4f}  "
            f"[{estimate.interval.low:{sign}.4f}, {estimate.interval.high:{sign}.4f}]"
        )
    yield _uce_line(result)
    z = result.log_score_z
    remarks = [f"by draws p = {p_text(z.drawn_p_value)}"] if z.drawn_p_value > max(z.p_value, 0.001) else []
    remarks += [z.reason] if z.reason else []
    tail = f"  ({'; '.join(remarks)})" if remarks else ""
    value = "-" if math.isnan(z.value) else f"{z.value:+.2f}"
    yield f"{'log-score Z':12}{value:>9}{'':9}{p_text(z.p_value):>8}{tail}"


def _uce_line(result: Assessment) -> str:
    uce = result.uce
    if uce is None:
        return f"{'UCE':12}{'-':>9}  {NO_UCE}"
    calibrated = f"{uce.calibrated_value:.4f}"
    but = "" if float(calibrated) == 0 else ", not 0"
    return f"{'UCE':12}{uce.value:9.4f}{'':9}{p_text(uce.p_value):>8}  a calibrated model would get {calibrated}{but}"


def _group_lines(result: Assessment) -> Iterable[str]:
    width = max(5, *(len(visible(group.name)) for group in result.groups))
    yield f"{'':{width}}{'':>10}{'debiased':>10}{'debiased':>10}{'debiased':>10}{'':>8}{'adjusted':>10}"
    yield f"{'group':{width}}{'rows':>10}{'VCE':>10}{'net gap':>10}{'RCE':>10}{'p':>8}{'p':>10}  verdict"
    ordered = flagged_first(result.groups, lambda group: group.adjusted_p_value, limit_of(result.level))
    for group in ordered[:MOST_GROUPS]:
        name = f"{visible(group.name):{width}}"
        if group.assessment is None:
            yield f"{name}{group.n_rows:>10}  {group.reason}"
            continue
        it = group.assessment
        yield (
            f"{name}{group.n_rows:>10}{it.vce.debiased:10.4f}{it.net.debiased:+10.4f}{it.rce.debiased:10.4f}"
            f"{p_text(group.p_value):>8}{p_text(group.adjusted_p_value):>10}  "
            f"{it.verdict.kind if group.flagged else 'none'}"
        )
    if len(result.groups) > MOST_GROUPS:
        yield f"… and {len(result.groups) - MOST_GROUPS} more groups, in .groups"

"""The answer in words: one sentence, a page, and what limits it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from trueness._printing import visible
from trueness.assessment._groups import flagged_first
from trueness.inference._corrections import holm
from trueness.inference._estimates import Estimate

if TYPE_CHECKING:
    from trueness.assessment._answer import Assessment

NO_ECE = "needs a table binned by confidence"
NO_UCE = "is defined on a table binned by entropy"

MIXED = 1.5
"""A VCE so many times the net gap says that gaps of both signs are hidden in it."""

MOST_GROUPS = 40
"""Groups that a page lists."""


def limit_of(level: float) -> float:
    """The largest p-value that counts; 1 - 0.9 is a hair below 0.1, which p-values can equal."""
    return 1 - level + 1e-12


def verdict(result: Assessment) -> str:
    """One plain sentence: over-confident, under-confident, both, only in the ranks, or nothing to be seen."""
    limit = limit_of(result.level)
    centred, net = holm([result.vce.centred_p_value, result.net.centred_p_value])
    if net <= limit:
        return _direction(result, net)
    if centred <= limit:
        return (
            f"miscalibrated in both directions: over-confident in some bins, under-confident in others, VCE "
            f"{result.vce.debiased:.3f} {_span(result.vce)}, net gap {result.net.debiased:+.3f}, {_p(centred)}"
        )
    others = _rank_tests(result)
    if others and others[0].startswith("RCE"):
        return f"the variation of the outcomes is as predicted, but which rank came true is not: {'; '.join(others)}"
    if others:
        direction = "over" if result.log_score_z.value < 0 else "under"
        return f"VCE finds nothing at this sample size, but the log-score says {direction}-confident: {others[0]}"
    if math.isinf(result.detectable_net_gap):
        return f"too few rows to tell: {plural(result.n_rows, 'row')} would not reveal a net gap of any size"
    return (
        f"no evidence of miscalibration at this sample size ({_p(min(centred, net))}); smallest net gap that "
        f"{plural(result.n_rows, 'row')} would reveal with 80 % power: {result.detectable_net_gap:.3g}"
    )


def _direction(result: Assessment, p: float) -> str:
    over = result.net.debiased > 0
    what = (
        "over-confident: observed outcomes are more varied than predicted"
        if over
        else "under-confident: observed outcomes are less varied than predicted"
    )
    mixed = result.vce.debiased > MIXED * abs(result.net.debiased)
    but = f"; some bins err the other way (VCE {result.vce.debiased:.3f})" if mixed else ""
    return f"{what}, net gap {result.net.debiased:+.3f} {_span(result.net, sign='+')}, {_p(p)}{but}"


def _rank_tests(result: Assessment) -> list[str]:
    """What the companions of VCE see at the level of the assessment, corrected for there being three of them."""
    p_values = [result.rce.p_value, result.rce_w1.p_value, result.log_score_z.p_value]
    known = [1.0 if math.isnan(p) else p for p in p_values]
    names = [
        f"RCE {result.rce.value:.3f}",
        f"RCE W1 {result.rce_w1.value:.3f}",
        f"log-score Z {result.log_score_z.value:+.1f}",
    ]
    limit = limit_of(result.level)
    return [f"{name}, {_p(p)}" for name, p in zip(names, holm(known), strict=True) if p <= limit]


def _span(estimate: Estimate, sign: str = "") -> str:
    return f"[{estimate.interval.low:{sign}.3f}, {estimate.interval.high:{sign}.3f}]"


def short_p(p: float) -> str:
    """A p-value in a column."""
    return "-" if math.isnan(p) else f"{p:.3f}" if p >= 0.0005 else "<0.001"


def _p(p: float) -> str:
    if p >= 0.0005:
        return f"p = {p:.3f}"
    return f"p = {p:.1g}" if p > 0 else "p < 1e-300"


def page(result: Assessment) -> str:
    """The numbers as a table, the verdict, the groups, and what limits it."""
    table = result.table
    head = (
        f"{plural(result.n_rows, 'row')}, {table.n_classes} classes, {table.n_bins} bins of "
        f"{table.spec.variation.name}; {result.resamples} draws, seed {result.seed}"
    )
    if result.n_clusters is not None:
        head += f"; {result.n_clusters} clusters"
    parts = [head, "", *_lines(result), "", result.verdict]
    if result.groups:
        parts += ["", *_group_lines(result)]
    if result.warnings:
        parts += ["", "warnings", *(f"- {caution}" for caution in result.warnings)]
    return "\n".join(parts)


def _lines(result: Assessment) -> Iterable[str]:
    interval = f"{100 * result.level:g} % interval"
    yield f"{'':12}{'value':>9}{'noise':>9}{'p':>8}{'centred p':>11}{'debiased':>10}  {interval}"
    rows = {
        "VCE": result.vce,
        "net gap": result.net,
        "ECE": result.ece,
        "RCE": result.rce,
        "RCE W1": result.rce_w1,
    }
    for name, estimate in rows.items():
        if estimate is None:
            yield f"{name:12}{'-':>9}  {NO_ECE}"
            continue
        sign = "+" if name == "net gap" else ""
        yield (
            f"{name:12}{estimate.value:{sign}9.4f}{estimate.noise_floor:{sign}9.4f}{short_p(estimate.p_value):>8}"
            f"{short_p(estimate.centred_p_value):>11}{estimate.debiased:{sign}10.4f}  "
            f"[{estimate.interval.low:{sign}.4f}, {estimate.interval.high:{sign}.4f}]"
        )
    if result.uce is None:
        yield f"{'UCE':12}{'-':>9}  {NO_UCE}"
    else:
        yield (
            f"{'UCE':12}{result.uce.value:9.4f}{'':9}{short_p(result.uce.p_value):>8}  a calibrated model would get "
            f"{result.uce.calibrated_value:.4f}, not 0"
        )
    z = result.log_score_z
    tail = f"  ({z.reason})" if z.reason else ""
    value = "-" if math.isnan(z.value) else f"{z.value:+.2f}"
    yield f"{'log-score Z':12}{value:>9}{'':9}{short_p(z.p_value):>8}{tail}"


def _group_lines(result: Assessment) -> Iterable[str]:
    width = max(5, *(len(visible(group.name)) for group in result.groups))
    yield f"{'group':{width}}{'rows':>10}{'VCE':>9}{'net gap':>10}{'p':>8}{'adjusted':>10}"
    ordered = flagged_first(result.groups, lambda group: group.adjusted_p_value, limit_of(result.level))
    for group in ordered[:MOST_GROUPS]:
        name = f"{visible(group.name):{width}}"
        if group.assessment is None:
            yield f"{name}{group.n_rows:>10}  {group.reason}"
            continue
        it = group.assessment
        yield (
            f"{name}{group.n_rows:>10}{it.vce.debiased:9.4f}{it.net.debiased:+10.4f}"
            f"{short_p(group.p_value):>8}{short_p(group.adjusted_p_value):>10}"
        )
    if len(result.groups) > MOST_GROUPS:
        yield f"… and {len(result.groups) - MOST_GROUPS} more groups, in .groups"


def plural(count: int, one: str, many: str | None = None) -> str:
    """3 bins, 1 bin."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def listed(items: Iterable[Any], most: int = 6) -> str:
    """The first few of them."""
    shown = [str(item) for item in items]
    return ", ".join(shown[:most]) + (", …" if len(shown) > most else "")

"""A monitor as a printed page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from trueness._printing import first_few, p_sentence, plural, rows_text, visible
from trueness.monitoring.results import Alarm

if TYPE_CHECKING:
    from trueness.monitoring.monitor import Monitor

MOST_GROUPS = 40
"""Groups that a page lists."""


def page(monitor: Monitor) -> str:
    """The verdict, the evidence, the groups, the settings and the warnings."""
    parts = [sentence(monitor), "", *_evidence(monitor)]
    if monitor.groups:
        parts += ["", *_group_lines(monitor)]
    parts += ["", settings_line(monitor)]
    if monitor.warnings:
        parts += ["", "warnings", *(f"- {visible(str(caution))}" for caution in monitor.warnings)]
    return "\n".join(parts)


def sentence(monitor: Monitor) -> str:
    """The verdict in one sentence."""
    alarm = monitor.alarm
    if alarm is None:
        return (
            f"no alarm in {plural(len(monitor.looks), 'look')}, {rows_text(monitor.n_rows)}; "
            f"{e_text(monitor.log_e_value)}"
        )
    return visible(f"alarm at {alarm.at}: {subject(alarm)}, {_limit(monitor, alarm)}; {onset(alarm)}")


def subject(alarm: Alarm) -> str:
    """What is wrong: the class or the bin, the direction in words, and the groups."""
    what = alarm.meaning if alarm.event is None else f"class {alarm.event} {alarm.meaning}"
    where = "" if alarm.bin is None else f" in bin {alarm.bin + 1}"
    named = "group" if len(alarm.groups) == 1 else "groups"
    groups = f" ({named} {first_few(alarm.groups)})" if alarm.groups else ""
    return f"{what}{where}{groups}"


def _limit(monitor: Monitor, alarm: Alarm) -> str:
    settings = monitor.settings
    if settings.average_run is not None:
        return f"statistic {alarm.e_value:.4g} (limit {settings.average_run:g})"
    limit = "1/α" if settings.reference is None else "2/α"
    return f"E = {alarm.e_value:.4g} ({limit} = {1 / settings.level:.4g})"


def onset(alarm: Alarm) -> str:
    """When it began, by the estimate and for certain."""
    certain = "" if alarm.since is None else f", certainly between {alarm.since} and {alarm.at}"
    return f"began about {alarm.began}{certain}"


def e_text(log_e: float) -> str:
    """E with three digits, as a power of ten where it is large.

    >>> e_text(math.log(0.4)), e_text(50.0)
    ('E = 0.4', 'E = 5.18e+21')
    """
    if log_e > 700:
        return f"E = 10^{log_e / math.log(10):.0f}"
    return f"E = {math.exp(log_e):.3g}"


def _evidence(monitor: Monitor) -> list[str]:
    if monitor.settings.average_run is not None:
        return [f"statistic {math.exp(min(monitor.log_e_value, 700)):.4g} as of now"]
    p = monitor.p_value
    return [f"{e_text(monitor.log_e_value)} as of now, {p_sentence(p)} (valid however often one looks)"]


def _group_lines(monitor: Monitor) -> list[str]:
    groups = monitor.groups
    width = max(len("group"), *(len(visible(group.name)) for group in groups[:MOST_GROUPS]))
    lines = [f"{'group':{width}}{'looks':>7}{'rows':>12}{'E':>12}  flagged"]
    lines += [
        f"{visible(group.name):{width}}{group.n_looks:>7}{group.n_rows:>12}{group.e_value:>12.3g}  "
        + (f"yes: {group.meaning}, since about {visible(str(group.began))}" if group.flagged else "no")
        for group in groups[:MOST_GROUPS]
    ]
    rest = len(groups) - MOST_GROUPS
    return [*lines, f"and {plural(rest, 'more group')} with less evidence"] if rest > 0 else lines


def settings_line(monitor: Monitor) -> str:
    """The settings in one line."""
    settings = monitor.settings
    parts = [f"alpha {settings.alpha:g}", f"tolerance {settings.tolerance:g}"]
    if settings.reference is not None:
        rows = sum(each.n_rows for each in settings.reference.values())
        parts.append(f"drift from a reference of {rows_text(rows)}")
    if settings.max_cluster > 1:
        parts.append(f"clusters of up to {settings.max_cluster} rows")
    if settings.max_weight is not None:
        parts.append(f"weights up to {settings.max_weight:g}")
    if settings.dependence == "look":
        parts.append("one bet for each look")
    if settings.average_run is not None:
        parts.append(f"average run {settings.average_run:g}")
    if settings.restarted is not None:
        parts.append(f"restarted at {visible(settings.restarted)}")
    return ", ".join(parts)

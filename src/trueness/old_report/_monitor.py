"""The page of a monitor: the verdict, the evidence, the trend, the bins, the groups, and the state itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from trueness._markup import Markup, json_text, name_of, tag
from trueness._printing import capitalise, count_text, plural, rows_text
from trueness.monitoring import text
from trueness.monitoring.state_file import text_of
from trueness.old_report._document import document, warning_section
from trueness.old_report._html_table import html_table
from trueness.old_report._numbers import html_p_sentence, number
from trueness.plots.monitoring import evidence_chart, evidence_of, trend_chart, trend_lines_of

if TYPE_CHECKING:
    from trueness.monitoring import Alarm, Monitor
    from trueness.old_table import AnyRankTable

STATE_ID = "trueness-monitor"
MOST_STATE = 20_000_000
"""Characters of the state up to which the page contains it."""

MOST_BINS = 3
"""Bins whose evidence is shown."""

HEADING = "Monitor"


def page_of_monitor(monitor: Monitor, *, title: str | None = None) -> str:
    """The entire file."""
    state, has_state = _state(monitor)
    main = tag(
        "main",
        _verdict(monitor),
        _evidence(monitor),
        _trend(monitor),
        _bins(monitor),
        _before_and_since(monitor),
        _groups(monitor),
        warning_section(monitor.warnings),
        _settings(monitor, has_state),
    )
    header = tag(
        "header",
        tag("h1", name_of(title or HEADING)),
        tag("p", f"{plural(len(monitor.looks), 'look')} · {rows_text(monitor.n_rows)}", class_="facts"),
    )
    return document(title or HEADING, header, main, state)


def _verdict(monitor: Monitor) -> Markup:
    alarm = monitor.alarm
    if alarm is None:
        advice = (
            "No alarm does not show that the model is calibrated: a small error takes many looks to be seen. "
            "The picture of the trend shows how large the gap can still be."
        )
        return tag(
            "section",
            tag("h2", "No alarm"),
            tag("p", f"{capitalise(text.sentence(monitor))}."),
            tag("p", advice),
            class_="verdict none",
            aria_label="Verdict",
        )
    return tag(
        "section",
        tag("h2", "Alarm: ", name_of(text.subject(alarm))),
        tag("p", name_of(f"{capitalise(text.sentence(monitor))}.")),
        tag("p", _meaning(monitor)),
        class_=f"verdict {_colour(alarm)}",
        aria_label="Verdict",
    )


def _meaning(monitor: Monitor) -> str:
    settings = monitor.settings
    if settings.average_run is not None:
        return (
            "False alarms are bounded in their average frequency only; check whether the gap is still there."
        )
    what = (
        "the model was worse than in the reference"
        if settings.reference is not None
        else f"the error was above the tolerance of {settings.tolerance:g}"
    )
    chance = f"If that is wrong, something happened that has a probability of at most {settings.alpha:g}"
    return f"In some look {what}. {chance}, however often one looked. An alarm stays; now: {_now(monitor)}."


def _now(monitor: Monitor) -> str:
    return f"{text.e_text(monitor.log_e_value)}, {html_p_sentence(monitor.p_value)}"


def _colour(alarm: Alarm) -> str:
    over = {"flat", "top-", "noise", "too extreme", "too often"}
    under = {"sharp", "top+", "too timid", "too seldom"}
    return "over" if alarm.direction in over else "under" if alarm.direction in under else "mixed"


def _figure(drawn: Markup, title: str, caption: str) -> Markup:
    region = tag("div", drawn, class_="scroll", tabindex="0", role="region", aria_label=title)
    return tag("figure", region, tag("figcaption", tag("strong", f"{title}. "), caption), class_="wide")


def _evidence(monitor: Monitor) -> Markup:
    if not monitor.looks:
        return tag("section", tag("h2", "Evidence"), tag("p", "There are no looks yet."))
    caption = (
        "E after each look in order of arrival, on a logarithmic axis; the dashed line is the alarm. While the model "
        "is within the tolerance E tends to fall. The shade runs from the estimated start to the alarm; the bars below "
        "are the rows of each look."
    )
    if monitor.groups:
        caption += " With groups, E is the mean over them."
    return tag(
        "section", tag("h2", "Evidence"), _figure(evidence_chart(evidence_of(monitor)), "Evidence", caption)
    )


def _trend(monitor: Monitor) -> Markup | None:
    if monitor.table is None or monitor.n_rows == 0:
        return None
    level = f"{100 * (1 - monitor.settings.alpha):g} %"
    caption = (
        f"Each point is the gap of one look with its {level} interval, which holds for one look at one time: among "
        "many looks some lie outside by chance. The line is the gap of all looks so far; its band holds at all looks "
        f"at once with probability {level}. The tolerance is shaded."
    )
    lines = trend_lines_of(monitor)
    return tag("section", tag("h2", "Trend"), _figure(trend_chart(lines), "Top-label gap", caption))


def _bins(monitor: Monitor) -> Markup | None:
    """The bins with most evidence, summed over all looks."""
    alarm, table = monitor.alarm, monitor.table
    group = alarm.group if alarm is not None else next((each.name for each in monitor.groups), None)
    evidence = monitor.evidence_of(group)
    if evidence.size == 0 or table is None:
        return None
    of_bins = evidence.sum(axis=0)
    most = np.argsort(-of_bins, kind="stable")[:MOST_BINS]
    edges = table.edges if table.n_bins == len(of_bins) else None
    lines = [
        [
            f"bin {m + 1}" if edges is None else f"{edges[m]:.3g} to {edges[m + 1]:.3g}",
            number(float(of_bins[m]), sign=True),
        ]
        for m in most.tolist()
    ]
    of_group = "" if group is None else f" of the group {group}"
    words = (
        f"The evidence{of_group} that a bin is outside the tolerance, in nats over all looks: above 0 for it, below 0 "
        "against it. Bins with few rows have little of either."
    )
    shown = html_table("Bins with most evidence", ["bin", "evidence"], lines)
    return tag("section", tag("h2", "Bin by bin"), tag("p", name_of(words)), shown)


def _before_and_since(monitor: Monitor) -> Markup | None:
    """The bins of the sum before the estimated start, and since."""
    alarm = monitor.alarm
    parts = _parts(monitor, alarm)
    filled = [(name, table) for name, table in parts if table is not None and table.n_rows]
    if not filled:
        return None
    tables = [
        html_table(f"Bins {name}", _BIN_HEADS, _bin_lines(table))
        for name, table in filled
        if table.n_bins <= 100
    ]
    heading = "Before and since the estimated start" if alarm is not None else "All looks"
    return tag("section", tag("h2", heading), tables) if tables else None


_BIN_HEADS = [
    "bin",
    "rows",
    "predicted confidence",
    "accuracy",
    "gap",
    "predicted variation",
    "observed variation",
]


def _parts(monitor: Monitor, alarm: Alarm | None) -> list[tuple[str, AnyRankTable | None]]:
    if alarm is None:
        return [("of all looks", monitor.table)]
    names = [entry.at for entry in monitor.entries]
    start = names.index(alarm.began)
    group = "" if alarm.group is None else f", group {alarm.group}"
    return [
        (f"before {alarm.began}{group}", _sum_of(monitor, slice(0, start), alarm.group)),
        (f"since {alarm.began}{group}", _sum_of(monitor, slice(start, None), alarm.group)),
    ]


def _sum_of(monitor: Monitor, which: slice, group: str | None) -> AnyRankTable | None:
    found = (entry.tables.get(group) for entry in monitor.entries[which])
    tables = [each.ranks for each in found if each is not None and each.ranks is not None]
    return sum(tables[1:], start=tables[0]) if tables else None


def _bin_lines(table: AnyRankTable) -> list[list[Any]]:
    lines = []
    for m in np.flatnonzero(table.row_count):
        confidence, accuracy = float(table.mean_ordered[m, 0]), float(table.rank_frequency[m, 0])
        lines.append(
            [
                f"{table.edges[m]:.4g} to {table.edges[m + 1]:.4g}",
                count_text(float(table.count[m])),
                number(confidence),
                number(accuracy),
                number(confidence - accuracy, sign=True),
                number(float(table.predicted_variation[m])),
                number(float(table.observed_variation[m])),
            ]
        )
    return lines


def _groups(monitor: Monitor) -> Markup | None:
    groups = monitor.groups
    if not groups:
        return None
    count = sum(group.flagged for group in groups)
    words = (
        f"{count} of {plural(len(groups), 'group')} {'is' if count == 1 else 'are'} flagged as of now, by e-BH at "
        f"{monitor.settings.level:g}: the expected share of wrongly flagged groups is at most that, whatever the "
        "dependence between groups."
    )
    lines = [
        [
            name_of(group.name),
            str(group.n_looks),
            count_text(group.n_rows),
            text.e_text(group.log_e_value).removeprefix("E = "),
            "yes" if group.flagged else "no",
            name_of(f"{group.meaning}, since about {group.began}") if group.flagged else "",
        ]
        for group in groups
    ]
    heads = ["group", "looks", "rows", "E", "flagged", "what"]
    table = html_table("Groups, largest E first", heads, lines, tall=True, id="groups")
    return tag("section", tag("h2", "Groups"), tag("p", words), table)


def _settings(monitor: Monitor, has_state: bool) -> Markup:
    state = (
        "This file contains the settings and the tables of all looks: Monitor.load reads them back."
        if has_state
        else "The state is too large for this file; it is in the file that Monitor.save or --state wrote."
    )
    return tag(
        "section",
        tag("h2", "Settings"),
        tag("p", f"{capitalise(text.settings_line(monitor))}."),
        tag("p", state, class_="detail"),
    )


def _state(monitor: Monitor) -> tuple[Markup, bool]:
    """The state as a script element, and whether it fits. Values of bets are left out: they follow from the tables."""
    content = json.loads(text_of(monitor, with_values=False))
    script = json_text(content)
    if len(script) > MOST_STATE:
        return tag("script", json_text(None), type="application/json", id=STATE_ID), False
    return tag("script", script, type="application/json", id=STATE_ID), True

"""The alarm and the evidence of groups, from the streams and the looks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trueness.monitoring._entries import Entry
from trueness.monitoring._streams import Streams
from trueness.monitoring.results import Alarm, GroupEvidence, exponential


def alarm_of(streams: Streams, entries: Sequence[Entry]) -> Alarm | None:
    """The first alarm as it was then, with the groups that are flagged now; None if there was none."""
    found = streams.alarm
    if found is None:
        return None
    evidence = streams.by_group[found.group]
    bet = streams.bet(found.group, evidence.strongest(found.n_looks))
    onset = evidence.onset(found.n_looks, streams.log_limit_of_group)
    names = [entries[k].at for k in streams.counted[found.group]]
    return Alarm(
        at=entries[found.look].at,
        e_value=exponential(evidence.path[found.n_looks - 1]),
        p_value=streams.p_value_of(max(evidence.path[: found.n_looks])),
        direction=bet.direction,
        bin=bet.bin,
        began=names[onset.began],
        since=None if onset.since is None else names[onset.since],
        groups=tuple(streams.flagged),
        meaning=bet.meaning,
        event=bet.event,
        group=found.group,
    )


def groups_of(streams: Streams, entries: Sequence[Entry]) -> tuple[GroupEvidence, ...]:
    """The evidence of each group, the largest first; empty without groups."""
    rows: dict[str | None, int] = {}
    for entry in entries:
        for name, each in entry.tables.items():
            rows[name] = rows.get(name, 0) + each.n_rows
    flagged = set(streams.flagged)
    found = [
        _group(streams, entries, name, rows[name], is_flagged=name in flagged)
        for name in streams.by_group
        if name is not None
    ]
    return tuple(sorted(found, key=lambda group: -group.log_e_value))


def _group(
    streams: Streams, entries: Sequence[Entry], name: str, n_rows: int, *, is_flagged: bool
) -> GroupEvidence:
    evidence, counted = streams.by_group[name], streams.counted[name]
    n_looks = len(counted)
    return GroupEvidence(
        name=name,
        n_looks=n_looks,
        n_rows=n_rows,
        log_e_value=evidence.log_e_value,
        p_value=streams.p_value_of(evidence.peak),
        flagged=is_flagged,
        meaning=streams.bet(name, evidence.strongest(n_looks)).meaning,
        began=entries[counted[evidence.onset(n_looks, math.inf).began]].at if is_flagged else None,
    )

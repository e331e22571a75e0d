"""Forest plots: a metric with its interval, for each group of rows or pair of models."""

from functools import partial

from trueness.plots.forest.data import (
    Forest,
    forest_of_compared_groups,
    forest_of_event_groups,
    forest_of_groups,
    forest_of_metrics,
    forest_of_pairs,
    groups_of,
)
from trueness.plots.forest.display import ForestDisplay
from trueness.plots.forest.svg import forest_chart
from trueness.plots.picture import COMPARED_GROUPS, GROUPS, Picture

__all__ = [
    "Forest",
    "ForestDisplay",
    "forest_chart",
    "forest_of_compared_groups",
    "forest_of_event_groups",
    "forest_of_groups",
    "forest_of_metrics",
    "forest_of_pairs",
]

MOST_GROUPS = 30
"""As many groups are drawn in a report; its table lists all."""


def _caption(r: Forest) -> str:
    n_groups = len(r.lines) + r.n_left_out
    left_out = f" Shown are the {len(r.lines)} of {n_groups} that stand out most." if r.n_left_out else ""
    return f"Above 0 a group is over-confident, below 0 under-confident. Grey band: all rows.{left_out}"


NET_GAPS = Picture(
    key="groups",
    title="Net gap of the groups",
    caption=_caption,
    section=GROUPS,
    data=partial(forest_of_groups, most=MOST_GROUPS),
    svg=forest_chart,
    display=ForestDisplay,
    applies=lambda result: any(group.assessment is not None for group in result.groups),
    wide=True,
)


def _caption_of_pairs(r: Forest) -> str:
    left_out = f" Shown are the {len(r.lines)} that stand out most." if r.n_left_out else ""
    how = (
        "Above 0 a group is more over-confident than the rows of all other groups, below 0 more under-confident."
        if r.what == "groups"
        else "Above 0 the first group is more over-confident than the second, below 0 more under-confident."
    )
    return f"{how} The p-values are adjusted for the number of {r.what} (Holm).{left_out}"


DIFFERENCES = Picture(
    key="compared-groups",
    title="Differences between groups",
    caption=_caption_of_pairs,
    section=COMPARED_GROUPS,
    data=partial(forest_of_compared_groups, most=MOST_GROUPS),
    svg=forest_chart,
    display=ForestDisplay,
    applies=lambda result: result.compared_groups is not None,
    wide=True,
)


def _caption_of_event(r: Forest) -> str:
    left_out = f" Shown are the {len(r.lines)} that stand out most." if r.n_left_out else ""
    band = " Grey band: all rows." if r.whole else ""
    return f"Mean probability less observed frequency, with its {100 * r.level:g} % interval.{band}{left_out}"


OF_EVENT = Picture(
    key="event-groups",
    title="Net gaps",
    caption=_caption_of_event,
    section=GROUPS,
    data=partial(forest_of_event_groups, most=MOST_GROUPS),
    svg=forest_chart,
    display=ForestDisplay,
    applies=lambda result: any(group.assessment is not None for group in groups_of(result)[0]),
    wide=True,
)
"""Of an event or of several; the report draws it beside its table of groups or events."""

PICTURES = (NET_GAPS, DIFFERENCES)

"""One self-contained HTML file that says how far a model's stated uncertainty can be trusted.

It needs neither a network nor scripts nor matplotlib. It contains the table: `tables_in` and the command
`trueness assess report.html` read it back.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trueness.atomic_files import write_text
from trueness.old_report._comparison import page_of_comparison
from trueness.old_report._embedded import (
    Saved,
    event_tables_in,
    is_report,
    model_tables_in,
    read,
    tables_in,
)
from trueness.old_report._event import page_of_event
from trueness.old_report._event_list import group_section, page_of_events
from trueness.old_report._monitor import page_of_monitor
from trueness.old_report._notebook import (
    cells_fragment,
    comparison_fragment,
    event_fragment,
    events_fragment,
    fragment,
    group_fragment,
)
from trueness.old_report._page import page

if TYPE_CHECKING:
    from trueness.monitoring import Monitor
    from trueness.old_assessment import Assessment, Comparison, EventAssessment, EventAssessments

__all__ = [
    "write",
    "page",
    "page_of_comparison",
    "page_of_event",
    "page_of_events",
    "page_of_monitor",
    "write_monitor",
    "fragment",
    "event_fragment",
    "events_fragment",
    "group_fragment",
    "comparison_fragment",
    "cells_fragment",
    "model_tables_in",
    "read",
    "tables_in",
    "event_tables_in",
    "is_report",
    "Saved",
]


def write(
    result: Assessment | EventAssessment | EventAssessments | Comparison,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    made_by: str | None = None,
) -> None:
    """Write the report of an assessment, an event, several events or a comparison; equal results give equal bytes.

    Parameters
    ----------
    title : str
        The name of the model or the data.
    made_by : str
        The command or call that made it; by default the call of `assess` that gives the same numbers.
    """
    from trueness.old_assessment import Comparison, EventAssessment, EventAssessments

    name = os.fsdecode(path)
    options = {"title": title, "made_by": made_by}
    file_name = os.path.basename(name)
    if isinstance(result, Comparison):
        text = page_of_comparison(result, file_name=file_name, **options)
    elif isinstance(result, EventAssessments):
        text = page_of_events(result, file_name=file_name, **options)
    elif isinstance(result, EventAssessment):
        groups = group_section(result) if result.groups else None
        text = page_of_event(result, file_name=file_name, further=groups, **options)
    else:
        text = page(result, file_name=file_name, **options)
    write_text(name, text)


def write_monitor(monitor: Monitor, path: str | os.PathLike[str], *, title: str | None = None) -> None:
    """Write the page of a monitor, atomically; equal monitors give equal bytes."""
    write_text(os.fsdecode(path), page_of_monitor(monitor, title=title))

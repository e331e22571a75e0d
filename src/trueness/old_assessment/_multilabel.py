"""Events that do not exclude one another, such as the labels of an image, as one table."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueness.old_table import EventTable, stack_events
from trueness.refusals import InvalidValueError
from trueness.rows.containers import contents_of
from trueness.tabulation.events import tabulate_events


def multilabel_table(y_true: Any, y_prob: Any, classes: Any, options: dict[str, Any]) -> EventTable:
    """The events of all columns, each as a row of its own in one table."""
    if options["normalize"]:
        raise InvalidValueError(
            "bad-argument", "events that do not exclude one another have no common sum", argument="normalize"
        )
    truth, given = contents_of(y_true, "y_true").flat, contents_of(y_prob, "y_prob").flat
    if len(given.shape) != 2 or truth.shape != given.shape:
        cause = f"y_true has shape {truth.shape} and y_prob {given.shape}"
        remedy = "with multilabel=True both have shape (rows, events)"
        raise InvalidValueError("wrong-shape", cause, remedy, argument="y_true")
    labels, p = (
        np.stack(it.columns, axis=1) if it.data is None and it.columns is not None else it.data
        for it in (truth, given)
    )
    assert labels is not None
    assert p is not None
    names = _event_names(classes, y_prob, p.shape[1])
    parts = [tabulate_events(labels[:, k], p[:, k], **options) for k in range(p.shape[1])]
    return stack_events(parts, names)


def _event_names(classes: Any, y_prob: Any, n_events: int) -> list[str]:
    given = classes if classes is not None else getattr(y_prob, "columns", range(n_events))
    names = [str(name) for name in given]
    if len(names) != n_events or len(set(names)) != n_events:
        cause = f"{len(set(names))} different names were given for {n_events} events"
        raise InvalidValueError("wrong-length", cause, argument="classes")
    return names

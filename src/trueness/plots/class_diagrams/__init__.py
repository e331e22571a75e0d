"""Reliability diagrams of the classes that are called, at most six."""

from functools import partial
from typing import Any

from trueness.plots.class_diagrams.data import (
    MOST_DIAGRAMS,
    called_classes,
    called_diagram_of,
    class_diagram_of,
)
from trueness.plots.class_diagrams.display import ClassDiagramDisplay
from trueness.plots.event import EventDiagram, bin_numbers, event_chart
from trueness.plots.picture import CLASSES, Picture

__all__ = ["ClassDiagramDisplay", "called_classes", "called_diagram_of", "class_diagram_of"]

_PLACES = ("Clearest", "Second", "Third", "Fourth", "Fifth", "Sixth")


def _caption(r: EventDiagram) -> str:
    rare = (
        " Both axes and the bins are by log-odds, since most rows are near one end."
        if r.axis.by_log_odds
        else ""
    )
    return f"{r.name[0].upper()}{r.name[1:]}: {r.summary}. Points below the dashed line: predicted too often.{rare}"


def _has_place(place: int, result: Any) -> bool:
    return len(called_classes(result)) > place


PICTURES = tuple(
    Picture(
        key=f"class-diagram-{place + 1}",
        title=f"{_PLACES[place]} of the classes that are wrong",
        caption=_caption,
        section=CLASSES,
        data=partial(called_diagram_of, place=place),
        svg=event_chart,
        display=ClassDiagramDisplay,
        applies=partial(_has_place, place),
        numbers=bin_numbers,
    )
    for place in range(MOST_DIAGRAMS)
)

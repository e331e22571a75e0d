"""The strip of classes: how often each was observed per expected one, with its exact noise."""

from typing import Any

from trueness._printing import plural
from trueness.plots.classes.data import ClassLine, ClassStrip, class_strip_of
from trueness.plots.classes.display import ClassDisplay
from trueness.plots.classes.svg import class_chart
from trueness.plots.picture import CLASSES, Picture

__all__ = ["ClassDisplay", "ClassLine", "ClassStrip", "class_chart", "class_strip_of"]


def _caption(r: ClassStrip) -> str:
    more = f" {plural(r.n_left_out, 'more class', 'more classes')} not shown." if r.n_left_out else ""
    return (
        "How often each class was observed for each time it was expected; smallest adjusted p-value first. Left of 1 "
        "it is predicted too often. Grey: where noise alone would put a calibrated model, exact. Hollow: fewer than 10 "
        "rows are expected, or the point lies beyond the axis. Bold: significant, as the words at the right say."
        f"{more}"
    )


def has_classes(result: Any) -> bool:
    """Whether there are classes to show; two classes are one event, which has a section of its own."""
    return result.classes is not None and len(result.classes.classes) > 1


STRIP = Picture(
    key="classes",
    title="Observed per expected, by class",
    caption=_caption,
    section=CLASSES,
    data=class_strip_of,
    svg=class_chart,
    display=ClassDisplay,
    applies=has_classes,
    wide=True,
)

PICTURES = (STRIP,)

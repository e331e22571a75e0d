"""The reliability diagrams of the classes that are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trueness._printing import about_text, count_text, p_text
from trueness.plots.classes.data import no_classes
from trueness.plots.event.data import EventDiagram, diagram_of
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.old_assessment import Assessment
    from trueness.old_inference.classwise.results import ClassAssessment

MOST_DIAGRAMS = 6


def called_classes(result: Any) -> list[ClassAssessment]:
    """The classes that are significantly wrong after the correction and that have rows, clearest first."""
    if result.classes is None or len(result.classes.classes) < 2:
        return []
    limit = 1 - result.level + 1e-12
    return [
        it
        for it in result.classes.by_adjusted_p_value
        if it.adjusted_p_value <= limit and it.gap.expected > 0
    ]


def called_diagram_of(result: Assessment, place: int = 0) -> EventDiagram:
    """The diagram of the called class at this place, 0 for the clearest."""
    called = called_classes(result)
    if place >= len(called):
        cause = f"{len(called)} classes are called"
        raise InvalidValueError("no-classes", cause, "choose another", argument="place")
    return _diagram(result, called[place])


def class_diagram_of(result: Assessment, of_class: str | int) -> EventDiagram:
    """The diagram of a class by its name or index, called or not."""
    if result.classes is None:
        raise no_classes()
    for each in result.classes.classes:
        if of_class in (each.name, each.index):
            return _diagram(result, each)
    known = ", ".join(each.name for each in result.classes.classes[:20])
    cause = f"there is no class {of_class!r}"
    remedy = f"the classes are {known}"
    raise InvalidValueError("unknown-event", cause, remedy, argument="of_class", value=of_class)


def _diagram(result: Assessment, each: ClassAssessment) -> EventDiagram:
    table = result.tables.by_class
    assert table is not None
    what = each.words or f"{about_text(each.gap.expected)} expected, {count_text(each.gap.observed)} observed"
    summary = f"{what}; adjusted p {p_text(each.adjusted_p_value)}"
    return diagram_of(
        table.select(each.index), result.class_bins, result.level, name=f"class {each.name}", summary=summary
    )

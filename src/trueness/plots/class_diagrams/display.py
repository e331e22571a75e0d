"""The reliability diagram of a class with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from trueness.plots.class_diagrams.data import called_diagram_of, class_diagram_of
from trueness.plots.event.display import EventDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ClassDiagramDisplay(EventDisplay):
    """Observed against predicted frequency of one class, as `EventDisplay`, from an assessment of all classes.

    It needs no pass over the rows; the smooth curve, which needs the event grid, is left out.
    """

    @classmethod
    def from_assessment(
        cls,
        result: Any,
        *,
        of_class: str | int | None = None,
        ax: Axes | None = None,
        label: str | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw a class by its name or index; by default the one that is called most clearly."""
        data = called_diagram_of(result) if of_class is None else class_diagram_of(result, of_class)
        return cls(data).plot(ax, label=label, color=color)

"""A picture as one value: its data, how it is drawn as SVG and with matplotlib, and when and how a report shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from trueness._markup import Markup

if TYPE_CHECKING:
    from trueness.plots._display import Display

BINS, RANKS, GROUPS = "Bin by bin", "Rank by rank", "Groups"
COMPARED_GROUPS = "Groups compared"
CLASSES, PREDICTED_CLASSES, EVENT = "Classes", "By predicted class", "The event"
"""Headings of the report under which pictures stand. A picture may name another: it gets a section of its own."""

Data = TypeVar("Data")


class Numbers(NamedTuple):
    """The numbers of a picture as a table; the first cell of a line is its name."""

    name: str
    heads: list[str]
    lines: list[list[Any]]


@dataclass(frozen=True, slots=True)
class Picture(Generic[Data]):
    """A picture of an assessment. `trueness.plots.pictures()` are those of the report, in their order.

    Those of `event_pictures()` are drawn from an `EventAssessment` instead.
    """

    key: str
    """Short and unique, for programs."""
    title: str
    caption: str | Callable[[Data], str]
    """What to see in it, for people who have not read the paper; or a function of the data that returns it."""
    section: str
    """The heading of the report under which it stands."""
    data: Callable[[Any], Data]
    """Computes what is shown from an `Assessment` (or an `EventAssessment`). Draws nothing."""
    svg: Callable[[Data], Markup]
    display: Callable[[Data], Display[Data]] | None = None
    """The class that draws the data with matplotlib."""
    applies: Callable[[Any], bool] = lambda _: True
    """Whether an assessment has what the picture shows."""
    numbers: Callable[[Data], Numbers] | None = None
    """The data as a table, folded under the picture."""
    wide: bool = False
    """Whether it takes the full width of the page and scrolls sideways where that is narrow."""

    def caption_for(self, data: Data) -> str:
        """The caption of the picture with this data."""
        return self.caption if isinstance(self.caption, str) else self.caption(data)

"""Several models on the same axes: what was drawn there, so that all can be drawn again together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

from trueness.plots.style import COLOURS, MARKERS

Data = TypeVar("Data")

_ATTRIBUTE = "_trueness_layers"
"""The attribute of axes that holds what was drawn on them: it is saved and removed with the axes."""


@dataclass(frozen=True, slots=True, eq=False)
class Layer(Generic[Data]):
    """The data of one model in a picture of one or several."""

    data: Data
    label: str | None = None
    chosen_colour: str | None = None
    """The colour that was passed; None for the one of its place."""
    place: int = 0
    count: int = 1

    def at(self, place: int, count: int) -> Layer[Data]:
        """The same at a place among all layers."""
        return replace(self, place=place, count=count)

    @property
    def alone(self) -> bool:
        """Whether the picture has no other layer."""
        return self.count == 1

    @property
    def first(self) -> bool:
        """Whether it is the first layer, which has the entries of the legend that all share."""
        return self.place == 0

    @property
    def last(self) -> bool:
        """Whether it is the last layer."""
        return self.place == self.count - 1

    @property
    def colour(self) -> str:
        """The colour of its points and lines."""
        return self.chosen_colour or COLOURS[self.place % len(COLOURS)]

    @property
    def marker(self) -> str:
        """The shape of its points."""
        return MARKERS[self.place % len(MARKERS)]

    @property
    def name(self) -> str:
        """Its name in the legend, where a dollar sign would start a formula and a first underscore hide the entry."""
        words = self.label if self.label is not None else f"model {self.place + 1}"
        return (" " if words.startswith("_") else "") + words.replace("$", r"\$")

    def words(self, alone: str, together: str | None = None) -> str:
        """The entry of the legend: the text of a picture of one model, after its name if it has one."""
        if self.alone and self.label is None:
            return alone
        details = alone if self.alone or together is None else together
        return f"{self.name}: {details}" if details else self.name

    def shift(self, width: float) -> float:
        """How far it is moved aside, so that layers of one place do not cover one another: all take `width`."""
        return (self.place - (self.count - 1) / 2) * width / self.count


class Drawn(NamedTuple):
    """The layers of one kind of picture on axes, and the artists that show them."""

    layers: list[Layer[Any]]
    artists: list[Any]


def layers_on(ax: Any, kind: type) -> list[Layer[Any]]:
    """The layers of a kind of picture that the axes still show; none if they were cleared."""
    found = _drawn(ax).get(kind)
    return [] if found is None or not _present(ax, found) else found.layers


def erase(ax: Any, kind: type) -> None:
    """Remove what was drawn of a kind of picture; other artists stay."""
    found = _drawn(ax).pop(kind, None)
    gone = set() if found is None else set(_present(ax, found))
    for artist in gone:
        artist.remove()
    for bars in [it for it in ax.containers if gone.intersection(it)]:
        ax.containers.remove(bars)


def remember(ax: Any, kind: type, layers: Sequence[Layer[Any]], artists: Sequence[Any]) -> None:
    """Keep what was drawn."""
    _drawn(ax)[kind] = Drawn(list(layers), list(artists))


def _drawn(ax: Any) -> dict[type, Drawn]:
    if not hasattr(ax, _ATTRIBUTE):
        setattr(ax, _ATTRIBUTE, {})
    found: dict[type, Drawn] = getattr(ax, _ATTRIBUTE)
    return found


def _present(ax: Any, drawn: Drawn) -> list[Any]:
    now = set(ax.get_children())
    return [artist for artist in drawn.artists if artist in now]

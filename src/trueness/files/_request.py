"""What the user said about columns, and which columns are read for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from trueness.files._errors import InputError, shown
from trueness.files._fields import Wanted
from trueness.files._where import Condition
from trueness.rows.class_columns import Columns
from trueness.rows.groups import joined


@dataclass(frozen=True, slots=True)
class Request:
    """What the user said about columns; None where nothing was said."""

    label: str | None = None
    probs: str | tuple[str, ...] | None = None
    """A name, a glob such as p_*, numbers such as 1-10, or a list of these with commas; or one by one."""
    weight: str | None = None
    by: str | tuple[str, ...] | None = None
    """A column of groups, or several, with commas or one by one, whose combinations are the groups."""
    where: tuple[Condition, ...] = ()
    classes: str | tuple[str, ...] | None = None
    """Names of the classes, with commas or one by one; or "columns", or "index"."""
    header: bool = True
    """Whether text files begin with a line of names; without it columns are named 1, 2, 3, …"""
    percent: bool = False
    """Whether probabilities are percentages, which may be written as text such as 85%."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The columns that are read."""

    label: str
    probs: tuple[str, ...]
    """In the order of the classes."""
    is_list: bool
    """Whether the one column of `probs` holds all classes of a row."""
    weight: str | None = None
    by: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    index_of: Mapping[str, int] | None = None
    """What labels that are names mean; None if labels are class indices."""
    columns: Columns | None = None
    """The columns of probabilities, to which those of further files are matched; None if they have no names."""
    list_width: int | None = None
    """1 if rows of a list column hold the probability of class 1 alone; else None."""
    found: tuple[str, ...] = ()
    """What a user should know about the choice, in words."""

    @property
    def wanted(self) -> Wanted:
        """The columns by what they are for."""
        weight = () if self.weight is None else (self.weight,)
        return Wanted((*self.probs, *weight), self.label, self.by, tuple(c.column for c in self.where))

    @property
    def grouping(self) -> str | None:
        """What rows are grouped by, in a word."""
        return joined(self.by)

    @property
    def known_classes(self) -> int | None:
        """The number of classes, where the columns alone say it."""
        if self.is_list:
            return None
        return max(2, len(self.probs))  # a single column is the probability of class 1

    def with_width(self, width: int) -> tuple[Choice, int]:
        """The choice for lists of so many numbers, and the number of classes that these mean."""
        n_classes = max(2, width)
        if self.index_of is not None and len(self.index_of) != n_classes:
            raise InputError(
                f"--classes lists {len(self.index_of)} classes, but rows of column {shown(self.probs[0])} have "
                f"{width} numbers",
                "list one name for each class",
            )
        return (replace(self, list_width=1) if width == 1 else self), n_classes


def split(text: str | tuple[str, ...]) -> tuple[str, ...]:
    """The names in a list with commas; a space after a comma is no part of a name.

    >>> split("cat, dog"), split(("a", "b"))
    (('cat', 'dog'), ('a', 'b'))
    """
    return tuple(part.strip() for part in text.split(",")) if isinstance(text, str) else text

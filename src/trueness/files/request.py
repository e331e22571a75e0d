"""The columns that the user asked for, and the columns that are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from trueness.files.where import Condition
from trueness.formats.fields import DETECTED, TextLayout, Wanted
from trueness.refusals import InvalidValueError, quote
from trueness.rows.class_columns import Columns, names_of_classes
from trueness.rows.groups import join_columns


@dataclass(frozen=True, slots=True)
class Request:
    """The columns that the user asked for; None where nothing was specified."""

    label: str | None = None
    probs: str | tuple[str, ...] | None = None
    """A name, a glob such as p_*, numbers such as 1-10, or several of these, separated by commas or in a tuple."""
    weight: str | None = None
    by: str | tuple[str, ...] | None = None
    """A column of groups, or several, separated by commas or in a tuple, whose combinations are the groups."""
    where: tuple[Condition, ...] = ()
    clusters: str | None = None
    """The column that names the cluster of each row."""
    classes: str | tuple[str, ...] | None = None
    """Names of the classes, separated by commas or in a tuple; or "columns", or "index"."""
    header: bool = True
    """Whether text files begin with a header; without it columns are named 1, 2, 3, …"""
    percent: bool = False
    """Whether probabilities are percentages, which may be written as text such as 85%."""
    key: str | None = None
    """The column by which labels in another file are joined; without it they are in the order of the rows."""
    layout: TextLayout = DETECTED
    """The delimiter, the decimal sign and the encoding of text files."""
    ragged: bool = False
    """Whether rows have options of their own: one list column, whose rows may have different lengths."""
    soft_labels: bool = False
    """Whether `label` names the shares of the classes: a list column, or one column per class, as `probs` does."""


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
    clusters: str | None = None
    index_of: Mapping[str, int] | None = None
    """The class index of labels that are names; None if labels are class indices."""
    columns: Columns | None = None
    """The columns of probabilities, to which those of further files are matched; None if they have no names."""
    shares: tuple[str, ...] = ()
    """The columns of soft labels in the order of the classes, or the one list column; empty if labels are classes."""
    list_width: int | None = None
    """1 if rows of a list column hold the probability of class 1 alone; else None."""
    found: tuple[str, ...] = ()
    """Lines that describe the choice to the user."""
    ragged: bool = False
    """Whether rows have options of their own."""

    @property
    def wanted(self) -> Wanted:
        """The columns by purpose."""
        weight = () if self.weight is None else (self.weight,)
        clusters = () if self.clusters is None else (self.clusters,)
        texts = tuple(dict.fromkeys((*self.by, *clusters)))
        label = None if self.shares else self.label
        numbers = (*self.probs, *self.shares, *weight)
        return Wanted(numbers, label, texts, tuple(c.column for c in self.where))

    @property
    def grouping(self) -> str | None:
        """The columns that rows are grouped by, as one name."""
        return join_columns(self.by)

    @property
    def known_classes(self) -> int | None:
        """The number of classes, if it follows from the columns."""
        if self.is_list:
            return None
        return max(2, len(self.probs))  # a single column is the probability of class 1

    def class_names(self, n_classes: int) -> tuple[str, ...] | None:
        """The names of the classes, in order; None if they are only numbered."""
        return names_of_classes(self.index_of, self.columns, n_classes)

    def with_width(self, width: int) -> tuple[Choice, int]:
        """The choice for lists of this length, and the number of classes: that of the first row, if they differ."""
        n_classes = max(2, width)
        if self.ragged:
            return self, n_classes
        if self.index_of is not None and len(self.index_of) != n_classes:
            cause = (
                f"`classes` lists {len(self.index_of)} classes, but rows of column "
                f"{quote(self.probs[0])} have {width} numbers"
            )
            remedy = "list one name for each class"
            raise InvalidValueError("wrong-number-of-classes", cause, remedy, argument="classes")
        return (replace(self, list_width=1) if width == 1 else self), n_classes


def split(text: str | tuple[str, ...]) -> tuple[str, ...]:
    """The names in a text with commas; a space after a comma does not belong to the name.

    >>> split("cat, dog"), split(("a", "b"))
    (('cat', 'dog'), ('a', 'b'))
    """
    return tuple(part.strip() for part in text.split(",")) if isinstance(text, str) else text

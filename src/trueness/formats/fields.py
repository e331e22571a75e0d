"""What the columns of a file hold, and what a reader of any format returns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from trueness.refusals import InvalidValueError, Refusal, quote

MAX_CLASSES = 1_000_000
"""More than any classifier has; a file that declares more is damaged or malicious."""

NUMBER = r"^\s*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF])\s*$"
"""How a number is written in text. Python would also accept 1_0 and digits of other scripts."""


def is_number(text: str) -> bool:
    """Whether a text is a number, infinity included.

    >>> is_number(" -1.5e3 "), is_number("1_0"), is_number("nan")
    (True, False, False)
    """
    return re.match(NUMBER, text, re.ASCII) is not None


class Field(NamedTuple):
    """A column and its kind.

    "number", "integer", "boolean", "text", "truth" (text that is true or false), "list" (of numbers), "folder" (a
    column that the names of folders give), "nested" (several values a row, or values without a text) or "other".
    """

    kind: str
    width: int | None = None
    """Of a list column, the number of values in each row, if the file declares it."""
    problem: Refusal | None = None
    """Why the column cannot be read; raised only if the column is needed."""

    @property
    def numeric(self) -> bool:
        """Whether each row holds one number."""
        return self.kind in ("number", "integer", "boolean")


class TextLayout(NamedTuple):
    """How the values of a file are written, as the user states it; None where it is detected."""

    delimiter: str | None = None
    """The character between two columns."""
    decimal: str | None = None
    """The decimal sign, a point or a comma."""
    encoding: str | None = None
    """The encoding of text, by the name that Python has for it."""
    sheet: str | None = None
    """The sheet of a workbook."""


DETECTED = TextLayout()


class ReadOptions(NamedTuple):
    """How files are read; a format ignores what does not apply to it."""

    tolerant: bool = False
    """Whether rows that cannot be read are counted and skipped."""
    header: bool = True
    """Whether the first line names the columns; without it they are named 1, 2, 3, …"""
    percent: bool = False
    """Whether numbers may be written as 85%; they are returned as text, to be divided later."""
    label_file: str | None = None
    """The file of the labels, for a format that holds predictions alone."""
    n_threads: int | None = None
    """How many threads decode columns, for a format that can; None if its library chooses."""
    layout: TextLayout = DETECTED
    found: Callable[[str], None] = lambda _: None
    """Is called with what a reader detected about the layout, such as the delimiter."""
    unlabelled: bool = False
    """Whether the labels are in another file that is read separately: a format without labels is read without them."""


class Wanted(NamedTuple):
    """The columns to read, by purpose: text formats do not declare types."""

    numbers: tuple[str, ...]
    """Probabilities, weights and shares of soft labels."""
    label: str | None
    """None if labels are soft, or in another file."""
    texts: tuple[str, ...] = ()
    """Groups: read as they are written."""
    others: tuple[str, ...] = ()
    """Columns of conditions."""

    @property
    def names(self) -> list[str]:
        """All of them, each once, in order."""
        return list(dict.fromkeys((*self.numbers, *self.labels, *self.texts, *self.others)))

    @property
    def labels(self) -> tuple[str, ...]:
        """The column of labels, if there is one."""
        return () if self.label is None else (self.label,)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive rows of a file: an Arrow or NumPy array for each column."""

    columns: Mapping[str, Any]
    n_rows: int
    share: float
    """The share of the file that has been read, 0 to 1."""
    unreadable: Counter[str] = field(default_factory=Counter)
    """Rows that a tolerant reader skipped, by code; they are not in the columns."""


class Reader(Protocol):
    """An open file."""

    @property
    def fields(self) -> Mapping[str, Field]:
        """The columns by name."""
        ...

    def first_width(self, name: str) -> int | None:
        """The number of values in the first row of a list column; None if there is no row."""
        ...

    def chunks(self, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        """The rows, about this many at a time; may be called once."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


def duplicates(names: Sequence[str]) -> list[str]:
    """Names that occur more than once.

    >>> duplicates(["y", "p_0", "p_0"])
    ['p_0']
    """
    return [name for name, times in Counter(names).items() if times > 1]


def require_different(names: Sequence[str], file: str) -> None:
    """Refuse columns of the same name."""
    twice = duplicates(names)
    if twice:
        cause = f"{file} has more than one column named {quote(twice[0])}"
        remedy = "rename them, so that names are different"
        raise InvalidValueError("duplicate-column", cause, remedy)


def not_a_list(column: str, file: str) -> Refusal:
    """The refusal of a column as a list of probabilities, in a file whose cells hold one value."""
    cause = f"column {quote(column)} of {file} is not a list"
    return InvalidValueError("wrong-type", cause, "name the columns in `probs`, such as 'p_*'")

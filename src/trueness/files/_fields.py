"""What the columns of a file hold, in the few words that a choice between them needs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from trueness.files._errors import InputError

MAX_CLASSES = 1_000_000
"""More than any classifier has; a file that declares more is damaged or means harm."""


NUMBER = r"^\s*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF])\s*$"
"""How a number is written in text. Python would also take 1_0 and digits of other scripts."""


def is_number(text: str) -> bool:
    """Whether a text states a number, infinity included.

    >>> is_number(" -1.5e3 "), is_number("1_0"), is_number("nan")
    (True, False, False)
    """
    return re.match(NUMBER, text, re.ASCII) is not None


class Field(NamedTuple):
    """A column and its kind.

    "number", "integer", "boolean", "text", "truth" (text that says true or false), "list" (of numbers), "folder" (named
    there), "nested" (more than one value a row, or one that has no text) or "other".
    """

    kind: str
    width: int | None = None
    """Of a list column, how many numbers each row has, if the file's own description says so."""
    problem: InputError | None = None
    """Why it cannot be read, which matters only if it is wanted."""

    @property
    def numeric(self) -> bool:
        """Whether each row holds one number."""
        return self.kind in ("number", "integer", "boolean")


class TextOptions(NamedTuple):
    """How text files are read."""

    tolerant: bool = False
    """Whether rows that cannot be read are counted and left out."""
    header: bool = True
    """Whether the first line names the columns; without it they are named 1, 2, 3, …"""
    percent: bool = False
    """Whether numbers may be written as 85%: they are left as text for whoever divides them."""


class Wanted(NamedTuple):
    """The columns to read, by what they are for: text formats do not say themselves what a column holds."""

    numbers: tuple[str, ...]
    """Probabilities and weights."""
    label: str
    texts: tuple[str, ...] = ()
    """Groups: taken as written."""
    others: tuple[str, ...] = ()
    """Columns of conditions."""

    @property
    def names(self) -> list[str]:
        """All of them, each once, in order."""
        return list(dict.fromkeys((*self.numbers, self.label, *self.texts, *self.others)))


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive rows of a file: for each column an Arrow array or a NumPy array."""

    columns: Mapping[str, Any]
    n_rows: int
    share: float
    """How much of the file was read, 0 to 1."""
    unreadable: Counter[str] = field(default_factory=Counter)
    """Rows that a tolerant reader could not make sense of, by reason; they are not among the columns."""


class Reader(Protocol):
    """An open file."""

    @property
    def fields(self) -> Mapping[str, Field]:
        """Its columns by name."""
        ...

    def first_width(self, name: str) -> int | None:
        """How many numbers the first row of a list column has; None if there is no row."""
        ...

    def chunks(self, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        """The rows, about so many at a time; may be called once."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


def repeated(names: Sequence[str]) -> list[str]:
    """Names that stand for more than one column.

    >>> repeated(["y", "p_0", "p_0"])
    ['p_0']
    """
    return [name for name, times in Counter(names).items() if times > 1]

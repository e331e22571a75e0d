"""Refusals: input that cannot be used, as a value that is raised as an exception.

A refusal says what is wrong (`code` for programs, `cause` for people), where (`argument`, `source`,
`row`, `class_index`), the `value`, and what to do (`remedy`). Cause and remedy are f-strings in
Python's terms, and arguments in them stand in backticks, as in "pass `from_logits=True`": the
command spells these as its options. Code never parses a message: it uses the code and the facts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Self


class Refusal(Exception):  # noqa: N818  the word of the vocabulary; its subclasses end in Error
    """Input that was refused. Raised as `InvalidValueError`, `InvalidTypeError` or `MissingLibraryError`.

    >>> error = InvalidValueError("not-finite", "`y_prob` is nan in row 3", "pass numbers", row=3)
    >>> str(error)
    '`y_prob` is nan in row 3; pass numbers'
    >>> error.code, error.row
    ('not-finite', 3)
    """

    code: str
    """What kind of refusal it is, for programs."""
    argument: str | None
    """The argument, column or file that is refused."""
    source: str | None
    """The file of the row."""
    row: int | None
    """The first bad row: counted from 0 in arrays, from 1 in files."""
    class_index: int | None
    """The class of the bad value, counted from 0."""
    value: Any
    """The value that is refused."""
    remedy: str
    """What to do about it; empty if the cause says it."""

    def __init__(
        self,
        code: str,
        cause: str,
        remedy: str = "",
        *,
        argument: str | None = None,
        source: str | None = None,
        row: int | None = None,
        class_index: int | None = None,
        value: object = None,
    ) -> None:
        super().__init__(code, cause, remedy)
        self.code, self.remedy, self.argument = code, remedy, argument
        self.source, self.row, self.class_index, self.value = source, row, class_index, value

    @property
    def cause(self) -> str:
        """What is wrong, after the file and the row in it if the file is known."""
        row = "" if self.row is None else f", row {self.row}"
        return self.args[1] if self.source is None else f"{self.source}{row}: {self.args[1]}"

    def __str__(self) -> str:
        return "; ".join(part for part in (self.cause, self.remedy) if part)

    def with_facts(self, **changes: Any) -> Self:
        """The same refusal with other facts, such as the file and row it is about, or another remedy.

        The place in the text follows: "`y_prob` is nan in row 3, class 2" becomes "a.csv, row 18: `y_prob`
        is nan in class 2".
        """
        facts = self.to_dict() | {"value": self.value} | changes
        here = rf" in row {self.row}\b"
        there = "" if facts["source"] is not None else f" in row {facts['row']}"
        of_class = f"{there}, class" if there else " in class"
        facts["cause"] = re.sub(here, there, re.sub(f"{here}, class", of_class, facts["cause"]))
        del facts["type"]
        return type(self)(**facts)

    def to_dict(self) -> dict[str, Any]:
        """As plain numbers and strings, from which `of_dict` makes it again, in another process perhaps."""
        names = ("code", "remedy", "argument", "source", "row", "class_index")
        facts = {name: getattr(self, name) for name in names}
        return {"type": type(self).__name__, "cause": self.args[1], **facts, "value": _plain(self.value)}

    @staticmethod
    def of_dict(content: Mapping[str, Any]) -> Refusal:
        """The refusal that `to_dict` described.

        >>> Refusal.of_dict(InvalidValueError("no-rows", "'a.csv' has no rows").to_dict())
        InvalidValueError('no-rows', "'a.csv' has no rows", '')
        """
        kinds: list[type[Refusal]] = [Refusal, *Refusal.__subclasses__()]
        facts = {name: value for name, value in content.items() if name != "type"}
        return next(kind for kind in kinds if kind.__name__ == content["type"])(**facts)


class InvalidValueError(Refusal, ValueError):
    """A value that cannot be used."""


class InvalidTypeError(Refusal, TypeError):
    """A value of a type that cannot be used."""


class MissingLibraryError(Refusal, ImportError):
    """An optional library that is needed and not installed."""


def quote(value: Any, most: int = 60) -> str:
    r"""A value of a file or a user as it may be printed: text in quotes, without control characters, and not too long.

    >>> quote("a\x1b[31m"), quote(3.5)
    ("'a\\x1b[31m'", '3.5')
    >>> len(quote("b" * 100))
    63
    """
    text = str(value)
    return repr(text if len(text) <= most else text[:most] + "…") if isinstance(value, str) else text[:most]


def nearest(name: str, known: Sequence[str]) -> str:
    """A remedy: the known name that was probably meant, or all of them if they are few and none is near.

    >>> nearest("labels", ["label", "weight"]), nearest("z", ["label", "weight"])
    ("did you mean 'label'?", "available: 'label', 'weight'")
    >>> nearest("Y", ["y", "p_0"])
    "did you mean 'y'?"
    """
    from difflib import get_close_matches

    lower = {other.lower(): other for other in reversed(known)}
    near = [lower[letters] for letters in get_close_matches(name.lower(), list(lower), n=1)]
    if near:
        return f"did you mean {quote(near[0])}?"
    listed = ", ".join(quote(other) for other in known[:12])
    return f"available: {listed}" + (f" and {len(known) - 12} more" if len(known) > 12 else "")


def reason_of(error: BaseException, most: int = 200) -> str:
    """What another library says about a failure, on one line and not too long; its type if it says nothing."""
    return " ".join(str(error).split())[:most] or type(error).__name__


def _plain(value: Any) -> Any:
    """The value as JSON of Python can hold it: numbers stay numbers, infinite ones too."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else str(value)

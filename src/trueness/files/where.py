"""A simple filter: a column, a comparison, a value.

Numbers are compared as numbers if both sides are numbers, also in columns of text and in names of folders, and whole
numbers without rounding. Dates in ISO 8601 are compared as dates. Other text is equal or not; it has no order here,
because alphabetical order (10 before 9) is rarely meant.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.formats.fields import is_number
from trueness.refusals import InvalidValueError, quote

BoolArray = NDArray[np.bool_]

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_ORDERS = ("<", "<=", ">", ">=")
_FORM = re.compile(r"\s*(?P<column>.*?[^\s<>=!])\s*(?P<sign>==|!=|<=|>=|=|<|>|\sin\s)\s*(?P<value>.*?)\s*")
_DATE = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)(?:[T ](?P<time>\d\d:\d\d)(?::(?P<seconds>\d\d)(?:\.(?P<part>\d{1,9}))?)?)?",
    re.ASCII,
)
_MISSING = {"", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none"}
"""How text formats write a missing number, in lower case."""

NOT_COMPARABLE = "not-comparable"
"""The code of a row whose value has no order."""

_BEYOND = 2**100
"""Larger than every integer of a file; used for infinity and for exponents that would exhaust the memory."""


class Condition(NamedTuple):
    """A condition that rows must meet to be read. A missing value meets no condition."""

    column: str
    sign: str
    value: str
    quoted: bool = False
    """Whether the value was written in quotes, so that it is text even if it looks like a number."""

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {self.value!r}" if self.quoted else " ".join(self[:3])

    def holds(self, values: NDArray[Any], missing: BoolArray | None) -> BoolArray:
        """Which rows meet it; a refusal names the first row whose value cannot be compared, counted from 0."""
        if values.dtype.kind in "iu":
            chosen = self._of_each(values, [self._number(text) for text in self._texts], _compare_integers)
        elif values.dtype.kind == "f":
            chosen = self._of_each(values, [self._number(text) for text in self._texts], _compare_floats)
        elif values.dtype.kind == "b":
            chosen = self._of_each(values, [self._truth(text) for text in self._texts], _compare)
        else:
            chosen = self._of_text(values, missing)
        return chosen if missing is None else chosen & ~missing

    @property
    def _items(self) -> list[_Item]:
        """The values to compare with: several after `in`."""
        return _items(self.value) if self.sign == "in" else [_Item(self.value, self.quoted)]

    @property
    def _texts(self) -> list[str]:
        return [item.text for item in self._items]

    def _of_each(
        self,
        values: NDArray[Any],
        wanted: Sequence[Any],
        compared: Callable[[NDArray[Any], str, Any], BoolArray],
    ) -> BoolArray:
        sign = "=" if self.sign == "in" else self.sign
        chosen = compared(values, sign, wanted[0])
        for one in wanted[1:]:
            chosen = chosen | compared(values, sign, one)
        return chosen

    def _number(self, text: str) -> Decimal:
        number = as_number(text)
        if number is None:
            cause = f"column {quote(self.column)} holds numbers, and {quote(text)} in `where` is not a number"
            remedy = "compare with a number"
            raise InvalidValueError("bad-condition", cause, remedy, argument="where", value=text)
        return number

    def _truth(self, text: str) -> bool:
        if text.lower() not in ("true", "false"):
            cause = f"column {quote(self.column)} is true or false, and {quote(text)} in `where` is neither"
            remedy = "compare with true or false"
            raise InvalidValueError("bad-condition", cause, remedy, argument="where", value=text)
        return text.lower() == "true"

    def _of_text(self, values: NDArray[Any], missing: BoolArray | None) -> BoolArray:
        """Each different text is compared once."""
        texts = (values.astype(str) if values.dtype.kind == "S" else values).tolist()
        holds: dict[str, bool] = {}
        for row, text in enumerate(texts):
            if text not in holds and (missing is None or not missing[row]):
                try:
                    holds[text] = self._text_holds(text)
                except _NoOrderError:
                    raise self._not_comparable(text, row) from None
        return np.fromiter((holds.get(text, False) for text in texts), bool, len(texts))

    def _text_holds(self, text: str) -> bool:
        if self.sign == "in":
            return any(_is_equal(text, *item) for item in self._items)
        meaning = None if self.quoted else _meaning(self.value)
        if self.sign in _ORDERS:
            return self._is_ordered(text, meaning)
        if meaning is not None and _is_missing(text):
            return False
        return _is_equal(text, self.value, self.quoted) == (self.sign != "!=")

    def _is_ordered(self, text: str, meaning: _Meaning | None) -> bool:
        if meaning is None:
            raise InvalidValueError(
                "bad-condition",
                f"`where` {quote(self)}: {self.sign} compares numbers or dates, and "
                f"{quote(self.value)} is text",
                "write a number or a date such as 2026-11-16, or choose texts with = or in",
                argument="where",
                value=self.value,
            )
        value = meaning.read(text)
        if value is None and not _is_missing(text):
            raise _NoOrderError
        return value is not None and bool(_COMPARISONS[self.sign](value, meaning.value))

    def _not_comparable(self, text: str, row: int) -> InvalidValueError:
        return InvalidValueError(
            NOT_COMPARABLE,
            f"column {quote(self.column)} is {quote(text)}, which cannot be compared with "
            f"{quote(self.value)} by {self.sign} in `where` in row {row}",
            "the column must hold numbers or dates; choose texts with = or in, or remove the "
            "row from the file",
            argument="where",
            row=row,
            value=text,
        )


class _Item(NamedTuple):
    text: str
    quoted: bool


_ITEM = re.compile(r"""\s*(?:'(?P<single>[^']*)'|"(?P<double>[^"]*)"|(?P<plain>[^,'"]*?))\s*(?:,|$)""")


@lru_cache
def _items(value: str) -> list[_Item]:
    """The items of a list with commas; quotes are optional."""
    items, start = [], 0
    while start <= len(value):
        match = _ITEM.match(value, start)
        if match is None:
            cause = (
                f"`where`: the list {quote(value)} has a quote that is not closed or not around a whole item"
            )
            remedy = "write items as a, 'b, c' or remove the quotes"
            raise InvalidValueError("bad-condition", cause, remedy, argument="where", value=value)
        quoted = match["single"] if match["single"] is not None else match["double"]
        items.append(_Item(match["plain"], False) if quoted is None else _Item(quoted, True))
        start = match.end() + (not match[0].endswith(","))
    return items


def _is_equal(text: str, wanted: str, quoted: bool) -> bool:
    meaning = None if quoted else _meaning(wanted)
    value = None if meaning is None else meaning.read(text)
    return text == wanted if meaning is None or value is None else bool(value == meaning.value)


def as_number(text: str) -> Decimal | None:
    """The exact number in a text; None if it is not a number.

    >>> as_number("9007199254740993"), as_number(" 1e3 "), as_number("09"), as_number("9b"), as_number("1_0")
    (Decimal('9007199254740993'), Decimal('1E+3'), Decimal('9'), None, None)
    """
    return Decimal(text.strip()) if is_number(text) else None


def as_date(text: str) -> str | None:
    """The date or time without zone in a text, in a form that sorts; None if it is neither.

    >>> as_date("2026-11-16"), as_date("2026-11-16T08:30"), as_date("16.11.2026")
    ('2026-11-16 00:00:00.000000000', '2026-11-16 08:30:00.000000000', None)
    """
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return None
    try:
        date.fromisoformat(match["date"])
    except ValueError:  # the 31st of February
        return None
    return f"{match['date']} {match['time'] or '00:00'}:{match['seconds'] or '00'}.{match['part'] or '':<09}"


def as_universal_time(text: str) -> str | None:
    """The same for a time that ends in Z, which is not compared with times without zone."""
    return as_date(text.strip()[:-1]) if text.strip().endswith("Z") else None


class _Meaning(NamedTuple):
    """A number or date, and the function that reads others of its kind."""

    read: Callable[[str], Any]
    value: Any


@lru_cache(maxsize=256)
def _meaning(text: str) -> _Meaning | None:
    for read in (as_number, as_date, as_universal_time):
        value = read(text)
        if value is not None:
            return _Meaning(read, value)
    return None


def _is_missing(text: str) -> bool:
    return text.strip().lower() in _MISSING


class _NoOrderError(Exception):
    """A text that is not of the kind it is compared with."""


def _compare(values: NDArray[Any], sign: str, wanted: Any) -> BoolArray:
    return np.asarray(_COMPARISONS[sign](values, wanted), dtype=bool)


def _compare_integers(values: NDArray[Any], sign: str, wanted: Decimal) -> BoolArray:
    """Without rounding: a bound between two whole numbers is replaced by the one that keeps the same rows."""
    bounded = max(min(wanted, Decimal(_BEYOND)), Decimal(-_BEYOND))
    whole = int(bounded.to_integral_value(ROUND_FLOOR if sign in ("<", "<=") else ROUND_CEILING))
    if whole == bounded:
        return _compare(values, sign, whole)
    if sign in _ORDERS:
        return _compare(values, "<=" if sign in ("<", "<=") else ">=", whole)
    return np.full(len(values), sign == "!=")


def _compare_floats(values: NDArray[Any], sign: str, wanted: Decimal) -> BoolArray:
    """A decimal is rounded as the column's values were; a whole number that the dtype cannot hold equals no value."""
    with np.errstate(
        over="ignore"
    ):  # a number too large for the dtype is infinite in it, and compares correctly
        near = values.dtype.type(float(wanted))
        if not np.isfinite(near) or wanted != wanted.to_integral_value() or Decimal(float(near)) == wanted:
            return _compare(values, sign, near)
    below = Decimal(float(near)) < wanted
    if sign in (">", ">="):
        return _compare(values, ">" if below else ">=", near)
    if sign in ("<", "<="):
        return _compare(values, "<=" if below else "<", near)
    return np.full(len(values), sign == "!=")


def parse_condition(text: str) -> Condition:
    """The condition in a text.

    >>> parse_condition("age >= 65")
    Condition(column='age', sign='>=', value='65', quoted=False)
    >>> str(parse_condition("split in test, dev")), str(parse_condition("zip = '01234'"))
    ('split in test, dev', "zip = '01234'")
    """
    match = _FORM.fullmatch(text)
    if match is None:
        cause = f"`where` {quote(text)} is not a condition"
        remedy = "write a column, one of = != < <= > >= in, and a value: 'age >= 65'"
        raise InvalidValueError("bad-condition", cause, remedy, argument="where", value=text)
    value, sign = match["value"], match["sign"].strip()
    if sign == "in":
        _items(value)  # refused before files are read
        return Condition(match["column"], sign, value)
    quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "'\""
    return Condition(match["column"], sign, value[1:-1] if quoted else value, quoted)

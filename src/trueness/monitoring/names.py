"""Names of looks, and their order."""

from __future__ import annotations

import re
from typing import Any

from trueness.refusals import InvalidTypeError, InvalidValueError, quote

LONGEST = 200
_DIGITS = re.compile("([0-9]+)")


def look_name(at: Any) -> str:
    """A string, a whole number or a date as the name of a look.

    >>> import datetime
    >>> look_name(datetime.date(2026, 11, 16)), look_name(7)
    ('2026-11-16', '7')
    """
    if hasattr(at, "isoformat"):
        at = at.isoformat()
    if isinstance(at, bool) or not (isinstance(at, str) or hasattr(at, "__index__")):
        cause = f"at must be a string, a date or an integer, got {at!r}"
        raise InvalidTypeError("wrong-type", cause, argument="at", value=at)
    name = str(at) if isinstance(at, str) else str(at.__index__())
    if not name.strip() or len(name) > LONGEST or not name.isprintable():
        cause = f"at must be a printable name of up to {LONGEST} characters, got {quote(name)}"
        raise InvalidValueError("bad-argument", cause, argument="at", value=name)
    return name


def order_of(name: str) -> tuple[tuple[str, int], ...]:
    """A sort key in which numbers count as numbers.

    >>> sorted(["day 10", "day 9", "2026-11-02", "2026-10-30"], key=order_of)
    ['2026-10-30', '2026-11-02', 'day 9', 'day 10']
    """
    parts = _DIGITS.split(name)
    texts, numbers = parts[::2], [int(part) for part in parts[1::2]]
    return tuple(zip(texts, [*numbers, -1], strict=True))

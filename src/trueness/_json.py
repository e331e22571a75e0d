"""JSON from anywhere: how deep it is nested is found before a parser sees it.

Parsers call themselves for every level. Python's stops with an error of its own after about a thousand, and that of
pyarrow overflows the stack of the process.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

import numpy as np

MAX_NESTING = 64
"""Levels; files of this library have 6, and rows of predictions 2."""

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_OPENS, _CLOSES = (91, 123), (93, 125)
_ALL_BUT_BRACKETS = bytes(set(range(256)) - {*_OPENS, *_CLOSES})
_ALL_BUT_OPENS_AND_LINES = bytes(set(range(256)) - {*_OPENS, 10})
_ALL_OPENS_ALIKE = bytes.maketrans(b"{", b"[")
_TOO_MANY_OPENS = b"[" * (MAX_NESTING + 1)


def nesting(text: bytes) -> int:
    r"""How many brackets and braces are open at once; those in strings do not count.

    >>> nesting(b'{"a": [1, [2], "[[["]}'), nesting(b"17")
    (3, 0)
    """
    brackets = np.frombuffer(_STRING.sub(b"", text).translate(None, _ALL_BUT_BRACKETS), np.uint8)
    steps = np.where(np.isin(brackets, _OPENS), 1, -1)
    return int(np.cumsum(steps).max(initial=0))


def has_deep_line(block: bytes) -> bool:
    """Whether a line is nested deeper than is read.

    A line without that many opening brackets is not; only the others are looked at closely, and they are rare.
    """
    if _TOO_MANY_OPENS not in block.translate(_ALL_OPENS_ALIKE, _ALL_BUT_OPENS_AND_LINES):
        return False
    return any(nesting(line) > MAX_NESTING for line in block.split(b"\n"))


def parse(text: str) -> Any:
    """What a JSON text says; a ValueError if it is not JSON or nested too deep."""
    if nesting(text.encode("utf-8", "surrogatepass")) > MAX_NESTING:
        raise ValueError(f"it is nested more than {MAX_NESTING} levels deep")
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(token: str) -> NoReturn:
    """NaN and Infinity are not JSON, although Python reads them."""
    raise ValueError(f"{token} is not a number")

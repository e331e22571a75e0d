"""JSON from untrusted sources: the depth of nesting is checked before it is parsed.

Parsers recurse for every level. Python's raises an error after about a thousand levels, and pyarrow's overflows the
stack of the process.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

import numpy as np

from trueness.refusals import InvalidValueError

MAX_NESTING = 64
"""Levels. Files of trueness have 6, rows of predictions 2."""

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_OPENS, _CLOSES = (91, 123), (93, 125)
_ALL_BUT_BRACKETS = bytes(set(range(256)) - {*_OPENS, *_CLOSES})
_ALL_BUT_OPENS_AND_LINES = bytes(set(range(256)) - {*_OPENS, 10})
_ALL_OPENS_ALIKE = bytes.maketrans(b"{", b"[")
_TOO_MANY_OPENS = b"[" * (MAX_NESTING + 1)


def nesting(text: bytes) -> int:
    r"""The largest number of brackets and braces that are open at once, without those in strings.

    >>> nesting(b'{"a": [1, [2], "[[["]}'), nesting(b"17")
    (3, 0)
    """
    brackets = np.frombuffer(_STRING.sub(b"", text).translate(None, _ALL_BUT_BRACKETS), np.uint8)
    steps = np.where(np.isin(brackets, _OPENS), 1, -1)
    return int(np.cumsum(steps).max(initial=0))


def has_deep_line(block: bytes) -> bool:
    """Whether a line is nested more than MAX_NESTING levels deep.

    Lines with fewer opening brackets are not; only the others, which are rare, are examined in full.
    """
    if _TOO_MANY_OPENS not in block.translate(_ALL_OPENS_ALIKE, _ALL_BUT_OPENS_AND_LINES):
        return False
    return any(nesting(line) > MAX_NESTING for line in block.split(b"\n"))


def parse(text: str) -> Any:
    """The content of a JSON text; a ValueError if it is not JSON or is nested too deep."""
    if nesting(text.encode("utf-8", "surrogatepass")) > MAX_NESTING:
        cause = f"it is nested more than {MAX_NESTING} levels deep"
        raise InvalidValueError("bad-json", cause, value=MAX_NESTING)
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(token: str) -> NoReturn:
    """NaN and Infinity are not JSON, although Python's parser accepts them."""
    raise InvalidValueError("bad-json", f"{token} is not a number", value=token)

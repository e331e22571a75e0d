"""Formatting of text for people: counts, p-values, lists, and text from outside."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

STANDARD_OUTPUT = "-"
"""The name of an output that is printed to standard output instead of written to a file."""


def visible(text: str) -> str:
    r"""The text with control characters, direction marks and lone surrogates escaped.

    >>> visible("St Mary"), visible("a\x1b[31m")
    ('St Mary', 'a\\x1b[31m')
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    >>> plural(3, "bin"), plural(1, "bin")
    ('3 bins', '1 bin')
    """
    return f"{count} {one if count == 1 else many or one + 's'}"


def first_few(items: Iterable[Any], most: int = 6) -> str:
    """The first few items, separated by commas."""
    shown = [str(item) for item in items]
    return ", ".join(shown[:most]) + (", …" if len(shown) > most else "")


def p_text(p: float) -> str:
    """A p-value in a column.

    >>> p_text(0.0421), p_text(0.00001), p_text(1.0), p_text(math.nan)
    ('0.042', '<0.001', '>0.99', '-')
    """
    if math.isnan(p):
        return "-"
    return ">0.99" if p > 0.99 else f"{p:.3f}" if p >= 0.0005 else "<0.001"


def p_is(p: float) -> str:
    """A p-value in a sentence.

    >>> p_is(0.0421), p_is(0.00001), p_is(1.0)
    ('p = 0.042', 'p = 1e-05', 'p > 0.99')
    """
    if p > 0.99:
        return "p > 0.99"
    if p >= 0.0005:
        return f"p = {p:.3f}"
    return f"p = {p:.1g}" if p > 1e-300 else "p < 1e-300"

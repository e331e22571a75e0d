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


def p_sentence(p: float) -> str:
    """A p-value in a sentence.

    >>> p_sentence(0.0421), p_sentence(0.00001), p_sentence(1.0)
    ('p = 0.042', 'p = 1e-05', 'p > 0.99')
    """
    if p > 0.99:
        return "p > 0.99"
    if p >= 0.0005:
        return f"p = {p:.3f}"
    return f"p = {p:.1g}" if p > 1e-300 else "p < 1e-300"


def plain_name(name: str) -> str:
    """The name of a variation measure in a sentence.

    >>> plain_name("max_probability")
    'max probability'
    """
    return name.replace("_", " ")


def count_text(rows: float) -> str:
    """A number of rows, or a sum of weights.

    >>> count_text(12345.0), count_text(0.25)
    ('12,345', '0.25')
    """
    return f"{rows:,.0f}" if float(rows).is_integer() else f"{rows:,.5g}"


def about_text(rows: float) -> str:
    """An expected number of rows, with as many digits as matter beside a count.

    >>> about_text(1234.5), about_text(2.561)
    ('1,234', '2.56')
    """
    return f"{rows:,.0f}" if rows >= 99.5 else f"{rows:.3g}"


def rows_text(rows: float) -> str:
    """A number of rows with its noun.

    >>> rows_text(1), rows_text(1200.0), rows_text(0.5)
    ('1 row', '1,200 rows', '0.5 rows')
    """
    return f"{count_text(rows)} {'row' if rows == 1 else 'rows'}"


def capitalise(text: str) -> str:
    """The text with its first letter in upper case and the others unchanged.

    >>> capitalise("the top class of VCE")
    'The top class of VCE'
    """
    return f"{text[0].upper()}{text[1:]}"


def shorten(text: str, most: int) -> str:
    """The text in one line of at most so many characters.

    >>> shorten("x" * 40, 8)
    'xxxxxxx…'
    """
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"

"""What is printed: where it goes, and text from outside as it may be shown."""

from __future__ import annotations

STANDARD_OUTPUT = "-"
"""The name of an output that is printed instead of written to a file."""


def visible(text: str) -> str:
    r"""What would speak to a terminal, turn the direction of writing or cannot be written, by its code.

    >>> visible("St Mary"), visible("a\x1b[31m")
    ('St Mary', 'a\\x1b[31m')
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)

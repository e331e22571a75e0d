"""Checks of single arguments: whole numbers, booleans, choices, levels, and names of options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from trueness.refusals import InvalidTypeError, InvalidValueError, nearest, quote


def whole_number(argument: str, value: Any, least: int, most: int | None = None) -> int:
    """The value as an int; refused if it is not a whole number, too small or too large."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        wanted = f"an integer of at least {least}"
    elif most is not None and value > most:
        wanted = f"at most {most}"
    else:
        return int(value)
    name = f"`{argument}`" if argument.isidentifier() else argument
    cause = f"{name} must be {wanted}, got {value!r}"
    raise InvalidValueError("bad-argument", cause, argument=argument, value=value)


def boolean(argument: str, value: Any) -> bool:
    """The value as a bool; refused if it is of another type, since "False" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        cause = f"`{argument}` must be True or False, got {value!r}"
        raise InvalidTypeError("wrong-type", cause, argument=argument, value=value)
    return bool(value)


def require_choice(argument: str, value: Any, accepted: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the accepted names, and list them."""
    if not isinstance(value, str) or value not in accepted:
        listed = ", ".join(map(repr, accepted))
        cause = f"`{argument}` must be one of {listed}, got {value!r}"
        raise InvalidValueError("bad-argument", cause, argument=argument, value=value)


def confidence_level(value: Any) -> float:
    """The argument `level` as a float; refused if it is not a number from 0.5 to below 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.5 <= value < 1:
        cause = f"level must be a number from 0.5 to below 1, such as 0.95, got {value!r}"
        raise InvalidValueError("bad-argument", cause, argument="level", value=value)
    return float(value)


def require_known_names(options: Iterable[str], known: Sequence[str]) -> None:
    """Refuse an option that is not among the known ones."""
    for name in options:
        if name not in known:
            cause = f"unexpected argument {quote(name)}"
            raise InvalidTypeError("unknown-argument", cause, nearest(name, known))

"""Checks of single arguments: whole numbers, booleans, choices, levels, and names of options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from trueness.refusals import InvalidTypeError, InvalidValueError, nearest


def whole_number(argument: str, value: Any, least: int, most: int | None = None) -> int:
    """The value as an int; refused if it is not a whole number, too small or too large."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        cause, limit = "{argument} must be an integer of at least {limit}, got {value!r}", least
    elif most is not None and value > most:
        cause, limit = "{argument} must be at most {limit}, got {value!r}", most
    else:
        return int(value)
    raise InvalidValueError("bad-argument", cause, argument=argument, value=value, limit=limit)


def boolean(argument: str, value: Any) -> bool:
    """The value as a bool; refused if it is of another type, since "False" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidTypeError(
            "wrong-type", "{argument} must be True or False, got {value!r}", argument=argument, value=value
        )
    return bool(value)


def require_choice(argument: str, value: Any, accepted: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the accepted names, and list them."""
    if not isinstance(value, str) or value not in accepted:
        raise InvalidValueError(
            "bad-argument",
            "{argument} must be one of {accepted}, got {value!r}",
            argument=argument,
            value=value,
            accepted=", ".join(map(repr, accepted)),
        )


def confidence_level(value: Any) -> float:
    """The argument `level` as a float; refused if it is not a number from 0.5 to below 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.5 <= value < 1:
        raise InvalidValueError(
            "bad-argument",
            "{argument} must be a number from 0.5 to below 1, such as 0.95, got {value!r}",
            argument="level",
            value=value,
        )
    return float(value)


def require_known_names(options: Iterable[str], known: Sequence[str]) -> None:
    """Refuse an option that is not among the known ones."""
    for name in options:
        if name not in known:
            raise InvalidTypeError(
                "unknown-argument",
                "unexpected argument {name!q}",
                "{hint}",
                name=name,
                hint=nearest(name, known),
            )

"""Checks of single arguments: whole numbers, booleans, choices."""

from __future__ import annotations

from typing import Any

import numpy as np


def whole_number(argument: str, value: Any, least: int, most: int | None = None) -> int:
    """The value as an int; refused if it is no whole number, too small or too large."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{argument} must be a whole number from {least} up, got {value!r}")
    if most is not None and value > most:
        raise ValueError(f"{argument} must be at most {most}, got {value!r}")
    return int(value)


def yes_or_no(argument: str, value: Any) -> bool:
    """The value as a bool; refused if it is not one, since "False" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{argument} must be True or False, got {value!r}")
    return bool(value)


def require_choice(argument: str, value: Any, accepted: tuple[str, ...]) -> None:
    """Refuse an unknown name and list those there are."""
    if not isinstance(value, str) or value not in accepted:
        raise ValueError(f"{argument} must be one of {', '.join(map(repr, accepted))}, got {value!r}")

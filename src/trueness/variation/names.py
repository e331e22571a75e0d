"""From a name to its measure."""

from __future__ import annotations

import re

from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.variation import measures
from trueness.variation.definition import Variation
from trueness.variation.orders import FAMILIES

_MEMBER = re.compile(rf"({'|'.join(FAMILIES)})\((\d*\.?\d+(?:e[+-]?\d+)?)\)")


def is_library_name(name: str) -> bool:
    """Whether a built-in measure has this name."""
    return name in measures.variations or _MEMBER.fullmatch(name) is not None


def as_variation(variation: str | Variation) -> Variation:
    """The measure with a name such as "iqv" or "renyi(2)", or the measure itself."""
    if isinstance(variation, Variation):
        return variation
    if not isinstance(variation, str):
        raise InvalidTypeError(
            "wrong-type",
            f"variation must be a name or a trueness.Variation, got {type(variation).__name__}",
            "wrap a function as Variation(name, function, range=(low, high))",
            argument="variation",
        )
    if variation in measures.variations:
        return measures.variations[variation]
    member = _MEMBER.fullmatch(variation)
    if member is None:
        names = ", ".join([*measures.variations, *(f"{family}(alpha)" for family in FAMILIES)])
        cause = f"unknown variation {variation!r}"
        raise InvalidValueError(
            "unknown-name", cause, f"available: {names}", argument="variation", value=variation
        )
    return FAMILIES[member[1]](float(member[2]))

"""Scores of inspect: right, wrong, not attempted or not scored."""

from __future__ import annotations

import math
from typing import Any

from trueness.refusals import InvalidValueError, quote

NOT_SCORED = "not scored"
NOT_ATTEMPTED = "not attempted"

_SCORES = {"C": True, "I": False}


def score_of(value: Any) -> bool | str:
    """A score of inspect: whether the answer is right, or why that is not known; others are refused.

    >>> score_of("C"), score_of(0), score_of("N"), score_of(None)
    (True, False, 'not attempted', 'not scored')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOT_SCORED
    if value == "N":
        return NOT_ATTEMPTED
    if isinstance(value, str) and value in _SCORES:
        return _SCORES[value]
    if isinstance(value, (bool, int, float)) and value in (0, 1):
        return bool(value)
    cause = f"the score {quote(value)} is neither right nor wrong"
    remedy = "use a scorer that writes C, I or N"
    raise InvalidValueError("not-right-or-wrong", cause, remedy, argument="score", value=value)

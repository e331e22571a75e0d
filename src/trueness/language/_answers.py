"""Answers of a grader: right, wrong, not attempted or not scored; and confidences in percent."""

from __future__ import annotations

import math
from typing import Any

from trueness.refusals import InvalidValueError

NOT_SCORED = "not scored"
NOT_ATTEMPTED = "not attempted"
NOT_ATTEMPTED_CHOICES = ("skip", "incorrect")

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
    raise InvalidValueError(
        "not-right-or-wrong",
        "the score {value!q} is neither right nor wrong",
        "use a scorer that writes C, I or N",
        argument="score",
        value=value,
    )


def percent_of(value: Any) -> float:
    """A confidence in percent as a probability; refused if it is missing or outside 0 to 100.

    >>> percent_of(85)
    0.85
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        raise InvalidValueError(
            "missing-value",
            "the confidence is {value!r}",
            "a row needs a stated confidence",
            argument="confidence",
            value=value,
        )
    if not 0 <= value <= 100:
        raise InvalidValueError(
            "out-of-range",
            "the confidence is {value}",
            "percentages are from 0 to 100",
            argument="confidence",
            value=value,
        )
    return value / 100

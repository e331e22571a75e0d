"""Stated confidences and whether the answers are right, as columns of values, as arrays for `assess_event`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arguments import require_choice
from trueness._arrays import FloatArray, IntArray
from trueness.refusals import InvalidValueError

RIGHT = frozenset({"true", "1", "yes", "correct", "right"})
WRONG = frozenset({"false", "0", "no", "incorrect", "wrong"})
NOT_ATTEMPTED = frozenset({"not_attempted", "not attempted", "no answer"})
"""What a grade may be, in any case of letters."""

TREATMENTS = ("skip", "incorrect")
"""What becomes of questions that were not attempted: left out and counted, or counted as wrong."""


@dataclass(frozen=True, slots=True, eq=False)
class StatedRows:
    """Stated confidences with whether the answers are right, and what was left out."""

    event: NDArray[np.bool_]
    stated: FloatArray
    rows: IntArray
    """The number of each row among those given."""
    left_out: Counter[str] = field(default_factory=Counter)


def grade_of(value: Any) -> bool | None:
    """Whether an answer is right; None if the question was not attempted. Anything else is refused.

    >>> grade_of("CORRECT"), grade_of(0), grade_of("NOT_ATTEMPTED")
    (True, False, None)
    """
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    text = str(value).strip().lower()
    if text in RIGHT | WRONG:
        return text in RIGHT
    if text in NOT_ATTEMPTED:
        return None
    cause = f"{value!r} is neither right nor wrong"
    remedy = (
        "right is true, 1, yes, correct or right; wrong is false, 0, no, incorrect or wrong; "
        "else 'not attempted'"
    )
    raise InvalidValueError("not-right-or-wrong", cause, remedy, argument="correct", value=value)


def confidence_of(value: Any, percent: bool = False) -> float:
    """A stated confidence as a probability; refused if it is missing or outside its scale, which is never guessed.

    >>> confidence_of("85", percent=True), confidence_of(0.3)
    (0.85, 0.3)
    """
    try:
        number = math.nan if isinstance(value, bool) or value is None else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise InvalidValueError(
            "missing-confidence",
            f"the stated confidence is {value!r}",
            "a missing confidence is not 100 %: remove such rows first",
            argument="stated",
            value=value,
        )
    most = 100.0 if percent else 1.0
    if not 0.0 <= number <= most:
        cause, remedy = f"the stated confidence is {number}", f"confidences are from 0 to {most:g}"
        if not percent and 1 < number <= 100:
            remedy += "; pass `percent=True` if they are from 0 to 100"
        raise InvalidValueError("outside-range", cause, remedy, argument="stated", value=number)
    return number / 100.0 if percent else number


def stated_rows(
    stated: Sequence[Any],
    correct: Sequence[Any],
    *,
    percent: bool = False,
    not_attempted: str = "skip",
    skip: bool = False,
) -> StatedRows:
    """Stated confidences and grades as arrays.

    Questions that were not attempted are left out and counted, since there is no answer that the confidence could be
    about, or count as wrong with `not_attempted="incorrect"`. Bad rows are refused with their number, or left out and
    counted with `skip`.

    >>> stated_rows([90, 50, 80], ["yes", "NO", "not attempted"], percent=True).left_out
    Counter({'not attempted': 1})
    """
    require_choice("not_attempted", not_attempted, TREATMENTS)
    left_out: Counter[str] = Counter()
    found: list[tuple[int, bool, float]] = []
    for row, (value, grade) in enumerate(zip(stated, correct, strict=True)):
        try:
            right = grade_of(grade)
            if right is None and not_attempted == "skip":
                left_out["not attempted"] += 1
                continue
            found.append((row, bool(right), confidence_of(value, percent)))
        except InvalidValueError as error:
            if not skip:
                raise error.with_facts(row=row) from error
            left_out[error.code] += 1
    if not found:
        raise InvalidValueError("no-rows", "no row has a stated confidence and a grade", argument="stated")
    rows, event, probability = zip(*found, strict=True)
    if percent and max(probability) <= 0.01:
        cause = "no stated confidence is above 1 %"
        remedy = "leave out `percent=True` if they are from 0 to 1"
        raise InvalidValueError("not-percent", cause, remedy, argument="stated", value=100 * max(probability))
    return StatedRows(np.array(event, np.bool_), np.array(probability), np.array(rows, np.int64), left_out)

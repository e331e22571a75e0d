"""Rows while they are collected: bad ones, repeated ones, lists of different lengths, names of groups."""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from trueness._arguments import require_choice
from trueness._arrays import FloatArray, IntArray
from trueness._printing import first_few
from trueness.refusals import InvalidValueError, Refusal, quote
from trueness.rows.class_columns import text_of
from trueness.rows.groups import combination_name

REASONS = {
    "answer-not-an-option": "the answer is none of the options",
    "equal-likelihoods": "equal likelihoods, so that the right option does not follow",
    "label-out-of-range": "the target is none of the options",
    "missing-value": "a value is missing",
    "no-log-probabilities": "no log-probabilities",
    "no-option-listed": "none of the options is listed",
    "not-a-count": "a number of votes that is none",
    "not-finite": "a number is not finite",
    "not-one-answer": "no single right answer",
    "not-right-or-wrong": "neither right nor wrong",
    "out-of-range": "a confidence is outside its range",
    "too-few-votes": "fewer than two votes",
    "ambiguous-token": "the true token is listed twice",
    "empty-list": "no token is listed",
    "missing-confidence": "no stated confidence",
    "outside-range": "a confidence is outside its range",
    "sum-not-1": "listed probabilities sum to more than 1",
}
"""The reasons for which bad rows are skipped, by the code of the refusal."""


class BadRows:
    """Refuses bad rows, or skips and counts them."""

    def __init__(self, on_bad_rows: str) -> None:
        require_choice("on_bad_rows", on_bad_rows, ("refuse", "skip"))
        self.skip = on_bad_rows == "skip"
        self.left_out: Counter[str] = Counter()

    def add(self, refusal: Refusal) -> None:
        """Raise the refusal of a row, or count the row."""
        if not self.skip:
            remedies = filter(None, (refusal.remedy, "remove such rows first"))
            raise refusal.with_facts(remedy=", or ".join(remedies))
        self.left_out[REASONS.get(refusal.code, refusal.code)] += 1


class SeenRows:
    """Refuses rows that occur twice."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._seen: dict[Any, tuple[str, int]] = {}

    def add(self, key: Any, name: Any, file: str, row: int) -> None:
        """Note a row; refuse it if there is another one with this key."""
        before = self._seen.setdefault(key, (file, row))
        if before == (file, row):
            return
        places = f"in rows {before[1]} and {row}" if before[0] == file else f"here and in {before[0]}"
        cause = f"{file} holds {self._what} {name} twice, {places}"
        remedy = "was the file appended to by a second run? Keep one of them"
        raise InvalidValueError("repeated-row", cause, remedy, argument=file, row=None)


class Ragged:
    """Lists of numbers of different lengths, eight bytes for each number."""

    def __init__(self) -> None:
        self._numbers, self._lengths = array("d"), array("q")

    def append(self, numbers: Iterable[float]) -> None:
        """Add a list."""
        before = len(self._numbers)
        self._numbers.extend(numbers)
        self._lengths.append(len(self._numbers) - before)

    @property
    def lengths(self) -> IntArray:
        """The length of each list."""
        return np.array(self._lengths, np.int64)

    def padded(self, fill: float = 0.0) -> FloatArray:
        """All lists as one array, filled up at their ends."""
        lengths = self.lengths
        made = np.full((len(lengths), int(lengths.max(initial=0))), fill)
        made[np.arange(made.shape[1]) < lengths[:, None]] = np.array(self._numbers)
        return made


def files_of(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    """The names of one file, or of several."""
    if isinstance(paths, (str, os.PathLike)):
        return [os.fspath(paths)]
    return [os.fspath(path) for path in paths]


def names_array(names: Sequence[str]) -> Any:
    """Names as an array of objects."""
    made = np.empty(len(names), object)
    made[:] = names
    return made


def columns_of(groups: str | Sequence[str] | None) -> tuple[str, ...]:
    """The names of the columns of groups; of text with commas, its parts."""
    if groups is None:
        return ()
    parts = [groups] if isinstance(groups, str) else groups
    return tuple(name.strip() for part in parts for name in part.split(","))


def name_from(
    fields: Mapping[str, Any], columns: Sequence[str], default: str, argument: str, **place: Any
) -> str:
    """The group or cluster of a row: the value of a field such as doc.subject, or a combination of several."""
    if not columns:
        return default
    values = [_value(fields, column, argument, place) for column in columns]
    return values[0] if len(values) == 1 else combination_name(columns, values)


def _value(fields: Mapping[str, Any], column: str, argument: str, place: Mapping[str, Any]) -> str:
    found: Any = fields
    for part in [column] if column in fields else column.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    if found is None or isinstance(found, (Mapping, list)):
        cause = f"there is no {quote(column)}"
        remedy = (
            f"for `{argument}`, name one of {first_few(sorted(fields), 12)}, or a field inside one, such as "
            "doc.subject"
        )
        raise InvalidValueError("missing-column", cause, remedy, argument=argument, **place)
    return text_of(found)


def counts_text(n_options: IntArray) -> str:
    """The number of rows by the number of options.

    >>> counts_text(np.array([4, 3, 4]))
    '3: 1, 4: 2'
    """
    different, counts = np.unique(n_options, return_counts=True)
    return first_few((f"{c}: {n}" for c, n in zip(different.tolist(), counts.tolist(), strict=True)), 8)


def left_out_text(left_out: Mapping[str, int]) -> str:
    """What was left out, in words."""
    return ", ".join(f"{count} {reason}" for reason, count in left_out.items() if count)


def refuse_no_rows(n_rows: int, file: str, left_out: Mapping[str, int]) -> None:
    """Refuse a file all of whose rows were left out."""
    if n_rows == 0:
        why = f": {left_out_text(left_out)}" if left_out else ""
        cause = f"{file} has no rows that can be used{why}"
        raise InvalidValueError("no-rows", cause, "check how it was written", argument=file)

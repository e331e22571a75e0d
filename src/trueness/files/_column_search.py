"""Columns by name, glob or range, and columns that are detected by their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from trueness.files.request import Request
from trueness.formats.fields import Field
from trueness.refusals import InvalidValueError, nearest, quote
from trueness.rows.class_columns import PROB_PREFIXES, Columns, columns_of

LABEL_NAMES = (
    "y_true",
    "label",
    "labels",
    "y",
    "target",
    "truth",
    "true_label",
    "ground_truth",
    "true_class",
)
LIST_NAMES = (
    "y_prob",
    "predictions",
    "probs",
    "prob",
    "proba",
    "probabilities",
    "p",
    "logits",
    "logprobs",
    "y_pred",
)


def detect_label(fields: Mapping[str, Field], file: str) -> str:
    """The one column with a name that labels usually have."""
    names = [name for name, field in fields.items() if name.lower() in LABEL_NAMES and field.kind != "folder"]
    if len(names) == 1:
        return names[0]
    columns = ", ".join(quote(name) for name in list(fields)[:12])
    if names:
        found = ", ".join(map(quote, names))
        cause = f"{file} has several columns that may be the labels: {found}"
        remedy = f"pass its name as `label`; the first columns are {columns}"
        raise InvalidValueError("ambiguous-columns", cause, remedy, argument="label")
    cause = f"no column of {file} has a name that labels usually have"
    remedy = f"pass its name as `label`; the first columns are {columns}"
    raise InvalidValueError("missing-column", cause, remedy, argument="label")


def requested_probs(
    fields: Mapping[str, Field], request: Request, named: set[str | None], file: str
) -> Columns:
    """The columns of a name, a list of names or a glob; those of a glob in order, those of a list as listed."""
    asked = request.probs
    assert asked is not None
    if isinstance(asked, str) and asked in fields:
        return columns_of([asked])
    parts = asked.split(",") if isinstance(asked, str) else asked
    found = [_columns_meant(fields, part, named, file) for part in parts]
    if len(found) == 1:
        return found[0]
    probs = [name for columns in found for name in columns.names]
    repeats = [name for name in probs if probs.count(name) > 1] if len(probs) < 10_000 else []
    if repeats:
        cause = f"`probs` names the column {quote(repeats[0])} twice"
        raise InvalidValueError("named-twice", cause, "name each class once", argument="probs")
    return columns_of(probs)


def _columns_meant(fields: Mapping[str, Field], part: str, named: set[str | None], file: str) -> Columns:
    """The columns that one name, glob or range of numbers means."""
    if part not in fields:
        part = part.strip()
    if part in fields:
        return columns_of([part])
    ends = re.fullmatch("([0-9]{1,7})-([0-9]{1,7})", part)
    if ends is not None:
        numbers = [str(number) for number in range(int(ends[1]), int(ends[2]) + 1)]
        missing = next((name for name in numbers if name not in fields), None)
        if numbers and missing is None:
            return columns_of(numbers)
        raise missing_column(missing or part, fields, file, "probs")
    matches = [name for name in fields if fnmatchcase(name, part) and name not in named]
    if not matches:
        raise missing_column(part, fields, file, "probs")
    columns = columns_of(matches, part)
    return columns.take(columns.order)


def missing_column(name: str, fields: Mapping[str, Field], file: str, argument: str) -> InvalidValueError:
    """The refusal of a column that the file does not have."""
    cause = f"{file} has no column {quote(name)} (`{argument}`)"
    remedy = nearest(name, list(fields))
    return InvalidValueError("missing-column", cause, remedy, argument=argument)


def free_fields(fields: Mapping[str, Field], named: set[str | None]) -> dict[str, Field]:
    """The columns that have no other purpose."""
    return {name: field for name, field in fields.items() if name not in named}


def detect_probs(fields: Mapping[str, Field], request: Request, named: set[str | None], file: str) -> Columns:
    """The one way to read columns as probabilities; a refusal if there is none, or more than one."""
    if not request.header:
        cause = f"the columns of {file} have no names"
        remedy = "pass the numbers of those that hold probabilities as `probs`, such as 1-10"
        raise InvalidValueError("missing-column", cause, remedy, argument="probs")
    free = free_fields(fields, named)
    readings: list[tuple[str, ...]] = [(name,) for name, field in free.items() if field.kind == "list"]
    readings += series(free, request.percent)
    if not readings:
        readings = [
            (name,)
            for name, field in free.items()
            if holds_numbers(field, request.percent) and name.lower() in LIST_NAMES
        ]
    if len(readings) == 1:
        columns = columns_of(readings[0])
        return columns.take(columns.order)
    for name, field in free.items():
        usual = name.lower() in LIST_NAMES or name.lower().startswith(PROB_PREFIXES)
        if not readings and usual and field.problem is not None:
            raise field.problem
    if readings:
        ways = "; ".join(description(reading, len(reading) == 1) for reading in readings[:4])
        cause = f"{file} can be read in several ways: {ways}"
        remedy = "name the columns in `probs`: 'p_*', a list of names, or one list column"
        raise InvalidValueError("ambiguous-columns", cause, remedy, argument="probs")
    cause = f"no columns of {file} look like probabilities"
    remedy = "name the columns in `probs`: 'p_*', a list of names, or one list column"
    raise InvalidValueError("missing-column", cause, remedy, argument="probs")


def series(fields: Mapping[str, Field], percent: bool) -> Iterable[tuple[str, ...]]:
    """Columns of numbers with similar names: a usual prefix with anything after it, or any prefix with numbers."""
    groups: dict[str, list[str]] = {}
    for name, field in fields.items():
        if not holds_numbers(field, percent):
            continue
        usual = [prefix for prefix in PROB_PREFIXES if name.lower().startswith(prefix)]
        numbered = re.fullmatch(r"(.*?)[0-9]+", name)
        prefix = name[: len(usual[0])] if usual else numbered[1] if numbered else None
        if prefix is not None:
            groups.setdefault(prefix, []).append(name)
    return (tuple(names) for names in groups.values() if len(names) > 1)


def description(probs: Sequence[str], is_list: bool) -> str:
    """The columns of probabilities, for messages."""
    if len(probs) == 1:
        return f"{'probabilities' if is_list else 'probability of class 1'} from column {quote(probs[0])}"
    middle = ", " if len(probs) == 2 else ", …, "
    return f"probabilities from {len(probs)} columns {quote(probs[0])}{middle}{quote(probs[-1])}"


def holds_numbers(field: Field, percent: bool) -> bool:
    """Whether a column can hold probabilities; percentages may be text."""
    return field.numeric or (percent and field.kind == "text")

"""Labels that are not in the log: by the key of each request, from a file or a mapping."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from trueness.files.text_columns import column_names, read_text_columns
from trueness.refusals import InvalidValueError, Refusal, quote


class LabelRow(NamedTuple):
    """The label of a request, and the further columns of its row."""

    label: str
    columns: Mapping[str, str]


def labels_by_key(
    labels: Any, key: str = "custom_id", label: str | None = None, columns: Sequence[str] = ()
) -> dict[str, LabelRow]:
    """The labels by key; a key that occurs twice is refused."""
    if isinstance(labels, Mapping):
        return {str(name): LabelRow(str(value), {}) for name, value in labels.items()}
    path = os.fspath(labels)
    names = column_names(path)
    chosen = label if label is not None else _only_other(path, names, key)
    found = read_text_columns(path, list(dict.fromkeys((key, chosen, *columns))))
    by_key: dict[str, LabelRow] = {}
    for number, (name, value) in enumerate(zip(found[key], found[chosen], strict=True), 1):
        if name is None or value is None:
            raise _refuse(path, number, "missing-value", "a key or a label is missing")
        if name in by_key:
            raise _refuse(path, number, "repeated-row", f"{quote(name)} has a label twice")
        by_key[name] = LabelRow(value, {column: found[column][number - 1] or "" for column in columns})
    return by_key


def _only_other(path: str, names: Sequence[str], key: str) -> str:
    others = [name for name in names if name != key]
    if len(others) == 1:
        return others[0]
    listed = ", ".join(map(quote, names))
    cause = f"{path} has the columns {listed}; which of them is the label?"
    raise InvalidValueError("missing-argument", cause, "name it with `label`", argument="label")


def _refuse(path: str, row: int, code: str, cause: str) -> Refusal:
    return InvalidValueError(code, cause, "fix the file of labels", source=path, row=row)

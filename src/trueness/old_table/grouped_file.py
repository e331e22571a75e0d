"""The tables of one run in one file: those of all rows, or of each group by its name.

Group names come from data and may be anything, so they are text in the file and never part of a path.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from trueness import _json
from trueness._version import __version__
from trueness.atomic_files import write_text
from trueness.old_table import file as table_file
from trueness.old_table.tables import GroupedTables, Tables, table_from_dict, tables_of_content
from trueness.refusals import InvalidValueError, Refusal, quote, reason_of
from trueness.variation import Variation

FORMAT = "trueness tables by group"


def encode_groups(groups: Mapping[str | None, Tables]) -> list[dict[str, Any]]:
    """Groups as plain JSON."""
    return [
        {"group": name, "tables": [table.to_dict() for table in tables.parts]}
        for name, tables in groups.items()
    ]


def decode_groups(content: Any, file: str, variation: Variation | None = None) -> dict[str | None, Tables]:
    """Groups from plain JSON, validated; `variation` is the measure, if it is a user's own."""
    if not isinstance(content, list):
        raise _damaged_file_error(file)
    groups: dict[str | None, Tables] = {}
    for entry in content:
        if not isinstance(entry, dict) or set(entry) != {"group", "tables"}:
            raise _damaged_file_error(file)
        name, tables = entry["group"], entry["tables"]
        if not (name is None or isinstance(name, str)) or name in groups or not _is_list(tables):
            raise _damaged_file_error(file)
        groups[name] = _decode_tables(tables, file, variation)
    return groups


def _decode_tables(content: list[Any], file: str, variation: Variation | None) -> Tables:
    try:
        return Tables.of_file([table_from_dict(table, variation) for table in content])
    except Refusal as error:
        raise error.with_facts(source=file, remedy="create it again with trueness tabulate") from error


def _is_list(tables: Any) -> bool:
    """Whether these are tables: one by variation, and those by confidence and of events, if there are any."""
    return isinstance(tables, list) and len(tables) > 0


def _damaged_file_error(file: str) -> InvalidValueError:
    cause = f"{file} is damaged"
    return InvalidValueError("damaged-file", cause, "create it again with trueness tabulate")


def save_tables(tables: GroupedTables, path: str) -> None:
    """Write the tables of a run, atomically."""
    if tables.by is None:
        tables.groups[None].save(path)
        return
    groups = encode_groups(tables.groups)
    content = {
        "format": FORMAT,
        "schema": table_file.SCHEMA,
        "library": __version__,
        "by": tables.by,
        "groups": groups,
    }
    write_text(path, json.dumps(content, allow_nan=False))


def load_tables(path: str) -> GroupedTables:
    """The tables of a file that `save_tables` or `CalibrationTable.save` wrote."""
    if not os.path.exists(path) or os.path.isdir(path):  # a pipe can be read too, once
        cause = f"the file {quote(path)} does not exist"
        raise InvalidValueError("missing-file", cause, "name a file that tabulate or merge wrote")
    content = read_json(path, "a file of calibration tables")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return GroupedTables(None, {None: _tables_without_groups(content, path)})
    table_file.require_schema(content, path)
    if not isinstance(content.get("by"), str):
        raise _damaged_file_error(path)
    groups = decode_groups(content.get("groups"), path)
    if not groups:
        cause = f"{path} holds no groups"
        raise InvalidValueError("damaged-file", cause, "create it again with trueness tabulate")
    return GroupedTables(content["by"], groups)


def _tables_without_groups(content: Any, path: str) -> Tables:
    try:
        found = tables_of_content(content, path)
    except Refusal as error:
        raise error.with_facts(remedy="name a file that tabulate or merge wrote") from error
    return Tables.of_file(found)


def read_json(path: str, what: str) -> Any:
    """The content of a JSON file; a refusal says that it is not `what`."""
    try:
        with open(path, encoding="utf-8") as file:
            return _json.parse(file.read())
    except ValueError as error:
        cause = f"{path} is not {what}: {reason_of(error, 120)}"
        raise InvalidValueError("damaged-file", cause, "name a file that trueness wrote") from error


def merge_files(paths: Sequence[str], *, by_class: bool = True) -> GroupedTables:
    """The sum of the tables of several files, without those of events if `by_class` is False."""

    def load(path: str) -> GroupedTables:
        return load_tables(path) if by_class else load_tables(path).without_events()

    first, *others = paths
    total = load(first)
    for path in others:
        tables = load(path)
        if tables.by != total.by:
            cause = f"{path} {_grouping(tables)}, but {first} {_grouping(total)}"
            remedy = "merge files that were made with the same `groups`"
            raise InvalidValueError("different-groups", cause, remedy)
        total = _add(total, tables, first, path)
    return total


def _grouping(tables: GroupedTables) -> str:
    return "has no groups" if tables.by is None else f"has groups by {tables.by!r}"


def _has_events(tables: GroupedTables) -> bool:
    return any(group.events for group in tables.groups.values())


def _add(total: GroupedTables, tables: GroupedTables, first: str, path: str) -> GroupedTables:
    try:
        sums = total + tables
        sums.whole  # noqa: B018  groups with different names must add up too
    except Refusal as error:
        raise InvalidValueError(
            "different-tables",
            f"{path} does not add to {first}: {error.cause}",
            "pass `by_class=False` to add them without their tables by class"
            if _has_events(total) != _has_events(tables)
            else "make both with the same options; bins of equal mass merge only on a grid "
            "(`EqualWidth(4000)`)",
        ) from error
    return sums

"""Tables of one run in one file: those of all rows, or, for a run with groups, those of each group by its name.

Group names come from data and may be anything, so they are text in the file and never a part of a path.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trueness import _json
from trueness._atomic_write import write_text
from trueness._version import __version__
from trueness.bins import confidence_bins_for
from trueness.files._errors import InputError, shown
from trueness.table import CalibrationTable
from trueness.table import file as table_file
from trueness.variation import Variation

FORMAT = "trueness tables by group"
SCHEMA = 2
SCHEMAS = (1, SCHEMA)
"""Those that are read: the tables of the first lack some sums, as in files of single tables."""

Tables = list[CalibrationTable]


@dataclass(frozen=True, slots=True)
class GroupedTables:
    """One list of tables (the one by variation, the one by confidence) for each group; a run without has one, None."""

    by: str | None
    groups: Mapping[str | None, Tables]

    @property
    def whole(self) -> Tables:
        """The tables of all rows."""
        return [sum(tables[1:], tables[0]) for tables in zip(*self.groups.values(), strict=True)]

    @property
    def n_rows(self) -> int:
        """The rows of all groups."""
        return sum(tables[0].n_rows for tables in self.groups.values())

    def coarsened(self, bins: Any, confidence_bins: Any = None) -> GroupedTables:
        """The same rows in the coarser bins that all rows together give; further tables are by confidence."""
        chosen = [bins, confidence_bins_for(bins, confidence_bins)]
        edges = [table.coarsen(of).bins for table, of in zip(self.whole, chosen, strict=False)]
        groups = {
            name: [table.coarsen(edge) for table, edge in zip(tables, edges, strict=True)]
            for name, tables in self.groups.items()
        }
        return GroupedTables(self.by, groups)

    def __add__(self, other: GroupedTables) -> GroupedTables:
        groups = dict(self.groups)
        for name, tables in other.groups.items():
            groups[name] = _added(groups[name], tables) if name in groups else tables
        return GroupedTables(self.by, groups)


def _added(mine: Sequence[CalibrationTable], theirs: Sequence[CalibrationTable]) -> Tables:
    return [a + b for a, b in zip(mine, theirs, strict=True)]


def encode_groups(groups: Mapping[str | None, Tables]) -> list[dict[str, Any]]:
    """Groups as plain JSON."""
    return [
        {"group": name, "tables": [table.to_dict() for table in tables]} for name, tables in groups.items()
    ]


def decode_groups(content: Any, place: str, variation: Variation | None = None) -> dict[str | None, Tables]:
    """Groups of plain JSON, after looking at all of it; `variation` is the measure, if it is a user's own."""
    damaged = InputError(f"{place} is damaged", "make it again")
    if not isinstance(content, list):
        raise damaged
    groups: dict[str | None, Tables] = {}
    for entry in content:
        if not isinstance(entry, dict) or set(entry) != {"group", "tables"}:
            raise damaged
        name, tables = entry["group"], entry["tables"]
        if not (name is None or isinstance(name, str)) or name in groups or not isinstance(tables, list):
            raise damaged
        groups[name] = [CalibrationTable.from_dict(table, variation) for table in tables]
    return groups


def save_tables(tables: GroupedTables, path: str) -> None:
    """Write the tables of a run, whole or not at all."""
    if tables.by is None:
        CalibrationTable.save_all(tables.groups[None], path)
        return
    content = {
        "format": FORMAT,
        "schema": SCHEMA,
        "library": __version__,
        "by": tables.by,
        "groups": encode_groups(tables.groups),
    }
    write_text(path, json.dumps(content, allow_nan=False))


def load_tables(path: str) -> GroupedTables:
    """The tables of a file that this command or `CalibrationTable.save` wrote."""
    if not os.path.exists(path) or os.path.isdir(path):  # a pipe is as good, and is read once
        raise InputError(f"there is no file {shown(path)}", "name a file that tabulate or merge wrote")
    content = read_json(path, "tables")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        try:
            parts = table_file.read_content(content, path, None)
            return GroupedTables(None, {None: [CalibrationTable(*part) for part in parts]})
        except ValueError as error:
            raise InputError(str(error), "name a file that tabulate or merge wrote") from error
    if content.get("schema") not in SCHEMAS or not isinstance(content.get("by"), str):
        raise InputError(
            f"{path} has schema {shown(content.get('schema'))}, this version reads {' and '.join(map(str, SCHEMAS))}",
            "update trueness, or make the tables again",
        )
    try:
        groups = decode_groups(content.get("groups"), path)
    except ValueError as error:
        raise InputError(f"{path}: {error}", "make it again") from error
    if not groups:
        raise InputError(f"{path} holds no groups", "make it again")
    return GroupedTables(content["by"], groups)


def read_json(path: str, what: str) -> Any:
    """The content of a JSON file, or a refusal."""
    try:
        with open(path, encoding="utf-8") as file:
            return _json.parse(file.read())
    except ValueError as error:
        raise InputError(
            f"{path} is no file of {what}: {' '.join(str(error).split())[:120]}",
            "name a file that this command wrote",
        ) from error


def _grouping(tables: GroupedTables) -> str:
    return "has no groups" if tables.by is None else f"has groups by {shown(tables.by)}"


def merge_files(paths: Sequence[str]) -> GroupedTables:
    """The sum of the tables of several files."""
    total: GroupedTables | None = None
    for path in paths:
        tables = load_tables(path)
        if total is None:
            total = tables
            continue
        if tables.by != total.by:
            raise InputError(
                f"{path} {_grouping(tables)}, but {paths[0]} {_grouping(total)}",
                "merge files that were made with the same --by",
            )
        try:
            total = total + tables
            total.whole  # noqa: B018  groups that do not meet must add up too
        except ValueError as error:
            raise InputError(
                f"{path} does not add to {paths[0]}: {error}",
                "make both with the same options; bins of equal mass merge only on a grid (--grid)",
            ) from error
    assert total is not None
    return total

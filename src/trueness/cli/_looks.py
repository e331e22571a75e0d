"""The looks of a monitor among files of saved tables: which files, their names, and their order."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trueness.cli._errors import refuse_argument
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.old_table import GroupedTables

ENDING = ".json"


@dataclass(frozen=True, slots=True)
class LookFile:
    """A file of tables and the name of its look."""

    at: str
    path: str


def look_files(files: Sequence[str], pattern: str | None) -> list[LookFile]:
    """The files in the order of their names; of folders, those that end in .json."""
    from trueness.cli._saved_tables import saved_paths
    from trueness.monitoring.names import look_name, order_of

    paths = saved_paths([path for name in files for path in _in_folder(name)])
    found = [LookFile(look_name(_name(path, pattern)), path) for path in paths]
    return sorted(found, key=lambda each: order_of(each.at))


def _in_folder(name: str) -> list[str]:
    if not os.path.isdir(name):
        return [name]
    inside = sorted(
        os.path.join(name, entry)
        for entry in os.listdir(name)
        if entry.lower().endswith(ENDING) and not entry.startswith(".")
    )
    if not inside:
        cause = f"the folder {name!r} has no file that ends in .json"
        remedy = "write the tables of a day into it with trueness tabulate --at"
        raise InvalidValueError("missing-file", cause, remedy, argument=name)
    return inside


def _name(path: str, pattern: str | None) -> str:
    """The file's name without its ending; or what a pattern finds in it, or else in the path."""
    name = os.path.basename(path)
    if pattern is None:
        return name[: -len(ENDING)] if name.lower().endswith(ENDING) else os.path.splitext(name)[0]
    try:
        found = re.search(pattern, name) or re.search(pattern, path)
    except re.error as error:
        cause = f"--at must be a regular expression, got {pattern!r}: {error}"
        remedy = "such as --at '(\\d{4}-\\d\\d-\\d\\d)'"
        raise refuse_argument("--at", pattern, cause, remedy) from error
    if found is None or not (text := found.group(1) if found.re.groups else found.group()):
        cause = f"--at {pattern!r} does not occur in the name of {path!r}"
        raise refuse_argument("--at", pattern, cause, "leave it out, or name only files of looks")
    return text


def load_look(path: str, by_class: bool | None) -> GroupedTables:
    """The tables of a file, by group."""
    from trueness.cli._saved_tables import by_class_or_not
    from trueness.files import load_tables

    return by_class_or_not(load_tables(path), by_class)

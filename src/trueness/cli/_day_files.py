"""Tables of days as files in a folder, where `trueness monitor` finds them: NAME.json for each look."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trueness._printing import STANDARD_OUTPUT, plural
from trueness.cli._errors import refuse_argument
from trueness.cli._outputs import print_summary
from trueness.refusals import InvalidValueError, quote

if TYPE_CHECKING:
    from trueness.old_table import GroupedTables

ENDING = ".json"


def folder_of(arguments: argparse.Namespace) -> str | None:
    """The folder that -o names, which is made if it is missing; None if it names a file."""
    output = arguments.output
    is_folder = output != STANDARD_OUTPUT and (output.endswith(("/", os.sep)) or os.path.isdir(output))
    if not is_folder:
        if arguments.at is not None or arguments.by is not None:
            argument = "--by" if arguments.at is None else "--at"
            cause = f"{argument} writes into a folder, and -o names the file {quote(output)}"
            remedy = "name a folder, such as -o tables/"
            raise InvalidValueError("bad-argument", cause, remedy, argument=argument)
        return None
    if (arguments.at is None) == (arguments.by is None):
        cause = f"-o names the folder {quote(output)}, which needs one of --at and --by"
        remedy = "pass --at 2026-11-16 for one look, or --by COLUMN for a file of each of its values"
        raise InvalidValueError("conflicting-arguments", cause, remedy, argument="--at")
    os.makedirs(output, exist_ok=True)
    return str(output)


def file_in(folder: str, name: str, argument: str) -> str:
    """The file of a look; refused if the name could be that of another place."""
    from trueness.monitoring.names import look_name

    look_name(name)
    if os.path.basename(name) != name or "\\" in name or name.startswith(".") or len(name.encode()) > 200:
        cause = f"{argument} {quote(name)} cannot be the name of a file"
        remedy = "use names such as 2026-11-16, without slashes"
        raise refuse_argument(argument, name, cause, remedy)
    return os.path.join(folder, name + ENDING)


def save_by_value(tables: GroupedTables, folder: str, columns: Sequence[str]) -> None:
    """Write a file for each value of the first column; the groups of further columns stay groups."""
    from trueness.files import check_outputs, save_tables

    by_value = _split(tables, columns)
    paths = {value: file_in(folder, value, "--by") for value in by_value}
    check_outputs(list(paths.values()))
    for value, of_value in by_value.items():
        save_tables(of_value, paths[value])
    print_summary(folder, f"{plural(len(paths), 'file')}, {tables.n_rows} rows")


def _split(tables: GroupedTables, columns: Sequence[str]) -> dict[str, GroupedTables]:
    """The tables of each value of the first of the columns of groups."""
    from trueness.old_table import GroupedTables
    from trueness.rows.groups import combination_name, join_columns, split_combination

    found: dict[str, dict[str | None, Any]] = {}
    for name, each in tables.groups.items():
        value, *others = [str(name)] if len(columns) == 1 else split_combination(str(name), columns)
        rest = combination_name(columns[1:], others) if len(others) > 1 else others[0] if others else None
        found.setdefault(value, {})[rest] = each
    return {value: GroupedTables(join_columns(columns[1:]), groups) for value, groups in found.items()}

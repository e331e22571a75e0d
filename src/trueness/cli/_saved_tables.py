"""Files of saved tables among the arguments, and the options that do not apply to them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.files import GroupedTables

_PAGES = (".html", ".htm")


def are_reports(files: Sequence[str]) -> bool:
    """Whether some files are HTML reports, which contain tables."""
    return any(name.lower().endswith(_PAGES) for name in files)


def are_tables(files: Sequence[str]) -> bool:
    """Whether the files hold saved tables; refused if only some of them do."""
    saved = [name for name in files if name.lower().endswith((".json", *_PAGES))]
    if saved and len(saved) != len(files):
        cause = f"{saved[0]} is a file of tables, other files hold predictions"
        remedy = "tabulate those first, and name the tables"
        raise InvalidValueError("mixed-inputs", cause, remedy, argument=saved[0])
    return bool(saved)


_ROW_OPTIONS: dict[str, Any] = {
    "format": None,
    "label": None,
    "probs": None,
    "label_file": None,
    "key": None,
    "delimiter": None,
    "decimal": None,
    "encoding": None,
    "sheet": None,
    "classes": None,
    "sample_weight": None,
    "from_logits": False,
    "logprobs": False,
    "percent": False,
    "no_header": False,
    "normalize": False,
    "soft_labels": False,
    "where": [],
    "on_bad_rows": "refuse",
    "variation": "entropy",
    "ties": None,
    "ragged": False,
    "clusters": None,
    "class_axis": None,
    "ignore_index": None,
    "label_dir": None,
}
"""Options for reading and summing rows, with their defaults."""


def refuse_row_options(arguments: argparse.Namespace) -> None:
    """Refuse options that have no effect on saved tables, whose rows are summed already."""
    for name, default in _ROW_OPTIONS.items():
        if getattr(arguments, name, default) != default:
            argument = f"--{name.replace('_', '-')}"
            cause = f"{argument} applies to rows, and {arguments.files[0]} holds tables"
            remedy = "leave it out, or name the files of predictions"
            raise InvalidValueError("conflicting-arguments", cause, remedy, argument=argument)


def refuse_other_groups(groups: Sequence[str] | None, tables: GroupedTables) -> None:
    """Refuse groups other than those of the tables."""
    from trueness.rows.groups import join_columns

    if not groups:
        return
    columns = [column.strip() for part in groups for column in part.split(",")]
    if tables.by not in (join_columns(groups), join_columns(columns)):
        value = ",".join(groups)
        grouping = "not grouped" if tables.by is None else f"grouped by {tables.by!r}"
        cause = f"--groups {value}: the saved tables are {grouping}"
        remedy = "make them with trueness tabulate --groups, or leave it out"
        raise InvalidValueError("groups-differ", cause, remedy, argument="--groups", value=value)


def merge_saved(paths: Sequence[str], by_class: bool | None) -> GroupedTables:
    """The sum of the tables of several files; `by_class` as in `by_class_or_not`."""
    from trueness.files import merge_files

    return by_class_or_not(merge_files(paths, by_class=by_class is not False), by_class)


def by_class_or_not(tables: GroupedTables, by_class: bool | None) -> GroupedTables:
    """Saved tables, without those of events after --no-by-class; None if neither this nor --by-class was given."""
    if by_class and tables.whole.by_class is None:
        cause = "--by-class: the saved tables have no table by class"
        remedy = "make them again with trueness tabulate"
        raise InvalidValueError("no-tables", cause, remedy, argument="--by-class")
    return tables.without_events() if by_class is False else tables


def saved_paths(files: Sequence[str]) -> list[str]:
    """The files that names and globs match; a duplicate is refused, because its rows would count twice."""
    from trueness.files import matching_paths, refuse_twice

    paths: list[str] = []
    for name in files:
        matches = [name] if os.path.exists(name) else matching_paths(name)
        if not matches:
            cause = f"the file {name!r} does not exist"
            remedy = "name files that trueness tabulate wrote"
            raise InvalidValueError("missing-file", cause, remedy, argument=name)
        paths += matches
    refuse_twice(paths)
    return paths

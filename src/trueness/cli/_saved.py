"""Files of saved tables among the arguments."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trueness.files import GroupedTables

_PAGES = (".html", ".htm")


def are_reports(files: Sequence[str]) -> bool:
    """Whether these are web pages with tables in them."""
    return any(name.lower().endswith(_PAGES) for name in files)


def are_tables(files: Sequence[str]) -> bool:
    """Whether the arguments name saved tables; they must not be mixed with files of predictions."""
    saved = [name for name in files if name.lower().endswith((".json", *_PAGES))]
    if saved and len(saved) != len(files):
        from trueness.files import InputError

        raise InputError(
            f"{saved[0]} is a file of tables, others hold predictions", "tabulate those first, then merge"
        )
    return bool(saved)


_OF_ROWS: dict[str, Any] = {
    "format": None,
    "label": None,
    "probs": None,
    "label_file": None,
    "classes": None,
    "weight": None,
    "logits": False,
    "logprobs": False,
    "percent": False,
    "no_header": False,
    "normalize": False,
    "where": [],
    "on_bad_rows": "refuse",
    "variation": "entropy",
    "exact": False,
    "ties": "first",
    "checkpoint": None,
}
"""Options that say how rows are read or summed, and what they are if nothing is said."""


def refuse_options_of_rows(arguments: argparse.Namespace) -> None:
    """Of tables the rows are summed already: an option that would do nothing must not seem to have done something."""
    from trueness.files import InputError

    for name, unsaid in _OF_ROWS.items():
        if getattr(arguments, name) != unsaid:
            raise InputError(
                f"--{name.replace('_', '-')} is about rows, and {arguments.files[0]} holds sums of them",
                "leave it out, or name the files of predictions",
            )


def refuse_other_groups(by: Sequence[str] | None, tables: GroupedTables) -> None:
    """Groups are those that the tables were made with."""
    from trueness.files import InputError
    from trueness.files.request import split
    from trueness.rows.groups import joined

    same = {joined(by or ()), joined([name for part in by or () for name in split(part)])}
    if by and tables.by not in same:
        made = "without groups" if tables.by is None else f"by {tables.by!r}"
        raise InputError(
            f"--by {','.join(by)}: these tables were made {made}",
            "make them with trueness tabulate --by, or leave it out",
        )


def saved_paths(files: Sequence[str]) -> list[str]:
    """The files that names and globs mean; the same file twice would count its rows twice."""
    from trueness.files import InputError
    from trueness.files.folders import matching_paths
    from trueness.files.paths import refuse_twice

    paths: list[str] = []
    for name in files:
        matches = [name] if os.path.exists(name) else matching_paths(name)
        if not matches:
            raise InputError(f"there is no file {name!r}", "name files that trueness tabulate wrote")
        paths += matches
    refuse_twice(paths)
    return paths

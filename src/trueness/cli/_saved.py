"""Files of saved tables among the arguments."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence

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


def saved_paths(files: Sequence[str]) -> list[str]:
    """The files that names and globs mean; the same file twice would count its rows twice."""
    from trueness.files import InputError

    paths: list[str] = []
    for name in files:
        matches = [name] if os.path.exists(name) else sorted(glob.glob(name))
        if not matches:
            raise InputError(f"there is no file {name!r}", "name files that trueness tabulate wrote")
        paths += matches
    places = [os.path.realpath(path) for path in paths]
    for index, place in enumerate(places):
        if place in places[:index]:
            raise InputError(
                f"{paths[index]} is named twice, which would count its rows twice", "name it once"
            )
    return paths

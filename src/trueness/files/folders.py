"""Folders and globs: the paths they lead to, completely or not at all, and which paths are the same file."""

from __future__ import annotations

import errno
import glob
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from trueness.refusals import InvalidValueError, quote


class FolderFiles(NamedTuple):
    """The files of a folder, and the number of linked folders in it, which are not followed."""

    paths: list[str]
    linked: int


def files_below(folder: str) -> FolderFiles:
    """Every file in a folder and the folders below it whose name does not begin with . or _."""
    found = FolderFiles([], 0)
    for path, folders, names in _walk(folder, (".", "_")):
        linked = sum(os.path.islink(os.path.join(path, name)) for name in folders)
        files = [os.path.join(path, name) for name in names if not name.startswith((".", "_"))]
        for file in files:
            if not os.path.exists(file):
                cause = f"{quote(file)} is a link to a file that does not exist"
                remedy = "remove the link, or restore the file"
                raise InvalidValueError("missing-file", cause, remedy)
        found = FolderFiles(found.paths + files, found.linked + linked)
    return found


def _walk(folder: str, hidden: tuple[str, ...]) -> Iterator[tuple[str, list[str], list[str]]]:
    """A folder and those below it, without links: the path of each, and the names of its folders and files.

    A folder that cannot be read is refused: the rest would be taken for all the data.
    """

    def refuse(error: OSError) -> None:
        raise _unreadable(error.filename, error) from error

    for path, folders, names in os.walk(folder, onerror=refuse):
        _refuse_without(path, os.X_OK)
        folders[:] = sorted((name for name in folders if not name.startswith(hidden)), key=natural_key)
        yield path, folders, names


def _refuse_without(folder: str, needed: int) -> None:
    if not os.access(folder, needed):
        raise _unreadable(folder, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def _unreadable(path: str, error: OSError) -> InvalidValueError:
    cause = f"{quote(path)} cannot be read: {error.strerror}"
    remedy = "make it readable, or name the files to read without it"
    return InvalidValueError("unreadable-file", cause, remedy)


def matching_paths(pattern: str) -> list[str]:
    """The paths that a glob matches, in natural order; a folder of their path that cannot be read is refused.

    Python's glob ignores such folders, and its `**` follows links, which may lead back.
    """
    parts = re.split(r"(?:^|(?<=/))\*\*(?:/+|$)", pattern.replace(os.sep, "/"), maxsplit=1)
    if len(parts) == 1:
        matches = _matching_without_stars(pattern)
    elif not parts[1]:
        matches = _bases(parts[0])  # everything in these folders
    else:
        folders = [path for base in _bases(parts[0]) for path, _, _ in _walk(base, (".",))]
        matches = [
            path for each in folders for path in matching_paths(os.path.join(glob.escape(each), parts[1]))
        ]
    return sorted(dict.fromkeys(matches), key=natural_key)


def _bases(pattern: str) -> list[str]:
    """The folders in which `**` starts."""
    return [
        path for path in matching_paths(pattern.rstrip("/") or pattern or os.curdir) if os.path.isdir(path)
    ]


def _matching_without_stars(pattern: str) -> list[str]:
    for folder, needed in _folders_on_the_way(pattern):
        _refuse_without(folder, needed)
    return glob.glob(pattern)


def _folders_on_the_way(pattern: str) -> Iterator[tuple[str, int]]:
    """The folders that a glob searches, and the permissions it needs there.

    A wildcard needs to list a folder, a plain name only to pass through it.
    """
    above, name = os.path.split(pattern)
    while name:
        needed = os.X_OK | os.R_OK if glob.has_magic(name) else os.X_OK
        folders = glob.glob(above) or [above or os.curdir]
        yield from ((path, needed) for path in folders if os.path.isdir(path))
        above, name = os.path.split(above)


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sorts numbers in names by value: p_2 before p_10.

    >>> sorted(["p_10", "p_2", "p_x"], key=natural_key)
    ['p_2', 'p_10', 'p_x']
    """
    parts = re.split(r"([0-9]+)", name)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part)


def file_identity(path: str) -> tuple[int, int] | str:
    """A value that is the same for two paths of one file, by links or other spellings.

    A file that does not exist yet is identified by its path.
    """
    try:
        status = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return status.st_dev, status.st_ino

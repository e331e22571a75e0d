"""Folders, globs and links: which paths there are, completely or not at all, and which lead to one file."""

from __future__ import annotations

import errno
import glob
import os
import re
import stat
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from trueness.files._errors import InputError, shown


class Walked(NamedTuple):
    """The files of a folder, each by one path, and how many further names they have by links."""

    paths: list[str]
    repeated: int


def files_below(folder: str) -> Walked:
    """Every file in a folder and those below it, whose name does not begin with . or _, each once."""
    files = [found for found in _walk(folder, (".", "_")) if not found.is_folder]
    return Walked([found.path for found in files if found.is_new], sum(not found.is_new for found in files))


class _Found(NamedTuple):
    path: str
    is_folder: bool
    is_new: bool
    """Whether it was not met before by another path."""


def _walk(folder: str, hidden: tuple[str, ...]) -> Iterator[_Found]:
    """A folder and everything below it.

    Links are followed after everything else, so that a file is known by its own path where it has one in the folder,
    and a link that leads back finds nothing new. A folder that cannot be read is refused: without it the rest would
    pass for all the data.
    """
    seen: set[tuple[int, int]] = set()
    waiting, links = deque([folder]), deque[str]()
    while waiting or links:
        path = waiting.popleft() if waiting else links.popleft()
        status = _status(path)
        found = _Found(path, stat.S_ISDIR(status.st_mode), (status.st_dev, status.st_ino) not in seen)
        seen.add((status.st_dev, status.st_ino))
        yield found
        if found.is_folder and found.is_new:
            for entry in _entries(path, hidden):
                (links if entry.is_symlink() else waiting).append(entry.path)


def _entries(folder: str, hidden: tuple[str, ...]) -> list[os.DirEntry[str]]:
    """What a folder holds, in natural order."""
    try:
        with os.scandir(folder) as entries:
            named = [entry for entry in entries if not entry.name.startswith(hidden)]
    except OSError as error:
        raise _unreadable(folder, error) from error
    return sorted(named, key=lambda entry: natural_key(entry.name))


def _status(path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except FileNotFoundError as error:
        raise InputError(
            f"{shown(path)} is a link to a file that does not exist", "remove the link, or put the file back"
        ) from error
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str, error: OSError) -> InputError:
    return InputError(
        f"{shown(path)} cannot be read: {error.strerror}",
        "make it readable, or name the files to be read without it",
    )


def matching_paths(pattern: str) -> list[str]:
    """The paths that a glob matches, in natural order; a folder on the way that cannot be read is refused.

    Python's glob passes over such folders without a word, and `**` goes round and round where links lead back.
    """
    parts = re.split(r"(?:^|(?<=/))\*\*(?:/+|$)", pattern.replace(os.sep, "/"), maxsplit=1)
    if len(parts) == 1:
        matches = _matching_without_stars(pattern)
    elif not parts[1]:
        matches = _bases(parts[0])  # everything in these folders
    else:
        folders = [
            found.path
            for base in _bases(parts[0])
            for found in _walk(base, (".",))
            if found.is_folder and found.is_new
        ]
        matches = [
            path for each in folders for path in matching_paths(os.path.join(glob.escape(each), parts[1]))
        ]
    return sorted(dict.fromkeys(matches), key=natural_key)


def _bases(pattern: str) -> list[str]:
    """The folders in which `**` begins."""
    return [
        path for path in matching_paths(pattern.rstrip("/") or pattern or os.curdir) if os.path.isdir(path)
    ]


def _matching_without_stars(pattern: str) -> list[str]:
    for folder, needed in _folders_on_the_way(pattern):
        if not os.access(folder, needed):
            raise _unreadable(folder, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    return glob.glob(pattern)


def _folders_on_the_way(pattern: str) -> Iterator[tuple[str, int]]:
    """Folders that are searched for what a glob matches, and what must be allowed there.

    A wildcard takes the names of a folder, a plain name only the way through it.
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
    """What two paths have in common if they lead to one file, by links or other spellings.

    A file that does not exist yet has the place where it will be.
    """
    try:
        status = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return status.st_dev, status.st_ino

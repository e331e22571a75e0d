"""Folders, globs and links: the paths they lead to, completely or not at all, and which paths are the same file."""

from __future__ import annotations

import errno
import glob
import os
import re
import stat
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from trueness.refusals import InvalidValueError


class FolderFiles(NamedTuple):
    """The files of a folder, each by one path, and the number of further names they have by links."""

    paths: list[str]
    repeated: int


def files_below(folder: str) -> FolderFiles:
    """Every file in a folder and the folders below it whose name does not begin with . or _, each once."""
    files = [found for found in _walk(folder, (".", "_")) if not found.is_folder]
    return FolderFiles(
        [found.path for found in files if found.is_new], sum(not found.is_new for found in files)
    )


class _Found(NamedTuple):
    path: str
    is_folder: bool
    is_new: bool
    """Whether no path before led to it."""


def _walk(folder: str, hidden: tuple[str, ...]) -> Iterator[_Found]:
    """A folder and everything below it.

    Links are followed last, so that a file is listed by its own path if it has one in the folder, and a link that
    leads back finds nothing new. A folder that cannot be read is refused: the rest would be taken for all the data.
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
    """The entries of a folder, in natural order."""
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
        raise InvalidValueError(
            "missing-file",
            "{file!q} is a link to a file that does not exist",
            "remove the link, or restore the file",
            file=path,
        ) from error
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str, error: OSError) -> InvalidValueError:
    return InvalidValueError(
        "unreadable-file",
        "{file!q} cannot be read: {reason}",
        "make it readable, or name the files to read without it",
        file=path,
        reason=error.strerror,
    )


def matching_paths(pattern: str) -> list[str]:
    """The paths that a glob matches, in natural order; a folder of their path that cannot be read is refused.

    Python's glob ignores such folders, and its `**` does not end where links lead back.
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
    """The folders in which `**` starts."""
    return [
        path for path in matching_paths(pattern.rstrip("/") or pattern or os.curdir) if os.path.isdir(path)
    ]


def _matching_without_stars(pattern: str) -> list[str]:
    for folder, needed in _folders_on_the_way(pattern):
        if not os.access(folder, needed):
            raise _unreadable(folder, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
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

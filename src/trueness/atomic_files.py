"""Files that are written completely or not at all, even if the power fails."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def atomic_file(path: str) -> Iterator[str]:
    """The name of a new file in the same folder, which replaces the target on success and is deleted on failure.

    Folders that are missing are created. If the path is a link, the file it points to is replaced. The new file gets
    the permissions of the old one; a read-only file is not replaced. The content is flushed to disk before the file is
    renamed, and the folder before this returns. System errors name the path, not the temporary file.
    """
    target = os.path.realpath(path)
    # Not derived from the target's name, which may already have the maximal length.
    beside = os.path.join(os.path.dirname(target), f".trueness-{os.urandom(8).hex()}")
    with _with_errors_about(path, beside):
        try:
            if is_read_only(target):
                raise PermissionError(errno.EACCES, "the file is read-only and is not replaced", path)
            _make_folder(os.path.dirname(target), path)
            yield beside
            if os.path.exists(target):
                os.chmod(beside, stat.S_IMODE(os.stat(target).st_mode))
            _flush_file(beside)
            os.replace(beside, target)
        except BaseException:
            if os.path.exists(beside):  # no longer, if Ctrl-C came after it was moved
                os.unlink(beside)
            raise
        _flush_folder(os.path.dirname(target))


def write_text(path: str, text: str) -> None:
    """Write a text to a file atomically; pipes and devices cannot be replaced and are written to directly."""
    if not os.path.basename(path) or (os.path.exists(path) and not os.path.isfile(path)):
        with _with_errors_about(path), open(path, "w", encoding="utf-8") as file:  # fails for folders
            file.write(text)
        return
    with atomic_file(path) as beside, open(beside, "x", encoding="utf-8") as file:
        file.write(text)


def is_read_only(path: str) -> bool:
    """Whether a file exists and its permissions forbid writing, which an administrator could do nevertheless."""
    if not os.path.isfile(path):
        return False
    writable = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
    return not (os.stat(path).st_mode & writable and os.access(path, os.W_OK))


def _make_folder(folder: str, path: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path) from None


def _flush_file(path: str) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _flush_folder(folder: str) -> None:
    """Flush a folder's entries to disk, where the system supports it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except (
        PermissionError
    ):  # on Windows folders cannot be opened; and a folder may be writable but not readable
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that cannot flush folders
            raise
    finally:
        os.close(handle)


@contextmanager
def _with_errors_about(path: str, beside: str | None = None) -> Iterator[None]:
    """Make system errors about the temporary file, or about no file, errors about the path."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, beside):
            raise
        raise OSError(error.errno, error.strerror, path) from None

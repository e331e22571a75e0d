"""Files that are written whole or not at all: nobody ever sees half of one, also after a power failure."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def atomic_file(path: str) -> Iterator[str]:
    """The name of a new file in the same folder, which replaces the target on success and is deleted on failure.

    If the path is a link, the link stays and the file it points to is replaced. The new file gets the permissions of
    the old one; a read-only file is not replaced. The content is on the disk before the name changes, and the new
    name before this returns. Errors of the system name the path, and not the temporary file.
    """
    target = os.path.realpath(path)
    # A name of its own, since the target's may be as long as names can be.
    beside = os.path.join(os.path.dirname(target), f".trueness-{os.urandom(8).hex()}")
    with _named(path, beside):
        try:
            if is_read_only(target):
                raise PermissionError(errno.EACCES, "the file is read-only and is not replaced", path)
            yield beside
            if os.path.exists(target):
                os.chmod(beside, stat.S_IMODE(os.stat(target).st_mode))
            _flush_file(beside)
            os.replace(beside, target)
        except BaseException:
            if os.path.exists(beside):  # not if Ctrl-C came after it was moved
                os.unlink(beside)
            raise
        _flush_folder(os.path.dirname(target))


def write_text(path: str, text: str) -> None:
    """Write a text to a file as a whole; a pipe or a device cannot be replaced, and is written to."""
    if not os.path.basename(path) or (os.path.exists(path) and not os.path.isfile(path)):
        with _named(path), open(path, "w", encoding="utf-8") as file:  # which refuses folders
            file.write(text)
        return
    with atomic_file(path) as beside, open(beside, "x", encoding="utf-8") as file:
        file.write(text)


def is_read_only(path: str) -> bool:
    """Whether a file exists and is not to be written to: by its permissions, which do not stop an administrator."""
    if not os.path.isfile(path):
        return False
    writable = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
    return not (os.stat(path).st_mode & writable and os.access(path, os.W_OK))


def _flush_file(path: str) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _flush_folder(folder: str) -> None:
    """Put a folder's names on the disk, where the system has a way to ask for that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # Windows opens no folders; and a folder may be writable but not readable
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that cannot flush folders
            raise
    finally:
        os.close(handle)


@contextmanager
def _named(path: str, beside: str | None = None) -> Iterator[None]:
    """Errors of the system about the file beside, or about no file, become errors about the path."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, beside):
            raise
        raise OSError(error.errno, error.strerror, path) from None

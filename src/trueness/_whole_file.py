"""Files that are written whole or not at all: nobody ever sees half of one."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def written_whole(path: str) -> Iterator[str]:
    """The name of a file beside the target, which takes its place when all went well and vanishes when not.

    A link stays, and what it leads to is replaced, by a file that the same people may read. Errors of the system name
    the path, and not the file beside.
    """
    target = os.path.realpath(path)
    # A name of its own, since the target's may be as long as names can be.
    beside = os.path.join(os.path.dirname(target), f".trueness-{os.urandom(8).hex()}")
    with _named(path, beside):
        try:
            yield beside
            if os.path.exists(target):
                os.chmod(beside, stat.S_IMODE(os.stat(target).st_mode))
            os.replace(beside, target)
        except BaseException:
            if os.path.exists(beside):  # not if Ctrl-C came after it was moved
                os.unlink(beside)
            raise


def write_text(path: str, text: str) -> None:
    """Write a text; a pipe or a device is no file to be replaced: it is written to."""
    if not os.path.basename(path) or (os.path.exists(path) and not os.path.isfile(path)):
        with _named(path), open(path, "w", encoding="utf-8") as file:  # which refuses folders
            file.write(text)
        return
    with written_whole(path) as beside, open(beside, "x", encoding="utf-8") as file:
        file.write(text)


@contextmanager
def _named(path: str, beside: str | None = None) -> Iterator[None]:
    """Errors of the system about the file beside, or about no file, become errors about the path."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, beside):
            raise
        raise OSError(error.errno, error.strerror, path) from None

"""A lock on a file that several processes change: one waits for the other."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from trueness.refusals import InvalidValueError

WAIT = 60.0
"""Seconds to wait for another process."""

_PAUSE = 0.05


@contextmanager
def locked(path: str, wait: float = WAIT) -> Iterator[None]:
    """Hold the lock of a path; refused if another process holds it for longer than `wait` seconds.

    The lock is a file beside it, which stays: the file itself is replaced whenever it is written. The system releases
    the lock when the process ends, however it ends.
    """
    target = os.path.realpath(path)
    beside = os.path.join(os.path.dirname(target), f".{os.path.basename(target)[:200]}.lock")
    handle = os.open(beside, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _acquire(handle, path, time.monotonic() + wait)
        yield
    finally:
        os.close(handle)  # releases it


def _acquire(handle: int, path: str, until: float) -> None:
    while not _try_lock(handle):
        if time.monotonic() >= until:
            remedy = "wait until it is done, and run this again"
            raise InvalidValueError("state-in-use", f"{path} is in use by another process", remedy)
        time.sleep(_PAUSE)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

"""Blocks shared out to threads, and stopped together."""

from __future__ import annotations

import os
from _thread import start_new_thread
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import takewhile
from queue import Empty, SimpleQueue
from threading import Lock
from typing import TypeVar

Result = TypeVar("Result")
Span = tuple[int, int]

IDLE_SECONDS = 1.0
"""A helper that nobody has asked for so long goes home: a process that is about to fork wants no threads."""

# Ctrl-C may come between any two steps here. `threading.Event` and `Thread.start` are Python code that it can stop half
# way with a lock held, for ever; plain locks and flags, and a thread that counts itself, have no half way.


class _Share:
    """Work that a helper may take up, or may not, if it is done before one is free."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work: Callable[[], None] | None = work
        self._lock, self._ended = Lock(), Lock()
        self._ended.acquire()
        self._begun = self._over = self._done = False

    def take_up(self) -> None:
        """Do it, unless it is over."""
        with self._lock:
            self._begun = not self._over
        if self._begun and self._work is not None:
            self._work()
            self._done = True
            self._ended.release()

    def finish(self) -> None:
        """Wait for the helper that is at it; if none is, none will be. May be called again, after Ctrl-C."""
        with self._lock:
            self._over = not self._begun
        if self._over:
            self._work = None  # what it holds must not wait in the queue
        while self._begun and not self._done:
            self._ended.acquire(timeout=1.0)


class _Helpers:
    """Threads that wait for work: to wake one takes half as long as to start one."""

    def __init__(self) -> None:
        self._begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)  # they do not come along

    def _begin(self) -> None:
        self._shares: SimpleQueue[_Share] = SimpleQueue()
        self.n, self._lock = 0, Lock()

    def offer(self, share: _Share, n_helpers: int) -> None:
        """Ask for help, and for one more helper if there are fewer than so many."""
        if self.n < n_helpers:
            with suppress(RuntimeError):  # no more threads are to be had: the caller does it alone
                start_new_thread(self._help, ())
        self._shares.put(share)

    def _help(self) -> None:
        with self._lock:
            self.n += 1
        with suppress(Empty):
            while True:
                self._shares.get(timeout=IDLE_SECONDS).take_up()
        with self._lock:
            self.n -= 1


_helpers = _Helpers()


def in_threads(work: Callable[[Iterable[Span]], Result], spans: list[Span], n_threads: int) -> list[Result]:
    """`work` on all spans, shared out to so many threads at most, the caller's own among them; one result from each.

    When one of them fails, or Ctrl-C arrives, the others stop after the block they are at. If a block was refused, the
    first bad row in order is the one that is named, whichever thread met its own first.
    """
    n_threads = min(n_threads, len(spans))
    if n_threads == 1:
        return [work(spans)]
    stopped, waiting = False, iter(spans)
    results: list[Result] = []
    errors: list[BaseException] = []

    def share() -> None:
        nonlocal stopped
        try:
            # Whoever is free takes the next block: a core that is disturbed does fewer.
            results.append(work(takewhile(lambda _: not stopped, waiting)))
        except BaseException as error:  # carried over to the caller's thread
            stopped = True
            errors.append(error)

    shares = [_Share(share) for _ in range(n_threads - 1)]
    try:
        for one in shares:
            _helpers.offer(one, n_threads - 1)
        share()
        _finish(shares)
    finally:
        stopped = True  # Ctrl-C may have arrived anywhere above
        _finish(shares)
    if not errors:
        return results
    refused = all(isinstance(error, ValueError) for error in errors)
    if refused:
        return [work(spans)]
    raise next(error for error in errors if not isinstance(error, ValueError))


def _finish(shares: Iterable[_Share]) -> None:
    for share in shares:
        share.finish()

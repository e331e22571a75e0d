"""Blocks shared out to threads, and stopped together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import takewhile
from threading import Event, Thread
from typing import TypeVar

Result = TypeVar("Result")
Span = tuple[int, int]


def in_threads(work: Callable[[Iterable[Span]], Result], spans: list[Span], n_threads: int) -> list[Result]:
    """`work` on all spans, shared out to so many threads, the caller's own among them; one result from each.

    When one of them fails, or Ctrl-C arrives, the others stop after the block they are at. If a block was refused, the
    first bad row in order is the one that is named, whichever thread met its own first.
    """
    n_threads = min(n_threads, len(spans))
    if n_threads == 1:
        return [work(spans)]
    stopped, waiting = Event(), iter(spans)
    results: list[Result] = []
    errors: list[BaseException] = []

    def share() -> None:
        try:
            # Whoever is free takes the next block: a core that is disturbed does fewer.
            results.append(work(takewhile(lambda _: not stopped.is_set(), waiting)))
        except BaseException as error:  # carried over to the caller's thread
            stopped.set()
            errors.append(error)

    others: list[Thread] = []
    try:
        for _ in range(n_threads - 1):
            thread = Thread(target=share)
            thread.start()
            # Not before: one that Ctrl-C met while it was being started cannot be joined. It will find `stopped` set.
            others.append(thread)
        share()
        _join(others)
    finally:
        stopped.set()  # Ctrl-C may also arrive while the caller waits
        _join(others)
    if not errors:
        return results
    refused = all(isinstance(error, ValueError) for error in errors)
    if refused:
        return [work(spans)]
    raise next(error for error in errors if not isinstance(error, ValueError))


def _join(threads: Iterable[Thread]) -> None:
    for thread in threads:
        thread.join()

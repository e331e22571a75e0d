"""Blocks shared out to threads, and stopped together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import takewhile
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
    from threading import Event, Thread

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

    others = [Thread(target=share) for _ in range(n_threads - 1)]
    try:
        for thread in others:
            thread.start()
        share()
        for thread in others:
            thread.join()
    finally:
        stopped.set()  # Ctrl-C may also arrive while the caller waits
        for thread in others:
            thread.join()
    for error in errors:
        if not isinstance(error, ValueError):
            raise error
    return [work(spans)] if errors else results

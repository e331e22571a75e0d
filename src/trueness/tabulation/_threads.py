"""Blocks shared out to threads, and stopped together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import TypeVar

Result = TypeVar("Result")
Span = tuple[int, int]


def in_threads(work: Callable[[Iterable[Span]], Result], spans: list[Span], n_threads: int) -> list[Result]:
    """`work` on all spans, shared out to so many threads; one result from each.

    When one of them fails, or Ctrl-C arrives, the others stop after the block they are at. If a block was refused, the
    first bad row in order is the one that is named, whichever thread met its own first.
    """
    n_threads = min(n_threads, len(spans))
    if n_threads == 1:
        return [work(spans)]
    from concurrent.futures import ThreadPoolExecutor
    from threading import Event

    stopped, waiting = Event(), iter(spans)

    def share() -> Result:
        # Whoever is free takes the next block: a core that is disturbed does fewer.
        return work(takewhile(lambda _: not stopped.is_set(), waiting))

    with ThreadPoolExecutor(n_threads) as pool:
        shares = [pool.submit(share) for _ in range(n_threads)]
        try:
            return [done.result() for done in shares]
        except ValueError:
            stopped.set()
            return [work(spans)]
        except BaseException:
            stopped.set()
            raise

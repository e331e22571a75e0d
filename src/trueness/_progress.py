"""The one progress bar of the command: tqdm's, on a terminal, for what takes long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock

APPEARS_AFTER = 2.0
"""Seconds; what is quicker needs no progress bar."""


@contextmanager
def progress_bar(total: int, unit: str, name: str | None = None) -> Iterator[Callable[[int], None]]:
    """What is to be told how much more is done, from any thread; elsewhere than on a terminal it shows nothing."""
    if not (total and sys.stderr.isatty()):
        yield lambda _: None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda _: None
        return
    lock = Lock()
    with tqdm(
        total=total,
        unit=unit,
        unit_scale=True,
        desc=name,
        delay=APPEARS_AFTER,
        leave=False,
        file=sys.stderr,
    ) as bar:

        def advance(more: int) -> None:
            with lock:
                bar.update(more)

        yield advance


def rows_bar(name: str, n_rows: int) -> AbstractContextManager[Callable[[int], None]]:
    """A bar for work that is counted in rows."""
    return progress_bar(n_rows, " rows", name)

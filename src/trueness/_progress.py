"""Progress bars of the library and of the command: tqdm's, shown on a terminal when work takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import Any

from trueness.refusals import InvalidTypeError

APPEARS_AFTER = 1.0
"""Seconds; quicker work shows no progress bar."""

Progress = Callable[[float], None]
"""A function that is called with the share of the work that is done, up to 1."""


def progress_callback(progress: Progress | bool | None) -> Progress | None:
    """The function to call with the share that is done, for an argument `progress`; None if progress is not reported.

    None means a bar if stderr is a terminal, False means no report, and a callable is used as it is. The bar appears
    after one second and disappears when the share reaches 1; tqdm is imported when it appears.
    """
    if progress is None:
        return _ShareBar() if _on_terminal() else None
    if progress is False:
        return None
    if progress is True or not callable(progress):
        cause = f"progress must be None, False or a callable, got {progress!r}"
        raise InvalidTypeError("wrong-type", cause, argument="progress", value=progress)
    return progress


class _ShareBar:
    """A bar for work of which only the share that is done is known."""

    def __init__(self) -> None:
        self._start = time.time()  # the clock that tqdm uses
        self._bar: Any = None

    def __call__(self, share: float) -> None:
        if self._bar is None and share < 1 and time.time() - self._start >= APPEARS_AFTER:
            layout = "{percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
            self._bar = _new_bar(total=1.0, bar_format=layout, delay=APPEARS_AFTER)
            if self._bar is not None:  # its estimate of the remaining time needs the true start
                self._bar.start_t = self._bar.last_print_t = self._start
        if self._bar is not None:
            self._bar.update(share - self._bar.n)
            if share >= 1:
                self._bar.close()
                self._bar = None


@contextmanager
def progress_bar(total: int, unit: str, name: str | None = None) -> Iterator[Callable[[int], None]]:
    """A function to call with each amount of work done, from any thread; the bar is shown on a terminal only."""
    bar = None
    if total and _on_terminal():
        bar = _new_bar(total=total, unit=unit, unit_scale=True, desc=name, delay=APPEARS_AFTER)
    if bar is None:
        yield lambda _: None
        return
    lock = Lock()
    with bar:

        def advance(more: int) -> None:
            with lock:
                bar.update(more)

        yield advance


def rows_bar(name: str, n_rows: int) -> AbstractContextManager[Callable[[int], None]]:
    """A bar for work that is counted in rows."""
    return progress_bar(n_rows, " rows", name)


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _new_bar(**how: Any) -> Any:
    """A bar of tqdm on stderr, which is erased at the end; None if tqdm is not installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(leave=False, file=sys.stderr, **how)

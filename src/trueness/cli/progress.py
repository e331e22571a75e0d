"""A bar with the time left, on stderr, for work that is counted in rows."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from trueness.reproduction.cells import Tick

BAR_WIDTH = 30
SHOWN_EVERY, LOGGED_EVERY = 0.2, 20.0
"""Seconds between two drawings of the bar on a terminal, and between two lines of a log."""


@contextmanager
def progress(name: str, n_rows: int) -> Iterator[Tick]:
    """What is to be told of finished rows, from any thread; nothing is shown if there is nothing to do.

    On a terminal the bar is drawn over itself; in a log it is a line now and then.
    """
    bar = _Bar(name, n_rows)
    try:
        yield bar.tick
    finally:
        bar.close()


class _Bar:
    def __init__(self, name: str, n_rows: int) -> None:
        self.name, self.n_rows, self.done = name, n_rows, 0
        self.start = self.shown = time.monotonic()
        self.lock, drawn_over = Lock(), sys.stderr.isatty()
        self.every = SHOWN_EVERY if drawn_over else LOGGED_EVERY
        self.before, self.after = ("\r", "") if drawn_over else ("", "\n")

    def tick(self, rows: int) -> None:
        with self.lock:
            self.done += rows
            now = time.monotonic()
            if now - self.shown >= self.every:
                self.shown = now
                self.show(self.after)

    def show(self, end: str) -> None:
        line = self.line(time.monotonic() - self.start)
        print(f"{self.before}{line}", end=end, file=sys.stderr, flush=True)

    def line(self, seconds: float) -> str:
        share = self.done / self.n_rows
        left = seconds * (1 - share) / share if share else float("inf")
        bar = ("#" * round(BAR_WIDTH * share)).ljust(BAR_WIDTH, ".")
        return f"{self.name} [{bar}] {100 * share:3.0f} %, {seconds:.0f} s, {clock(left)} left "

    def close(self) -> None:
        if self.n_rows:
            self.show("\n")


def clock(seconds: float) -> str:
    """Seconds as a reader wants them.

    >>> clock(5.2), clock(125), clock(7300), clock(float("inf"))
    ('5 s', '2 min 05 s', '2 h 01 min', 'unknown time')
    """
    if seconds == float("inf"):
        return "unknown time"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"

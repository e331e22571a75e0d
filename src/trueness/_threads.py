"""Work for other threads: blocks distributed to threads that stop together."""

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
"""A worker that is idle for so long ends, since a process that forks should have no other threads."""

# Ctrl-C may come between any two steps here. `threading.Event` and `Thread.start`, on which `concurrent.futures` rests,
# are Python code that it can interrupt with a lock held, for ever. Plain locks and flags, and a thread that counts
# itself, cannot be left in such a state.


class _Task:
    """Work that a worker runs, unless the caller has finished everything before a worker is free."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work: Callable[[], None] | None = work
        self._lock, self._ended = Lock(), Lock()
        self._ended.acquire()
        self._started = self._cancelled = self._done = False

    def run(self) -> None:
        """Do the work, unless it is cancelled."""
        with self._lock:
            self._started = not self._cancelled
        if self._started and self._work is not None:
            self._work()
            self._done = True
            self._ended.release()

    def finish(self) -> None:
        """Cancel the task if no worker has started it, else wait for its end. May be called again, after Ctrl-C."""
        with self._lock:
            self._cancelled = not self._started
        if self._cancelled:
            self._work = None  # so that the queue does not keep its data in memory
        while self._started and not self._done:
            self._ended.acquire(timeout=1.0)


class _Workers:
    """Threads that wait for tasks: waking one takes half as long as starting one."""

    def __init__(self) -> None:
        self._reset()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)  # threads do not exist in the child

    def _reset(self) -> None:
        self._tasks: SimpleQueue[_Task] = SimpleQueue()
        self.n, self._lock = 0, Lock()

    def submit(self, task: _Task, n_workers: int) -> None:
        """Queue a task, and start one more worker if there are fewer than so many."""
        if self.n < n_workers:
            with suppress(RuntimeError):  # no more threads can be started: the caller does all the work
                start_new_thread(self._serve, ())
        self._tasks.put(task)

    def _serve(self) -> None:
        with self._lock:
            self.n += 1
        with suppress(Empty):
            while True:
                self._tasks.get(timeout=IDLE_SECONDS).run()
        with self._lock:
            self.n -= 1


_workers = _Workers()


def available_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(work: Callable[[Iterable[Span]], Result], spans: list[Span], n_threads: int) -> list[Result]:
    """The results of `work` on all spans, distributed to at most so many threads including the caller's; one of each.

    If one of them fails, or on Ctrl-C, the others stop after their current block. If a block was refused, the error is
    about the first bad row in order, whichever thread found a bad row first.
    """
    n_threads = min(n_threads, len(spans))
    if n_threads == 1:
        return [work(spans)]
    stopped, waiting = False, iter(spans)
    results: list[Result] = []
    errors: list[BaseException] = []

    def run_share() -> None:
        nonlocal stopped
        try:
            # Each thread takes the next block when it is free, so a slow core does fewer.
            results.append(work(takewhile(lambda _: not stopped, waiting)))
        except BaseException as error:  # raised again in the caller's thread
            stopped = True
            errors.append(error)

    tasks = [_Task(run_share) for _ in range(n_threads - 1)]
    try:
        for task in tasks:
            _workers.submit(task, n_threads - 1)
        run_share()
        _finish(tasks)
    finally:
        stopped = True  # Ctrl-C may have arrived anywhere above
        _finish(tasks)
    if not errors:
        return results
    if all(isinstance(error, ValueError) for error in errors):
        return [work(spans)]  # which refuses the first bad row
    raise next(error for error in errors if not isinstance(error, ValueError))


def _finish(tasks: Iterable[_Task]) -> None:
    for task in tasks:
        task.finish()

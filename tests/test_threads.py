"""Work distributed to threads: results, Ctrl-C, idle workers."""

import subprocess
import sys
import textwrap
import threading
from _thread import start_new_thread
from typing import Any

import pytest

from trueness import _threads
from trueness._threads import in_threads


class TestWorkers:
    def test_ctrl_c_while_a_task_is_submitted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Before or after it is queued: the caller does not wait for it, and no worker runs it later."""
        submit, seen = _threads._workers.submit, []

        def interrupted(task: Any, n_workers: int) -> None:
            if seen:
                submit(task, n_workers)
            raise KeyboardInterrupt

        def work(spans: Any) -> None:
            seen.append(list(spans))

        monkeypatch.setattr(_threads._workers, "submit", interrupted)
        for before in ([], [None]):
            seen[:] = before
            with pytest.raises(KeyboardInterrupt):
                in_threads(work, [(0, 1), (1, 2)], 2)
            assert seen in (before, [*before, []])

    def test_tasks_that_no_worker_runs_are_done_by_the_caller(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_threads._workers, "submit", lambda *_: None)
        assert in_threads(list, [(0, 1), (1, 2), (2, 3)], 3) == [[(0, 1), (1, 2), (2, 3)]]

    def test_all_share_the_work(self) -> None:
        meeting = threading.Barrier(3, timeout=30)

        def work(spans: Any) -> int:
            return sum(stop - start for start, stop in spans if meeting.wait() >= 0)

        assert in_threads(work, [(0, 1), (1, 2), (2, 3)], 3) == [1, 1, 1]

    def test_idle_workers_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ended = threading.Semaphore(0)

        def start(serve: Any, arguments: Any) -> None:
            def run() -> None:
                serve(*arguments)
                ended.release()

            start_new_thread(run, ())

        monkeypatch.setattr(_threads, "start_new_thread", start)
        monkeypatch.setattr(_threads, "IDLE_SECONDS", 0.01)
        monkeypatch.setattr(_threads, "_workers", _threads._Workers())
        meeting = threading.Barrier(2, timeout=30)
        in_threads(lambda spans: [meeting.wait() for _ in spans], [(0, 1), (1, 2)], 2)
        assert ended.acquire(timeout=30)
        assert _threads._workers.n == 0
        again = in_threads(list, [(0, 1), (1, 2)], 2)
        assert sorted(span for part in again for span in part) == [(0, 1), (1, 2)]

    def test_a_forked_child_has_its_own(self) -> None:
        """The threads of the parent do not exist in the child, which does not wait for them."""
        code = """
            import os, sys, trueness as tn
            y_true, y_prob = tn.simulate.calibrated(200_000, [1.0] * 3, rng=0)
            table = tn.tabulate(y_true, y_prob, n_threads=2)
            child = os.fork()
            if not child:
                os._exit(tn.tabulate(y_true, y_prob, n_threads=2) != table)
            print(os.waitpid(child, 0)[1])
        """
        command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.stdout.strip() == "0", done.stderr

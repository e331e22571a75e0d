"""Short batches shared with threads that stay awake: the same sums whoever does them, and no thread is left waiting."""

import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.rows import RowCode, Rows
from trueness.table import table_of
from trueness.table.plan import TablePlan
from trueness.tabulation import SHORT_BATCH, RunningSums, tabulate_rows
from trueness.tabulation.compiled import sharing
from trueness.tabulation.compiled.library import require_library

pytestmark = pytest.mark.usefixtures("compiled")


def batch(n_classes: int, n_values: int = SHORT_BATCH.start) -> tuple[Any, Any]:
    """A batch of at least so many values."""
    return tn.simulate.calibrated(-(-n_values // n_classes), [0.5] * n_classes, rng=0)


def specs_for(n_classes: int, **plan: Any) -> list[Any]:
    return TablePlan.of("entropy", 10, **plan).specs(n_classes, weighted=False)


def tables_of(running: RunningSums, specs: list[Any]) -> list[Any]:
    sums = running.take()
    assert sums is not None
    return [table_of(spec, of_spec) for spec, of_spec in zip(specs, sums, strict=True)]


@pytest.fixture
def helped(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], bool]]:
    """The only helper is a thread of the test; whether it has done jobs."""
    ended, done = threading.Event(), []

    def keep_helping() -> None:
        while not ended.is_set():
            done.append(require_library().help(100))

    monkeypatch.setattr(sharing, "call_helpers", lambda *_, **__: True)
    thread = threading.Thread(target=keep_helping)
    thread.start()
    yield lambda: sum(done) > 0
    ended.set()
    thread.join(60)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("n_classes", [2, 10, 300])
def test_the_same_tables(n_classes: int, layout: str, dtype: str, helped: Callable[[], bool]) -> None:
    """As of one thread, by variation, by confidence and by class."""
    y_true, y_prob = batch(n_classes)
    rows = Rows.of(y_true, y_prob.astype(dtype, order="F" if layout == "columns" else "C"))
    specs = specs_for(n_classes, by_class=True)
    running, n_added, deadline = RunningSums(specs, "compiled"), 0, time.monotonic() + 60
    while n_added < 5 or not helped():
        assert not running.add(rows, n_threads=3).any()
        assert time.monotonic() < deadline
        n_added += 1
    once = tabulate_rows(rows, specs, n_threads=1)
    assert tables_of(running, specs) == [sum([table] * (n_added - 1), table) for table in once]


@pytest.mark.parametrize(
    "n_values", [SHORT_BATCH.start - 10, SHORT_BATCH.start, SHORT_BATCH.stop - 10, SHORT_BATCH.stop]
)
@pytest.mark.parametrize("n_threads", [1, 2, 40])
def test_any_size_and_number_of_threads(n_values: int, n_threads: int) -> None:
    y_true, y_prob = batch(10, n_values)
    rows, specs = Rows.of(y_true, y_prob), specs_for(10)
    running = RunningSums(specs, "compiled")
    for _ in range(2):
        running.add(rows, n_threads)
    assert tables_of(running, specs) == [table + table for table in tabulate_rows(rows, specs, n_threads=1)]


@pytest.mark.parametrize("bad", [[0], [7], [9_999], [10_000], [19_999], [5, 19_990], [4_000, 4_001, 12_000]])
def test_bad_rows_of_any_part_are_counted_and_all_others_added(bad: list[int]) -> None:
    y_true, y_prob = batch(10)
    spoilt, specs = y_prob.copy(), specs_for(10)
    spoilt[bad, 3] = np.nan
    running = RunningSums(specs, "compiled")
    for _ in range(3):
        skipped = running.add(Rows.of(y_true, spoilt), n_threads=2)
        assert skipped[RowCode.NOT_FINITE] == skipped.sum() == len(bad)
    good = np.ones(len(y_true), bool)
    good[bad] = False
    once = tabulate_rows(Rows.of(y_true[good], y_prob[good]), specs, n_threads=1)
    assert tables_of(running, specs) == [table + table + table for table in once]


def test_bad_labels_are_counted_and_all_other_rows_added() -> None:
    y_true, y_prob = batch(10)
    labels, specs = y_true.copy(), specs_for(10)
    labels[[3, 15_000]] = 99
    running = RunningSums(specs, "compiled")
    skipped = running.add(Rows.of_arrays(labels, y_prob), n_threads=2)
    assert skipped[RowCode.LABEL_OUT_OF_RANGE] == skipped.sum() == 2
    good = labels < 10
    assert tables_of(running, specs) == tabulate_rows(Rows.of(y_true[good], y_prob[good]), specs, n_threads=1)


def test_helpers_leave_if_no_batch_follows() -> None:
    y_true, y_prob = batch(10)
    running = RunningSums(specs_for(10), "compiled")
    for _ in range(3):
        running.add(Rows.of(y_true, y_prob), n_threads=2)
    end = time.monotonic() + 60
    while sharing._called and time.monotonic() < end:
        time.sleep(0.01)
    assert not sharing._called


def test_callers_share_at_the_same_time() -> None:
    """Each gets its own sums, whichever thread does its jobs."""
    specs, made = specs_for(10), {}
    rows = {seed: Rows.of(*tn.simulate.calibrated(25_000, [0.5] * 10, rng=seed)) for seed in range(3)}

    def add_up(seed: int) -> None:
        running = RunningSums(specs, "compiled")
        for _ in range(50):
            running.add(rows[seed], n_threads=3)
        made[seed] = tables_of(running, specs)

    threads = [threading.Thread(target=add_up, args=(seed,)) for seed in rows]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    for seed, of_seed in rows.items():
        once = tabulate_rows(of_seed, specs, n_threads=1)
        assert made[seed] == [sum([table] * 49, table) for table in once]


def test_a_forked_child_does_not_wait_for_the_helpers_of_its_parent() -> None:
    code = """
        import os, trueness as tn
        from trueness.rows import Rows
        from trueness.tabulation import RunningSums
        from trueness.tabulation.compiled.library import require_library
        from _thread import start_new_thread

        y_true, y_prob = tn.simulate.calibrated(25_000, [1.0] * 10, rng=0)
        rows = Rows.of(y_true, y_prob)
        spec = tn.tabulate(y_true, y_prob).spec

        def add() -> tn.CalibrationTable:
            running = RunningSums([spec], "compiled")
            for _ in range(5):
                running.add(rows, 3)
            return tn.CalibrationTable(spec, running.take()[0])

        table = add()
        start_new_thread(require_library().help, (10**9,))  # helps all the time, also while the process forks
        for _ in range(20):
            assert add() == table
            child = os.fork()
            if not child:
                os._exit(add() != table)
            assert os.waitpid(child, 0)[1] == 0
        print("ended", flush=True)
        os._exit(0)
    """
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.strip() == "ended", done.stderr

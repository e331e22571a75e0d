"""Real processes on one state: killed at any moment, and two at once."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from monitored import stream, watched

import trueness as tn

N_LOOKS = 24

UPDATE = """
import sys, trueness as tn
path, tables, start, stop = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
all_tables = tn.CalibrationTable.load_all(tables)
print("ready", flush=True)
for look in range(start, stop):
    with tn.Monitor.open(path, alpha=0.05, tolerance=0.0) as monitor:
        monitor.update(all_tables[look], at=look + 1)
"""


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    path = tmp_path / "tables.json"
    tn.CalibrationTable.save_all(stream(N_LOOKS, 50), path)
    return path


def started(path: Path, tables: Path, start: int, stop: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", UPDATE, str(path), str(tables), str(start), str(stop)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(tn.__file__).parents[1])},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_process_killed_at_any_moment_leaves_a_whole_state(tmp_path: Path, tables: Path) -> None:
    path = tmp_path / "watch.monitor"
    expected = watched(tn.CalibrationTable.load_all(tables))
    counted = []
    for attempt in range(4):
        process = started(path, tables, 0, N_LOOKS)  # looks that are counted already change nothing
        time.sleep(0.05 + 0.11 * attempt)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
        if path.exists():
            state = tn.Monitor.load(path)  # whole, or refused
            assert state.looks == expected.looks[: len(state.looks)]
            counted.append(len(state.looks))
    assert counted == sorted(counted)
    finished = started(path, tables, 0, N_LOOKS)
    assert finished.communicate()[0] == ""
    assert finished.returncode == 0
    assert tn.Monitor.load(path).looks == expected.looks


def test_two_processes_at_once_lose_nothing(tmp_path: Path, tables: Path) -> None:
    path = tmp_path / "watch.monitor"
    half = N_LOOKS // 2
    processes = [started(path, tables, 0, half), started(path, tables, half, N_LOOKS)]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    state = tn.Monitor.load(path)
    assert sorted(int(look.at) for look in state.looks) == list(range(1, N_LOOKS + 1))
    in_order = [int(look.at) for look in state.looks]
    # Each process counts its own looks in their order, whichever waited.
    assert [at for at in in_order if at <= half] == list(range(1, half + 1))

"""Fresh processes: the time to the first table, the cost of a first call, and one thread against an earlier engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from contenders import Predictions, rows_of
from measuring import markdown

ROOT = Path(__file__).resolve().parents[1]

FEW_ROWS = 1000
"""So few that the work itself is negligible."""

EARLIER = "c7597ef"
"""A commit before the compiled engine: its fast engine, "fused", was compiled by numba."""

READ = """
import json, os, sys, time
import numpy as np
import trueness as tn
rows = [np.load(f"{sys.argv[1]}/{name}.npy") for name in ("y_true", "y_prob")]
def seconds(**options):
    begin = time.perf_counter()
    tn.tabulate(*rows, **options)
    return time.perf_counter() - begin
"""
FIRST_TABLE = READ + "seconds(engine=sys.argv[2])"
FIRST_CALL = READ + "print(json.dumps([seconds(), seconds()]))"
ONE_THREAD = READ + (
    "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
    "work = getattr(tn, sys.argv[2])\n"
    "times, end = [], 0.0\n"
    "while len(times) < 4 or time.perf_counter() < end:\n"
    "    begin = time.perf_counter()\n"
    "    work(*rows)\n"
    "    end = end or time.perf_counter() + float(sys.argv[3])\n"
    "    times.append(time.perf_counter() - begin)\n"
    "print(json.dumps(min(times[1:])))"
)
"""With one core there is one thread. Ten million rows are enough for the earlier engine to choose its fast one."""


@cache
def bytecode() -> tempfile.TemporaryDirectory[str]:
    """A folder for bytecode, which installed packages have, wherever this environment keeps it."""
    return tempfile.TemporaryDirectory()


def run(script: str, *arguments: str, **environment: str) -> tuple[float, str]:
    """Seconds from the start of a fresh process to its end, and its output. A second run finds bytecode."""
    environment = {
        "PYTHONPYCACHEPREFIX": bytecode().name,
        "PYTHONDONTWRITEBYTECODE": "",
    } | environment
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        check=True,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    return time.perf_counter() - begin, done.stdout


@contextmanager
def saved(data: Predictions) -> Iterator[str]:
    """A folder with the rows as NPY files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, array in data._asdict().items():
            np.save(Path(folder) / f"{name}.npy", array)
        yield folder


class FirstCall(NamedTuple):
    """Seconds of the first call in a fresh process and of the second one, each the best of several processes."""

    first: float
    second: float


def first_call(data: Predictions, turns: int) -> FirstCall:
    """The first two calls of `tabulate`: the first one imports most of the package, and loads and tests the library."""
    with saved(data) as folder:
        run(FIRST_CALL, folder)  # writes bytecode
        seen = [json.loads(run(FIRST_CALL, folder)[1]) for _ in range(turns)]
    return FirstCall(*(min(times) for times in zip(*seen, strict=True)))


def cold_start(turns: int) -> str:
    """The table of seconds from the start of a process to its first table."""
    seen: dict[str, list[float]] = {"import numpy": [], "portable": [], "compiled": []}
    with saved(rows_of(FEW_ROWS, 10)) as folder:
        run(FIRST_TABLE, folder, "portable")  # writes bytecode
        for _ in range(turns):
            seen["import numpy"].append(run("import numpy")[0])
            for engine in ("portable", "compiled"):
                seen[engine].append(run(FIRST_TABLE, folder, engine)[0])
    return markdown(
        ("fresh process to the first table", "best, s", "median, s"),
        [(name, f"{min(times):.3f}", f"{median(times):.3f}") for name, times in seen.items()],
    )


class OneThread(NamedTuple):
    """Nanoseconds per row of this engine and of the earlier one on one thread; `missing` says why there is no other."""

    here: float
    earlier: float
    missing: str = ""


@contextmanager
def earlier_tree() -> Iterator[Path | str]:
    """A folder with the sources of the earlier commit; or the reason why they cannot be used."""
    if find_spec("numba") is None:
        yield "numba is not installed"
        return
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "archive", EARLIER, "src"], capture_output=True, check=False
    )
    if archive.returncode:
        yield f"git does not have commit {EARLIER}"
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        yield Path(folder)


def one_thread(work: str, data: Predictions, turns: int, seconds: float) -> OneThread:
    """A function of both trees: they take turns in fresh processes, each for some seconds after an untimed call."""
    n_rows = len(data.y_true)
    with saved(data) as folder, earlier_tree() as tree:

        def best(path: Path) -> float:
            found = str(path / "src")
            _, printed = run(ONE_THREAD, folder, work, str(seconds), PYTHONPATH=found, NUMBA_CACHE_DIR=folder)
            return float(json.loads(printed)) / n_rows * 1e9

        if isinstance(tree, str):
            return OneThread(best(ROOT), float("nan"), tree)
        pairs = [(best(ROOT), best(tree)) for _ in range(turns)]
    return OneThread(*(min(times) for times in zip(*pairs, strict=True)))

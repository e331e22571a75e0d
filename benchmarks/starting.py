"""Fresh processes: the time to the first table, and the cost of a first call."""

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
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from contenders import Predictions, rows_of
from measuring import markdown

FEW_ROWS = 1000
"""So few that the work itself is negligible."""

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


@cache
def bytecode() -> tempfile.TemporaryDirectory[str]:
    """A folder for bytecode, which installed packages have, wherever this environment keeps it."""
    return tempfile.TemporaryDirectory()


def run(script: str, *arguments: str) -> tuple[float, str]:
    """Seconds from the start of a fresh process to its end, and its output. A second run finds bytecode."""
    environment = {"PYTHONPYCACHEPREFIX": bytecode().name, "PYTHONDONTWRITEBYTECODE": ""}
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

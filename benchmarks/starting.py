"""The cost of a cold start, and the size from which "auto" chooses the fused engine."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from contenders import rows_of
from measuring import figure, markdown, thousands

N_ROWS = 1000
"""So few that the work itself is negligible."""

FIRST_RESULT = """
import sys
import numpy as np
import trueness as tn
y_true, y_prob = (np.load(f"{sys.argv[1]}/{name}.npy") for name in ("y_true", "y_prob"))
tn.tabulate(y_true, y_prob, engine=sys.argv[2])
"""

WHERE_AUTO_TURNS = """
import sys
import numpy as np
import trueness as tn
from trueness.rows import Rows
from trueness.tabulation.engines import is_fused

state, *classes = sys.argv[1:]

def rows(n_rows, n_classes):
    # Broadcast from one row, so that any number of rows takes no memory.
    y_prob = np.broadcast_to(np.full(n_classes, 1 / n_classes), (n_rows, n_classes))
    return Rows.of(np.broadcast_to(np.int64(0), n_rows), y_prob)

def turn(n_classes):
    low, high = 1, 2**40
    while low < high:
        middle = (low + high) // 2
        if is_fused("auto", rows(middle, n_classes), [tn.variations["entropy"]]):
            high = middle
        else:
            low = middle + 1
    return low

for n_classes in map(int, classes):
    if state != "cold":
        n = n_classes if state == "ready" else 2
        tn.tabulate(np.zeros(9, int), np.full((9, n), 1 / n), engine="fused")
    print(turn(n_classes))
"""

STATES = {
    "cold": "numba not loaded yet",
    "loaded": "loaded, not for this number of classes",
    "ready": "used before with this number of classes",
}
AUTO_CLASSES = (3, 10, 100, 1000)


def _run(script: str, *arguments: str, cache: str | None = None) -> tuple[float, str]:
    """Seconds from the start of a fresh process to its end, and its output."""
    environment = dict(os.environ) if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        check=True,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    return time.perf_counter() - begin, done.stdout


def first_result(turns: int) -> dict[str, list[float]]:
    """Seconds to the first table in fresh processes: NumPy alone, portable, fused with and without compiled code."""
    seen: dict[str, list[float]] = {
        "import numpy": [],
        "portable": [],
        "fused, compiled code on disk": [],
        "fused, nothing compiled": [],
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, array in rows_of(N_ROWS, 10)._asdict().items():
            np.save(Path(folder) / f"{name}.npy", array)
        for _ in range(turns):
            with tempfile.TemporaryDirectory() as cache:
                runs = (
                    _run("import numpy"),
                    _run(FIRST_RESULT, folder, "portable"),
                    # The order matters: the first of the two compiles, the second uses the cache.
                    _run(FIRST_RESULT, folder, "fused", cache=cache),
                    _run(FIRST_RESULT, folder, "fused", cache=cache),
                )
            numpy, portable, compiling, cached = (seconds for seconds, _ in runs)
            for name, seconds in zip(seen, (numpy, portable, cached, compiling), strict=True):
                seen[name].append(seconds)
    return seen


def cold_start(turns: int, gain: float) -> str:
    """Both tables; `gain` is the time in ns per row that the fused engine saves at ten classes on a long run."""
    seen = first_result(turns)
    start = markdown(
        ("fresh process to the first table", "best, s", "median, s"),
        [(name, f"{min(times):.2f}", f"{median(times):.2f}") for name, times in seen.items()],
    )
    portable, cached, empty = (min(times) for times in list(seen.values())[1:])
    pays, pays_cold = ((fused - portable) / gain * 1e9 for fused in (cached, empty))
    gains = (
        f"At ten classes a fresh process that tabulates once gains from {_rows(pays)} rows on with compiled code on "
        f"disk, from {_rows(pays_cold)} on without (start-up above, divided by {figure(gain)} ns saved a row)."
    )
    return f"{start}\n\n{turning_points()}\n\n{gains}"


def turning_points() -> str:
    """The number of rows from which "auto" chooses the fused engine."""
    lines = []
    for state, text in STATES.items():
        _, printed = _run(WHERE_AUTO_TURNS, state, *map(str, AUTO_CLASSES))
        lines.append((text, *(_rows(int(line)) for line in printed.split())))
    return markdown(('"auto" is fused from (rows)', *(f"C = {n}" for n in AUTO_CLASSES)), lines)


def _rows(n: float) -> str:
    """Two digits: 5.9 million, 880 000, 5 600."""
    if n >= 1e6:
        return f"{n / 1e6:.2g} million"
    return thousands(float(f"{n:.2g}"))

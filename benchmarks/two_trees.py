"""The time of common work in this checkout, as a ratio to that in another one: python benchmarks/two_trees.py OTHER

Both checkouts take turns in fresh processes of the same Python, and the best of their turns counts. A change that is
not meant to change speed should leave every ratio near 1. Both must have their compiled library beside the sources
(`pip install -e` puts it there).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parents[1]
TURNS, SECONDS = 5, 1.0
"""Each task is repeated for so many seconds in each turn."""


def tasks(folder: str) -> dict[str, Callable[[], object]]:
    """The work that is timed, by name."""
    import trueness as tn
    from trueness.cli import main

    def rows(n_rows: int, n_classes: int, dtype: str = "f8") -> tuple[np.ndarray, np.ndarray]:
        y_true, y_prob = tn.simulate.calibrated(n_rows, [1.0] * n_classes, rng=0)
        return y_true, y_prob.astype(dtype)

    small, three, ten, hundred = rows(1000, 10), rows(200_000, 3), rows(200_000, 10), rows(20_000, 100, "f4")
    groups = np.arange(200_000) % 20
    csv, parquet = os.path.join(folder, "rows.csv"), os.path.join(folder, "rows.parquet")
    for path in (csv, parquet):
        if not os.path.exists(path):
            main(["simulate", "--n-rows", "50000", "--alpha", "1,1,1,1,1,1,1,1,1,1", "-o", path])
    out = os.path.join(folder, "table.json")
    return {
        "vce, 1000 rows, C=10": lambda: tn.vce(*small),
        "vce, C=10": lambda: tn.vce(*ten),
        "portable, C=3": lambda: tn.tabulate(*three, engine="portable"),
        "portable, C=10": lambda: tn.tabulate(*ten, engine="portable"),
        "portable, C=100": lambda: tn.tabulate(*hundred, engine="portable"),
        "portable, C=10, equal mass": lambda: tn.tabulate(*ten, engine="portable", bins=tn.EqualMass(10)),
        "compiled, C=3": lambda: tn.tabulate(*three, engine="compiled", n_threads=1),
        "compiled, C=10": lambda: tn.tabulate(*ten, engine="compiled", n_threads=1),
        "compiled, C=100": lambda: tn.tabulate(*hundred, engine="compiled", n_threads=1),
        "compiled, C=10, equal mass": lambda: tn.tabulate(
            *ten, engine="compiled", n_threads=1, bins=tn.EqualMass(10)
        ),
        "assess, C=10": lambda: tn.assess(*ten, rng=0),
        "assess, C=10, 20 groups": lambda: tn.assess(*ten, rng=0, groups=groups),
        "compare, C=10, 1000 rows": lambda: tn.compare(
            small[0], {"a": small[1], "b": tn.simulate.sharpen(small[1], 1.2)}
        ),
        "report": lambda: tn.assess(*small, rng=0).write_html(os.path.join(folder, "report.html")),
        "CSV, 50 000 rows": lambda: main(["tabulate", csv, "-o", out]),
        "Parquet, 50 000 rows": lambda: main(["tabulate", parquet, "-o", out]),
    }


def best_times(folder: str, seconds: float) -> dict[str, float]:
    """Seconds of each task in this process, the best of many."""
    best = {}
    for name, work in tasks(folder).items():
        work()
        times, end = [], time.perf_counter() + seconds
        while time.perf_counter() < end or len(times) < 3:
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        best[name] = min(times)
    return best


def turn(tree: Path, folder: str, seconds: float) -> dict[str, float]:
    """The times of a checkout, in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(tree / "src")}
    command = [sys.executable, str(Path(__file__).resolve()), "--work", folder, str(seconds)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    times: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return times


def run() -> None:
    """Print a line for each task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", nargs="?", type=Path, help="the folder of the other checkout")
    parser.add_argument("--quick", action="store_true", help="one short turn, only to check that it works")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        folder, seconds = arguments.work
        print(json.dumps(best_times(folder, float(seconds))))
        return
    if arguments.other is None:
        parser.error("name the folder of the other checkout")
    with tempfile.TemporaryDirectory() as folder:
        count, seconds = (1, 0.01) if arguments.quick else (TURNS, SECONDS)
        trees = (HERE, arguments.other)
        turns = [[turn(tree, folder, seconds) for tree in trees] for _ in range(count)]
    print(f"{'work':32}{'here, ms':>10}{'other, ms':>11}{'ratio':>8}")
    for name in turns[0][0]:
        here, other = (min(pair[which][name] for pair in turns) for which in (0, 1))
        print(f"{name:32}{1e3 * here:10.2f}{1e3 * other:11.2f}{here / other:8.2f}")


if __name__ == "__main__":
    run()

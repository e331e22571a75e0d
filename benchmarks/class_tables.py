"""The cost of class tables and score columns in the compiled engine: python benchmarks/class_tables.py [OTHER]

A pass with both tables of ranks, the class table and all score columns, as a ratio to a pass with the two tables alone:
that of this checkout, which has the score columns, and, if the folder of another checkout is given, that of the other
one (from before score columns: commit 7723233). Both checkouts must have their compiled library beside the sources.
They take turns call by call in two processes, on the same rows, and the shortest call of each counts: of the time that
passed, and of the processor time of all threads, which another program on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measuring import figure, machine, markdown
from required import TITLE, Target, required_markdown

HERE = Path(__file__).resolve().parents[1]
TABLES, WITH_CLASSES, CLASSES = "two tables", "two tables and classes", "classes alone"
QUICK = 50
"""Divisor of all sizes in a quick run."""


class Case(NamedTuple):
    """Rows whose parameters are all alpha, and the largest ratio to the other checkout that is allowed."""

    n_classes: int
    n_rows: int
    dtype: str = "float32"
    alpha: float = 1.0
    needed: float | None = None

    @property
    def label(self) -> str:
        """How the rows are described on the page."""
        peaked = "" if self.alpha == 1.0 else f", α = {self.alpha:g}"
        return f"C = {self.n_classes}, {self.dtype}{peaked}"


CASES = (
    Case(2, 1_000_000, "float64"),
    Case(3, 1_000_000, "float64"),
    Case(10, 400_000, "float64", needed=2.0),
    Case(10, 400_000, needed=2.0),
    Case(10, 400_000, alpha=0.1, needed=2.0),
    Case(100, 50_000, needed=1.8),
    Case(100, 50_000, alpha=0.05, needed=1.8),
    Case(1000, 20_000, needed=1.8),
    Case(1000, 20_000, alpha=0.01, needed=1.8),
)


class Cost(NamedTuple):
    """Of one call: the time that passed and the processor time of all threads, in seconds."""

    elapsed: float = math.inf
    processor: float = math.inf

    def least(self, other: Cost) -> Cost:
        """The smaller of each."""
        return Cost(*map(min, self, other))


def specs_of(n_classes: int, work: str) -> list[Any]:
    """Tables by entropy and by confidence, with the events of all classes or without."""
    import trueness as tn

    tables = [
        tn.TableSpec(
            n_classes, v, tn.EqualWidth(n_bins).resolve(*v.range_for(n_classes)), "first", weighted=False
        )
        for v, n_bins in ((tn.variations["entropy"], 10), (tn.variations["confidence"], 15))
    ]
    if work == TABLES:
        return tables
    from trueness.old_table import EventSpec

    return [*(tables if work == WITH_CLASSES else ()), EventSpec.by_class(n_classes)]


def answer(n_threads: int) -> None:
    """Time calls that standard input asks for, one a line: a case and the work. The other side of `Checkout`."""
    from trueness.rows import Rows
    from trueness.tabulation import tabulate_rows

    rows: Any = None
    for line in sys.stdin:
        asked = json.loads(line)
        if "file" in asked:
            with np.load(asked["file"]) as kept:
                rows = Rows.of(kept["y_true"], np.ascontiguousarray(kept["y_prob"]))
            gc.collect()
            print("[0, 0]", flush=True)
            continue
        specs = specs_of(rows.n_classes, asked["work"])
        begin, used = time.perf_counter(), time.process_time()
        tabulate_rows(rows, specs, "compiled", n_threads)
        print(json.dumps([time.perf_counter() - begin, time.process_time() - used]), flush=True)


class Checkout:
    """A process that times the work of one checkout."""

    def __init__(self, folder: Path, n_threads: int) -> None:
        environment = os.environ | {"PYTHONPATH": str(folder / "src")}
        command = [sys.executable, str(Path(__file__).resolve()), "--answer", str(n_threads)]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **asked: str) -> Cost:
        """What one call costs."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return Cost(*json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


Contender = tuple[str, str]
"""The name of a checkout, and the work."""


def costs(case: Case, checkouts: dict[str, Checkout], scale: int, seconds: float) -> dict[Contender, Cost]:
    """The least cost of each work in each checkout, in turns."""
    import trueness as tn

    y_true, y_prob = tn.simulate.calibrated(case.n_rows // scale, [case.alpha] * case.n_classes, rng=0)
    work = {"this": (TABLES, WITH_CLASSES, CLASSES), "other": (TABLES,)}
    turns = [(name, one) for name in checkouts for one in work[name]]
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "rows.npz")
        np.savez(file, y_true=y_true, y_prob=y_prob.astype(case.dtype))
        for checkout in checkouts.values():
            checkout.ask(file=file)
    for name, one in turns:
        checkouts[name].ask(work=one)
    least = dict.fromkeys(turns, Cost())
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, one in turns:
            least[name, one] = least[name, one].least(checkouts[name].ask(work=one))
    return least


def line_of(case: Case, least: dict[Contender, Cost], base: Contender, scale: int) -> list[str]:
    """A line of the table: time per row of the base, and ratios of elapsed and of processor time to it."""
    reference, n_rows = least[base], case.n_rows // scale
    ratios = [
        f"{figure(cost.elapsed / reference.elapsed)} ({figure(cost.processor / reference.processor)})"
        for contender, cost in least.items()
        if contender != base
    ]
    return [case.label, figure(reference.elapsed / n_rows * 1e9), *ratios]


def measure(other: Path | None, n_threads: int, quick: bool) -> tuple[str, bool]:
    """The page, and whether all required values were reached."""
    scale, seconds = (QUICK, 0.2) if quick else (1, 8.0)
    folders = {"this": HERE} | ({} if other is None else {"other": other})
    checkouts = {name: Checkout(folder, n_threads) for name, folder in folders.items()}
    base = ("this" if other is None else "other", TABLES)
    lines, targets, header = [], [], []
    for case in CASES:
        least = costs(case, checkouts, scale, seconds)
        lines.append(line_of(case, least, base, scale))
        print(lines[-1], file=sys.stderr, flush=True)
        header = [f"{work}, {name}" if other else work for name, work in least if (name, work) != base]
        seen = least["this", WITH_CLASSES].processor / least[base].processor
        if other is not None and case.needed is not None:
            targets.append(
                Target(f"two tables, classes and scores, {case.label}", seen, case.needed, at_most=True)
            )
    for checkout in checkouts.values():
        checkout.close()
    of_base = "two tables of the other checkout" if other else TABLES
    table = markdown(("rows", f"{of_base}, ns a row", *header), lines)
    note = (
        f"{n_threads} threads. Ratios of the shortest times, and in brackets of processor time, to {of_base}."
    )
    parts = [f"{machine()}\n\n{note}", table]
    if targets:
        parts.append(f"### {TITLE}\n\nBy processor time.\n\n{required_markdown(targets)}")
    return "\n\n".join(parts), all(target.reached for target in targets)


def main() -> None:
    """Parse the options, measure, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "other", nargs="?", type=Path, help="the folder of a checkout from before score columns"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--quick", action="store_true", help=f"divide sizes by {QUICK}, only to check that it works"
    )
    parser.add_argument("--strict", action="store_true", help="fail if a required value was not reached")
    parser.add_argument("--answer", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        answer(options.answer)
        return
    page, reached = measure(options.other, options.threads, options.quick)
    print(page)
    if not options.quick:
        (HERE / "benchmarks" / "results" / "class_tables.md").write_text(page + "\n")
    if options.strict and not reached:
        sys.exit("a required value was not reached")


if __name__ == "__main__":
    main()

"""The cost of clusters and of comparisons, beside that of the plain assessment and of the tables, in one run.

Run it with ``make bench``, or with ``--quick`` to check that it works; results are printed and written to
``benchmarks/results/clusters.md``. Time is that of the processor, of all threads: on a busy machine that of the clock
says more about the neighbours.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from measuring import Work, figure, machine, markdown, resident_growth, thousands
from required import TITLE, Target, required_markdown

import trueness as tn
from trueness.old_table import AnySpec
from trueness.old_table.plan import TablePlan
from trueness.rows import Rows
from trueness.tabulation import tabulate_rows

RESULTS = Path(__file__).parent / "results" / "clusters.md"
SMALL_CLUSTER = 10

QUICK = 100
"""Divisor of all sizes in a quick run."""


def pixels(scale: int) -> tuple[dict[str, Work], int]:
    """3.3 million pixels of 200 images, four classes, as float32."""
    n_rows = 3_300_000 // scale
    y_true, y_prob = tn.simulate.calibrated(n_rows, np.ones(4), rng=0)
    y_prob, images = y_prob.astype(np.float32), np.arange(n_rows) * 200 // n_rows
    return {
        "plain": lambda: tn.assess(y_true, y_prob),
        "clusters": lambda: tn.assess(y_true, y_prob, clusters=images),
    }, n_rows


def small_clusters(scale: int) -> tuple[dict[str, Work], int]:
    """A million clusters of ten rows, ten classes."""
    n_rows = 10_000_000 // scale
    y_true, y_prob = (np.concatenate(parts) for parts in zip(*_parts(n_rows), strict=True))
    names = np.arange(n_rows) // SMALL_CLUSTER
    return {
        "plain": lambda: tn.assess(y_true, y_prob),
        "clusters": lambda: tn.assess(y_true, y_prob, clusters=names, progress=lambda _: None),
    }, n_rows


def _parts(n_rows: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows in parts, as float32, so that making them takes little memory."""
    parts = []
    for k, start in enumerate(range(0, n_rows, 1_000_000)):
        y_true, y_prob = tn.simulate.calibrated(min(1_000_000, n_rows - start), np.ones(10), rng=k)
        parts.append((y_true, y_prob.astype(np.float32)))
    return parts


def two_models(scale: int) -> tuple[dict[str, Work], int]:
    """Two models on 400 000 rows of three classes, against the tables that a comparison needs.

    "tables" are those of both models by entropy and by confidence, as `assess` makes them: one pass for each model, by
    the compiled engine on all cores, which is the default. "tables, with classes" are all that a comparison makes, by
    class too. "tables, one by one" are four calls of `tabulate`.
    """
    n_rows = 400_000 // scale
    y_true, y_prob = tn.simulate.calibrated(n_rows, np.ones(3), rng=0)
    models = {"a": y_prob, "b": tn.simulate.sharpen(y_prob, 1.1)}
    plan = TablePlan.of("entropy", 10, by_class=True)
    specs, with_classes = plan.calibration_specs(3, weighted=False), plan.specs(3, weighted=False)

    def tables(engine: str, some: Sequence[AnySpec] = specs) -> None:
        for of_model in models.values():
            tabulate_rows(Rows.of(y_true, of_model), some, engine)

    def one_by_one() -> None:
        for of_model in models.values():
            for variation in ("entropy", "confidence"):
                tn.tabulate(y_true, of_model, variation=variation)

    return {
        "tables": lambda: tables("auto"),
        "tables, with classes": lambda: tables("auto", with_classes),
        "tables, one by one": one_by_one,
        "tables, portable": lambda: tables("portable"),
        "compare": lambda: tn.compare(y_true, models),
    }, n_rows


def images(scale: int) -> tuple[dict[str, Work], int]:
    """200 images of 128 x 129 pixels, four classes, channels first, float32, read without a copy of the whole."""
    n_images = max(5, 200 // scale)
    y_true, y_prob = tn.simulate.calibrated(n_images * 128 * 129, np.ones(4), rng=0)
    first = y_prob.astype(np.float32).reshape(n_images, 128 * 129, 4).transpose(0, 2, 1)
    array, labels = (
        np.ascontiguousarray(first).reshape(n_images, 4, 128, 129),
        y_true.reshape(n_images, 128, 129),
    )
    rows = np.ascontiguousarray(y_prob.astype(np.float32))
    return {
        "tabulate, one thread": lambda: tn.tabulate(labels, array, class_axis=1, n_threads=1),
        "tabulate, two threads": lambda: tn.tabulate(labels, array, class_axis=1, n_threads=2),
        "tabulate rows, two threads": lambda: tn.tabulate(y_true, rows, n_threads=2),
        "assess, two threads": lambda: tn.assess(labels, array, class_axis=1, n_threads=2),
    }, labels.size


def rates(scale: int, rounds: int) -> list[list[str]]:
    """Million pixels a second by the clock, the best of some rounds in turns."""
    contenders, n_pixels = images(scale)
    best = least_seconds(contenders, rounds, time.perf_counter)
    return [[name, thousands(n_pixels), figure(n_pixels / seconds / 1e6)] for name, seconds in best.items()]


CASES = {"pixels": pixels, "small clusters": small_clusters, "two models": two_models}


def least_seconds(contenders: dict[str, Work], rounds: int, clock: Callable[[], float]) -> dict[str, float]:
    """The least time of each by a clock; they take turns."""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, work in contenders.items():
            begin = clock()
            work()
            best[name] = min(best[name], clock() - begin)
    return best


def memory_of(case: str, contender: str, scale: int) -> float:
    """Megabytes that a call needs beyond its rows, in a process of its own."""
    found = subprocess.run(
        [sys.executable, __file__, "--memory", case, contender, "--scale", str(scale)],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(found.stdout)


def _measure_memory(case: str, contender: str, scale: int) -> float:
    """How far the memory of the process grows while a contender works, after a small warm-up."""
    small, _ = CASES[case](scale * 1000)
    small[contender]()
    contenders, _ = CASES[case](scale)
    return resident_growth(contenders[contender])


LIMITS = (
    ("pixels", "clusters", "plain", 3.0, 1.5),
    ("small clusters", "clusters", "plain", 20.0, None),
    ("two models", "compare", "tables", 4.0, None),
)
"""Case, contender, what it is compared with, the ratio that is required, and that aimed at."""


class Measured(NamedTuple):
    """What was seen in one case."""

    case: str
    n_rows: int
    seconds: dict[str, float]
    memory: float


def measure(case: str, contender: str, scale: int, rounds: int) -> Measured:
    """The time of all contenders of a case, and the memory of one of them."""
    contenders, n_rows = CASES[case](scale)
    seconds = least_seconds(contenders, rounds, time.process_time)
    return Measured(case, n_rows, seconds, memory_of(case, contender, scale))


def lines(seen: Measured, contender: str, base: str) -> list[list[str]]:
    """The contender against all that begin with the name of the base."""
    return [
        [
            f"{seen.case}: {contender} / {of}",
            thousands(seen.n_rows),
            figure(seen.seconds[of]),
            figure(seen.seconds[contender]),
            figure(seen.seconds[contender] / seen.seconds[of]),
            f"{seen.memory:.0f}",
        ]
        for of in seen.seconds
        if of.startswith(base)
    ]


def page(scale: int, rounds: int) -> str:
    """All cases, with the values that are required."""
    found, targets = [], []
    for case, contender, base, needed, aim in LIMITS:
        seen = measure(case, contender, scale, rounds)
        found += lines(seen, contender, base)
        ratio = seen.seconds[contender] / seen.seconds[base]
        work = f"{case}, {thousands(seen.n_rows)} rows: {contender} / {base}"
        targets.append(Target(work, ratio, needed, aim, at_most=True))
    head = ["case", "rows", "base, s", "s", "ratio", "memory beyond the rows, MB"]
    of_images = markdown(
        ["images, (N, 4, 128, 129)", "pixels", "million pixels a second"], rates(scale, rounds)
    )
    notes = (
        "Seconds are those of the processor, of all threads. *tables*: both models by entropy and by confidence, as "
        "`assess` makes them, in one compiled pass for each model on all cores; *with classes*: by class too, "
        "which is all that a comparison tabulates; *one by one*: by four calls of `tabulate`."
    )
    return (
        f"# Clusters and comparisons\n\n{machine()}\n\n### {TITLE}\n\n{required_markdown(targets)}\n\n"
        f"### Measured\n\n{notes}\n\n{markdown(head, found)}\n\n"
        f"By the clock; at least 2 million pixels a second are wanted on two threads.\n\n{of_images}\n"
    )


def main() -> None:
    """Measure all cases, and write them down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help=f"divide sizes by {QUICK}, only to check that the script works"
    )
    parser.add_argument("--scale", type=int, default=1, help="divide the numbers of rows by this")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", nargs=2, metavar=("CASE", "CONTENDER"))
    given = parser.parse_args()
    if given.memory:
        print(_measure_memory(*given.memory, given.scale))
        return
    scale = QUICK if given.quick else given.scale
    text = page(scale, 1 if given.quick else given.rounds)
    print(text)
    if scale == 1:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""The cost of clusters and of comparisons, beside that of the plain assessment and of the tables, in one run.

Run it with ``make bench``; results are printed and written to ``benchmarks/results/clusters.md``. Time is that of the
processor, of all threads: on a busy machine that of the clock says more about the neighbours.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measuring import Work, figure, machine, markdown, resident_growth, thousands

import trueness as tn

RESULTS = Path(__file__).parent / "results" / "clusters.md"
SMALL_CLUSTER = 10


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
    """Two models on 400 000 rows of three classes; the tables of both are by entropy and by confidence."""
    n_rows = 400_000 // scale
    y_true, y_prob = tn.simulate.calibrated(n_rows, np.ones(3), rng=0)
    models = {"a": y_prob, "b": tn.simulate.sharpen(y_prob, 1.1)}

    def tabulate(engine: str) -> None:
        for of_model in models.values():
            for variation in ("entropy", "confidence"):
                tn.tabulate(y_true, of_model, variation=variation, engine=engine)

    return {
        "tables": lambda: tabulate("auto"),
        "tables, portable": lambda: tabulate("portable"),
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


def line(case: str, contender: str, base: str, limit: float, *, scale: int, rounds: int) -> list[list[str]]:
    """The contender against the base, with its ratio, and whether that is within the limit."""
    contenders, n_rows = CASES[case](scale)
    seconds = least_seconds(contenders, rounds, time.process_time)
    memory = memory_of(case, contender, scale)
    return [
        [
            f"{case}: {contender} / {of}",
            thousands(n_rows),
            figure(seconds[of]),
            figure(seconds[contender]),
            figure(seconds[contender] / seconds[of]),
            f"{limit:g}",
            f"{memory:.0f}",
        ]
        for of in seconds
        if of.startswith(base)
    ]


def main() -> None:
    """Measure all cases, and write them down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, default=1, help="divide the numbers of rows by this")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--quick", action="store_true", help="a fiftieth of the rows, once; nothing is written"
    )
    parser.add_argument("--memory", nargs=2, metavar=("CASE", "CONTENDER"))
    given = parser.parse_args()
    if given.quick:
        given.scale, given.rounds = 50, 1
    if given.memory:
        print(_measure_memory(*given.memory, given.scale))
        return
    head = ["case", "rows", "base, s", "s", "ratio", "limit", "memory beyond the rows, MB"]
    lines = [
        *line("pixels", "clusters", "plain", 3, scale=given.scale, rounds=given.rounds),
        *line("small clusters", "clusters", "plain", 20, scale=given.scale, rounds=given.rounds),
        *line("two models", "compare", "tables", 4, scale=given.scale, rounds=given.rounds),
    ]
    of_images = markdown(
        ["images, (N, 4, 128, 129)", "pixels", "million pixels a second"], rates(given.scale, given.rounds)
    )
    text = (
        f"# Clusters and comparisons\n\n{machine()}\n\n{markdown(head, lines)}\n\n"
        f"By the clock; at least 2 million pixels a second are wanted on two threads.\n\n{of_images}\n"
    )
    print(text)
    if given.scale == 1:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

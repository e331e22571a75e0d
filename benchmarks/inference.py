"""The cost of the inference: drawing the null distribution against tabulating the rows, in one run.

Run it with ``make bench``; results are printed and written to ``benchmarks/results/inference.md``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from measuring import Work, figure, machine, markdown, take_turns, thousands

import trueness as tn
from trueness.old_inference.null import NullBins, multinomial_frequencies, resample

RESULTS = Path(__file__).parent / "results" / "inference.md"
RESAMPLES = 999

CASES = [(3, 1_000_000), (10, 1_000_000), (100, 200_000), (1000, 20_000)]
"""Classes, and the number of rows tabulated; their time is scaled to a million rows."""


def work_on(n_classes: int, n_rows: int) -> dict[str, Work]:
    """Tabulating the rows, drawing the null, and the whole assessment."""
    y_true, y_prob = tn.simulate.calibrated(n_rows, np.ones(n_classes), rng=0)
    table = tn.tabulate(y_true, y_prob, bins=tn.EqualMass(10))
    by_confidence = tn.tabulate(y_true, y_prob, bins=tn.EqualMass(10), variation="confidence")
    bins = NullBins.of(table)
    return {
        "rows": lambda: tn.tabulate(y_true, y_prob, bins=table.bins, engine="portable"),
        "null": lambda: resample(bins, multinomial_frequencies(bins, RESAMPLES, [0]), RESAMPLES),
        "assess_table": lambda: tn.assess_table(table, confidence_table=by_confidence, rng=0),
    }


def null_lines(scale: int, seconds: float) -> list[list[str]]:
    """For each number of classes: the times of the null, of the whole assessment, and of a million rows."""
    lines = []
    for n_classes, most_rows in CASES:
        n_rows = max(2000, most_rows // scale)
        times = take_turns(work_on(n_classes, n_rows), seconds, turn_seconds=0.1)
        million = times["rows"].best * 1e6 / n_rows
        null, whole = times["null"].best, times["assess_table"].best
        reached = "yes" if null < million else "**no**"
        cells = [figure(1e3 * x) for x in (null, whole, million)]
        lines.append([thousands(n_classes), *cells, figure(million / null), reached])
    return lines


def compare_lines(scale: int, seconds: float) -> list[list[str]]:
    """The time per row of the bootstrap of two models."""
    lines = []
    for n_classes, most_rows in ((10, 50_000), (100, 10_000)):
        n_rows = max(2000, most_rows // scale)
        y_true, y_prob = tn.simulate.calibrated(n_rows, np.ones(n_classes), rng=0)
        models = {"a": y_prob, "b": tn.simulate.sharpen(y_prob, 1.1)}
        work = {"compare": lambda: tn.compare(y_true, models, rng=0)}  # noqa: B023
        best = take_turns(work, seconds, turn_seconds=0.1)["compare"].best
        lines.append(
            [thousands(n_classes), thousands(n_rows), figure(1e3 * best), figure(1e6 * best / n_rows)]
        )
    return lines


def main() -> None:
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a short run, only to check that the script works"
    )
    quick = parser.parse_args().quick
    scale, seconds = (50, 0.1) if quick else (1, 8.0)
    null = markdown(
        [
            "classes",
            "null, ms",
            "assess_table, ms",
            "a million rows, portable, ms",
            "rows / null",
            "null is less",
        ],
        null_lines(scale, seconds),
    )
    compared = markdown(["classes", "rows", "compare, ms", "µs a row"], compare_lines(scale, seconds))
    text = (
        f"{machine()}\n\n### The null of {RESAMPLES} draws, ten bins\n\n{null}\n\n"
        f"### Two models compared, {RESAMPLES} replicates\n\n{compared}\n"
    )
    print(text)
    if not quick:
        RESULTS.write_text(text)


if __name__ == "__main__":
    main()

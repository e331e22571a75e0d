"""The compiled engine against all contenders: ratios in one run, on the same rows.

Run it with ``make bench``, or ``python benchmarks/compiled.py --quick`` to check that it works. The contenders take
turns, and the best time of each counts. Results are printed, and written to ``benchmarks/results`` as Markdown
(latest.md), as a table of all points (growth.csv) and as a figure (growth.svg).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import contenders as who
import growth
from measuring import figure, machine, thousands
from required import TITLE, required_markdown
from starting import cold_start
from targets import compare_everyone, targets

from trueness.tabulation.compiled.library import load

HERE = Path(__file__).parent
QUICK = 50
"""Divisor of all sizes in a quick run."""

LEVELS = {1: "NEON", 2: "x86-64-v2", 3: "x86-64-v3", 4: "x86-64-v4"}


class Page:
    """The results as Markdown, printed as they are added."""

    def __init__(self) -> None:
        self.text = ""
        self.begin = time.perf_counter()

    def add(self, text: str, title: str = "") -> None:
        """Add and print a section."""
        section = f"### {title}\n\n{text}\n" if title else f"{text}\n"
        print(section, flush=True)
        print(f"({time.perf_counter() - self.begin:.0f} s so far)\n", file=sys.stderr, flush=True)
        self.text += section + "\n"


def _stages(n_rows: int, seconds: float) -> str:
    """The tables of stages, computed in another process; or the reason why that failed."""
    command = [sys.executable, str(HERE / "stages.py"), str(n_rows), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout.strip()
    print(done.stderr, file=sys.stderr)
    return f"Not measured: stages.py failed ({done.stderr.strip().splitlines()[-1]})."


def _instruction_set() -> str:
    """The instruction set that the library uses on this processor."""
    library, reason = load()
    if library is None:
        sys.exit(f"the compiled engine {reason}")
    return LEVELS[library.use_level()]


def _left_out() -> str:
    missing = sorted({one.library for one in who.EVERYONE if not one.installed})
    return f" Left out, because the library is missing: {', '.join(missing)}." if missing else ""


def measure(results: Path, quick: bool) -> bool:
    """Measure everything; whether all required values were reached."""
    scale, spend = (QUICK, 0.1) if quick else (1, 1.0)
    page = Page()
    page.add(f"{machine()} Instruction set: {_instruction_set()}.{_left_out()}")
    if quick:
        page.add(f"A quick run: sizes are divided by {QUICK}, and the verdicts say nothing about speed.")
    data = who.rows_of(10_000_000 // scale, 10)
    who.require_agreement(who.first(data, 100_000))

    everyone = compare_everyone(data, 40 * spend)
    lines = targets(everyone, data, 6 * spend, scale)
    page.add(required_markdown(lines), TITLE)
    page.add(everyone.markdown(), f"All contenders, N = {thousands(everyone.n_rows)}, C = 10, float64")
    page.add(cold_start(2 if quick else 7), "A cold start")
    page.add(_stages(2_000_000 // scale, 10 * spend), "Where the time goes, C = 10, float64, one thread")

    points = [
        *growth.over_rows(data, everyone, 1.5 * spend),
        *growth.over_classes(1.5 * spend, scale),
        *growth.over_bins(data, 1.5 * spend, scale),
        *growth.over_threads(data, 6 * spend, scale),
    ]
    for curve in ("rows", "classes", "bins", "threads"):
        page.add(growth.as_markdown(points, curve), f"Growth with {curve}, ns a row")

    results.mkdir(parents=True, exist_ok=True)
    growth.write_csv(points, results / "growth.csv")
    growth.draw(points, results / "growth.svg")
    page.add(f"(whole run: {figure((time.perf_counter() - page.begin) / 60)} minutes)")
    (results / "latest.md").write_text(page.text.rstrip() + "\n")
    print(f"written to {results}")
    return all(line.reached for line in lines)


def main() -> None:
    """Parse the options, and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"divide sizes by {QUICK}, only to check that the script works"
    )
    parser.add_argument("--strict", action="store_true", help="fail if a required value was not reached")
    parser.add_argument("--results", type=Path, help="output folder (default: benchmarks/results)")
    options = parser.parse_args()
    default = Path(tempfile.gettempdir()) / "trueness-bench-quick" if options.quick else HERE / "results"
    reached = measure(options.results or default, options.quick)
    if options.strict and not reached:
        sys.exit("a required value was not reached")


if __name__ == "__main__":
    main()

"""The compiled engine against all contenders: ratios in one run, on the same rows.

Run it with ``make bench``, or ``python benchmarks/compiled.py --quick`` to check that it works. The contenders take
turns, and the best time of each counts. Results are printed, and written to ``benchmarks/results/latest.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import contenders as who
from measuring import figure, machine, thousands
from required import TITLE, required_markdown
from starting import cold_start
from targets import compare_everyone, targets

from trueness.tabulation.compiled.library import library_path, load

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


def _library() -> str:
    """The instruction set that the library uses on this processor, what compiled it, and whether it is up to date."""
    library, reason = load()
    if library is None:
        sys.exit(f"the compiled engine {reason}")
    level = f"Instruction set: {LEVELS[library.use_level()]}"
    noted = library_path().with_suffix(".json")
    if not noted.exists() or find_spec("hatchling") is None:
        return f"{level}; **the library was not checked against the sources**."
    sys.path.insert(0, str(HERE.parent))
    import hatch_build

    built = json.loads(noted.read_text(encoding="utf-8"))
    content = hashlib.sha256(library_path().read_bytes()).hexdigest()
    if (built["sources"], built["library"]) != (hatch_build.digest(HERE.parent), content):
        return f"{level}; **the library was built from other sources than these**."
    return f"{level}; library built from these sources by {built['compiler']}."


def _left_out() -> str:
    missing = sorted({one.library for one in who.EVERYONE if not one.installed})
    return f" Left out, because the library is missing: {', '.join(missing)}." if missing else ""


def measure(results: Path, quick: bool) -> bool:
    """Measure everything; whether all required values were reached."""
    scale, spend = (QUICK, 0.1) if quick else (1, 1.0)
    page = Page()
    page.add(f"{machine()} {_library()}{_left_out()}")
    if quick:
        page.add(f"A quick run: sizes are divided by {QUICK}, and the verdicts say nothing about speed.")
    data = who.rows_of(10_000_000 // scale, 10)
    who.require_agreement(who.first(data, 100_000))

    everyone = compare_everyone(data, 40 * spend)
    lines = targets(everyone, data, 6 * spend, scale)
    page.add(required_markdown(lines), TITLE)
    page.add(everyone.markdown(), f"All contenders, N = {thousands(everyone.n_rows)}, C = 10, float64")
    page.add(cold_start(2 if quick else 7), "A cold start")
    results.mkdir(parents=True, exist_ok=True)
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

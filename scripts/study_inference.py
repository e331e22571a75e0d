"""Simulation study of the inference: size, coverage, bias and power, written into docs/background/inference.md.

    python scripts/study_inference.py                       # all parts, one process, about half an hour of CPU
    python scripts/study_inference.py size coverage -j 2    # some parts, two processes
    python scripts/study_inference.py --render              # only write the tables again from saved results

Each part saves its results in build/study/<part>.json after each setting, and an interrupted run continues. The seed of
a setting is derived from its name, so that parts and settings can run separately and in any order.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from inference_study import clusters, comparisons, coverage, kinds, null, other_faults, power, size

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "study"
PAGE = ROOT / "docs" / "background" / "inference.md"


PARTS = {
    "null": (null.null_settings, null.measure_null, 0),
    "order": (power.order_settings, power.measure_order, 200),
    "power": (power.power_settings, power.measure_power, 400),
    "clusters": (clusters.cluster_settings, clusters.measure_clusters, 200),
    "compare": (comparisons.compare_settings, comparisons.measure_compare, 200),
    "tail": (comparisons.tail_settings, comparisons.measure_tail, 600),
    "others": (other_faults.other_settings, other_faults.measure_others, 200),
    "size": (size.size_settings, size.measure_size, 1000),
    "kinds": (kinds.kind_settings, kinds.measure_kinds, 400),
    "two-classes": (kinds.two_class_settings, kinds.measure_two_classes, 600),
    "coverage": (coverage.coverage_settings, coverage.measure_coverage, 200),
}
"""The settings of each part, the function that measures one of them, and the number of repeats."""


TABLES = {
    "null": ("null", null.null_table),
    "size": ("size", size.size_table),
    "coverage": ("coverage", coverage.coverage_summary),
    "coverage-all": ("coverage", coverage.coverage_table),
    "others": ("others", other_faults.others_table),
    "order": ("order", power.order_table),
    "power": ("power", power.power_table),
    "kinds-3": ("kinds", lambda rows: kinds.kind_table(rows, 3)),
    "kinds-10": ("kinds", lambda rows: kinds.kind_table(rows, 10)),
    "two-classes": ("two-classes", kinds.two_class_table),
    "clusters": ("clusters", clusters.cluster_table),
    "compare": ("compare", comparisons.compare_table),
    "tail": ("tail", comparisons.tail_table),
}
"""For each table of the page, the part that it shows and the function that renders it."""


def with_results(setting: dict[str, Any]) -> dict[str, Any]:
    """A setting with its results."""
    return {**setting, **PARTS[setting["part"]][1](setting)}


def render() -> None:
    """Write the tables of the saved results into the page, between their markers."""
    page = PAGE.read_text()
    for name, (part, table) in TABLES.items():
        kept = RESULTS / f"{part}.json"
        if not kept.exists():
            print(f"{name}: no saved results, the table of the page is unchanged")
            continue
        begin, end = f"<!-- study: {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = page.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise SystemExit(f"{PAGE} has no markers {begin.strip()} and {end}")
        page = f"{before}{begin}\n{table(json.loads(kept.read_text()))}\n\n{end}{after}"
    PAGE.write_text(page)


def run(part: str, repeats: int | None, jobs: int) -> None:
    """Measure the settings of a part that have no saved results yet, and save them one by one."""
    settings, _, usual = PARTS[part]
    wanted, path = settings(repeats or usual), RESULTS / f"{part}.json"
    RESULTS.mkdir(parents=True, exist_ok=True)
    saved = json.loads(path.read_text()) if path.exists() else []
    rows = [row for setting in wanted for row in saved if setting.items() <= row.items()]
    todo = wanted[len(rows) :]
    pool, began = ProcessPoolExecutor(jobs) if jobs > 1 else None, time.monotonic()
    for number, row in enumerate(pool.map(with_results, todo) if pool else map(with_results, todo), start=1):
        rows.append(row)
        path.write_text(json.dumps(rows, indent=1))
        print(f"{part} {number}/{len(todo)} {time.monotonic() - began:.0f} s", flush=True)


def main(arguments: list[str]) -> int:
    """Run the requested parts and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="parts to run (default: all)")
    parser.add_argument(
        "--repeats", type=int, help="number of repeats of each setting (default: as on the page)"
    )
    parser.add_argument("-j", "--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--render", action="store_true", help="only write the page, from saved results")
    options = parser.parse_args(arguments)
    if not options.render:
        for part in options.parts or PARTS:
            run(part, options.repeats, options.jobs)
    render()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

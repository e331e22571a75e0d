"""Simulation study of the monitor: false alarms, delays and bands, written into docs/guide/monitoring.md.

    python scripts/study_monitoring.py                    # everything, one process, about twenty minutes of CPU
    python scripts/study_monitoring.py -j 2 classes       # the settings whose name has a word, two processes
    python scripts/study_monitoring.py --runs 20          # a short version
    python scripts/study_monitoring.py --render           # only write the tables again from saved results

Results are saved in build/study/monitoring.json, and the exit code is 1 if one is outside what must hold.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from monitoring_study.bands import measure_net_band, measure_top_label_band
from monitoring_study.runs import measure
from monitoring_study.settings import Setting, settings

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "study" / "monitoring.json"
PAGE = ROOT / "docs" / "guide" / "monitoring.md"

BANDS = {
    "band (8), C = 10, 100 rows, sharpened 1.15": (measure_top_label_band, 150, ("held", 0.897)),
    "band (9), C = 3, 1000 rows, calibrated": (measure_net_band, 300, ("held", 0.94)),
}


def run(name: str, runs: int | None) -> dict[str, Any]:
    """The result of a setting by its name."""
    start = time.process_time()
    if name in BANDS:
        function, usual, (key, least) = BANDS[name]
        found: dict[str, Any] = dict(function(runs or usual))
        found["fits"] = runs is not None or found[key] >= least
        found["must"] = f"held ≥ {least:g}"
    else:
        setting = next(each for each in settings() if each.name == name)
        found = dict(measure(setting, runs))
        found |= {
            "fits": runs is not None or fits(setting, found),
            "must": setting.must,
            "looks": setting.n_looks,
        }
    return {"name": name, **found, "seconds": round(time.process_time() - start, 1)}


def fits(setting: Setting, found: dict[str, Any]) -> bool:
    """Whether every measured number lies in its range."""
    return all(low <= found[key] <= high for key, (low, high) in setting.limits.items())


def line(result: dict[str, Any]) -> str:
    """A result as a line of a table."""
    if "held" in result:
        parts = [
            f"{key} {value:.3f}"
            for key, value in result.items()
            if key.startswith(("held", "at ", "ordinary"))
        ]
        return f"| {result['name']} | 60 | {result['runs']} | {', '.join(parts)} | | {result['must']} |"
    delay = "/".join(f"{result[key]:g}" if result[key] < 1e9 else "–" for key in ("median", "90 %"))
    began = f", began {result['began']:.2f}" if "began" in result else ""
    return (
        f"| {result['name']} | {result['looks']} | {result['runs']} | {result['alarms']:.3f} | {delay}{began} | "
        f"{result['must']} |"
    )


def render(results: list[dict[str, Any]]) -> None:
    """Write the table into the page, between its marks."""
    head = "| setting | looks | runs | alarms | delay, median/90 % | must hold |\n|---|---|---|---|---|---|\n"
    table = head + "\n".join(line(result) for result in results) + "\n"
    mark = re.compile(r"(<!-- study -->\n)(.*?)(<!-- end of study -->)", re.DOTALL)
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(mark.sub(lambda found: found[1] + table + found[3], page), encoding="utf-8")


def main() -> int:
    """Run the settings, save and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*", help="run only settings whose name has one of these words")
    parser.add_argument("-j", type=int, default=1, help="processes")
    parser.add_argument("--runs", type=int, help="runs of each setting")
    parser.add_argument("--render", action="store_true", help="only write the page")
    arguments = parser.parse_args()
    saved = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    names = [*(setting.name for setting in settings()), *BANDS]
    if not arguments.render:
        wanted = [
            name for name in names if not arguments.words or any(word in name for word in arguments.words)
        ]
        with ProcessPoolExecutor(arguments.j) as pool:
            for result in pool.map(run, wanted, [arguments.runs] * len(wanted)):
                print(
                    line(result), "" if result["fits"] else " OUTSIDE", f"{result['seconds']} s", flush=True
                )
                saved[result["name"]] = result
                RESULTS.parent.mkdir(parents=True, exist_ok=True)
                RESULTS.write_text(json.dumps(saved, indent=1))
    if PAGE.exists() and arguments.runs is None:
        render([saved[name] for name in names if name in saved])
    return 0 if all(result["fits"] for result in saved.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Which number detects which error: simulated with the library's own numbers, written into docs/guide/which-number.md.

    python scripts/study_which_number.py --runs 400       # about an hour of CPU; adds to what was saved
    python scripts/study_which_number.py --render         # only write the page again from the saved results

Results are in scripts/results/which_number.json: for each setting the number of runs and how many p-values were at most
5 %. A run has its own seed, so that runs can be added at any time.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from inference_study.all_tests import TESTS, p_values
from inference_study.errors_by_kind import ALPHAS, KINDS, rows_with_error

import trueness as tn
from trueness.inference.corrections import benjamini_hochberg
from trueness.inference.events.cumulative import cumulative_differences
from trueness.inference.events.of_table import event_cells

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "scripts" / "results" / "which_number.json"
PAGE = ROOT / "docs" / "guide" / "which-number.md"
BEGIN, END = "<!-- {} begins -->", "<!-- {} ends -->"

RESAMPLES = 99

FURTHER = (
    "Brier Z",
    "Brier reliability in bins",
    "best temperature",
    "KS, top label",
    "smECE, top label",
    "CORP, top label",
    "KS by class, BH",
    "class-conditional VCE",
    "SKCE, unbiased",
)
LINES = (*TESTS, *FURTHER)


def further_p_values(y_true: np.ndarray, y_prob: np.ndarray, seed: int) -> list[float]:
    """The p-values of the numbers that are no part of `assess`."""
    table = tn.tabulate(y_true, y_prob, bins=tn.EqualMass(10))
    top = tn.tabulate_events(y_true, y_prob, events="top")
    conditional = tn.tabulate_by_predicted_class(y_true, y_prob)
    how: dict[str, Any] = {"resamples": RESAMPLES, "rng": seed}

    return [
        tn.brier_test(table).p_value,
        tn.brier_decomposition(table, **how).p_value,
        tn.temperature_profile(y_true, y_prob).fit().p_value,
        cumulative_differences(event_cells(top)[0], [seed, 1], RESAMPLES).ks.p_value,
        tn.smooth_calibration_error(top, **how).p_value,
        tn.corp_decomposition(top, **how).p_value,
        ks_by_class(tn.tabulate_events(y_true, y_prob)),
        tn.class_conditional_errors(conditional, **how).vce.centred_p_value,
        tn.simplex.skce_test(y_true, y_prob, **how).p_value,
    ]


def ks_by_class(events: tn.EventTable) -> float:
    """The smallest p-value of the classes after the correction; by the law of Brownian motion, as draws are too few."""
    tests = [cumulative_differences(it, [0], 1).ks.law_p_value for it in event_cells(events)]
    return min(benjamini_hochberg(tests))


def run(kind: str, n_classes: int, number: int) -> list[bool]:
    """Whether each p-value of one run is at most 5 %."""
    rng = np.random.default_rng([number, n_classes, KINDS.index(kind)])
    y_true, y_prob = rows_with_error(kind, n_classes, rng)
    found = p_values(y_true, y_prob, tn.EqualMass(10), RESAMPLES, number)
    found += further_p_values(y_true, y_prob, number)
    return [not math.isnan(p) and p <= 0.05 for p in found]


def settings() -> list[str]:
    """All settings by name."""
    return [f"{n_classes} {kind}" for n_classes in ALPHAS for kind in KINDS]


def load() -> dict[str, dict[str, Any]]:
    """The saved results by setting; nothing for settings that were not run."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


def add_runs(runs: int) -> None:
    """Run every setting up to so many times, in turns, and save after each turn."""
    results = load()
    for number in range(runs):
        for name in settings():
            saved = results.setdefault(name, {"runs": 0, "detected": dict.fromkeys(LINES, 0)})
            if saved["runs"] > number:
                continue
            n_classes, kind = name.split(" ", 1)
            for line, detected in zip(LINES, run(kind, int(n_classes), number), strict=True):
                saved["detected"][line] += int(detected)
            saved["runs"] += 1
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(f"{number + 1} runs", flush=True)


def table(results: dict[str, dict[str, Any]], n_classes: int) -> str:
    """The share of runs in which each number detects each kind of error, as Markdown."""
    lines = [f"| C = {n_classes} | " + " | ".join(KINDS) + " |", "|---" * (len(KINDS) + 1) + "|"]
    for line in LINES:
        of_kinds = [results[f"{n_classes} {kind}"] for kind in KINDS]
        shares = [it["detected"][line] / it["runs"] for it in of_kinds]
        best = [
            max(it["detected"][other] / it["runs"] for other in LINES if other != "verdict")
            for it in of_kinds
        ]
        cells = [
            f"**{_share(value)}**" if kind != "none" and value >= most - 1e-9 else _share(value)
            for value, most, kind in zip(shares, best, KINDS, strict=True)
        ]
        lines.append(f"| {line} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _share(value: float) -> str:
    return "1" if value > 0.995 else f"{value:.2f}".removeprefix("0")


def render() -> None:
    """Write the tables and the number of runs into the page."""
    results, text = load(), PAGE.read_text(encoding="utf-8")
    runs = min(it["runs"] for it in results.values())
    error = math.sqrt(0.25 / runs)
    parts = {"table of 3": table(results, 3), "table of 10": table(results, 10)}
    parts["runs"] = f"{runs} runs of each setting, standard error at most {error:.3f}".replace("0.", ".")
    for name, content in parts.items():
        begin, end = BEGIN.format(name), END.format(name)
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{content}\n{end}{rest.split(end)[1]}"
    PAGE.write_text(text, encoding="utf-8")


def main(given: list[str]) -> None:
    """Run, then render."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--render", action="store_true")
    arguments = parser.parse_args(given)
    if not arguments.render:
        add_runs(arguments.runs)
    render()


if __name__ == "__main__":
    main(sys.argv[1:])

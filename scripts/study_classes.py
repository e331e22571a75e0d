"""Simulation study of the tests by class and of the combination of all tests into one p-value.

    python scripts/study_classes.py draw                    # p-values of all settings, about forty minutes of CPU
    python scripts/study_classes.py draw --only "C=3 low"   # of some settings, by the beginning of their names
    python scripts/study_classes.py draw --seed 1           # the same with other random rows
    python scripts/study_classes.py show                    # size and power of each test, and of the combinations

The p-values of each setting are saved in build/study/classes/<setting>.npz, so that combinations can be tried without
drawing anew, and an interrupted run continues. The combination was chosen with seed 0; draws with another seed show its
size and power on rows that did not choose it (remove the folder first).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from inference_study.all_tests import TESTS, p_values
from inference_study.combinations import COMBINATIONS
from inference_study.errors_by_kind import ALPHAS, KINDS, rare_event_rows, rows_with_error
from inference_study.settings import ALPHAS as FLAT
from inference_study.settings import BINS, markdown, seed_of, share

import trueness as tn

RESULTS = Path(__file__).resolve().parent.parent / "build" / "study" / "classes"
RESAMPLES = 399

Draw = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]


def settings() -> Iterator[tuple[str, Draw, Any]]:
    """Name, rows and bins of each setting: power, and then size."""
    equal_mass = BINS["EF"]
    for n_classes in ALPHAS:
        for kind in KINDS:
            yield f"C={n_classes} {kind}", _with_error(kind, n_classes), equal_mass
    for n_rows in (300, 1000, 5000):
        for prevalence in (0.01, 0.1, 0.5):
            for spread in (1.0, 2.0):
                name = f"size C=2 {prevalence:g} spread {spread:g} N={n_rows}"
                yield name, _rare(prevalence, spread, n_rows), equal_mass
        for name in ("C=3 flat", "C=10 flat", "C=100 flat"):
            for kind, bins in BINS.items():
                yield f"size {name} N={n_rows} {kind}", _calibrated(FLAT[name], n_rows), bins
        yield f"size C=100 peaked N={n_rows} EF", _calibrated((0.05,) * 100, n_rows), equal_mass
        yield f"size C=10 certain N={n_rows} EF", _calibrated((0.01,) * 10, n_rows), equal_mass


def _with_error(kind: str, n_classes: int) -> Draw:
    return lambda rng: rows_with_error(kind, n_classes, rng)


def _rare(prevalence: float, spread: float, n_rows: int) -> Draw:
    return lambda rng: rare_event_rows(prevalence, spread, n_rows, rng)


def _calibrated(alpha: tuple[float, ...], n_rows: int) -> Draw:
    return lambda rng: tn.simulate.calibrated(n_rows, alpha, rng=rng)


def draw(only: list[str], runs: int | None, seed: int) -> None:
    """Draw the p-values of the settings that have not been drawn yet, and save them."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name, rows, bins in settings():
        path = RESULTS / f"{name}.npz"
        if path.exists() or (only and not any(name.startswith(start) for start in only)):
            continue
        rng, began = np.random.default_rng([seed_of(name), seed] if seed else seed_of(name)), time.monotonic()
        count = runs or _runs(name)
        p = [p_values(*rows(rng), bins, RESAMPLES, int(rng.integers(2**31))) for _ in range(count)]
        np.savez(path, p=np.array(p))
        print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)


def _runs(name: str) -> int:
    """Fewer runs where a run is slow."""
    if "C=100" in name:
        return 200
    return 600 if "C=2" in name or "C=3 none" in name else 400


def saved() -> dict[str, np.ndarray]:
    """The p-values of each setting that was drawn, (runs, tests)."""
    names = [name for name, _, _ in settings()]
    return {name: np.load(path)["p"] for name in names if (path := RESULTS / f"{name}.npz").exists()}


def power_table(p: dict[str, np.ndarray], n_classes: int) -> str:
    """The share of runs with p ≤ .05, for each test and each combination, by kind of error."""
    columns = {kind: p[f"C={n_classes} {kind}"] for kind in KINDS if f"C={n_classes} {kind}" in p}
    lines = [
        [test, *(share((q[:, k] <= 0.05).mean()) for q in columns.values())] for k, test in enumerate(TESTS)
    ]
    lines += [
        [f"**{name}**", *(share((combine(q) <= 0.05).mean()) for q in columns.values())]
        for name, combine in COMBINATIONS.items()
    ]
    return markdown([f"C = {n_classes}", *columns], lines)


def summary(p: dict[str, np.ndarray]) -> str:
    """Size and relative power of each combination over all settings."""
    size = {name: q for name, q in p.items() if name.startswith("size") or "none" in name}
    power = {name: q for name, q in p.items() if name not in size}
    lines = []
    for name, combine in COMBINATIONS.items():
        sizes = [(combine(q) <= 0.05).mean() for q in size.values()]
        ratios = {case: r for case, q in power.items() if (r := relative_power(q, combine)) is not None}
        worst = min(ratios, key=lambda case: ratios[case]) if ratios else ""
        lines.append(
            [
                name,
                f"{share(min(sizes))} to {share(max(sizes))}" if sizes else "",
                share(float(np.mean(sizes))) if sizes else "",
                f"{ratios[worst]:.2f} ({worst})" if ratios else "",
                f"{np.mean(list(ratios.values())):.3f}" if ratios else "",
            ]
        )
    return markdown(["combination", "size", "mean size", "worst power / best single", "mean"], lines)


def relative_power(p: np.ndarray, combine: Callable[[np.ndarray], np.ndarray]) -> float | None:
    """The power of a combination beside that of the best test; None if that is below one half."""
    best = float((p <= 0.05).mean(axis=0).max())
    return float((combine(p) <= 0.05).mean()) / best if best >= 0.5 else None


def main(arguments: list[str]) -> int:
    """Draw p-values, or show what was drawn."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["draw", "show"])
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of the names of settings")
    parser.add_argument(
        "--runs", type=int, help="runs of each setting (default: 600 for size, 400 for power)"
    )
    parser.add_argument("--seed", type=int, default=0, help="another number draws other rows")
    options = parser.parse_args(arguments)
    if options.what == "draw":
        draw(options.only, options.runs, options.seed)
        return 0
    p = saved()
    for n_classes in ALPHAS:
        print(power_table(p, n_classes), "\n")
    print(summary(p))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

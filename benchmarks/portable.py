"""The portable engine against the plain whole-array formula: ratios in one run, on the same rows.

Run it with ``make bench``. The contenders alternate, and the best time of each counts, so that a busy moment of the
machine affects both. Memory is the largest growth of the process while a table is computed.
"""

import argparse
import gc
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

import trueness as tn

CASES = [
    # rows, classes, dtype, required ratio
    (2_000_000, 10, "float64", 1.4),
    (2_000_000, 10, "float32", None),
    (2_000_000, 3, "float64", 0.8),
    (200_000, 100, "float64", 3.0),
    (20_000, 1000, "float64", 2.4),
    (20_000, 1000, "float32", None),
]
"""The limits are about two thirds of what was reached before this engine followed the rule for equal bits."""

QUICK = 50
"""Divisor of all sizes in a quick run."""


def whole_array_formula(y_true: np.ndarray, y_prob: np.ndarray, n_bins: int = 10) -> float:
    """VCE in plain NumPy: a stable argsort, whole arrays, no validation, float sums."""
    n_rows, n_classes = y_prob.shape
    order = np.argsort(-y_prob, axis=1, kind="stable")
    ordered = np.take_along_axis(y_prob, order, axis=1)
    rank = np.argmax(order == y_true[:, None], axis=1)
    entropy = -np.sum(y_prob * np.log(np.where(y_prob > 0, y_prob, 1.0)), axis=1) / np.log(n_classes)
    bins = np.clip(np.ceil(entropy * n_bins).astype(np.intp) - 1, 0, n_bins - 1)
    count = np.bincount(bins, minlength=n_bins)
    total = [np.bincount(bins, weights=ordered[:, c], minlength=n_bins) for c in range(n_classes)]
    ranks = np.bincount(bins * n_classes + rank, minlength=n_bins * n_classes).reshape(n_bins, n_classes)
    filled = count > 0
    q, r = (x[filled] / count[filled, None] for x in (np.stack(total, axis=1), ranks))
    predicted, observed = (
        -np.sum(x * np.log(np.where(x > 0, x, 1.0)), axis=1) / np.log(n_classes) for x in (q, r)
    )
    return float(count[filled] / n_rows @ np.abs(observed - predicted))


def portable_vce(y_true: np.ndarray, y_prob: np.ndarray) -> float:
    """VCE by the portable engine."""
    return tn.variation_calibration_error(tn.tabulate(y_true, y_prob, engine="portable"))


def best_of_turns(contenders: list[Callable[[], object]], turns: int, *, collect: bool = True) -> list[float]:
    """The shortest time of each contender, in seconds; they take turns, each after a collection of garbage or not."""
    best = [np.inf] * len(contenders)
    for _ in range(turns):
        for which, contender in enumerate(contenders):
            if collect:
                gc.collect()
            begin = time.perf_counter()
            contender()
            best[which] = min(best[which], time.perf_counter() - begin)
    return best


def rows_of(n_rows: int, n_classes: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Calibrated rows."""
    y_true, y_prob = tn.simulate.calibrated(n_rows, [1.0] * n_classes, rng=0)
    return y_true, y_prob.astype(dtype)


def compare_speed(scale: int) -> None:
    """Compare VCE by the portable engine with the formula."""
    print("nanoseconds per row, and the ratio")
    print(
        f"{'rows':>9} {'classes':>7} {'dtype':>8} {'formula':>9} {'trueness':>9} {'ratio':>6} {'needed':>6}"
    )
    for most_rows, n_classes, dtype, needed in CASES:
        n_rows = most_rows // scale
        y_true, y_prob = rows_of(n_rows, n_classes, dtype)
        plain, ours = best_of_turns(
            [lambda: whole_array_formula(y_true, y_prob), lambda: portable_vce(y_true, y_prob)],  # noqa: B023
            turns=3,
        )
        wanted = "" if needed is None else f"{needed:.1f}"
        print(
            f"{n_rows:9} {n_classes:7} {dtype:>8} {plain / n_rows * 1e9:9.0f} {ours / n_rows * 1e9:9.0f} "
            f"{plain / ours:6.2f} {wanted:>6}"
        )


def compare_small(scale: int) -> None:
    """Compare both on 1000 rows, where the overhead of NumPy calls dominates."""
    y_true, y_prob = rows_of(1000, 10, "float64")
    contenders = [lambda: whole_array_formula(y_true, y_prob), lambda: portable_vce(y_true, y_prob)]
    plain, ours = best_of_turns(contenders, turns=300 // scale)
    print(
        f"\n1000 rows: formula {plain * 1e6:.0f} us, trueness {ours * 1e6:.0f} us, {ours / plain:.2f} times (at most 2)"
    )


def peak_growth(scale: int) -> None:
    """Print the peak memory of a call beyond its input, for equal-width and equal-mass bins."""
    print(
        "\nmemory beyond the input, MB (equal width: at most 64 at any N; equal mass keeps V, 8 bytes a row)"
    )
    for n_rows in (100_000 // scale, 1_000_000 // scale, 8_000_000 // scale):
        y_true, y_prob = rows_of(n_rows, 10, "float64")
        for bins in (tn.EqualWidth(10), tn.EqualMass(10)):
            tracemalloc.start()
            tn.tabulate(y_true, y_prob, bins=bins, engine="portable")
            held = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            print(f"{n_rows:9} rows {bins!s:>21} {held / 2**20:8.1f}")


def import_time(turns: int) -> None:
    """Compare `import trueness` with `import numpy`, in fresh processes with compiled bytecode."""
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}

        def start(module: str) -> float:
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", f"import {module}"], check=True, env=environment)
            return time.perf_counter() - begin

        numpy, ours = (min(start(module) for _ in range(turns)) for module in ("numpy", "trueness"))
    print(
        f"\nimport numpy {numpy * 1e3:.0f} ms, import trueness {ours * 1e3:.0f} ms, {ours / numpy:.2f} times"
    )


def main() -> None:
    """Print the machine, then all results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a short run, only to check that the script works"
    )
    quick = parser.parse_args().quick
    scale = QUICK if quick else 1
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    print(f"{names[0].split(':')[1].strip()}, Python {platform.python_version()}, NumPy {np.__version__}\n")
    compare_speed(scale)
    compare_small(scale)
    peak_growth(scale)
    import_time(2 if quick else 15)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(f"\n(whole run: {usage.ru_utime + usage.ru_stime:.0f} s of processor time)")


if __name__ == "__main__":
    main()

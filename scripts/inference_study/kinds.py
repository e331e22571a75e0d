"""Which test detects which kind of error, and how often two calibrated classes are called miscalibrated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from inference_study.all_tests import TESTS, p_values
from inference_study.errors_by_kind import ALPHAS, KINDS, Rows, rare_event_rows, rows_with_error
from inference_study.settings import BINS, markdown, seed_of, share

RESAMPLES = 399


def kind_settings(repeats: int) -> list[dict[str, Any]]:
    """Every kind of error, of three and of ten classes."""
    return [
        {"part": "kinds", "classes": n_classes, "kind": kind, "repeats": repeats}
        for n_classes in ALPHAS
        for kind in KINDS
    ]


def measure_kinds(setting: dict[str, Any]) -> dict[str, Any]:
    """The rejection rate of each test at 5 %."""
    return _rejected(setting, lambda rng: rows_with_error(setting["kind"], setting["classes"], rng))


def kind_table(rows: list[dict[str, Any]], n_classes: int) -> str:
    """One line for each test, one column for each kind of error."""
    columns = [row for row in rows if row["classes"] == n_classes]
    head = [f"C = {n_classes}", *(row["kind"] for row in columns)]
    lines = [[test, *(share(row["rejected"][k]) for row in columns)] for k, test in enumerate(TESTS)]
    return markdown(head, lines)


def two_class_settings(repeats: int) -> list[dict[str, Any]]:
    """Calibrated rows of two classes, of which one may be rare."""
    return [
        {"part": "two-classes", "prevalence": prevalence, "spread": spread, "rows": n, "repeats": repeats}
        for prevalence in (0.01, 0.1, 0.5)
        for spread in (1.0, 2.0)
        for n in (300, 1000, 5000)
    ]


def measure_two_classes(setting: dict[str, Any]) -> dict[str, Any]:
    """The rejection rate of each test at 5 %."""
    prevalence, spread, n = setting["prevalence"], setting["spread"], setting["rows"]
    return _rejected(setting, lambda rng: rare_event_rows(prevalence, spread, n, rng))


def two_class_table(rows: list[dict[str, Any]]) -> str:
    """One line for each setting."""
    shown = [k for k, test in enumerate(TESTS) if test != "RCE W1"]
    head = ["prevalence", "spread", "rows", *(TESTS[k] for k in shown)]
    lines = [
        [
            f"{row['prevalence']:.0%}",
            f"{row['spread']:g}",
            str(row["rows"]),
            *(share(row["rejected"][k]) for k in shown),
        ]
        for row in rows
    ]
    return markdown(head, lines)


def _rejected(setting: dict[str, Any], draw: Callable[[np.random.Generator], Rows]) -> dict[str, Any]:
    rng = np.random.default_rng(seed_of(setting))
    p = np.array(
        [
            p_values(*draw(rng), BINS["EF"], RESAMPLES, int(rng.integers(2**31)))
            for _ in range(setting["repeats"])
        ]
    )
    return {"rejected": (p <= 0.05).mean(axis=0).tolist()}

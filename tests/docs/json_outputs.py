"""Real output of every kind that is JSON, by what made it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from option_rows import N_OPTIONS, ROWS, Y_TRUE

import trueness as tn

THREE_TRUE, THREE = tn.simulate.calibrated(900, [2, 1, 1], rng=1)
SHARP = tn.simulate.sharpen(THREE, 1.6)
TWO_TRUE, TWO = tn.simulate.calibrated(600, [1, 2], rng=2)
THIRDS = np.array(["a", "b", "c"])[np.arange(900) % 3]
IMAGES = np.arange(900) // 30
WEIGHT = np.random.default_rng(3).uniform(0.5, 2, 900)
IMPOSSIBLE = np.vstack([np.delete(THREE, 0, axis=0), [[0.0, 0.5, 0.5]]])
SHARES = np.random.default_rng(4).dirichlet([1, 1, 1], 900)
LABELS = np.random.default_rng(5).random((500, 3)) < 0.3
EVENTS = np.random.default_rng(6).uniform(0.05, 0.6, (500, 3))
VOTES = np.random.default_rng(7).multinomial(8, [0.5, 0.3, 0.2], 200)
TOP = -np.sort(-tn.simulate.calibrated(400, [0.2] * 30, rng=8)[1], axis=1)[:, :5]
FEW = {"resamples": 99}

RESULTS: dict[str, Callable[[], Any]] = {
    "three classes": lambda: tn.assess(THREE_TRUE, SHARP, **FEW),
    "two classes": lambda: tn.assess(TWO_TRUE, TWO, **FEW),
    "a tolerance": lambda: tn.assess(THREE_TRUE, THREE, tolerance=0.05, **FEW),
    "groups, some too small": lambda: tn.assess(
        THREE_TRUE, SHARP, groups=np.where(np.arange(900) < 5, "small", THIRDS), **FEW
    ),
    "compared groups": lambda: tn.assess(THREE_TRUE, SHARP, groups=THIRDS, **FEW).with_compared_groups(),
    "clusters": lambda: tn.assess(THREE_TRUE, SHARP, clusters=IMAGES, **FEW),
    "weights": lambda: tn.assess(THREE_TRUE, THREE, sample_weight=WEIGHT, **FEW),
    "soft labels": lambda: tn.assess(SHARES, THREE, soft_labels=True, **FEW),
    "impossible rows": lambda: tn.assess(np.append(THREE_TRUE[1:], 0), IMPOSSIBLE, **FEW),
    "four rows": lambda: tn.assess(THREE_TRUE[:4], THREE[:4], **FEW),
    "another measure": lambda: tn.assess(THREE_TRUE, THREE, variation="confidence", **FEW),
    "without classes": lambda: tn.assess(THREE_TRUE, THREE, by_class=False, **FEW),
    "bins of equal mass": lambda: tn.assess(THREE_TRUE, THREE, bins=tn.EqualMass(7), **FEW),
    "options": lambda: tn.assess(Y_TRUE, ROWS, n_options=N_OPTIONS, **FEW),
    "the k largest classes": lambda: tn.assess_top(np.arange(400) % 6, TOP, n_classes=30, **FEW),
    "an event": lambda: tn.assess_event(TWO_TRUE, TWO[:, 1], **FEW),
    "an event in groups": lambda: tn.assess_event(TWO_TRUE, TWO[:, 1], groups=THIRDS[:600], **FEW),
    "a stated confidence": lambda: tn.assess_event(TWO_TRUE, TWO[:, 1], what="right", **FEW),
    "several labels": lambda: tn.assess_event(LABELS, EVENTS, multilabel=True, **FEW),
    "votes": lambda: tn.assess_votes(np.arange(200) % 3, VOTES, **FEW),
    "a comparison": lambda: tn.compare(THREE_TRUE, {"plain": THREE, "sharp": SHARP}, **FEW),
    "a comparison of two classes": lambda: tn.compare(TWO_TRUE, {"a": TWO, "b": TWO[:, ::-1]}, **FEW),
    "a comparison in groups": lambda: tn.compare(
        THREE_TRUE, {"a": THREE, "b": SHARP}, groups=np.where(np.arange(900) < 5, "small", THIRDS), **FEW
    ),
    "a recalibration": lambda: tn.compare_recalibration(THREE_TRUE, SHARP, **FEW),
    "probabilities before and after": lambda: tn.compare_recalibration(THREE_TRUE, SHARP, THREE, **FEW),
    "a recalibration of impossible rows": lambda: tn.compare_recalibration(
        np.ones(100, int), np.tile([1.0, 0.0], (100, 1)), np.tile([1.0, 0.0], (100, 1)), **FEW
    ),
    "different rows": lambda: tn.compare_tables(
        {"a": tn.tabulate(THREE_TRUE, THREE), "b": tn.tabulate(THREE_TRUE, SHARP)}, **FEW
    ),
    "numbers of bins": lambda: tn.sweep_bins(tn.tabulate(THREE_TRUE, THREE, bins=tn.FineGrid()), **FEW),
    "numbers of bins of classes": lambda: tn.sweep_bins(tn.tabulate_events(THREE_TRUE, THREE), **FEW),
    "another library": lambda: tn.compare_convention(THREE_TRUE, THREE, "torchmetrics"),
}


def _many_bins() -> Any:
    return tn.tabulate(THREE_TRUE, THREE, bins=tn.FineGrid(400))


TABLES: dict[str, Callable[[], Any]] = {
    "ranks": lambda: tn.tabulate(THREE_TRUE, THREE),
    "weighted ranks": lambda: tn.tabulate(THREE_TRUE, THREE, sample_weight=WEIGHT),
    "many bins": _many_bins,
    "soft labels": lambda: tn.tabulate(SHARES, THREE, soft_labels=True),
    "the k largest classes": lambda: tn.tabulate_top(np.arange(400) % 6, TOP, n_classes=30),
    "events": lambda: tn.tabulate_events(THREE_TRUE, THREE),
    "weighted events": lambda: tn.tabulate_events(THREE_TRUE, THREE, sample_weight=WEIGHT),
    "one event": lambda: tn.tabulate_events(TWO_TRUE, TWO, events=[1]),
    "options": lambda: tn.tabulate(Y_TRUE, ROWS, n_options=N_OPTIONS),
}


def monitor(**settings: Any) -> tn.Monitor:
    made = tn.Monitor(**settings)
    for day in range(1, 8):
        y_true, y_prob = tn.simulate.calibrated(400, [1, 1, 1], rng=day)
        made.update(
            tn.tabulate(y_true, tn.simulate.sharpen(y_prob, 1.6 if day > 3 else 1.0)), at=f"2026-11-0{day}"
        )
    return made


def monitor_of_groups() -> tn.Monitor:
    made = tn.Monitor(alpha=0.05)
    for day in range(1, 5):
        y_true, y_prob = tn.simulate.calibrated(400, [1, 1, 1], rng=day)
        sharp = tn.simulate.sharpen(y_prob, 2.0)
        tables = {
            "north": [tn.tabulate(y_true, y_prob), tn.tabulate_events(y_true, y_prob)],
            "south": [tn.tabulate(y_true, sharp), tn.tabulate_events(y_true, sharp)],
        }
        made.update(tables, at=day)
    return made


MONITORS: dict[str, Callable[[], tn.Monitor]] = {
    "no look": tn.Monitor,
    "an alarm": lambda: monitor(tolerance=0.0),
    "an average run": lambda: monitor(average_run=50.0),
    "a reference": lambda: monitor(reference=tn.tabulate(THREE_TRUE, THREE)),
    "groups": monitor_of_groups,
}

ERRORS: dict[str, Callable[[], Any]] = {
    "a row": lambda: tn.vce([0, 1], [[0.5, 0.5], [0.5, 0.6]]),
    "a type": lambda: tn.vce([0, 1], "text"),
    "a class": lambda: tn.vce([0, 7], [[0.5, 0.5], [0.5, 0.5]]),
}


def refusal(call: Callable[[], Any]) -> dict[str, Any]:
    try:
        call()
    except tn.Refusal as refused:
        return refused.to_dict()
    raise AssertionError("not refused")


def content_of(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))

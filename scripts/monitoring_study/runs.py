"""Settings of the study and what is measured in each: alarms, delays, when it began, coverage of bands."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from monitoring_study import streams
from monitoring_study.streams import Counts, Fault, calibrated, sharpened
from trueness import CalibrationTable, simulate, tabulate
from trueness.inference.estimates import ResampledTable, net_gap
from trueness.monitoring.bands import frequency_band, running_factor
from trueness.monitoring.directions import rank_directions
from trueness.monitoring.families import OF_CLASSES, EventBets, RankBets
from trueness.monitoring.reference import STAKES, drift_log_values, score_of
from trueness.monitoring.starts import Evidence
from trueness.monitoring.trend import RESAMPLES
from trueness.table import EventSpec


@dataclass(frozen=True)
class Setting:
    """A stream, a monitor, the number of looks and runs, and what must hold."""

    name: str
    n_classes: int
    n_rows: int
    fault: Fault
    n_looks: int
    runs: int
    must: str
    after: int = 0
    alpha: float = 0.05
    tolerance: float = 0.0
    copies: int = 1
    max_cluster: int = 1
    dirichlet: list[float] | None = None
    classes: bool = False
    """Whether class tables are watched too."""
    reference: tuple[Fault, int] | None = None
    """The fault of a reference and its number of rows."""
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    """The range in which each measured number must lie."""


def measure(setting: Setting, runs: int | None = None) -> dict[str, float]:
    """Share of alarms, quantiles of the delay, and how well the start is estimated."""
    delays, errors, early = [], [], 0
    n_runs = runs or setting.runs
    for run in range(n_runs):
        rng = np.random.default_rng([zlib.crc32(setting.name.encode()), run])
        evidence = evidence_of(setting, rng)
        limit = math.log(1 / setting.alpha) if setting.reference is None else math.log(2 / setting.alpha)
        reached = np.flatnonzero(np.array(evidence.path) >= limit)
        look = int(reached[0]) if len(reached) else None
        early += look is not None and look < setting.after
        delays.append(math.inf if look is None else look + 1 - setting.after)
        if look is not None and look >= setting.after:
            errors.append(abs(evidence.onset(look + 1, limit).began - setting.after))
    late = np.sort([delay for delay in delays if delay > 0])
    found = {
        "runs": n_runs,
        "alarms": float(np.mean(np.isfinite(delays))),
        "median": float(np.quantile(late, 0.5, method="higher")) if len(late) else math.inf,
        "90 %": float(np.quantile(late, 0.9, method="higher")) if len(late) else math.inf,
    }
    if setting.after:
        found |= {"early": early / n_runs, "began": float(np.mean(np.array(errors) <= 1)) if errors else 0.0}
    return found


def evidence_of(setting: Setting, rng: np.random.Generator) -> Evidence:
    """The evidence after each look of one run."""
    counts = streams.stream(
        setting.n_classes,
        setting.n_rows,
        setting.n_looks,
        setting.fault,
        rng,
        after=setting.after,
        copies=setting.copies,
        alpha=setting.dirichlet,
        with_events=setting.classes,
    )
    values, weights = log_values(setting, counts, rng)
    evidence = Evidence(np.log(weights))
    for line in values:
        evidence.add(line)
    return evidence


def log_values(setting: Setting, counts: Counts, rng: np.random.Generator) -> tuple[Any, Any]:
    """ln e_j of each look, and v_j."""
    size = float(setting.max_cluster)
    if setting.reference is not None:
        return _drift(setting, counts, rng)
    ranks = RankBets(setting.n_classes, streams.N_BINS, setting.tolerance, size)
    values = ranks.of_cells(counts.cells)
    if not setting.classes:
        return values, ranks.weights
    events = EventBets(EventSpec.by_class(setting.n_classes), setting.tolerance, size)
    both = np.concatenate([values, events.of_cells(counts.event_cells)], axis=1)
    return both, np.concatenate([(1 - OF_CLASSES) * ranks.weights, OF_CLASSES * events.weights])


def _drift(setting: Setting, counts: Counts, rng: np.random.Generator) -> tuple[Any, Any]:
    assert setting.reference is not None
    fault, n_rows = setting.reference
    reference = streams.stream(setting.n_classes, n_rows, 1, fault, rng, alpha=setting.dirichlet)
    directions = rank_directions(setting.n_classes)
    level = math.log(len(directions) / (setting.alpha / 2))
    score = score_of(reference.cells, directions, n_rows, level, 1.0)
    cells = counts.cells
    values = [
        drift_log_values(score, cells.part(slice(k, k + 1)), setting.n_rows, setting.tolerance)
        for k in range(setting.n_looks)
    ]
    return np.array(values), np.array([each.weight / len(STAKES) for each in directions for _ in STAKES])


def measure_top_label_band(runs: int, n_looks: int = 60, alpha: float = 0.05) -> dict[str, float]:
    """Coverage of band (8) at all looks at once, and its half width: C = 10, 100 rows, sharpened 1.15."""
    held, widths = 0, []
    n_rows = 100
    for run in range(runs):
        rng = np.random.default_rng([8, run])
        p = simulate.calibrated(n_rows * n_looks, streams.ALPHA[10], rng=int(rng.integers(2**31))).y_prob
        y_true, q = sharpened(1.15)(p, rng)
        top = q.argmax(axis=1)
        hit, confidence, chance = y_true == top, q.max(axis=1), p[np.arange(len(p)), top]
        at = np.arange(1, n_looks + 1) * n_rows
        n = at.astype(float)
        observed, mean, true = (np.cumsum(x.astype(float))[at - 1] for x in (hit, confidence, chance))
        low, high = frequency_band(observed, n, alpha)
        gap = (mean - true) / n
        held += bool(np.all((mean / n - high <= gap) & (gap <= mean / n - low)))
        widths.append(((high - low) / 2)[[0, 9, n_looks - 1]])
    at_looks = np.mean(widths, axis=0)
    return {
        "runs": runs,
        "held": held / runs,
        "at 1": at_looks[0],
        "at 10": at_looks[1],
        "at 60": at_looks[2],
    }


def measure_net_band(
    runs: int, n_classes: int = 3, n_rows: int = 1000, n_looks: int = 60
) -> dict[str, float]:
    """Coverage of band (9), and of the ordinary interval, at all looks at once: calibrated, the library's ĝ and s."""
    held = ordinary = 0
    for run in range(runs):
        rng = np.random.default_rng([9, run])
        apart = []
        total: CalibrationTable | None = None
        for _ in range(n_looks):
            look = tabulate(
                *simulate.calibrated(n_rows, streams.ALPHA[n_classes], rng=int(rng.integers(2**31)))
            )
            total = look if total is None else total + look
            resampled = ResampledTable.of(total, RESAMPLES, [0])
            gap, sd = net_gap(resampled, 0.95).debiased, resampled.net_sd
            apart.append((abs(gap) / sd, running_factor(total.n_rows, n_rows, 0.05)))
        held += all(z <= factor for z, factor in apart)
        ordinary += all(z <= 1.959964 for z, _ in apart)
    return {"runs": runs, "held": held / runs, "ordinary held": ordinary / runs}


def settings() -> list[Setting]:
    """The simulated lines of section 12, and those of classes."""
    return [*_lines(), *_class_lines()]


def _lines() -> list[Setting]:
    def alarms(most: float) -> dict[str, Any]:
        return {"limits": {"alarms": (0.0, most)}}

    def delay(median: tuple[float, float], ninety: tuple[float, float]) -> dict[str, Any]:
        return {"limits": {"median": median, "90 %": ninety}}

    sharp = sharpened
    copies = {"copies": 10, "max_cluster": 10}
    at_115, at_13 = sharp(1.15), sharp(1.3)
    return [
        Setting(
            "C = 3, 100 rows, calibrated, 60 looks", 3, 100, calibrated, 60, 1000, "≤ .071", **alarms(0.071)
        ),
        Setting(
            "C = 10, 100 rows, calibrated, 60 looks", 10, 100, calibrated, 60, 1000, "≤ .071", **alarms(0.071)
        ),
        Setting(
            "C = 3, 100 rows, calibrated, 365 looks", 3, 100, calibrated, 365, 500, "≤ .079", **alarms(0.079)
        ),
        Setting(
            "C = 3, 1000 rows, sharpened 1.15", 3, 1000, at_115, 10, 200, "2–3 / 4–5", **delay((2, 3), (4, 5))
        ),
        Setting(
            "C = 3, 100 rows, sharpened 1.3", 3, 100, at_13, 30, 200, "5–6 / 9–13", **delay((5, 6), (9, 13))
        ),
        Setting(
            "C = 3, 1000 rows, sharpened 1.05",
            3,
            1000,
            sharp(1.05),
            60,
            200,
            "14–20 / 26–38",
            **delay((14, 20), (26, 38)),
        ),
        Setting(
            "C = 10, 100 rows, sharpened 1.3", 10, 100, at_13, 10, 200, "2 / 3–4", **delay((2, 2), (3, 4))
        ),
        Setting(
            "C = 10, 100 rows, flattened 0.8",
            10,
            100,
            sharp(0.8),
            15,
            200,
            "3–4 / 5–6",
            **delay((3, 4), (5, 6)),
        ),
        Setting(
            "C = 2, 1000 rows, sharpened 1.15", 2, 1000, at_115, 15, 200, "3–4 / 5–7", **delay((3, 4), (5, 7))
        ),
        Setting(
            "C = 10, 100 rows, top two swapped in 10 %",
            10,
            100,
            streams.swapped(0.1),
            40,
            200,
            "10–12 / 18–23",
            **delay((10, 12), (18, 23)),
        ),
        Setting(
            "C = 3, 1000 rows, 1.15 after 100 looks",
            3,
            1000,
            at_115,
            120,
            100,
            "5–6 / 7–9, began ≥ .78",
            after=100,
            limits={"median": (5, 6), "90 %": (7, 9), "began": (0.78, 1.0), "early": (0.0, 0.115)},
        ),
        Setting(
            "C = 3, 1000 rows, sharpened 1.3, δ = .02",
            3,
            1000,
            at_13,
            15,
            100,
            "3–4 / 5–6",
            tolerance=0.02,
            **delay((3, 4), (5, 6)),
        ),
        Setting(
            "C = 3, 1000 rows, RCE = δ = .02",
            3,
            1000,
            sharp(1.1048),
            60,
            150,
            "≤ .103",
            tolerance=0.02,
            **alarms(0.103),
        ),
        Setting(
            "100 clusters × 10 copies, calibrated, max_cluster 10",
            3,
            1000,
            calibrated,
            60,
            200,
            "≤ .096",
            **copies,
            **alarms(0.096),
        ),
        Setting(
            "100 clusters × 10 copies, calibrated, max_cluster 1",
            3,
            1000,
            calibrated,
            60,
            60,
            "> .95",
            copies=10,
            limits={"alarms": (0.95, 1.0)},
        ),
        Setting(
            "100 clusters × 10 copies, sharpened 1.3, max_cluster 10",
            3,
            1000,
            at_13,
            30,
            100,
            "5–7",
            **copies,
            limits={"median": (5, 7)},
        ),
        Setting(
            "reference 20 000 rows at 1.15, stream at 1.15",
            3,
            1000,
            at_115,
            60,
            200,
            "≤ .096",
            reference=(at_115, 20_000),
            **alarms(0.096),
        ),
        Setting(
            "reference 20 000 rows at 1.15, stream at 1.3",
            3,
            1000,
            at_13,
            30,
            100,
            "4–7 / 8–14",
            reference=(at_115, 20_000),
            **delay((4, 7), (8, 14)),
        ),
    ]


def _class_lines() -> list[Setting]:
    alike = {"classes": True, "dirichlet": [1.0] * 10}
    shift, timid = streams.label_shift, streams.class_temperature
    shared = {"n_classes": 10, "n_rows": 1000}
    return [
        Setting(
            "classes alike, 100 rows, calibrated, 60 looks",
            10,
            100,
            calibrated,
            60,
            400,
            "≤ .083",
            **alike,
            limits={"alarms": (0, 0.083)},
        ),
        Setting(
            "classes unlike, 100 rows, calibrated, 60 looks",
            10,
            100,
            calibrated,
            60,
            400,
            "≤ .083",
            classes=True,
            limits={"alarms": (0, 0.083)},
        ),
        Setting(
            "classes alike, one 5 points more frequent",
            **shared,
            fault=shift(0.05),
            n_looks=15,
            runs=100,
            must="seen",
            **alike,
            limits={"alarms": (1, 1)},
        ),
        Setting(
            "the same, ranks alone",
            **shared,
            fault=shift(0.05),
            n_looks=60,
            runs=40,
            must="not seen",
            dirichlet=[1.0] * 10,
        ),
        Setting(
            "classes alike, one 5 points more frequent, 100 rows", 10, 100, shift(0.05), 60, 100, "", **alike
        ),
        Setting(
            "classes alike, one 5 points less frequent",
            **shared,
            fault=shift(-0.05),
            n_looks=15,
            runs=100,
            must="seen",
            **alike,
            limits={"alarms": (1, 1)},
        ),
        Setting(
            "classes alike, one 2 points more frequent",
            **shared,
            fault=shift(0.02),
            n_looks=60,
            runs=60,
            must="",
            **alike,
        ),
        Setting(
            "classes alike, one 5 points more frequent, δ = .02",
            **shared,
            fault=shift(0.05),
            n_looks=30,
            runs=60,
            must="seen",
            tolerance=0.02,
            **alike,
            limits={"alarms": (1, 1)},
        ),
        Setting(
            "classes alike, one 1 point more frequent, δ = .02",
            **shared,
            fault=shift(0.01),
            n_looks=60,
            runs=60,
            must="≤ .13",
            tolerance=0.02,
            **alike,
            limits={"alarms": (0, 0.13)},
        ),
        Setting(
            "classes alike, odds of one to the power 1.3",
            **shared,
            fault=timid(1.3),
            n_looks=20,
            runs=60,
            must="",
            **alike,
        ),
        Setting(
            "classes alike, odds of one to the power 0.75",
            **shared,
            fault=timid(0.75),
            n_looks=20,
            runs=60,
            must="",
            **alike,
        ),
        Setting(
            "classes alike, sharpened 1.15, with class tables",
            **shared,
            fault=sharpened(1.15),
            n_looks=20,
            runs=100,
            must="",
            **alike,
        ),
        Setting(
            "classes alike, sharpened 1.15, ranks alone",
            **shared,
            fault=sharpened(1.15),
            n_looks=20,
            runs=100,
            must="",
            dirichlet=[1.0] * 10,
        ),
        Setting(
            "5 points after 100 calibrated looks",
            **shared,
            fault=shift(0.05),
            n_looks=115,
            runs=30,
            must="",
            after=100,
            **alike,
        ),
    ]

"""What is measured in each setting of the study: alarms, delays, and when the fault began."""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np

from monitoring_study import streams
from monitoring_study.settings import Setting
from monitoring_study.streams import Counts
from trueness.monitoring.directions import rank_directions
from trueness.monitoring.families import OF_CLASSES, EventBets, RankBets
from trueness.monitoring.reference import STAKES, drift_log_values, score_of
from trueness.monitoring.starts import Evidence
from trueness.table import EventSpec


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

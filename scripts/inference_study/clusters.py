"""Size and coverage with clustered rows."""

from __future__ import annotations

from typing import Any

import numpy as np

import trueness as tn
from inference_study.settings import ALPHAS, markdown, p_values, seed_of, share


def cluster_settings(repeats: int) -> list[dict[str, Any]]:
    """Settings with calibrated rows in clusters."""
    return [
        {"part": "clusters", "alpha": alpha, "clusters": k, "rows": rows, "kind": kind, "repeats": repeats}
        for alpha in ("C=3 flat", "C=10 flat")
        for k, rows in ((30, 20), (100, 10), (300, 5))
        for kind in ("copies", "correlated", "across bins", "independent")
    ]


def clustered_rows(
    setting: dict[str, Any], seeds: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Calibrated rows in clusters of copies, of equal p with half of the labels redrawn, or of independent rows."""
    k, rows = setting["clusters"], setting["rows"]
    names = np.repeat(np.arange(k), rows)
    y_true, y_prob = tn.simulate.calibrated(k, ALPHAS[setting["alpha"]], rng=seeds)
    if setting["kind"] == "across bins":
        return across_bins(k, rows, setting["alpha"], seeds)
    if setting["kind"] == "independent":
        return *tn.simulate.calibrated(k * rows, ALPHAS[setting["alpha"]], rng=seeds), names
    y_true, y_prob = y_true[names], y_prob[names]
    if setting["kind"] == "correlated":
        anew = tn.simulate.draw_labels(y_prob, seeds)
        y_true = np.where(seeds.random(len(names)) < 0.5, anew, y_true)
    return y_true, y_prob, names


def across_bins(
    k: int, rows: int, alpha: str, seeds: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows with independent predictions; half of the labels of a cluster are at the same quantile of the ranks."""
    names = np.repeat(np.arange(k), rows)
    y_prob = seeds.dirichlet(ALPHAS[alpha], len(names))
    level = np.where(seeds.random(len(names)) < 0.5, seeds.random(k)[names], seeds.random(len(names)))
    order = np.argsort(-y_prob, axis=1)
    reached = np.cumsum(np.take_along_axis(y_prob, order, axis=1), axis=1)
    rank = np.argmax(reached > level[:, None] * reached[:, -1:], axis=1)
    return np.take_along_axis(order, rank[:, None], axis=1)[:, 0], y_prob, names


def measure_clusters(setting: dict[str, Any]) -> dict[str, Any]:
    """Rejection rate at 5 % without and with `clusters`."""
    seeds = np.random.default_rng(seed_of(setting))
    seen: list[list[list[float]]] = []
    covered = []
    for _ in range(setting["repeats"]):
        y_true, y_prob, names = clustered_rows(setting, seeds)
        plain = tn.assess(y_true, y_prob, bins=tn.EqualMass(5), resamples=199, rng=seeds)
        aware = tn.assess(y_true, y_prob, bins=tn.EqualMass(5), resamples=199, rng=seeds, clusters=names)
        seen.append([p_values(plain), p_values(aware)])
        covered.append([r.net.interval.low <= 0 <= r.net.interval.high for r in (plain, aware)])
    return {
        "rejected": (np.array(seen) <= 0.05).mean(axis=0).tolist(),
        "covered": np.mean(covered, axis=0).tolist(),
    }


def cluster_table(rows: list[dict[str, Any]]) -> str:
    """Rejection rate without and with `clusters`."""
    head = [
        "classes",
        "clusters × rows",
        "rows of a cluster",
        "verdict, plain",
        "with clusters=",
        "log-score Z, plain",
    ]
    head += ["with clusters=", "net interval covers 0, plain", "with clusters="]
    return markdown(
        head,
        [
            [row["alpha"].split()[0][2:], f"{row['clusters']} × {row['rows']}", row["kind"]]
            + [share(row["rejected"][k][at]) for at in (7, 6) for k in (0, 1)]
            + [share(x) for x in row["covered"]]
            for row in rows
        ],
    )

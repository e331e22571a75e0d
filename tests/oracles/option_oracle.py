"""Rows with options of their own in plain loops, from the parts of `oracle`: the judge of every engine."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import oracle


def metrics(
    y_true: Iterable[int],
    y_prob: Iterable[oracle.Row],
    M: int = 10,
    ties: str = "split",
    measure: oracle.Measure = oracle.entropy,
) -> dict[str, Any]:
    """All metrics by name: cells (bin, C) of rows binned by V to their own base over [0, 1].

    Gaps of the cells of a bin are averaged with their sign before sizes are taken. ECE is over bins of the largest
    probability over [0, 1], whatever the number of options.
    """
    edges, snap = oracle.equal_width(M, 0.0, 1.0), oracle.snap_of(0.0, 1.0)
    cells: dict[tuple[int, int], list[Any]] = {}
    tops: dict[int, list[tuple[float, float]]] = {}
    uncertainty: dict[int, list[float]] = {}
    score, variance = [], []
    for y, p in zip(y_true, y_prob, strict=True):
        q = oracle.ordered(p)
        r = [share / oracle.UNIT for share in oracle.rank_shares(p, y, ties)]
        v = measure(q)
        m = oracle.bin_of(v, edges, snap)
        cells.setdefault((m, len(p)), []).append((q, r))
        uncertainty.setdefault(m, []).append(v)
        tops.setdefault(oracle.bin_of(q[0], edges, oracle.snap_of(1 / len(p), 1.0)), []).append((q[0], r[0]))
        if p[y] > 0:
            score.append(math.log(p[y]) + oracle.entropy_nats(p))
        variance.append(oracle.varentropy_nats(p))
    N = sum(len(rows) for rows in cells.values())
    found = {"vce": 0.0, "net": 0.0, "rce": 0.0, "rce_w1": 0.0, "uce": 0.0}
    most = max(C for _, C in cells)
    for m in sorted({m for m, _ in cells}):
        n_m = sum(len(rows) for (k, _), rows in cells.items() if k == m)
        predicted = observed = right = 0.0
        apart, ahead = [0.0] * most, [0.0] * (most - 1)
        for (k, C), rows in cells.items():
            if k != m:
                continue
            n = len(rows)
            q_mean, r_mean = (
                [math.fsum(row[which][c] for row in rows) / n for c in range(C)] for which in (0, 1)
            )
            predicted += n * measure(q_mean) / n_m
            observed += n * measure(r_mean) / n_m
            right += n * r_mean[0] / n_m
            for c in range(C):
                apart[c] += n * (r_mean[c] - q_mean[c]) / n_m
            for c in range(C - 1):
                ahead[c] += n * math.fsum(r_mean[j] - q_mean[j] for j in range(c + 1)) / (C - 1) / n_m
        found["vce"] += n_m / N * abs(observed - predicted)
        found["net"] += n_m / N * (observed - predicted)
        found["rce"] += n_m / N * math.fsum(map(abs, apart)) / 2
        found["rce_w1"] += n_m / N * math.fsum(map(abs, ahead))
        found["uce"] += n_m / N * abs(1 - right - math.fsum(uncertainty[m]) / n_m)
    found["ece"] = math.fsum(abs(math.fsum(q - r for q, r in rows)) for rows in tops.values()) / N
    found["accuracy"] = math.fsum(r for rows in tops.values() for _, r in rows) / N
    found["log_score_z"] = math.fsum(score) / math.sqrt(math.fsum(variance))
    return found

"""Size: how often calibrated predictions are called miscalibrated."""

from __future__ import annotations

from typing import Any

import numpy as np

import trueness as tn
from inference_study.settings import ALPHAS, BINS, SIZES, markdown, p_values, seed_of, share

TESTS = ("vce", "vce centred", "net centred", "ECE", "RCE", "RCE W1", "log-score Z", "verdict")


def size_settings(repeats: int) -> list[dict[str, Any]]:
    """Settings with calibrated rows."""
    return [
        {"part": "size", "alpha": name, "rows": n, "bins": kind, "repeats": repeats}
        for name in ("C=3 flat", "C=10 flat", "C=100 flat")
        for n in SIZES
        for kind in BINS
    ]


def measure_size(setting: dict[str, Any]) -> dict[str, Any]:
    """The rejection rate of calibrated predictions at 5 %, and the deviation of p-values from uniform."""
    seeds = np.random.default_rng(seed_of(setting))
    seen = []
    for _ in range(setting["repeats"]):
        y_true, y_prob = tn.simulate.calibrated(setting["rows"], ALPHAS[setting["alpha"]], rng=seeds)
        result = tn.assess(y_true, y_prob, bins=BINS[setting["bins"]], resamples=199, rng=seeds)
        seen.append(p_values(result))
    p = np.array(seen)
    grid = np.arange(0, 200) / 200
    share = (p[:, :, None] <= grid + 1e-9).mean(axis=0)
    return {"rejected": (p <= 0.05).mean(axis=0).tolist(), "above": (share - grid).max(axis=1).tolist()}


def size_table(rows: list[dict[str, Any]]) -> str:
    """Rejection rates, and the largest excess of small p-values."""
    head = ["classes", "rows", "bins", *TESTS, "largest excess"]
    return markdown(
        head,
        [
            [
                row["alpha"].split()[0][2:],
                str(row["rows"]),
                row["bins"],
                *map(share, row["rejected"]),
                share(max(row["above"][:7])),
            ]
            for row in rows
        ],
    )

"""Coverage of the bands of the monitor at all looks at once."""

from __future__ import annotations

import numpy as np

from monitoring_study import streams
from monitoring_study.streams import sharpened
from trueness import CalibrationTable, simulate, tabulate
from trueness.inference.estimates import ResampledTable, net_gap
from trueness.monitoring.bands import frequency_band, running_factor
from trueness.monitoring.trend import RESAMPLES


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

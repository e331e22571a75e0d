"""The null distribution computed from a table, beside that of labels drawn from each row."""

from __future__ import annotations

from typing import Any

import numpy as np

import trueness as tn
from inference_study.settings import ALPHAS, BINS, markdown, seed_of
from trueness.inference.null import NullBins, multinomial_frequencies, resample

LEVELS = (0.5, 0.9, 0.95, 0.99)


NULL_DRAWS = 20_000


def null_settings(_: int) -> list[dict[str, Any]]:
    """Settings with calibrated rows, one run each."""
    return [
        {"part": "null", "alpha": name, "rows": n, "bins": kind}
        for name in ("C=3 flat", "C=10 flat", "C=100 flat")
        for n in (300, 1000)
        for kind in BINS
    ]


def measure_null(setting: dict[str, Any]) -> dict[str, Any]:
    """Quantiles of the null from the table, divided by those of labels drawn from the prediction of each row."""
    y_true, y_prob = tn.simulate.calibrated(setting["rows"], ALPHAS[setting["alpha"]], rng=seed_of(setting))
    ratios = {}
    for measure in ("entropy", "confidence"):
        table = tn.tabulate(y_true, y_prob, variation=measure, bins=BINS[setting["bins"]])
        bins = NullBins.of(table)
        drawn = resample(bins, multinomial_frequencies(bins, NULL_DRAWS, [1]), NULL_DRAWS)
        from_table = statistics(bins, table, drawn.variation, drawn.tv)
        from_rows = statistics(bins, table, *resample_rows(y_prob, table, measure))
        for name in ("VCE", "net", "RCE") if measure == "entropy" else ("VCE",):
            q_table, q_rows = (np.quantile(x[name], LEVELS) for x in (from_table, from_rows))
            ratios["ECE" if measure == "confidence" else name] = (q_table / q_rows).tolist()
    return {"ratios": ratios}


def statistics(bins: NullBins, table: Any, variation: np.ndarray, tv: np.ndarray) -> dict[str, np.ndarray]:
    """VCE, the absolute centred net gap, and RCE of each resample."""
    apart = variation - table.predicted_variation[bins.index]
    centred = (variation - variation.mean(axis=0)) @ bins.weight
    return {"VCE": np.abs(apart) @ bins.weight, "net": np.abs(centred), "RCE": tv @ bins.weight}


def resample_rows(y_prob: np.ndarray, table: Any, measure: str) -> tuple[np.ndarray, np.ndarray]:
    """V(r̄) and TV(r̄, q̄) of each filled bin for labels drawn from the rows, (resamples, F)."""
    n_rows, n_classes = y_prob.shape
    ordered = -np.sort(-y_prob, axis=1)
    place = np.digitize(tn.variations[measure](ordered), table.edges[1:-1] + 1e-9, right=True)
    filled = np.flatnonzero(table.row_count)
    assert (np.bincount(place, minlength=table.n_bins) == table.row_count).all()
    place = np.searchsorted(filled, place)
    levels = np.cumsum(ordered, axis=1)
    levels = (levels / levels[:, -1:] + np.arange(n_rows)[:, None]).ravel()
    rng, batch = np.random.default_rng(2), max(1, 2_000_000 // n_rows)
    variation, tv = [], []
    for start in range(0, NULL_DRAWS, batch):
        size = min(batch, NULL_DRAWS - start)
        at = np.searchsorted(levels, rng.random((size, n_rows)) + np.arange(n_rows), side="right")
        rank = np.minimum(at - np.arange(n_rows) * n_classes, n_classes - 1)
        cell = (np.arange(size)[:, None] * len(filled) + place) * n_classes + rank
        counts = np.bincount(cell.ravel(), minlength=size * len(filled) * n_classes)
        counts = counts.reshape(size, len(filled), n_classes)
        r = counts / table.row_count[filled][:, None]
        variation.append(tn.variations[measure].of(r))
        tv.append(np.abs(r - table.mean_ordered[filled]).sum(axis=2) / 2)
    return np.concatenate(variation), np.concatenate(tv)


def null_table(rows: list[dict[str, Any]]) -> str:
    """For each metric, the ratio of quantiles that is farthest from 1."""
    numbers = ("VCE", "net", "RCE", "ECE")

    def furthest(row: dict[str, Any], number: str) -> str:
        ratios = row["ratios"][number]
        return f"{max(ratios, key=lambda x: abs(x - 1)):.3f} (95 %: {ratios[2]:.3f})"

    return markdown(
        ["classes", "rows", "bins", *numbers],
        [
            [row["alpha"].split()[0][2:], str(row["rows"]), row["bins"], *(furthest(row, n) for n in numbers)]
            for row in rows
        ],
    )

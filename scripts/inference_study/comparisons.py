"""Coverage, size and tail of the differences between two models."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import trueness as tn
from inference_study.settings import ALPHAS, entropy, markdown, seed_of, share

DIFFERENCES = ("vce", "net", "ece", "rce", "rce_w1")


def compare_settings(repeats: int) -> list[dict[str, Any]]:
    """Settings with pairs of models."""
    pairs = ((1.0, 1.0), (1.3, 1.3), (1.0, 1.3), (0.8, 1.3), (0.9, 1.1))
    return [
        {"part": "compare", "alpha": alpha, "a": a, "b": b, "rows": n, "repeats": repeats}
        for alpha in ("C=3 flat", "C=10 skew")
        for a, b in pairs
        for n in (300, 1000)
    ]


def measure_compare(setting: dict[str, Any]) -> dict[str, Any]:
    """Coverage of the intervals of differences, and the rejection rate, which is the size if the models are equal.

    The two models use different information: each has two classes merged into their mean in a random half of the rows,
    which keeps it calibrated, and is then sharpened.
    """
    seeds, alpha = np.random.default_rng(seed_of(setting)), ALPHAS[setting["alpha"]]
    first, second = (merged_population(alpha, setting[key]) for key in ("a", "b"))
    want = {number: first[number] - second[number] for number in DIFFERENCES}
    seen, differ = [], []
    for _ in range(setting["repeats"]):
        y_true, truth = tn.simulate.calibrated(setting["rows"], alpha, rng=seeds)
        models = {
            "first": tn.simulate.sharpen(with_merged_classes(truth, seeds), setting["a"]),
            "second": tn.simulate.sharpen(with_merged_classes(truth, seeds), setting["b"]),
        }
        pair = tn.compare(y_true, models, bins=tn.EqualMass(10), resamples=199, rng=seeds).pairs[0]
        differ.append(pair.p_value <= 0.05)
        seen.append(
            [
                (c.interval.low <= true <= c.interval.high, c.p_value <= 0.05, c.difference)
                for c, true in ((getattr(pair, number), true) for number, true in want.items())
            ]
        )
    means = np.mean(np.array(seen, dtype=float), axis=0)
    columns = dict(zip(("covered", "rejected", "mean"), means.T.tolist(), strict=True))
    return {
        "true": want,
        "differ": float(np.mean(differ)),
        **{key: dict(zip(want, column, strict=True)) for key, column in columns.items()},
    }


TAIL_LIMITS = (0.01, 0.003, 0.001)


def tail_settings(repeats: int) -> list[dict[str, Any]]:
    """Settings with equally good models."""
    return [
        {"part": "tail", "alpha": alpha, "rows": n, "a": a, "repeats": repeats}
        for alpha, n, a in (("C=3 flat", 300, 1.0), ("C=3 flat", 300, 1.3), ("C=10 skew", 300, 1.0))
    ]


def measure_tail(setting: dict[str, Any]) -> dict[str, Any]:
    """Rejection rates at small limits: with 99 resamples all p-values below .01 come from the normal tail."""
    seeds, alpha = np.random.default_rng(seed_of(setting)), ALPHAS[setting["alpha"]]
    seen = []
    for _ in range(setting["repeats"]):
        y_true, truth = tn.simulate.calibrated(setting["rows"], alpha, rng=seeds)
        models = {
            name: tn.simulate.sharpen(with_merged_classes(truth, seeds), setting["a"])
            for name in ("first", "second")
        }
        pair = tn.compare(y_true, models, bins=tn.EqualMass(10), resamples=99, rng=seeds).pairs[0]
        seen.append([*(getattr(pair, number).p_value for number in DIFFERENCES[:4]), pair.p_value])
    p = np.array(seen)
    return {"called": [(p <= limit + 1e-9).mean(axis=0).tolist() for limit in TAIL_LIMITS]}


def with_merged_classes(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A calibrated model with less information: in half of the rows the last two classes have equal probability."""
    p = truth.copy()
    is_merged = rng.random(len(p)) < 0.5
    p[is_merged, -2:] = p[is_merged, -2:].mean(axis=1, keepdims=True)
    return p


@lru_cache
def merged_population(alpha: tuple[float, ...], exponent: float) -> dict[str, float]:
    """All metrics with unlimited data, EF, of a model with merged classes."""
    rng = np.random.default_rng(seed_of("merged", alpha))
    n_rows = 400_000
    truth = rng.dirichlet(alpha, n_rows)
    known = with_merged_classes(truth, rng)
    p = tn.simulate.sharpen(known, exponent)
    order = np.argsort(-p, axis=1, kind="stable")
    q, t = (np.take_along_axis(x, order, axis=1) for x in (p, known))

    def of_bins(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        place = np.searchsorted(np.quantile(values, np.arange(1, 10) / 10), values)
        means = (np.array([x[place == m].mean(axis=0) for m in range(10)]) for x in (q, t))
        return np.bincount(place, minlength=10) / n_rows, *means

    weight, predicted, observed = of_bins(entropy(q))
    gap, apart = entropy(observed) - entropy(predicted), observed - predicted
    confident, stated, correct = of_bins(q[:, 0])
    return {
        "vce": float(weight @ np.abs(gap)),
        "net": float(weight @ gap),
        "ece": float(confident @ np.abs(correct - stated)[:, 0]),
        "rce": float(weight @ np.abs(apart).sum(axis=1)) / 2,
        "rce_w1": float(weight @ np.abs(np.cumsum(apart, axis=1)[:, :-1]).sum(axis=1)) / (len(alpha) - 1),
    }


def compare_table(rows: list[dict[str, Any]]) -> str:
    """Coverage of differences, and their rejection rates."""
    head = ["rows", "N", "a of the two models"]
    for name in ("VCE", "net", "ECE", "RCE"):
        head += [f"true difference of {name}", "covers", "called at 5 %"]
    head.append("all metrics together: called at 5 %")
    return markdown(
        head,
        [
            [row["alpha"], str(row["rows"]), f"{row['a']:g}, {row['b']:g}"]
            + [
                text
                for number in ("vce", "net", "ece", "rce")
                for text in (
                    f"{row['true'][number]:+.3f}",
                    share(row["covered"][number]),
                    share(row["rejected"][number]),
                )
            ]
            + [share(row["differ"])]
            for row in rows
        ],
    )


def tail_table(rows: list[dict[str, Any]]) -> str:
    """Rejection rates of equally good models at small limits."""
    head = ["rows", "N", "p at most", *("VCE", "net", "ECE", "RCE"), "all together"]
    return markdown(
        head,
        [
            [
                f"{row['alpha']}, a = {row['a']:g}",
                str(row["rows"]),
                f"{limit:g}",
                *(f"{x:.4f}" for x in row["called"][k]),
            ]
            for row in rows
            for k, limit in enumerate(TAIL_LIMITS)
        ],
    )

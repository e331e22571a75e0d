"""Coverage, size and tail of the differences between two models."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

import trueness as tn
from inference_study.settings import ALPHAS, entropy, markdown, seed_of, share

DIFFERENCES = ("vce", "net", "ece", "rce", "rce_w1", "cwece_total", "gap")
COPIES = 5
"""Rows of a cluster, which have the same probabilities and the same true class."""

ALPHAS_COMPARED = {"C=2 flat": (1.0, 1.0), **{name: ALPHAS[name] for name in ("C=3 flat", "C=10 skew")}}


def compare_settings(repeats: int) -> list[dict[str, Any]]:
    """Two models of independent rows, of rows in clusters, and three models; each model is named by its exponent."""

    def setting(alpha: str, rows: int, models: tuple[float, ...], copies: int = 1) -> dict[str, Any]:
        kind = {"part": "compare", "alpha": alpha, "models": models, "rows": rows, "copies": copies}
        return kind | {"repeats": repeats}

    sizes, pairs = (500, 2000, 8000, 50_000), ((1.0, 1.0), (1.0, 1.3), (0.9, 1.1))
    return [
        *(setting(alpha, n, pair) for alpha in ALPHAS_COMPARED for pair in pairs for n in sizes),
        *(setting("C=3 flat", n, pair, COPIES) for pair in pairs[:2] for n in (2000, 8000, 50_000)),
        *(setting("C=3 flat", n, (1.0, 1.0, 1.0)) for n in (500, 8000)),
    ]


def measure_compare(setting: dict[str, Any]) -> dict[str, Any]:
    """Coverage of the intervals of differences, and the rejection rate, which is the size if the models are equal.

    The models use different information: each has two classes merged into their mean in a random half of the rows,
    which keeps it calibrated, and is then sharpened. Shares are means over the pairs of models; that of calls by all
    metrics together is of runs in which any pair is called, after Holm's correction.
    """
    seeds, alpha = np.random.default_rng(seed_of(setting)), ALPHAS_COMPARED[setting["alpha"]]
    exponents = setting["models"]
    truths = [merged_population(alpha, a) for a in exponents]
    seen, differ = [], []
    for _ in range(setting["repeats"]):
        result = compare_once(setting, alpha, seeds)
        differ.append(any(pair.adjusted_p_value <= 0.05 for pair in result.pairs))
        wanted = [
            {number: first[number] - second[number] for number in DIFFERENCES}
            for first, second in combinations(truths, 2)
        ]
        seen.append(
            np.mean(
                [
                    [_outcome(getattr(pair, number), true) for number, true in want.items()]
                    for pair, want in zip(result.pairs, wanted, strict=True)
                ],
                axis=0,
            )
        )
    means = np.mean(np.array(seen), axis=0)
    columns = dict(zip(("covered", "rejected", "mean"), means.T.tolist(), strict=True))
    return {
        "true": {number: truths[0][number] - truths[1][number] for number in DIFFERENCES},
        "differ": float(np.mean(differ)),
        **{key: dict(zip(DIFFERENCES, column, strict=True)) for key, column in columns.items()},
    }


def compare_once(
    setting: dict[str, Any], alpha: tuple[float, ...], seeds: np.random.Generator
) -> tn.Comparison:
    """The comparison of one simulated data set."""
    n, copies = setting["rows"], setting["copies"]
    y_true, truth = tn.simulate.calibrated(n // copies, alpha, rng=seeds)
    y_true, truth = np.repeat(y_true, copies), np.repeat(truth, copies, axis=0)
    models = {
        str(k): tn.simulate.sharpen(with_merged_classes(truth, seeds), a)
        for k, a in enumerate(setting["models"])
    }
    clusters = np.arange(n) // copies if copies > 1 else None
    return tn.compare(y_true, models, bins=tn.EqualMass(10), resamples=199, rng=seeds, clusters=clusters)


def _outcome(contrast: Any, true: float) -> tuple[float, float, float]:
    """Whether an interval covers the true difference, whether it is called at 5 %, and the estimate."""
    interval = contrast.interval
    return float(interval.low <= true <= interval.high), float(contrast.p_value <= 0.05), contrast.difference


TAIL_LIMITS = (0.01, 0.003, 0.001)


def tail_settings(repeats: int) -> list[dict[str, Any]]:
    """Settings with equally good models."""
    return [
        {"part": "tail", "alpha": alpha, "rows": n, "a": a, "repeats": repeats}
        for alpha, n, a in (("C=3 flat", 300, 1.0), ("C=3 flat", 300, 1.3), ("C=10 skew", 300, 1.0))
    ]


def measure_tail(setting: dict[str, Any]) -> dict[str, Any]:
    """Rejection rates at small limits: with 99 resamples all p-values below .01 come from the fitted tail."""
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
    """A calibrated model with less information: in half of the rows the last two classes have equal probability.

    Of two classes, these rows have the mean probability of a cell of [0, 1] instead.
    """
    p = truth.copy()
    is_merged = rng.random(len(p)) < 0.5
    if p.shape[1] == 2:
        return np.where(is_merged[:, None], with_coarse_probability(p, rng), p)
    p[is_merged, -2:] = p[is_merged, -2:].mean(axis=1, keepdims=True)
    return p


def with_coarse_probability(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Uniform probabilities of class 1 as the mean of their cell, which has a fifth of [0, 1] and a random place."""
    offset = rng.random(len(truth))
    cell = np.floor(5 * truth[:, 1] + offset)
    p = (np.maximum((cell - offset) / 5, 0.0) + np.minimum((cell + 1 - offset) / 5, 1.0)) / 2
    return np.stack([1 - p, p], axis=1)


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
        **_classwise_population(p, known),
    }


def _classwise_population(p: np.ndarray, known: np.ndarray) -> dict[str, float]:
    """Classwise total in ten bins of equal width, and class gap, of probabilities p where `known` are right."""
    off = np.zeros((p.shape[1], 10))
    for c in range(p.shape[1]):
        place = np.minimum((10 * p[:, c]).astype(int), 9)
        off[c] = np.bincount(place, p[:, c] - known[:, c], 10) / len(p)
    return {"cwece_total": float(np.abs(off).sum()) / 2, "gap": float(np.abs(off.sum(axis=1)).sum()) / 2}


def compare_table(rows: list[dict[str, Any]]) -> str:
    """Coverage of differences, and their rejection rates."""
    head = ["rows", "N", "a of the models"]
    for name in ("VCE", "net", "ECE", "RCE", "classwise total"):
        head += [f"true difference of {name}", "covers", "called at 5 %"]
    head.append("all metrics together: called at 5 %")
    return markdown(
        head,
        [
            [_kind_of_rows(row), str(row["rows"]), ", ".join(f"{a:g}" for a in row["models"])]
            + [
                text
                for number in ("vce", "net", "ece", "rce", "cwece_total")
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


def _kind_of_rows(row: dict[str, Any]) -> str:
    clusters = row["rows"] // row["copies"]
    return row["alpha"] if row["copies"] == 1 else f"{row['alpha']}, {clusters} clusters of {row['copies']}"


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

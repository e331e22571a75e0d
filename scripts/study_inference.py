"""The long proof of the inference: size, coverage, bias and power over many settings, written into docs/inference.md.

    python scripts/study_inference.py                       # all parts, one process, about half an hour of CPU
    python scripts/study_inference.py size coverage -j 2    # some parts, two processes
    python scripts/study_inference.py --render              # only write the tables again from what was measured

Each part leaves its figures in build/study/<part>.json. Every setting has a seed of its own, made of its name, so that
parts and settings can be run alone and in any order.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

import trueness as tn
from trueness.inference.null import FilledBins, draw, multinomial_frequencies

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "study"
PAGE = ROOT / "docs" / "inference.md"

Z95 = 1.959963984540054
EXPONENTS = (0.7, 0.9, 1.0, 1.03, 1.1, 1.3, 1.7)
SIZES = (300, 1000, 5000)
ALPHAS = {
    "C=3 flat": (1.0,) * 3,
    "C=3 skew": (10.0, *(1.0,) * 2),
    "C=10 flat": (1.0,) * 10,
    "C=10 skew": (10.0, *(1.0,) * 9),
    "C=100 flat": (1.0,) * 100,
}
BINS: dict[str, Any] = {"EW": tn.EqualWidth(10), "EF": tn.EqualMass(10)}


def seed_of(*name: object) -> int:
    """A seed that belongs to a setting."""
    return int.from_bytes(blake2b(repr(name).encode(), digest_size=7).digest(), "big")


# The truth: the value that rows without number would give, in the bins that they would give, free of label noise.


@lru_cache
def population(
    alpha: tuple[float, ...], exponent: float, kind: str, n_rows: int | None = None
) -> tuple[float, float]:
    """VCE and net gap (entropy) of predictions ∝ π^a for truths π ~ Dirichlet(α), from the ordered π instead of labels.

    Sharpening keeps the order, so that the ordered π stand at the ranks of the ordered p.
    """
    n_classes = len(alpha)
    n_rows = n_rows or (400_000 if n_classes <= 10 else 120_000)
    step = max(1, 4_000_000 // n_classes)

    def chunks() -> Any:
        rng = np.random.default_rng(seed_of("population", alpha))
        for start in range(0, n_rows, step):
            truth = -np.sort(-rng.dirichlet(alpha, min(step, n_rows - start)), axis=1)
            powers = (truth / truth[:, :1]) ** exponent
            yield truth, powers / powers.sum(axis=1, keepdims=True)

    values = np.concatenate([entropy(p) for _, p in chunks()])
    inner = np.arange(1, 10) / 10
    edges = inner if kind == "EW" else np.quantile(values, inner)
    place = np.searchsorted(edges, values, side="left")
    sums, start = np.zeros((2, 10, n_classes)), 0
    for truth, p in chunks():
        here = place[start : start + len(p)]
        start += len(p)
        for m in range(10):
            sums[0, m] += truth[here == m].sum(axis=0)
            sums[1, m] += p[here == m].sum(axis=0)
    count = np.bincount(place, minlength=10)
    filled = count > 0
    gap = np.diff(entropy(sums[:, filled] / count[filled, None])[::-1], axis=0)[0]
    weight = count[filled] / n_rows
    return float(weight @ np.abs(gap)), float(weight @ gap)


def entropy(p: np.ndarray) -> np.ndarray:
    """In base C, on the last axis."""
    return np.asarray(-(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=-1) / math.log(p.shape[-1]))


# Centred on the null: estimate and intervals with the bias of V at the null, not at the tilted predictions.


def null_centred(result: tn.Assessment, seed: int) -> dict[str, float]:
    """g = O - E₀, σ the larger sd; half-normal around Σw|g|, normal around Σwg, and t·T with Σw·FN(t·g, σ) = T."""
    filled = result.table.row_count > 0
    w = result.table.count[filled] / result.table.count.sum()
    g, sd = result.vce.centred_gap[filled], result.vce.bins.sd[filled]
    total, net = float(w @ np.abs(g)), float(w @ g)
    draws = np.abs(np.random.default_rng(seed).standard_normal((4000, len(w)))) @ (w * sd)
    reach, net_reach = float(np.quantile(draws, 0.95)), Z95 * math.sqrt(float(w**2 @ sd**2))
    low, high = 0.0, 1.0
    if float(w @ sd) * math.sqrt(2 / math.pi) >= total:
        high = 0.0
    while high - low > 1e-9:
        t = (low + high) / 2
        low, high = (t, high) if float(w @ folded(t * g, sd)) < total else (low, t)
    return {
        "debiased": low * total,
        "low": max(0.0, total - reach),
        "high": total + reach,
        "net": net,
        "net_low": net - net_reach,
        "net_high": net + net_reach,
    }


_erf = np.vectorize(math.erf, otypes=[float])


def folded(mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """E|N(μ, σ²)|."""
    x = np.abs(mean) / np.maximum(sd, 1e-300)
    return np.asarray(
        sd * math.sqrt(2 / math.pi) * np.exp(-(np.minimum(x, 1e3) ** 2) / 2)
        + np.abs(mean) * _erf(np.minimum(x, 1e3) / math.sqrt(2))
    )


# The parts. Each is a list of settings and a function that measures one of them.


def size_settings(repeats: int) -> list[dict[str, Any]]:
    """Calibrated rows."""
    return [
        {"part": "size", "alpha": name, "rows": n, "bins": kind, "repeats": repeats}
        for name in ("C=3 flat", "C=10 flat", "C=100 flat")
        for n in SIZES
        for kind in BINS
    ]


TESTS = ("vce", "vce centred", "net centred", "ECE", "RCE", "RCE W1", "log-score Z", "verdict")


def p_values(result: tn.Assessment) -> list[float]:
    """All p-values of an answer, in the order of TESTS."""
    assert result.ece is not None
    return [
        result.vce.p_value,
        result.vce.centred_p_value,
        result.net.centred_p_value,
        result.ece.p_value,
        result.rce.p_value,
        result.rce_w1.p_value,
        result.log_score_z.p_value,
        result.p_value,
    ]


def measure_size(setting: dict[str, Any]) -> dict[str, Any]:
    """How often calibrated predictions are called miscalibrated at 5 %, and how far p-values are from uniform."""
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


def coverage_settings(repeats: int) -> list[dict[str, Any]]:
    """Sharpened and blunted rows."""
    return [
        {
            "part": "coverage",
            "alpha": name,
            "a": a,
            "rows": n,
            "bins": kind,
            "repeats": repeats,
        }
        for name in ALPHAS
        for kind in BINS
        for n in SIZES
        for a in EXPONENTS
    ]


def measure_coverage(setting: dict[str, Any]) -> dict[str, Any]:
    """Coverage and bias of the library's numbers beside those centred on the null, and the plug-in's."""
    alpha = ALPHAS[setting["alpha"]]
    true, true_net = population(alpha, setting["a"], setting["bins"])
    seeds = np.random.default_rng(seed_of(setting))
    seen: dict[str, list[float]] = {}

    def note(**numbers: float) -> None:
        for name, number in numbers.items():
            seen.setdefault(name, []).append(float(number))

    for _ in range(setting["repeats"]):
        y_true, truth = tn.simulate.calibrated(setting["rows"], alpha, rng=seeds)
        table = tn.tabulate(y_true, tn.simulate.sharpen(truth, setting["a"]), bins=BINS[setting["bins"]])
        result = tn.assess_table(table, resamples=199, rng=seeds)
        other = null_centred(result, int(seeds.integers(2**62)))
        vce, net = result.vce, result.net
        note(
            value=vce.value,
            debiased=vce.debiased,
            covered=vce.interval.low <= true <= vce.interval.high,
            width=vce.interval.high - vce.interval.low,
            net_value=net.value,
            net=net.debiased,
            net_covered=net.interval.low <= true_net <= net.interval.high,
            net_width=net.interval.high - net.interval.low,
            null_debiased=other["debiased"],
            null_covered=other["low"] <= true <= other["high"],
            null_width=other["high"] - other["low"],
            null_net=other["net"],
            null_net_covered=other["net_low"] <= true_net <= other["net_high"],
            null_net_width=other["net_high"] - other["net_low"],
        )
    means = {name: float(np.mean(numbers)) for name, numbers in seen.items()}
    return {"true": true, "true_net": true_net, "sd": float(np.std(seen["debiased"])), **means}


POWER_CASES = {
    "C=10, a=1.08": "C=10 skew",
    "C=10, a=.93": "C=10 skew",
    "C=10, tail flatter": "C=10 skew",
    "C=3, ranks 2 and 3 swapped": "C=3 flat",
    "C=10, ranks 1 and 2 swapped in a tenth": "C=10 skew",
    "C=3, label shift": "C=3 flat",
}
POWER_TESTS = (
    "VCE, EF, plug-in",
    "VCE, EF, centred",
    "net centred, EF",
    "ECE, EW",
    "RCE, EW",
    "RCE W1, EW",
    "log-score Z",
    "verdict, EW",
    "verdict, EF",
    "*verdict of VCE and net alone, EF*",
)
TAIL_AMOUNT = 0.33
LABEL_SHIFT = [1.0, 1.0, 1.3]


def power_settings(repeats: int) -> list[dict[str, Any]]:
    """Six ways to be wrong."""
    return [
        {"part": "power", "case": case, "alpha": alpha, "repeats": repeats}
        for case, alpha in POWER_CASES.items()
    ]


def spoiled(case: str, alpha: str, seeds: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A thousand rows that are wrong in the way named."""
    y_true, truth = tn.simulate.calibrated(1000, ALPHAS[alpha], rng=seeds)
    if "a=" in case:
        return y_true, tn.simulate.sharpen(truth, float(case.split("a=")[1]))
    if (
        "tail" in case
    ):  # of the outcomes, not of the predictions: the lower ranks come true more often than stated
        return tn.simulate.draw_labels(tn.simulate.flatten_tail(truth, amount=TAIL_AMOUNT), seeds), truth
    if "tenth" in case:
        return y_true, with_first_ranks_swapped(truth, 0.1, seeds)
    if "swapped" in case:
        return y_true, tn.simulate.swap_ranks(truth)
    return tn.simulate.shift_labels(truth, LABEL_SHIFT, rng=seeds), truth


def with_first_ranks_swapped(truth: np.ndarray, share: float, seeds: np.random.Generator) -> np.ndarray:
    """Predictions whose two largest probabilities are exchanged in a random share of the rows."""
    p, rows = truth.copy(), np.flatnonzero(seeds.random(len(truth)) < share)
    order = np.argsort(-p[rows], axis=1)
    first, second = order[:, 0], order[:, 1]
    p[rows, first], p[rows, second] = truth[rows, second], truth[rows, first]
    return p


def measure_power(setting: dict[str, Any]) -> dict[str, Any]:
    """How often each test sees it at 5 %."""
    seeds = np.random.default_rng(seed_of(setting))
    seen = []
    for _ in range(setting["repeats"]):
        y_true, y_prob = spoiled(setting["case"], setting["alpha"], seeds)
        mass, width = (
            tn.assess(y_true, y_prob, bins=b, resamples=199, rng=seeds) for b in (BINS["EF"], BINS["EW"])
        )
        alone = min(1.0, 2 * min(mass.vce.centred_p_value, mass.net.centred_p_value))
        seen.append([*p_values(mass)[:3], *p_values(width)[3:7], width.p_value, mass.p_value, alone])
    return {"rejected": (np.array(seen) <= 0.05).mean(axis=0).tolist()}


def order_settings(repeats: int) -> list[dict[str, Any]]:
    """A single one."""
    return [{"part": "order", "repeats": repeats}]


ORDER_EXPONENTS = (1.5, 0.7)
"""Whose true VCE is .232 and .146."""


def measure_order(setting: dict[str, Any]) -> dict[str, Any]:
    """Two models, C=10 skew, EF, N=300: which looks worse, by the plug-in and by the debiased value?"""
    alpha, seeds = ALPHAS["C=10 skew"], np.random.default_rng(seed_of(setting))
    plug_in, debiased = [], []
    for _ in range(setting["repeats"]):
        results = []
        for a in ORDER_EXPONENTS:
            y_true, truth = tn.simulate.calibrated(300, alpha, rng=seeds)
            table = tn.tabulate(y_true, tn.simulate.sharpen(truth, a), bins=tn.EqualMass(10))
            results.append(tn.assess_table(table, resamples=199, rng=seeds).vce)
        plug_in.append([result.value for result in results])
        debiased.append([result.debiased for result in results])
    return {
        "true": [population(alpha, a, "EF")[0] for a in ORDER_EXPONENTS],
        **{
            name: {
                "mean": np.mean(values, axis=0).tolist(),
                "right": float(np.mean(np.array(values)[:, 0] > np.array(values)[:, 1])),
            }
            for name, values in (("plug-in", plug_in), ("debiased", debiased))
        },
    }


def null_settings(_: int) -> list[dict[str, Any]]:
    """Calibrated rows, once each."""
    return [
        {"part": "null", "alpha": name, "rows": n, "bins": kind}
        for name in ("C=3 flat", "C=10 flat", "C=100 flat")
        for n in (300, 1000)
        for kind in BINS
    ]


LEVELS = (0.5, 0.9, 0.95, 0.99)
NULL_DRAWS = 20_000


def measure_null(setting: dict[str, Any]) -> dict[str, Any]:
    """Quantiles of the null from the table, over those of labels drawn anew from each row's own prediction."""
    y_true, y_prob = tn.simulate.calibrated(setting["rows"], ALPHAS[setting["alpha"]], rng=seed_of(setting))
    ratios = {}
    for measure in ("entropy", "confidence"):
        table = tn.tabulate(y_true, y_prob, variation=measure, bins=BINS[setting["bins"]])
        bins = FilledBins.of(table)
        drawn = draw(bins, multinomial_frequencies(bins, NULL_DRAWS, [1]), NULL_DRAWS)
        from_table = statistics(bins, table, drawn.variation, drawn.tv)
        from_rows = statistics(bins, table, *redrawn(y_prob, table, measure))
        for name in ("VCE", "net", "RCE") if measure == "entropy" else ("VCE",):
            q_table, q_rows = (np.quantile(x[name], LEVELS) for x in (from_table, from_rows))
            ratios["ECE" if measure == "confidence" else name] = (q_table / q_rows).tolist()
    return {"ratios": ratios}


def statistics(bins: FilledBins, table: Any, variation: np.ndarray, tv: np.ndarray) -> dict[str, np.ndarray]:
    """VCE, the size of the centred net gap, and RCE of each draw."""
    apart = variation - table.predicted_variation[bins.index]
    centred = (variation - variation.mean(axis=0)) @ bins.weight
    return {"VCE": np.abs(apart) @ bins.weight, "net": np.abs(centred), "RCE": tv @ bins.weight}


def redrawn(y_prob: np.ndarray, table: Any, measure: str) -> tuple[np.ndarray, np.ndarray]:
    """V(r̄) and TV(r̄, q̄) of each filled bin for labels drawn from the rows, (draws, F)."""
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


def cluster_settings(repeats: int) -> list[dict[str, Any]]:
    """Calibrated rows in clusters."""
    return [
        {"part": "clusters", "alpha": alpha, "clusters": k, "rows": rows, "kind": kind, "repeats": repeats}
        for alpha in ("C=3 flat", "C=10 flat")
        for k, rows in ((30, 20), (100, 10), (300, 5))
        for kind in ("copies", "correlated", "across bins", "independent")
    ]


def clustered(
    setting: dict[str, Any], seeds: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Calibrated rows in clusters that are copies, or share p and in half of the rows the label, or share nothing."""
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
    """Rows with predictions of their own whose labels stand at the same quantile of the ranks in half of a cluster."""
    names = np.repeat(np.arange(k), rows)
    y_prob = seeds.dirichlet(ALPHAS[alpha], len(names))
    level = np.where(seeds.random(len(names)) < 0.5, seeds.random(k)[names], seeds.random(len(names)))
    order = np.argsort(-y_prob, axis=1)
    reached = np.cumsum(np.take_along_axis(y_prob, order, axis=1), axis=1)
    rank = np.argmax(reached > level[:, None] * reached[:, -1:], axis=1)
    return np.take_along_axis(order, rank[:, None], axis=1)[:, 0], y_prob, names


def measure_clusters(setting: dict[str, Any]) -> dict[str, Any]:
    """Size at 5 % without and with clusters=."""
    seeds = np.random.default_rng(seed_of(setting))
    seen: list[list[list[float]]] = []
    covered = []
    for _ in range(setting["repeats"]):
        y_true, y_prob, names = clustered(setting, seeds)
        plain = tn.assess(y_true, y_prob, bins=tn.EqualMass(5), resamples=199, rng=seeds)
        aware = tn.assess(y_true, y_prob, bins=tn.EqualMass(5), resamples=199, rng=seeds, clusters=names)
        seen.append([p_values(plain), p_values(aware)])
        covered.append([r.net.interval.low <= 0 <= r.net.interval.high for r in (plain, aware)])
    return {
        "rejected": (np.array(seen) <= 0.05).mean(axis=0).tolist(),
        "covered": np.mean(covered, axis=0).tolist(),
    }


DIFFERENCES = ("vce", "net", "ece", "rce", "rce_w1")


def compare_settings(repeats: int) -> list[dict[str, Any]]:
    """Pairs of models."""
    pairs = ((1.0, 1.0), (1.3, 1.3), (1.0, 1.3), (0.8, 1.3), (0.9, 1.1))
    return [
        {"part": "compare", "alpha": alpha, "a": a, "b": b, "rows": n, "repeats": repeats}
        for alpha in ("C=3 flat", "C=10 skew")
        for a, b in pairs
        for n in (300, 1000)
    ]


def measure_compare(setting: dict[str, Any]) -> dict[str, Any]:
    """Coverage of the differences' intervals; where the truth is no difference, this tells the size too.

    The two models differ in what they were given: each sees the truth through noise of its own that keeps it
    calibrated (a half of the rows have two classes merged into their mean), and is then sharpened.
    """
    seeds, alpha = np.random.default_rng(seed_of(setting)), ALPHAS[setting["alpha"]]
    first, second = (merged_population(alpha, setting[key]) for key in ("a", "b"))
    want = {number: first[number] - second[number] for number in DIFFERENCES}
    seen, differ = [], []
    for _ in range(setting["repeats"]):
        y_true, truth = tn.simulate.calibrated(setting["rows"], alpha, rng=seeds)
        models = {
            "first": tn.simulate.sharpen(merged(truth, seeds), setting["a"]),
            "second": tn.simulate.sharpen(merged(truth, seeds), setting["b"]),
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
    """Equally good models."""
    return [
        {"part": "tail", "alpha": alpha, "rows": n, "a": a, "repeats": repeats}
        for alpha, n, a in (("C=3 flat", 300, 1.0), ("C=3 flat", 300, 1.3), ("C=10 skew", 300, 1.0))
    ]


def measure_tail(setting: dict[str, Any]) -> dict[str, Any]:
    """With 99 resamples every p-value below .01 comes from the normal tail."""
    seeds, alpha = np.random.default_rng(seed_of(setting)), ALPHAS[setting["alpha"]]
    seen = []
    for _ in range(setting["repeats"]):
        y_true, truth = tn.simulate.calibrated(setting["rows"], alpha, rng=seeds)
        models = {
            name: tn.simulate.sharpen(merged(truth, seeds), setting["a"]) for name in ("first", "second")
        }
        pair = tn.compare(y_true, models, bins=tn.EqualMass(10), resamples=99, rng=seeds).pairs[0]
        seen.append([*(getattr(pair, number).p_value for number in DIFFERENCES[:4]), pair.p_value])
    p = np.array(seen)
    return {"called": [(p <= limit + 1e-9).mean(axis=0).tolist() for limit in TAIL_LIMITS]}


def merged(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A calibrated model that knows less: in a half of the rows the two last classes are not told apart."""
    p = truth.copy()
    blind = rng.random(len(p)) < 0.5
    p[blind, -2:] = p[blind, -2:].mean(axis=1, keepdims=True)
    return p


@lru_cache
def merged_population(alpha: tuple[float, ...], exponent: float) -> dict[str, float]:
    """All numbers, EF, of a model that does not always tell the last two classes apart."""
    rng = np.random.default_rng(seed_of("merged", alpha))
    n_rows = 400_000
    truth = rng.dirichlet(alpha, n_rows)
    known = merged(truth, rng)
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


# Ways to be wrong that are no temperature.


OTHERS = ("noisy labels", "tail flatter", "both directions", "ranks 2 and 3 swapped")


def other_rows(case: str, alpha: tuple[float, ...], n_rows: int, rng: np.random.Generator) -> Any:
    """What labels are drawn from, and what is predicted."""
    truth = rng.dirichlet(alpha, n_rows)
    if case == "noisy labels":  # one label in five is drawn at random
        return 0.8 * truth + 0.2 / len(alpha), truth
    if case == "tail flatter":
        return tn.simulate.flatten_tail(truth, amount=0.5), truth
    if case == "both directions":
        high = entropy(truth) > np.median(entropy(truth))
        return truth, np.where(
            high[:, None], tn.simulate.sharpen(truth, 1.4), tn.simulate.sharpen(truth, 0.75)
        )
    return truth, tn.simulate.swap_ranks(truth)


def other_settings(repeats: int) -> list[dict[str, Any]]:
    """Settings off the line of temperatures."""
    return [
        {"part": "others", "case": case, "alpha": alpha, "rows": n, "repeats": repeats}
        for case in OTHERS
        for alpha in ("C=3 flat", "C=10 skew", "C=100 flat")
        for n in (300, 1000)
    ]


@lru_cache
def other_population(case: str, alpha: tuple[float, ...]) -> tuple[float, float]:
    """VCE and net gap in bins of equal mass, with the probabilities of the labels in place of labels."""
    n_rows = 200_000 if len(alpha) <= 10 else 60_000
    truth, p = other_rows(case, alpha, n_rows, np.random.default_rng(seed_of(case, alpha)))
    order = np.argsort(-p, axis=1, kind="stable")
    q, t = (np.take_along_axis(x, order, axis=1) for x in (p, truth))
    values = entropy(q)
    place = np.searchsorted(np.quantile(values, np.arange(1, 10) / 10), values)
    gap = np.array(
        [entropy(t[place == m].mean(axis=0)) - entropy(q[place == m].mean(axis=0)) for m in range(10)]
    )
    weight = np.bincount(place, minlength=10) / n_rows
    return float(weight @ np.abs(gap)), float(weight @ gap)


def measure_others(setting: dict[str, Any]) -> dict[str, Any]:
    """Coverage and bias where β cannot be right."""
    alpha = ALPHAS[setting["alpha"]]
    true, true_net = other_population(setting["case"], alpha)
    seeds, seen = np.random.default_rng(seed_of(setting)), []
    for _ in range(setting["repeats"]):
        truth, p = other_rows(setting["case"], alpha, setting["rows"], seeds)
        table = tn.tabulate(tn.simulate.draw_labels(truth, seeds), p, bins=BINS["EF"])
        result = tn.assess_table(table, resamples=199, rng=seeds)
        other = null_centred(result, int(seeds.integers(2**62)))
        vce, net = result.vce, result.net
        seen.append(
            [
                vce.value,
                vce.debiased,
                vce.interval.low <= true <= vce.interval.high,
                other["low"] <= true <= other["high"],
                net.debiased,
                net.interval.low <= true_net <= net.interval.high,
                other["net_low"] <= true_net <= other["net_high"],
            ]
        )
    names = ("value", "debiased", "covered", "null_covered", "net", "net_covered", "null_net_covered")
    means = np.mean(np.array(seen, dtype=float), axis=0).tolist()
    return {"true": true, "true_net": true_net, **dict(zip(names, means, strict=True))}


PARTS = {
    "null": (null_settings, measure_null, 0),
    "order": (order_settings, measure_order, 200),
    "power": (power_settings, measure_power, 400),
    "clusters": (cluster_settings, measure_clusters, 200),
    "compare": (compare_settings, measure_compare, 200),
    "tail": (tail_settings, measure_tail, 600),
    "others": (other_settings, measure_others, 200),
    "size": (size_settings, measure_size, 1000),
    "coverage": (coverage_settings, measure_coverage, 200),
}


def measured(setting: dict[str, Any]) -> dict[str, Any]:
    """A setting and what was seen."""
    return {**setting, **PARTS[setting["part"]][1](setting)}


# The page: a table for each part, between its markers.


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def share(x: float) -> str:
    """Without the leading zero, two digits and a half where it is near the middle of a hundred."""
    return f"{x:.3f}".removeprefix("0") if x < 1 else "1"


def size_table(rows: list[dict[str, Any]]) -> str:
    """Shares called miscalibrated, and the largest excess of small p-values."""
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


def null_table(rows: list[dict[str, Any]]) -> str:
    """The quantile that is furthest off, for each number."""
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


def coverage_summary(rows: list[dict[str, Any]]) -> str:
    """Over all settings of a kind: the least and the mean coverage, and the mean absolute bias, of both methods."""
    lines = []
    for name in ALPHAS:
        for n in SIZES:
            some = [row for row in rows if row["alpha"] == name and row["rows"] == n]
            covered = [[row[key] for row in some] for key in ("covered", "null_covered")]
            net = [[row[key] for row in some] for key in ("net_covered", "null_net_covered")]
            bias = [
                1000 * float(np.mean([abs(row[key] - row["true"]) for row in some]))
                for key in ("value", "debiased", "null_debiased")
            ]
            net_bias = [
                1000 * float(np.mean([abs(row[key] - row["true_net"]) for row in some]))
                for key in ("net_value", "net", "null_net")
            ]
            lines.append(
                [name, str(n)]
                + [f"{share(min(x))} to {share(max(x))}" for x in (*covered, *net)]
                + [" / ".join(f"{x:.1f}" for x in bias), " / ".join(f"{x:.1f}" for x in net_bias)]
            )
    head = [
        "rows p ∝ π^a",
        "N",
        "VCE interval covers",
        "*the same, null-centred*",
        "net interval covers",
        "*the same, null-centred*",
        "bias of VCE ·10³: plug-in / debiased / *null-centred*",
        "bias of net ·10³: plug-in / debiased / *null-centred*",
    ]
    return markdown(head, lines)


def coverage_table(rows: list[dict[str, Any]]) -> str:
    """Each setting of one line."""
    head = ["rows", "bins", "N", "a", "true VCE", "plug-in", "debiased", "covers", "width"]
    head += ["true net", "debiased", "covers", "width"]
    return markdown(
        head,
        [
            [
                row["alpha"],
                row["bins"],
                str(row["rows"]),
                f"{row['a']:g}",
                f"{row['true']:.3f}",
                f"{row['value']:.3f}",
                f"{row['debiased']:.3f}",
                share(row["covered"]),
                f"{row['width']:.3f}",
                f"{row['true_net']:+.3f}",
                f"{row['net']:+.3f}",
                share(row["net_covered"]),
                f"{row['net_width']:.3f}",
            ]
            for row in rows
        ],
    )


def power_table(rows: list[dict[str, Any]]) -> str:
    """Tests down, cases across."""
    head = ["", *(row["case"] for row in rows)]
    return markdown(
        head, [[test, *(share(row["rejected"][k]) for row in rows)] for k, test in enumerate(POWER_TESTS)]
    )


def order_table(rows: list[dict[str, Any]]) -> str:
    """Two models and which looks worse."""
    (row,) = rows
    lines = [["true value", *(f"{x:.3f}" for x in row["true"]), ""]]
    lines += [
        [f"{name}, mean", *(f"{x:.3f}" for x in row[name]["mean"]), share(row[name]["right"])]
        for name in ("plug-in", "debiased")
    ]
    return markdown(["", "a = 1.5", "a = .7", "runs in the right order"], lines)


def cluster_table(rows: list[dict[str, Any]]) -> str:
    """Size without and with clusters=."""
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


def compare_table(rows: list[dict[str, Any]]) -> str:
    """Coverage of differences, and how often they are called."""
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
    """How often small p-values are given to models that are equally good."""
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


def others_table(rows: list[dict[str, Any]]) -> str:
    """Coverage where the model errs in another way than by temperature."""
    head = ["wrong by", "rows", "N", "true VCE", "plug-in", "debiased", "covers", "*null-centred*"]
    head += ["true net", "debiased", "covers", "*null-centred*"]
    return markdown(
        head,
        [
            [
                row["case"],
                row["alpha"],
                str(row["rows"]),
                f"{row['true']:.3f}",
                f"{row['value']:.3f}",
                f"{row['debiased']:.3f}",
                share(row["covered"]),
                share(row["null_covered"]),
                f"{row['true_net']:+.3f}",
                f"{row['net']:+.3f}",
                share(row["net_covered"]),
                share(row["null_net_covered"]),
            ]
            for row in rows
        ],
    )


TABLES = {
    "null": ("null", null_table),
    "size": ("size", size_table),
    "coverage": ("coverage", coverage_summary),
    "coverage-all": ("coverage", coverage_table),
    "others": ("others", others_table),
    "order": ("order", order_table),
    "power": ("power", power_table),
    "clusters": ("clusters", cluster_table),
    "compare": ("compare", compare_table),
    "tail": ("tail", tail_table),
}


def render() -> None:
    """Write the tables of what was measured into the page, between their markers."""
    page = PAGE.read_text()
    for name, (part, table) in TABLES.items():
        kept = RESULTS / f"{part}.json"
        if not kept.exists():
            print(f"{name}: nothing measured yet, the page keeps what it has")
            continue
        begin, end = f"<!-- study: {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = page.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise SystemExit(f"{PAGE} has no markers {begin.strip()} and {end}")
        page = f"{before}{begin}\n{table(json.loads(kept.read_text()))}\n\n{end}{after}"
    PAGE.write_text(page)


def run(part: str, repeats: int | None, jobs: int) -> None:
    """Measure all settings of a part and keep what was seen."""
    settings, _, usual = PARTS[part]
    todo, began, rows = settings(repeats or usual), time.monotonic(), []
    pool = ProcessPoolExecutor(jobs) if jobs > 1 else None
    for number, row in enumerate(pool.map(measured, todo) if pool else map(measured, todo), start=1):
        rows.append(row)
        print(f"{part} {number}/{len(todo)} {time.monotonic() - began:.0f} s", flush=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{part}.json").write_text(json.dumps(rows, indent=1))


def main(arguments: list[str]) -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="which parts; all by default")
    parser.add_argument("--repeats", type=int, help="of each setting, instead of those of the page")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="processes")
    parser.add_argument("--render", action="store_true", help="only write the page again")
    options = parser.parse_args(arguments)
    if not options.render:
        for part in options.parts or PARTS:
            run(part, options.repeats, options.jobs)
    render()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Coverage and bias of intervals on sharpened and flattened predictions."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

import trueness as tn
from inference_study.settings import ALPHAS, BINS, EXPONENTS, SIZES, entropy, markdown, seed_of, share

Z95 = 1.959963984540054


@lru_cache
def population(
    alpha: tuple[float, ...], exponent: float, kind: str, n_rows: int | None = None
) -> tuple[float, float]:
    """VCE and net gap (entropy) with unlimited data, of predictions ∝ π^a for true probabilities π ~ Dirichlet(α).

    Labels are replaced by the ordered π, so that there is no label noise: sharpening keeps the order, so that the
    ordered π have the ranks of the ordered p.
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


def null_centred(result: tn.Assessment, seed: int) -> dict[str, float]:
    """Estimate and intervals with the bias of V under the null, not under the tilted predictions.

    g = O - E₀, σ the larger sd; half-normal around Σw|g|, normal around Σwg, and t·T with Σw·FN(t·g, σ) = T.
    """
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


def coverage_settings(repeats: int) -> list[dict[str, Any]]:
    """Settings with sharpened and flattened rows."""
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
    """Coverage and bias of the library's estimates, of null-centred ones and of the plug-in value."""
    alpha = ALPHAS[setting["alpha"]]
    true, true_net = population(alpha, setting["a"], setting["bins"])
    seeds = np.random.default_rng(seed_of(setting))
    seen: dict[str, list[float]] = {}

    def add(**numbers: float) -> None:
        for name, number in numbers.items():
            seen.setdefault(name, []).append(float(number))

    for _ in range(setting["repeats"]):
        y_true, truth = tn.simulate.calibrated(setting["rows"], alpha, rng=seeds)
        table = tn.tabulate(y_true, tn.simulate.sharpen(truth, setting["a"]), bins=BINS[setting["bins"]])
        result = tn.assess_table(table, resamples=199, rng=seeds)
        other = null_centred(result, int(seeds.integers(2**62)))
        vce, net = result.vce, result.net
        add(
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


def coverage_summary(rows: list[dict[str, Any]]) -> str:
    """By scenario and sample size: the range of the coverage and the mean absolute bias, of both methods."""
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
    """One line for each setting."""
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

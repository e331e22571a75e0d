"""Coverage and bias of intervals on predictions that are wrong in other ways than by a temperature."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import trueness as tn
from inference_study.coverage import null_centred
from inference_study.settings import ALPHAS, BINS, entropy, markdown, seed_of, share

OTHERS = ("noisy labels", "tail flatter", "both directions", "ranks 2 and 3 swapped")


def other_rows(case: str, alpha: tuple[float, ...], n_rows: int, rng: np.random.Generator) -> Any:
    """The probabilities that labels are drawn from, and the predictions."""
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
    """Settings whose miscalibration is not a temperature."""
    return [
        {"part": "others", "case": case, "alpha": alpha, "rows": n, "repeats": repeats}
        for case in OTHERS
        for alpha in ("C=3 flat", "C=10 skew", "C=100 flat")
        for n in (300, 1000)
    ]


@lru_cache
def other_population(case: str, alpha: tuple[float, ...]) -> tuple[float, float]:
    """VCE and net gap with unlimited data, in bins of equal mass."""
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
    """Coverage and bias if no temperature β fits."""
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


def others_table(rows: list[dict[str, Any]]) -> str:
    """Coverage if the miscalibration is not a temperature."""
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

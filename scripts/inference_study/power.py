"""Power: how often each test detects a miscalibrated model, and the order of two models."""

from __future__ import annotations

from typing import Any

import numpy as np

import trueness as tn
from inference_study.coverage import population
from inference_study.settings import ALPHAS, BINS, markdown, p_values, seed_of, share

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
    """Settings with six kinds of miscalibration."""
    return [
        {"part": "power", "case": case, "alpha": alpha, "repeats": repeats}
        for case, alpha in POWER_CASES.items()
    ]


def miscalibrated_rows(case: str, alpha: str, seeds: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A thousand rows that are miscalibrated as the name of the case says."""
    y_true, truth = tn.simulate.calibrated(1000, ALPHAS[alpha], rng=seeds)
    if "a=" in case:
        return y_true, tn.simulate.sharpen(truth, float(case.split("a=")[1]))
    if "tail" in case:  # of the labels, not of the predictions: lower ranks are more frequent than predicted
        return tn.simulate.draw_labels(tn.simulate.flatten_tail(truth, amount=TAIL_AMOUNT), seeds), truth
    if "tenth" in case:
        return y_true, with_first_ranks_swapped(truth, 0.1, seeds)
    if "swapped" in case:
        return y_true, tn.simulate.swap_ranks(truth)
    return tn.simulate.shift_labels(truth, LABEL_SHIFT, rng=seeds), truth


def with_first_ranks_swapped(truth: np.ndarray, share: float, seeds: np.random.Generator) -> np.ndarray:
    """Predictions whose two largest probabilities are swapped in a random share of the rows."""
    p, rows = truth.copy(), np.flatnonzero(seeds.random(len(truth)) < share)
    order = np.argsort(-p[rows], axis=1)
    first, second = order[:, 0], order[:, 1]
    p[rows, first], p[rows, second] = truth[rows, second], truth[rows, first]
    return p


def measure_power(setting: dict[str, Any]) -> dict[str, Any]:
    """The rejection rate of each test at 5 %."""
    seeds = np.random.default_rng(seed_of(setting))
    seen = []
    for _ in range(setting["repeats"]):
        y_true, y_prob = miscalibrated_rows(setting["case"], setting["alpha"], seeds)
        mass, width = (
            tn.assess(y_true, y_prob, bins=b, resamples=199, rng=seeds) for b in (BINS["EF"], BINS["EW"])
        )
        alone = min(1.0, 2 * min(mass.vce.centred_p_value, mass.net.centred_p_value))
        seen.append([*p_values(mass)[:3], *p_values(width)[3:7], width.p_value, mass.p_value, alone])
    return {"rejected": (np.array(seen) <= 0.05).mean(axis=0).tolist()}


def power_table(rows: list[dict[str, Any]]) -> str:
    """One line for each test, one column for each case."""
    head = ["", *(row["case"] for row in rows)]
    return markdown(
        head, [[test, *(share(row["rejected"][k]) for row in rows)] for k, test in enumerate(POWER_TESTS)]
    )


def order_settings(repeats: int) -> list[dict[str, Any]]:
    """A single setting."""
    return [{"part": "order", "repeats": repeats}]


ORDER_EXPONENTS = (1.5, 0.7)
"""The true VCE is .232 and .146."""


def measure_order(setting: dict[str, Any]) -> dict[str, Any]:
    """Two models, C=10 skew, EF, N=300: how often the worse one has the larger plug-in and debiased value."""
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


def order_table(rows: list[dict[str, Any]]) -> str:
    """The two models, and how often they are in the right order."""
    (row,) = rows
    lines = [["true value", *(f"{x:.3f}" for x in row["true"]), ""]]
    lines += [
        [f"{name}, mean", *(f"{x:.3f}" for x in row[name]["mean"]), share(row[name]["right"])]
        for name in ("plug-in", "debiased")
    ]
    return markdown(["", "a = 1.5", "a = .7", "runs in the right order"], lines)

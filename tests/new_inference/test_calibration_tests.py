"""Tests of calibration: size, power, resolution, and corrections against their definitions."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from new_inference.rows import (
    calibrated,
    error_allowed,
    outcome_of,
    patients,
    residuals,
    sample_of,
    sharpened,
    table_of,
)
from trueness.inference import calibration_tests as them
from trueness.inference.noise import Streams, draw_ranks
from trueness.inference.sample import Sample


def copies(k: int, size: int, classes: int, rng: np.random.Generator) -> Any:
    y, p = calibrated(k, [1.0] * classes, rng)
    one = np.repeat(np.arange(k), size)
    return y[one], p[one], {"clusters": one}


def weighted(n: int, classes: int, rng: np.random.Generator) -> Any:
    y, p = calibrated(n, [1.0] * classes, rng)
    return y, p, {"sample_weight": np.exp(rng.standard_normal(n))}


def confident(n: int, classes: int, rng: np.random.Generator) -> Any:
    """Weights that depend on the prediction."""
    y, p = calibrated(n, [1.0] * classes, rng)
    return y, p, {"sample_weight": 1 / (1.02 - p.max(axis=1))}


def votes(n: int, classes: int, rng: np.random.Generator) -> Any:
    _, p = calibrated(n, [1.0] * classes, rng)
    return rng.multinomial(5, p) / 5, p, {"soft_labels": True}


def sick(k: int, prevalence: float, rng: np.random.Generator) -> Any:
    y, p, one = patients(k, 20, prevalence, rng)
    return y, p, {"clusters": one}


def plain(n: int, classes: int, alpha: float, rng: np.random.Generator) -> Any:
    return (*calibrated(n, [alpha] * classes, rng), {})


SIZES = {
    "one row": lambda rng: plain(1, 3, 1.0, rng),
    "five rows": lambda rng: plain(5, 10, 1.0, rng),
    "twenty rows": lambda rng: plain(20, 2, 1.0, rng),
    "a thousand rows": lambda rng: plain(1000, 3, 1.0, rng),
    "near-certain": lambda rng: plain(1000, 10, 0.01, rng),
    "a hundred classes": lambda rng: plain(300, 100, 0.05, rng),
    "weights": lambda rng: weighted(300, 3, rng),
    "weights by confidence": lambda rng: confident(500, 3, rng),
    "votes": lambda rng: votes(500, 3, rng),
    "copies": lambda rng: copies(20, 20, 2, rng),
    "copies, three classes": lambda rng: copies(50, 20, 3, rng),
    "patients": lambda rng: sick(100, 0.05, rng),
    "many patients": lambda rng: sick(200, 0.1, rng),
}


@pytest.mark.parametrize("name", SIZES)
def test_size(name: str) -> None:
    rng, runs = np.random.default_rng(len(name)), 60 if "hundred" in name else 120
    found = []
    for run in range(runs):
        y, p, given = SIZES[name](rng)
        found.append(outcome_of(y, p, run, **given).p_value)
    known = np.array([each for each in found if each is not None])
    for level, largest in ((0.05, 0.075), (0.01, 0.015)):
        assert np.mean(known <= level) <= largest + error_allowed(largest, runs), level


POWERS = {
    "sharpened": (lambda rng: (*wrong(600, 10, 1.5, rng), {}), 0.95),
    "flattened, twelve clusters": (
        lambda rng: (*wrong(1200, 3, 0.7, rng), {"clusters": np.arange(1200) // 100}),
        0.85,
    ),
    "a hundred classes, clusters": (
        lambda rng: (*wrong(1000, 100, 1.3, rng, 0.05), {"clusters": np.arange(1000) // 20}),
        0.9,
    ),
    "columns exchanged": (lambda rng: exchanged(500, rng), 0.95),
}


def wrong(n: int, classes: int, exponent: float, rng: Any, alpha: float = 1.0) -> Any:
    y, p = calibrated(n, [alpha] * classes, rng)
    return y, sharpened(p, exponent)


def exchanged(n: int, rng: np.random.Generator) -> Any:
    y, p = calibrated(n, [1.0, 1.0, 1.0], rng)
    return y, p[:, [1, 0, 2]], {}


@pytest.mark.parametrize("name", POWERS)
def test_power(name: str) -> None:
    rng, runs = np.random.default_rng(len(name)), 20
    draw, least = POWERS[name]
    found = []
    for run in range(runs):
        y, p, given = draw(rng)
        found.append(outcome_of(y, p, run, **given).p_value)
    assert np.mean([each is not None and each <= 0.05 for each in found]) >= least


def test_statistics_are_those_of_the_rows() -> None:
    y, p = calibrated(2000, [1.0] * 4, np.random.default_rng(0))
    outcome = outcome_of(y, sharpened(p, 1.2), bins=1)
    by_name = {test.name: test for test in outcome.tests}
    assert by_name.keys() == {
        "confidence",
        "order",
        "class frequency",
        "class slope",
        "predicted class",
        "top label",
        "variation",
    }
    q = sharpened(p, 1.2)
    entropy = -(q * np.log(q)).sum(axis=1)
    varentropy = (q * np.log(q) ** 2).sum(axis=1) - entropy**2
    z = (np.log(q[np.arange(2000), y]) + entropy).sum() / np.sqrt(varentropy.sum())
    assert by_name["confidence"].statistic == pytest.approx(z)
    mean = -np.sort(-q, axis=1).mean(axis=0)
    among = np.cumsum(mean)[:-1]
    g = np.cumsum(residuals(y, q).sum(axis=0))[:-1] / np.sqrt(2000 * among * (1 - among))
    assert by_name["order"].statistic == pytest.approx(g[np.abs(g).argmax()])
    observed = np.bincount((q > q[np.arange(2000), y][:, None]).sum(axis=1), minlength=4) / 2000
    drawn = np.random.default_rng(1).multinomial(2000, mean, 20_000) / 2000
    v = [
        -(each * np.log(np.maximum(each, 1e-300))).sum(-1) / np.log(4) for each in (observed, drawn)
    ]
    noise = 5 * v[1].std() / np.sqrt(199)  # the centre is a mean of 199 draws
    assert by_name["variation"].statistic == pytest.approx(abs(v[0] - v[1].mean()), abs=noise)
    assert all(1 / 200 <= test.p_value <= 1 for test in outcome.tests)


def test_clusters_weights_and_labels_that_say_nothing_change_nothing() -> None:
    y, p = calibrated(400, [1.0] * 3, np.random.default_rng(1))
    plain = outcome_of(y, p)
    assert outcome_of(y, p, sample_weight=np.full(400, 2.0)).p_value == pytest.approx(
        plain.p_value, abs=0.02
    )
    assert outcome_of(np.eye(3)[y], p, soft_labels=True) == plain
    order = np.random.default_rng(2).permutation(400)
    assert outcome_of(y[order], p[order]) == plain
    alone = outcome_of(y, p, clusters=np.arange(400)).p_value
    assert alone == pytest.approx(plain.p_value, rel=0.5)


def test_cannot_tell() -> None:
    rng = np.random.default_rng(3)
    y, p = calibrated(700, [1.0] * 3, rng)
    few = outcome_of(y, p, clusters=np.arange(700) % 7)
    assert few.p_value is None
    assert few.reason == "7 effective clusters; at least 10 are needed"
    y, p, one = patients(15, 20, 0.02, rng)
    rare = outcome_of(y, p, clusters=one)
    assert rare.p_value is None
    assert rare.tests == ()
    certain = outcome_of(np.zeros(40, int), np.eye(2)[np.zeros(40, int)])
    assert certain.p_value is None


def test_resolution_grows_until_it_can_decide() -> None:
    y, p = wrong(4000, 3, 1.4, np.random.default_rng(4))
    sample, streams = sample_of(y, p), Streams()
    draws = draw_ranks(sample, 99, streams)
    coarse = them.calibration_tests(sample, draws, streams)
    assert coarse.resamples == 99
    fine = them.calibration_tests(sample, draws, streams, resolution=1e-3)
    assert fine.resamples == 9900
    assert fine.p_value <= 1e-3 < coarse.p_value
    assert fine.p_value >= 1 / 9901
    y, p = calibrated(400, [1.0] * 3, np.random.default_rng(9))
    sample = sample_of(y, p)
    same = them.calibration_tests(sample, draw_ranks(sample, 99, streams), streams, resolution=1e-3)
    assert same.resamples == 99


def test_results_do_not_depend_on_other_groups() -> None:
    y, p = calibrated(600, [1.0] * 3, np.random.default_rng(6))
    names = np.where(np.arange(600) < 300, "a", "b")

    found = []
    for chosen in (np.arange(600), np.arange(300)):
        sample = Sample.of(table_of(y[chosen], p[chosen], groups=names[chosen]), group="a")
        streams = Streams(0, "a")
        found.append(them.calibration_tests(sample, draw_ranks(sample, 99, streams), streams))
    assert found[0] == found[1]


def test_impossible_rows_do_not_decide() -> None:
    y, p = calibrated(2000, [1.0] * 3, np.random.default_rng(7))
    before = outcome_of(y, p).p_value
    p = np.vstack([p, [[1.0, 0.0, 0.0]]])
    after = outcome_of(np.append(y, 1), p).p_value
    assert after == pytest.approx(before, rel=0.5)


def test_corrections_are_those_of_their_authors() -> None:
    rng = np.random.default_rng(8)
    for _ in range(20):
        p = rng.random(7) ** 2
        assert them.benjamini_hochberg(p) == pytest.approx(
            stats.false_discovery_control(p).tolist()
        )
        order = np.sort(p)
        assert them.simes(p) == pytest.approx(min(order * 7 / np.arange(1, 8)))
        stepped = [max((7 - j) * order[j] for j in range(k + 1)) for k in range(7)]
        expected = [min(1.0, stepped[sorted(p).index(each)]) for each in p]
        assert them.holm(p) == pytest.approx(expected)


def test_cauchy_combination() -> None:
    p, w = [0.02, 0.3, 0.8], [2.0, 1.0, 1.0]
    t = sum(a / np.tan(np.pi * b) for a, b in zip(w, p, strict=True)) / 4
    assert them.cauchy_combination(p, w) == pytest.approx(stats.cauchy.sf(t))
    assert them.cauchy_combination([1e-200, 1.0], [1, 1]) == pytest.approx(2e-200)
    capped = them.cauchy_combination([0.03, 0.9], [1, 1])
    assert them.cauchy_combination([0.03, 1.0], [1, 1]) == capped
    assert them.cauchy_combination([0.95, 1.0], [1, 1]) == 0.95
    assert them.cauchy_combination([0.01, 0.01], [2, 1]) == pytest.approx(0.01)

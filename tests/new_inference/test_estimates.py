"""Estimates: values against the public metrics, coverage by simulation."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import trueness as tn
from new_inference.rows import (
    calibrated,
    error_allowed,
    labels,
    log_scores,
    patients,
    sample_of,
    sharpened,
)
from trueness.inference import estimates
from trueness.inference.debiasing import variation_gaps
from trueness.inference.estimates import Estimate
from trueness.inference.noise import Streams, draw_ranks, draw_top_errors
from trueness.inference.sample import Sample


def all_estimates(it: Sample, resamples: int = 99, level: float = 0.95) -> dict[str, Any]:
    streams = Streams(0)
    draws = draw_ranks(it, resamples, streams)
    gaps = variation_gaps(it, draws, streams)
    noise = draw_top_errors(it, float(it.rank_effects()[1][0]), resamples, streams)
    found = {
        "vce": estimates.variation_error(it, gaps, level),
        "net": estimates.net_gap(it, gaps, level),
        "rce": estimates.rank_error(it, draws, level),
        "ece": estimates.top_error(it, noise, level),
        "confidence": estimates.confidence_gap(it, level),
        "surprise": estimates.entropic_difference(it, level),
    }
    if it.classes is not None:
        found |= {f"class {k}": each for k, each in enumerate(estimates.class_gaps(it, level))}
        found |= {f"slope {k}": each for k, each in enumerate(estimates.class_slopes(it, level))}
    return found


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_values_are_those_of_the_public_metrics(classes: int) -> None:
    y, p = calibrated(700, [0.7] * classes, np.random.default_rng(classes))
    p = sharpened(p, 1.4)
    found = all_estimates(sample_of(y, p))
    for name in ("vce", "ece", "rce"):
        assert found[name].value == pytest.approx(getattr(tn, name)(y, p), abs=1e-12)
    right = p.argmax(axis=1) == y
    assert found["confidence"].value == pytest.approx(p.max(axis=1).mean() - right.mean())
    last = p[:, -1].mean() - (y == classes - 1).mean()
    assert found["class 0" if classes == 2 else f"class {classes - 1}"].value == pytest.approx(last)
    assert found["surprise"].value == pytest.approx(-log_scores(y, p)[0].mean())


def test_values_of_rows_with_options_of_their_own() -> None:
    rng = np.random.default_rng(0)
    rows = [rng.dirichlet([1.0] * k) for k in rng.integers(2, 6, 300)]
    y = [int(rng.integers(len(row))) for row in rows]
    found = all_estimates(sample_of(y, rows))
    for name in ("vce", "ece", "rce"):
        assert found[name].value == pytest.approx(getattr(tn, name)(y, rows), abs=1e-12)
    assert found["vce"].low is not None


def test_nothing_is_nan() -> None:
    rng = np.random.default_rng(1)
    one_hot = np.eye(3)[rng.integers(0, 3, 50)]
    cases = {
        "one row": ([0], [[0.6, 0.4]], {}),
        "certain": (rng.integers(0, 3, 50), one_hot, {}),
        "uniform": (rng.integers(0, 3, 50), np.full((50, 3), 1 / 3), {}),
        "few clusters": (*calibrated(90, [1.0] * 3, rng), {"clusters": np.arange(90) % 4}),
    }
    for name, (y, p, given) in cases.items():
        for key, it in all_estimates(sample_of(y, p, **given)).items():
            numbers = [it.value, it.noise_floor, it.debiased, it.low, it.high]
            assert all(each is None or math.isfinite(each) for each in numbers), (name, key)
            assert (it.low is None) == (it.high is None), (name, key)
            assert it.low is not None or it.reason, (name, key)


def test_intervals_follow_the_design_effect() -> None:
    y, p = calibrated(400, [1.0] * 3, np.random.default_rng(2))
    p = sharpened(p, 1.5)
    one = np.repeat(np.arange(400), 9)
    plain = estimates.confidence_gap(sample_of(y, p), 0.95)
    copied = estimates.confidence_gap(sample_of(y[one], p[one], clusters=one), 0.95)
    assert copied.value == pytest.approx(plain.value)
    assert width(copied) == pytest.approx(width(plain), rel=0.08)
    ninety = estimates.confidence_gap(sample_of(y, p), 0.9)
    assert width(ninety) == pytest.approx(width(plain) * 1.645 / 1.96, rel=1e-3)


def width(it: Estimate) -> float:
    assert it.low is not None
    assert it.high is not None
    return it.high - it.low


def test_detectable_gap_is_found_in_four_of_five_runs() -> None:
    rng, seen = np.random.default_rng(3), 0
    p = rng.dirichlet([1.0] * 3, 1000)
    gap = estimates.detectable_gap(sample_of(labels(p, rng), p))
    top = p.max(axis=1)
    lower = top - gap
    runs = 200
    for _ in range(runs):
        right = rng.random(1000) < lower
        z = (top.sum() - right.sum()) / math.sqrt((top * (1 - top)).sum())
        seen += abs(z) > 1.96
    assert seen / runs == pytest.approx(0.8, abs=0.03 + error_allowed(0.8, runs))


def true_gaps(truth: np.ndarray, q: np.ndarray) -> dict[str, float]:
    """With the distributions of the labels in place of labels."""
    of = all_estimates(sample_of(truth, q, soft_labels=True), resamples=2)
    return {name: each.value for name, each in of.items()}


def independent(classes: int, rows: int, exponent: float) -> Callable[..., Any]:
    def draw(rng: np.random.Generator, scale: int = 1) -> Any:
        p = np.maximum(rng.dirichlet([1.0] * classes, rows * scale), 1e-12)
        return p, sharpened(p, exponent), {}

    return draw


def in_clusters(rng: np.random.Generator, scale: int = 1) -> Any:
    p = rng.dirichlet([1.0] * 3, 100 * scale)
    one = np.repeat(np.arange(100 * scale), 10 if scale == 1 else 1)
    return p[one], sharpened(p, 1.3)[one], {"clusters": one} if scale == 1 else {}


SETTINGS = {
    "two classes": independent(2, 500, 1.3),
    "three classes, calibrated": independent(3, 500, 1.0),
    "ten classes": independent(10, 500, 0.8),
    "clusters": in_clusters,
}


@pytest.mark.parametrize("name", SETTINGS)
def test_intervals_cover(name: str) -> None:
    rng, draw, runs = np.random.default_rng(len(name)), SETTINGS[name], 100
    truth, q, _ = draw(rng, 200)
    true = true_gaps(truth, q)
    covered = dict.fromkeys(true, 0)
    for _ in range(runs):
        truth, q, given = draw(rng)
        y = labels(truth, rng)
        if given:  # rows of a cluster share their label
            y = y[np.unique(given["clusters"], return_index=True)[1]][given["clusters"]]
        found = all_estimates(sample_of(y, q, **given))
        for key, goal in true.items():
            it = found[key]
            covered[key] += it.low is not None and it.low - 1e-3 <= goal <= it.high + 1e-3
    for key, count in covered.items():
        assert count / runs >= 0.93 - error_allowed(0.93, runs, 2.5), (key, count / runs)


def test_patients_without_enough_events_get_no_interval() -> None:
    rng = np.random.default_rng(4)
    y, p, one = patients(20, 20, 0.05, rng)
    found = all_estimates(sample_of(y, p, clusters=one))
    assert found["confidence"].low is None
    assert "effective" in found["confidence"].reason

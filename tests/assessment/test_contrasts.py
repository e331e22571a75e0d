"""Differences between models: coverage and size of their intervals and p-values."""

import math
from functools import cache

import numpy as np
import pytest
from comparison_data import EF

import trueness as tn
from trueness.old_assessment import _contrasts


def merged(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A calibrated model with less information: in half of the rows it does not separate the last two classes."""
    p = truth.copy()
    blind = rng.random(len(p)) < 0.5
    p[blind, -2:] = p[blind, -2:].mean(axis=1, keepdims=True)
    return p


def population(alpha: tuple[float, ...], exponent: float) -> dict[str, float]:
    """VCE and net of `merged` and sharpened predictions, with the known probabilities in place of labels."""
    rng = np.random.default_rng(12)
    known = merged(rng.dirichlet(alpha, 100_000), rng)
    p = tn.simulate.sharpen(known, exponent)
    order = np.argsort(-p, axis=1, kind="stable")
    q, t = (np.take_along_axis(x, order, axis=1) for x in (p, known))
    n_classes, found = len(alpha), {}
    for name in ("entropy", "confidence"):
        measure = tn.variations[name]
        place = np.searchsorted(np.quantile(measure(q), np.arange(1, 10) / 10), measure(q))
        weight = np.bincount(place, minlength=10) / len(p)
        predicted, observed = (np.array([x[place == m].mean(axis=0) for m in range(10)]) for x in (q, t))
        found[name] = weight, measure(observed) - measure(predicted), observed - predicted
    weight, gaps, apart = found["entropy"]
    return {
        "vce": float(weight @ np.abs(gaps)),
        "net": float(weight @ gaps),
        "ece": float(found["confidence"][0] @ np.abs(found["confidence"][1])),
        "rce": float(weight @ np.abs(apart).sum(axis=1)) / 2,
        "rce_w1": float(weight @ np.abs(np.cumsum(apart, axis=1)[:, :-1]).sum(axis=1)) / (n_classes - 1),
    }


@pytest.mark.parametrize("at_once", [1, 9000])
def test_bounds_of_bins_at_once_are_those_of_bins_one_by_one(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    y_true, y_prob = tn.simulate.calibrated(400, [0.5, 0.5, 0.5], rng=2)
    models = {"a": y_prob, "b": tn.simulate.sharpen(y_prob, 6.0)}  # not the same bins have rows
    whole = tn.compare(y_true, models, bins=25)
    rows = [result.table.row_count > 0 for result in whole.assessments.values()]
    assert (rows[0] != rows[1]).any()
    monkeypatch.setattr(_contrasts, "VALUES_AT_ONCE", at_once)
    again = tn.compare(y_true, models, bins=25)
    for key, contrast in whole.pairs[0].contrasts.items():
        assert again.pairs[0].contrasts[key].interval.low == pytest.approx(contrast.interval.low, rel=1e-12)
        assert again.pairs[0].contrasts[key].p_value == pytest.approx(contrast.p_value, rel=1e-9)


RUNS = 80


FOUR = 4 * math.sqrt(0.9 * 0.1 / RUNS)


@cache
def contrasts(
    alpha: tuple[float, ...], n_rows: int, a: float, b: float
) -> tuple[dict[str, float], dict[str, float]]:
    """How often, in 80 runs of two models, intervals cover the true difference, and how often the models differ."""
    seeds = np.random.default_rng([len(alpha), n_rows, int(10 * a), int(10 * b)])
    first, second = population(alpha, a), population(alpha, b)
    covered, called = [], []
    for _ in range(RUNS):
        y_true, truth = tn.simulate.calibrated(n_rows, alpha, rng=seeds)
        models = {
            name: tn.simulate.sharpen(merged(truth, seeds), x) for name, x in (("first", a), ("second", b))
        }
        pair = tn.compare(y_true, models, bins=EF, resamples=99, rng=seeds).pairs[0]
        seen = {name: getattr(pair, name) for name in first}
        covered.append([c.interval.low <= first[n] - second[n] <= c.interval.high for n, c in seen.items()])
        called.append([*(c.p_value <= 0.05 for c in seen.values()), pair.p_value <= 0.05])
    rates = dict(zip([*first, "together"], np.mean(called, axis=0), strict=True))
    return dict(zip(first, np.mean(covered, axis=0), strict=True)), rates


FLAT, SKEW = (1.0,) * 3, (10.0, *(1.0,) * 9)


@pytest.mark.parametrize(("alpha", "n_rows", "a"), [(FLAT, 500, 1.0), (FLAT, 500, 1.3)])
def test_equal_models_are_called_different_in_a_twentieth_of_runs(
    alpha: tuple[float, ...], n_rows: int, a: float
) -> None:
    """All metrics together: at most .065 at 5 %, plus four errors of 80 runs."""
    _, called = contrasts(alpha, n_rows, a, a)
    assert called["together"] <= 0.065 + 4 * math.sqrt(0.065 * 0.935 / RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["vce", "net", "ece", "rce", "rce_w1"])
@pytest.mark.parametrize(
    ("alpha", "n_rows", "a", "b"),
    [(FLAT, 500, 1.0, 1.0), (FLAT, 500, 1.3, 1.3), (FLAT, 500, 1.0, 1.4), (SKEW, 300, 0.9, 1.1)],
)
def test_coverage_and_size(alpha: tuple[float, ...], n_rows: int, a: float, b: float, key: str) -> None:
    """The interval of the difference covers ≥ 90 %, less four errors of 80 runs (.13).

    Where the truth is no difference, one is called at 5 % in up to 10 % of runs, plus four errors. a = 0.9 and 1.1 err
    in opposite directions and differ in nothing but the net gap.
    """
    covered, called = contrasts(alpha, n_rows, a, b)
    assert covered[key] >= 0.9 - FOUR
    if a == b or (a, b, key != "net") == (0.9, 1.1, True):
        assert called[key] <= 0.1 + FOUR
    elif key == "net":
        assert called[key] > 0.5


def test_the_order_of_the_models_does_not_matter_if_their_numbers_of_bins_differ() -> None:
    """Of equal mass: many equal predictions of one model leave it with fewer bins than the other has."""
    y_true, y_prob = tn.simulate.calibrated(400, [1, 1, 1], rng=1)
    rounded = np.round(y_prob, 1)
    models = {
        "coarse": rounded / rounded.sum(axis=1, keepdims=True),
        "fine": tn.simulate.sharpen(y_prob, 1.4),
    }
    models["coarse"][100:] = [0.6, 0.3, 0.1]
    one, other = (
        tn.compare(y_true, {name: models[name] for name in order}, bins=tn.EqualMass(10), resamples=99)
        for order in (["coarse", "fine"], ["fine", "coarse"])
    )
    counts = {name: result.table.n_bins for name, result in one.assessments.items()}
    assert counts["coarse"] < counts["fine"]
    for key, contrast in one.pairs[0].contrasts.items():
        swapped = other.pairs[0].contrasts[key]
        assert contrast.difference == pytest.approx(-swapped.difference, abs=1e-12), key
        assert contrast.p_value == pytest.approx(swapped.p_value, abs=1e-12), key
        assert contrast.interval.low == pytest.approx(-swapped.interval.high, abs=1e-12), key


def test_a_bin_without_noise_in_the_replicates_gets_the_noise_of_the_assessment() -> None:
    """Where all rows of a bin are right, its replicates differ by rounding errors alone: these are not scaled up."""
    y_true, y_prob = tn.simulate.calibrated(2000, [10, 1, 1], rng=0)
    models = {"old": y_prob, "new": tn.simulate.sharpen(y_prob, 2.0)}
    compared = tn.compare(y_true, models, rng=0)
    interval = compared.pairs[0].contrasts["ece"].interval
    variances = []
    for result in compared.assessments.values():
        table, bins = result.confidence_table, result.ece.bins
        assert np.any((table.rank_count[:, 0] == table.count) & (table.count > 0))
        variances.append(float(np.nansum((table.count / len(y_true) * bins.sd) ** 2)))
    assert interval.high - interval.low < 2 * 1.96 * math.sqrt(2 * sum(variances))

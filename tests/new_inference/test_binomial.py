"""Tilted binomials, against closed forms, row fits and SciPy."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from new_inference.rows import sample_of
from trueness.inference.binomial import (
    ALWAYS,
    NEVER,
    ONE_PROBABILITY,
    SEPARATED,
    frequency_band,
    frequency_roots,
    logistic_fits,
    slope_roots,
)
from trueness.inference.sample import Events


def events(n: list[float], p: list[float], y: list[float]) -> Events:
    rows = np.array([n], float)
    return Events(rows, rows * np.array([p]), np.array([y], float), rows)


def test_root_of_one_cell_is_the_likelihood_ratio_with_continuity() -> None:
    for n, p, y in ((100, 0.1, 20), (100, 0.1, 3), (5, 0.9, 0), (1, 0.001, 1), (10, 0.5, 10)):
        target = y - 0.5 * np.sign(y - n * p)
        r = target / n
        ratio = 2 * n * (r * math.log(r / p) + (1 - r) * math.log((1 - r) / (1 - p)))
        it = events([n], [p], [y])
        found = frequency_roots(it)[0]
        assert found == pytest.approx(math.copysign(math.sqrt(ratio), y - n * p), rel=1e-8)
    it = events([10], [0.5], [5])
    assert frequency_roots(it)[0] == 0


def test_p_of_the_root_is_that_of_the_exact_distribution() -> None:
    n, p = [4, 3, 2], [0.05, 0.3, 0.8]
    chances = np.ones(1)
    for size, chance in zip(n, p, strict=True):
        chances = np.convolve(chances, stats.binom.pmf(range(size + 1), size, chance))
    for total in range(sum(n) + 1):
        tail = min(chances[: total + 1].sum(), chances[total:].sum())
        it = events(n, p, [min(total, 4), min(max(total - 4, 0), 3), max(total - 7, 0)])
        w = frequency_roots(it)[0]
        assert stats.norm.sf(abs(w)) == pytest.approx(tail, rel=0.6) or w == 0


def test_effects_and_weights_are_fewer_rows() -> None:
    it = events([400, 800], [0.1, 0.4], [60, 330])
    fewer = events([100, 200], [0.1, 0.4], [15, 82.5])
    for roots in (frequency_roots, slope_roots):
        plain = roots(fewer)
        assert roots(it, 4.0) == pytest.approx(plain)
        assert roots(it._replace(square=4 * it.rows)) == pytest.approx(plain)


def test_slope_root_is_near_the_likelihood_ratio_of_a_logistic_fit() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(0, 2, 400)
    p = 1 / (1 + np.exp(-x))
    y = (rng.random(400) < 1 / (1 + np.exp(-0.6 * x))).astype(float)
    one = np.ones((1, 400))
    it = Events(one, p[None], y[None], one)
    w = slope_roots(it)[0]
    assert w < -3
    slope_1 = optimize.minimize_scalar(lambda a: loss(np.array([a, 1.0]), x, y))
    ratio = 2 * (slope_1.fun - optimize.minimize(loss, [0, 1], (x, y)).fun)
    assert w == pytest.approx(-math.sqrt(ratio), rel=0.1)


def loss(at: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    eta = at[0] + at[1] * x
    return float((np.logaddexp(0, eta) - y * eta).sum())


def test_roots_are_normal_where_the_score_is_not() -> None:
    rng = np.random.default_rng(1)
    p = np.tile(1 / (1 + np.exp(-rng.normal(-4, 1.5, 200))), (4000, 1))
    one = np.ones(p.shape)
    it = Events(one, p, (rng.random(p.shape) < p).astype(float), one)
    for roots in (frequency_roots, slope_roots):
        w = roots(it)
        for level in (0.05, 0.01):
            share = np.mean(2 * stats.norm.sf(np.abs(w)) <= level)
            assert share <= level + 4 * math.sqrt(level / 4000), roots.__name__
            assert share >= level / 3


@pytest.mark.parametrize("slope", [0.1, 0.5, 2.0, 5.0])
@pytest.mark.parametrize("spread", [1.0, 3.0])
def test_slope_of_cells_is_that_of_the_rows(slope: float, spread: float) -> None:
    rng = np.random.default_rng(int(10 * slope + spread))
    x = rng.normal(-1, spread, 20_000)
    y = (rng.random(20_000) < 1 / (1 + np.exp(-slope * x))).astype(int)
    p = 1 / (1 + np.exp(-x))
    fit = optimize.minimize(loss, [0, slope], (x, y.astype(float)), tol=1e-10)
    it = sample_of(y, np.stack([1 - p, p], axis=1))
    assert it.classes is not None
    found = logistic_fits(it.classes)
    allowed = max(0.01, 0.5 * found.slope_error[0])
    assert found.slope[0] == pytest.approx(fit.x[1], abs=allowed)
    assert found.reasons == (None,)


def test_fit_is_the_maximum_with_its_standard_error() -> None:
    rng = np.random.default_rng(2)
    n, p = rng.integers(1, 50, (30, 8)).astype(float), np.sort(rng.random((30, 8)), axis=1)
    y = rng.binomial(n.astype(int), p**1.5).astype(float)
    found = logistic_fits(Events(n, n * p, y, n))
    for k in range(30):
        x = np.log(p[k] / (1 - p[k]))

        def negative(at, x=x, n=n[k], y=y[k]) -> float:
            eta = at[0] + at[1] * x
            return float((n * np.logaddexp(0, eta) - y * eta).sum())

        best = optimize.minimize(negative, [0, 1], tol=1e-12)
        assert [found.intercept[k], found.slope[k]] == pytest.approx(best.x, abs=2e-4)
        eta = best.x[0] + best.x[1] * x
        v = n[k] / (2 + np.exp(eta) + np.exp(-eta))
        information = np.array([[v.sum(), v @ x], [v @ x, v @ x**2]])
        error = math.sqrt(np.linalg.inv(information)[1, 1])
        assert found.slope_error[k] == pytest.approx(error, rel=1e-3)
    double = logistic_fits(Events(2 * n, 2 * n * p, 2 * y, 4 * n))
    assert double.slope == pytest.approx(found.slope, abs=1e-6)
    assert double.slope_error == pytest.approx(found.slope_error, rel=1e-6)


def test_reasons_where_there_is_no_slope() -> None:
    n, p = np.full((5, 4), 10.0), np.tile([0.1, 0.3, 0.6, 0.9], (5, 1))
    p[2] = 0.5
    y = np.array([[0] * 4, [10] * 4, [3, 4, 5, 6], [0, 0, 10, 10], [10, 10, 0, 0]], float)
    found = logistic_fits(Events(n, n * p, y, n))
    assert found.reasons == (NEVER, ALWAYS, ONE_PROBABILITY, SEPARATED, SEPARATED)
    assert np.isnan(found.slope).all()


def test_predictions_of_0_and_1_have_a_finite_answer_or_a_reason() -> None:
    rng = np.random.default_rng(3)
    sure = rng.integers(0, 2, 500)
    y = np.where(rng.random(500) < 0.1, 1 - sure, sure)
    it = sample_of(y, np.eye(2)[sure])
    assert it.classes is not None
    found = logistic_fits(it.classes)
    assert found.reasons[0] is not None or abs(found.slope[0]) < 1
    assert np.isnan(frequency_roots(it.classes)[0])


def test_frequency_band_is_that_of_the_binomial() -> None:
    n = np.array([[1, 7, 30], [200, 5000, 100_000]], float)
    for q in (0.0, 0.003, 0.3, 0.5, 0.97, 1.0):
        low, high = frequency_band(n, np.full(n.shape, q), 0.95)
        exact = [stats.binom.ppf(tail, n, q) / n for tail in (0.025, 0.975)]
        assert np.abs(low - exact[0]).max() <= 1 / 5000
        assert np.abs(high - exact[1]).max() <= 1 / 5000

"""Debiased values: equations solved by other means, biases by enumeration."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize

from new_inference.rows import calibrated, sample_of, sharpened
from new_inference.test_noise import enumerated
from trueness.inference.debiasing import (
    at_power,
    debiased_total,
    half_normal_reach,
    most_likely_beta,
    variation_gaps,
)
from trueness.inference.noise import Streams, draw_ranks


def folded_mean(mean: float, sd: float) -> float:
    """E|N(μ, σ²)| as an integral."""
    if sd == 0:
        return mean
    ends = mean - 12 * sd, mean + 12 * sd
    found, _ = integrate.quad(
        lambda x: abs(x) * math.exp(-(((x - mean) / sd) ** 2) / 2), *ends, points=[0.0, mean]
    )
    return found / (sd * math.sqrt(2 * math.pi))


def test_debiased_total_solves_its_equation() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        k = int(rng.integers(1, 5))
        w, g = rng.dirichlet(np.ones(k)), rng.normal(0, 0.1, k)
        sd = np.abs(rng.normal(0, rng.choice([0.0, 0.01, 0.1]), k))
        total = float(w @ np.abs(g))

        def excess(t: float, w=w, g=g, sd=sd, total=total) -> float:
            means = map(folded_mean, t * np.abs(g), sd)
            return float(w @ list(means)) - total

        found = float(debiased_total(w, g, sd))
        if excess(0.0) >= 0:
            assert found == 0
        else:
            t = optimize.brentq(excess, 0, 1.001, xtol=1e-12)
            assert found == pytest.approx(t * total, abs=1e-8)


def test_beta_maximises_the_likelihood() -> None:
    rng = np.random.default_rng(1)
    q = np.sort(rng.dirichlet([1.0] * 4, 5), axis=1)[:, ::-1]
    n, r = np.array([10, 200, 30, 5, 80]), rng.dirichlet([1.0] * 4, 5)

    def likelihood(beta: float) -> float:
        return -float((n[:, None] * r * np.log(at_power(np.log(q), beta))).sum())

    beta, error = most_likely_beta([(n, q, r)])
    best = optimize.minimize_scalar(likelihood, bracket=(-2, 2), tol=1e-12)
    assert beta == pytest.approx(best.x, abs=1e-5)
    h = 1e-3
    curvature = (likelihood(beta + h) - 2 * likelihood(beta) + likelihood(beta - h)) / h**2
    assert error == pytest.approx(1 / math.sqrt(curvature), rel=1e-4)
    assert most_likely_beta([(n, np.full((5, 4), 0.25), r)])[1] == 0


@pytest.mark.parametrize("variation", ["entropy", "iqv", "max_probability"])
def test_bias_is_that_of_the_tempered_predictions(variation: str) -> None:
    p = np.array([[0.6, 0.3, 0.1]] * 7)
    it = sample_of([0, 0, 0, 1, 1, 2, 2], p, 1, variation)
    draws = draw_ranks(it, 4999, Streams(0))
    gaps = variation_gaps(it, draws, Streams(0))
    tilted = at_power(np.log(p[:1]), gaps.beta)[0]
    mean = sum(chance * it.variation(counts / 7) for chance, counts in enumerated(7, tilted))
    assert gaps.bias[0] == pytest.approx(it.variation(tilted) - mean, abs=0.012)
    seen = (np.array([3, 2, 2]) + p[0]) / 8
    spreads = []
    for q in (p[0], seen):
        values = [(chance, it.variation(counts / 7)) for chance, counts in enumerated(7, q)]
        centre = sum(chance * value for chance, value in values)
        spreads.append(sum(chance * (value - centre) ** 2 for chance, value in values))
    assert gaps.sd[0] == pytest.approx(math.sqrt(max(spreads)), rel=0.05)


def test_temperature_is_recovered() -> None:
    y, p = calibrated(20_000, [1.0] * 5, np.random.default_rng(2))
    it = sample_of(y, sharpened(p, 1.3))
    beta = variation_gaps(it, draw_ranks(it, 99, Streams()), Streams()).beta
    assert 1 / beta == pytest.approx(1.3, rel=0.05)


def test_one_row_a_bin_has_no_noise() -> None:
    it = sample_of([0, 1], [[0.9, 0.1], [0.6, 0.4]])
    assert variation_gaps(it, draw_ranks(it, 99, Streams()), Streams()).is_noiseless


def test_half_normal_reach_is_the_quantile_of_the_sum() -> None:
    rng = np.random.default_rng(3)
    for scale in (np.ones(1), np.array([1.0, 0.2]), rng.random(10)):
        drawn = np.abs(rng.standard_normal((100_000, len(scale)))) @ scale
        assert half_normal_reach(scale, 0.95) == pytest.approx(np.quantile(drawn, 0.95), rel=0.02)

"""The spread of several runs: plain loops, the analysis of variance, published quantiles and coverage as oracles."""

import math
from dataclasses import replace

import numpy as np
import pytest

from trueness.old_inference.runs import noise_between, seed_estimate, weigh
from trueness.old_inference.student import incomplete_beta, student_quantile, student_tail

ANY = (-math.inf, math.inf)


def in_loops(values, covariance):
    """Mean, s², σ² - c, c and σ² by the formulas of the module, one number at a time."""
    k = len(values)
    mean = sum(values) / k
    observed = sum((value - mean) ** 2 for value in values) / (k - 1)
    within = sum(covariance[i][i] for i in range(k)) / k
    pairs = [covariance[i][j] for i in range(k) for j in range(k) if i != j]
    shared = sum(pairs) / len(pairs)
    return mean, observed, within - shared, shared, within


@pytest.mark.parametrize("k", [2, 3, 7])
def test_the_split_in_plain_loops(k):
    rng = np.random.default_rng(k)
    values = rng.normal(0.2, 0.1, k)
    root = rng.normal(size=(k, k)) * 0.02 + 0.05
    covariance = root @ root.T
    mean, observed, apart, shared, within = in_loops(values.tolist(), covariance.tolist())
    found = seed_estimate(values, covariance, 0.95, ANY)
    assert found.mean == pytest.approx(mean)
    assert found.observed_sd == pytest.approx(math.sqrt(observed))
    assert found.within_sd == pytest.approx(math.sqrt(within))
    assert found.between_sd == pytest.approx(math.sqrt(max(observed - apart, 0)))
    variance = observed / k + shared
    assert found.standard_error == pytest.approx(math.sqrt(variance))
    reach = math.sqrt(student_quantile(0.95, k - 1) ** 2 * observed / k + 1.959964**2 * shared)
    assert (found.interval.low, found.interval.high) == pytest.approx((mean - reach, mean + reach), abs=1e-6)
    assert noise_between(covariance) == pytest.approx(apart)


def test_with_rows_of_their_own_it_is_the_analysis_of_variance():
    """A balanced one-way layout, r rows for each of k seeds: τ̂² = (MSB - MSW)/r, Var(d̄) = MSB/(rk)."""
    rng = np.random.default_rng(0)
    k, r = 5, 40
    rows = rng.normal(0, 0.3, (k, 1)) + rng.normal(0, 1, (k, r))
    means = [sum(row) / r for row in rows.tolist()]
    grand = sum(means) / k
    between = r * sum((mean - grand) ** 2 for mean in means) / (k - 1)
    within = sum((x - means[i]) ** 2 for i, row in enumerate(rows.tolist()) for x in row) / (k * (r - 1))
    assert between > within
    found = seed_estimate(np.array(means), np.eye(k) * within / r, 0.95, ANY)
    assert found.between_sd**2 == pytest.approx((between - within) / r)
    assert found.within_sd**2 == pytest.approx(within / r)
    assert found.standard_error**2 == pytest.approx(between / (r * k))
    reach = student_quantile(0.95, k - 1) * math.sqrt(between / (r * k))
    assert found.interval.high - grand == pytest.approx(reach)


def test_a_difference_in_plain_loops():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(5, 5)) * 0.03 + 0.04
    covariance = root @ root.T
    a, b = rng.normal(0.3, 0.1, 3), rng.normal(0.1, 0.1, 2)
    found = weigh([a, b], [1.0, -1.0], covariance)
    _, s_a, v_a, _, _ = in_loops(a.tolist(), covariance[:3, :3].tolist())
    _, s_b, v_b, _, _ = in_loops(b.tolist(), covariance[3:, 3:].tolist())
    w = [1 / 3] * 3 + [-1 / 2] * 2
    noise = sum(w[i] * w[j] * covariance[i][j] for i in range(5) for j in range(5))
    variance = s_a / 3 + s_b / 2 + max(noise - v_a / 3 - v_b / 2, 0)
    assert found.value == pytest.approx(sum(a) / 3 - sum(b) / 2)
    assert found.standard_error == pytest.approx(math.sqrt(variance))
    assert found.reach(1 - found.p_value) == pytest.approx(abs(found.value), rel=1e-6)


def test_the_p_value_of_runs_with_rows_of_their_own_is_that_of_t():
    found = weigh([np.array([0.1, 0.3, 0.4])], [1.0], np.eye(3) * 0.001)
    t = (0.8 / 3) / math.sqrt(np.var([0.1, 0.3, 0.4], ddof=1) / 3)
    assert found.p_value == pytest.approx(student_tail(t, 2), rel=1e-9)


def test_one_run_has_no_spread_between_seeds_and_the_interval_of_its_sampling_error():
    found = seed_estimate(np.array([0.2]), np.array([[0.01]]), 0.95, (0.0, math.inf))
    assert math.isnan(found.between_sd)
    assert math.isnan(found.observed_sd)
    assert found.within_sd == pytest.approx(0.1)
    assert found.interval.low == pytest.approx(0.2 - 1.959964 * 0.1, abs=1e-6)


@pytest.mark.parametrize("k", [2, 3, 8])
@pytest.mark.parametrize("z", [1.0, 5.0, 20.0, 30.0, 50.0])
def test_the_p_value_of_runs_that_are_all_the_same_is_that_of_their_shared_error(k, z):
    """Far in the tail the deviate of t is infinite, which must not matter for a variance of 0."""
    found = weigh([np.full(k, 0.25), np.full(k, 0.125)], [1.0, -1.0], np.zeros((2 * k, 2 * k)))
    found = replace(found, shared=(0.125 / z) ** 2)
    assert found.spreads == ((0.0, k - 1),) * 2
    assert found.p_value == pytest.approx(math.erfc(min(z, 37) / math.sqrt(2)), rel=1e-6)


@pytest.mark.parametrize("k", [2, 3, 8])
def test_the_p_value_of_runs_that_hardly_differ_is_that_of_t(k):
    """The t of the difference is 10⁷ or more, whose tail is very small but not 0 with few runs."""
    a, b = 0.25 + 1e-9 * np.arange(k), 0.125 + 1e-9 * np.arange(k)
    found = weigh([a, b], [1.0, -1.0], np.zeros((2 * k, 2 * k)))
    t = found.value / found.standard_error
    assert found.p_value == pytest.approx(student_tail(t, k - 1), rel=1e-6)


def test_runs_without_any_error_have_an_interval_of_no_width():
    found = weigh([np.array([0.1, 0.1])], [1.0], np.zeros((2, 2)))
    assert (found.standard_error, found.p_value) == (0.0, 0.0)
    assert weigh([np.zeros(2)], [1.0], np.zeros((2, 2))).p_value == 1.0


QUANTILES = {1: 12.7062047, 2: 4.3026527, 4: 2.7764451, 10: 2.2281389, 30: 2.0422725, math.inf: 1.9599640}
"""t of 97.5 %, from the tables of any textbook."""


@pytest.mark.parametrize("degrees", QUANTILES)
def test_student_against_tables(degrees):
    assert student_quantile(0.95, degrees) == pytest.approx(QUANTILES[degrees], abs=1e-7)
    assert student_tail(QUANTILES[degrees], degrees) == pytest.approx(0.05, abs=1e-8)


def test_the_ends_of_the_incomplete_beta_function():
    assert [incomplete_beta(x, 2, 3) for x in (0.0, 1.0)] == [0.0, 1.0]
    assert incomplete_beta(0.3, 2, 3) == pytest.approx(1 - incomplete_beta(0.7, 3, 2))


def test_student_against_scipy():
    from scipy.stats import t

    for degrees in (1.0, 1.7, 3.3, 12.0, 250.5):
        assert student_quantile(0.9, degrees) == pytest.approx(t.ppf(0.95, degrees), rel=1e-10)
        for value in (0.1, 2.0, 30.0):
            assert student_tail(value, degrees) == pytest.approx(2 * t.sf(value, degrees), rel=1e-10)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("between", [0.0, 0.5, 2.0])
def test_the_interval_of_the_mean_covers_new_seeds_and_rows(k, between):
    """d_k = μ + a_k + e_k with sampling sd 1, correlation 0.7: 95 % intervals cover μ in 95 % of 4000 samples or more.

    The Monte-Carlo error of a coverage of 95 % is 0.34 points.
    """
    rng = np.random.default_rng([k, round(10 * between)])
    covariance = np.full((k, k), 0.7) + 0.3 * np.eye(k)
    errors = rng.multivariate_normal(np.zeros(k), covariance, 4000)
    values = 3.0 + between * rng.normal(size=(4000, k)) + errors
    found = [seed_estimate(row, covariance, 0.95, ANY) for row in values]
    covered = np.mean([it.interval.low <= 3.0 <= it.interval.high for it in found])
    assert covered > 0.95 - 3 * 0.0034
    variance = np.mean([it.standard_error**2 for it in found])
    expected = between**2 / k + 0.7 + 0.3 / k
    assert variance == pytest.approx(expected, rel=0.1)
    unclipped = np.mean([it.observed_sd**2 - 0.3 for it in found])
    assert unclipped == pytest.approx(between**2, abs=0.02 + 0.1 * between**2)


@pytest.mark.parametrize("sizes", [(2, 2), (3, 3), (2, 5)], ids=str)
@pytest.mark.parametrize("ratio", [1.0, 0.2, 20.0])
def test_the_difference_of_two_models_holds_its_level(sizes, ratio):
    """Seeds alone differ, with standard deviations 1 and `ratio`: at most 5 % of 4000 intervals lack 0.

    The Monte-Carlo error of 5 % is 0.34 points.
    """
    rng = np.random.default_rng([*sizes, round(10 * ratio)])
    none = np.zeros((sum(sizes), sum(sizes)))
    lacking = 0
    for _ in range(4000):
        values = [rng.normal(0, sd, k) for sd, k in zip((1.0, ratio), sizes, strict=True)]
        found = weigh(values, [1.0, -1.0], none)
        lacking += abs(found.value) > found.reach(0.95)
    assert lacking / 4000 < 0.05 + 3 * 0.0034

"""Binomial bands and standardised gaps of frequencies."""

import math
from fractions import Fraction

import numpy as np
import pytest

from trueness.old_inference.binomial import absolute_deviation, frequency_band, standardised_gap


def test_frequency_bands_are_the_binomial_quantiles():
    from scipy.stats import binom

    rng = np.random.default_rng(0)
    n = np.floor(10 ** rng.uniform(0, 6, 20_000))
    q = 10 ** rng.uniform(-7, 0, 20_000)
    q[:2], q[10_000:] = (0.0, 1.0), 1 - q[10_000:]
    for level in (0.5, 0.95, 0.999):
        for band, share in zip(frequency_band(n, q, level), ((1 - level) / 2, (1 + level) / 2), strict=True):
            # Where many rows are expected, one row more or less is allowed.
            slack = np.where(n * q * (1 - q) > 400, 1.01, 0.01)
            assert np.all(np.abs(band * n - binom.ppf(share, n, q)) <= slack)


def test_certain_outcomes_have_no_band():
    """Also for numbers of independent rows that are not whole."""
    low, high = frequency_band(np.array([30.0, 7.4, 7.4]), np.array([1.0, 1.0, 0.0]), 0.95)
    assert low.tolist() == high.tolist() == [1.0, 1.0, 0.0]


def test_standardised_gaps_by_hand():
    """±√(2n·KL): for n = 100, r = 0.6, q = 0.5 it is √(200·(0.6·ln 1.2 + 0.4·ln 0.8)) = 2.006764."""
    n, r, q = np.array([100.0] * 4), np.array([0.6, 0.4, 0.5, 1.0]), np.array([0.5, 0.5, 0.5, 1.0])
    np.testing.assert_allclose(standardised_gap(n, r, q), [2.006764, -2.006764, 0, 0], atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 7, 40, 300])
def test_absolute_deviations_in_rational_arithmetic(n):
    for p in (Fraction(3, 16), Fraction(1, 2), Fraction(1, 1024), Fraction(1023, 1024)):
        chances = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
        want = sum(chance * abs(k - n * p) for k, chance in enumerate(chances))
        assert absolute_deviation(np.array([n]), np.array([float(p)]))[0] == pytest.approx(
            float(want), rel=1e-13
        )


def test_absolute_deviation_of_a_rare_outcome_of_many_rows():
    """n·p = 100 with n = 1e15: that of a Poisson count, 2·101·e⁻¹⁰⁰·100¹⁰¹/101!, but for terms of order p."""
    want = 2 * 101 * math.exp(101 * math.log(100) - 100 - math.lgamma(102))
    assert absolute_deviation(np.array([1e15]), np.array([1e-13]))[0] == pytest.approx(want, rel=1e-12)


def test_absolute_deviation_of_certain_and_impossible_outcomes():
    """np.cumsum of frequencies may exceed 1 by rounding; a probability may be subnormal."""
    p = np.array([0.0, 1.0, 1 + 1e-15, 5e-324])
    assert absolute_deviation(np.array([5, 5, 5, 7]), p) == pytest.approx([0.0] * 4, abs=1e-300)

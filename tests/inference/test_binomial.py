"""Binomial bands and standardised gaps of frequencies."""

import numpy as np
import pytest

from trueness.inference.binomial import frequency_band, standardised_gap


@pytest.mark.sklearn
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

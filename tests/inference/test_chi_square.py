"""The upper tail of χ², and binomial probabilities."""

import math

import numpy as np
import pytest

from trueness.old_inference.chi_square import chi_square_tail


@pytest.mark.parametrize("x", [1e-6, 0.3, 1.0, 2.0, 5.0, 40.0, 600.0])
def test_closed_forms_of_one_two_and_four_degrees(x):
    """erfc(√(x/2)), e^(-x/2) and e^(-x/2)·(1 + x/2)."""
    assert chi_square_tail(x, 1) == pytest.approx(math.erfc(math.sqrt(x / 2)), rel=2e-13)
    assert chi_square_tail(x, 2) == pytest.approx(math.exp(-x / 2), rel=2e-13)
    assert chi_square_tail(x, 4) == pytest.approx(math.exp(-x / 2) * (1 + x / 2), rel=2e-13)


def test_ends():
    assert chi_square_tail(0.0, 3) == 1.0
    assert chi_square_tail(math.inf, 3) == 0.0
    assert math.isnan(chi_square_tail(math.nan, 3))


def test_against_scipy():
    from scipy.special import gammaincc

    rng = np.random.default_rng(0)
    df = np.floor(np.exp(rng.uniform(0, math.log(5000), 2000)))
    x = np.maximum(df + 3 * rng.standard_normal(2000) * np.sqrt(2 * df), 1e-3)
    found = np.array([chi_square_tail(*pair) for pair in zip(x.tolist(), df.tolist(), strict=True)])
    # SciPy's own error reaches 8e-13 at thousands of degrees, by comparison with forty digits.
    np.testing.assert_allclose(found, gammaincc(df / 2, x / 2), rtol=2e-12)

import math

import numpy as np
import pytest
from scipy import special, stats

from trueness.inference.distributions import (
    chi_square_tail,
    erf,
    normal_quantile,
    student_quantile,
    two_sided,
)


def test_erf_is_that_of_the_standard_library() -> None:
    x = np.append(np.linspace(0, 7, 4001), [1e300, np.inf])
    assert np.abs(erf(x) - [math.erf(each) for each in x]).max() < 1e-12
    assert erf(x.reshape(-1, 1)).shape == (len(x), 1)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_normal_quantile(level: float) -> None:
    assert normal_quantile(level) == pytest.approx(stats.norm.ppf((1 + level) / 2), rel=1e-12)


def test_two_sided_tail_keeps_its_digits_far_out() -> None:
    z = np.array([-30.0, -1.0, 0.0, 2.0, 37.0])
    assert two_sided(z) == pytest.approx(2 * special.ndtr(-np.abs(z)), rel=1e-12)


@pytest.mark.parametrize(("degrees", "error"), [(9, 0.001), (15, 2e-4), (49, 1e-6), (1e6, 1e-9)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_student_quantile(level: float, degrees: float, error: float) -> None:
    exact = stats.t.ppf((1 + level) / 2, degrees)
    assert student_quantile(level, degrees) == pytest.approx(exact, rel=error)


@pytest.mark.parametrize("degrees", [1, 2, 3, 7, 10, 99, 1000])
def test_chi_square_tail(degrees: int) -> None:
    for x in (0.0, 1e-12, 0.3, degrees / 2, degrees, 2.0 * degrees, 5.0 * degrees + 40):
        assert chi_square_tail(x, degrees) == pytest.approx(stats.chi2.sf(x, degrees), rel=1e-9)

"""Numbers of events against statsmodels and MAPIE, where they compute the same."""

import math
from typing import Any

import numpy as np
import pytest
import speak

pytestmark = pytest.mark.peers


def event_rows(n: int, slope: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
    """Rows of an event whose log-odds are too extreme."""
    stream = np.random.default_rng(0)
    odds = stream.normal(-0.5, 1.2, n)
    y = stream.random(n) < 1 / (1 + np.exp(-slope * odds - 0.2))
    return y.astype(int), 1 / (1 + np.exp(-odds))


def error_of(y: Any, p: Any, bins: int) -> float:
    """The error of one event: that of two classes."""
    return speak.cwece(y, np.column_stack([1 - p, p]), bins=bins)


@pytest.mark.parametrize("n", [300, 20_000])
def test_cox_against_statsmodels(n: int) -> None:
    """A logistic regression of the rows, with Wald intervals: within .02 standard errors."""
    from statsmodels.api import Logit, add_constant

    y, p = event_rows(n)
    fit = Logit(y, add_constant(np.log(p / (1 - p)))).fit(disp=0)
    found = speak.event_numbers(y, p)
    for name, theirs, se, ends in zip(
        ("intercept", "slope"), fit.params, fit.bse, fit.conf_int(), strict=True
    ):
        value, error, *interval = found[name]
        assert value == pytest.approx(theirs, abs=0.02 * se)
        assert error == pytest.approx(se, rel=0.01)
        assert interval == pytest.approx(list(ends), abs=0.03 * se)


def test_shift_of_the_prevalence_against_statsmodels() -> None:
    """The intercept at slope 1: a regression on a constant, with the log-odds as offset."""
    from statsmodels.api import GLM, families

    y, p = event_rows(5000)
    odds = np.log(p / (1 - p))
    fit = GLM(y, np.ones((len(y), 1)), offset=odds, family=families.Binomial()).fit()
    value, error = speak.event_numbers(y, p)["shift"]
    assert value == pytest.approx(fit.params[0], abs=0.02 * fit.bse[0])
    assert error == pytest.approx(fit.bse[0], rel=0.01)


def test_loess_against_statsmodels() -> None:
    """ICI from the same local regression (span .75, no robustness steps) over the rows."""
    from statsmodels.nonparametric.smoothers_lowess import lowess

    y, p = event_rows(1500)
    order = np.argsort(p)
    curve = lowess(y[order], p[order], frac=0.75, it=0, delta=0.0, return_sorted=False)
    expected = np.abs(curve - p[order]).mean()
    assert speak.event_numbers(y, p)["ici"] == pytest.approx(expected, abs=1e-4)


def test_spiegelhalter_against_mapie() -> None:
    """Exact sums: to rounding. Their p-value is one-sided."""
    from mapie.metrics.calibration import spiegelhalter_statistic

    y, p = event_rows(4000)
    value, p_value = speak.event_numbers(y, p)["z"]
    theirs = spiegelhalter_statistic(y, p)
    assert value == pytest.approx(theirs, abs=1e-10)
    assert p_value == pytest.approx(math.erfc(abs(theirs) / math.sqrt(2)), rel=1e-9)


@pytest.mark.parametrize("n", [200, 20_000])
def test_cumulative_differences_against_mapie(n: int) -> None:
    """Equal where no rows are near each other; else what is missed lies within 1/3600.

    The p-values are those of the largest value and of the range of a Brownian motion.
    """
    from mapie.metrics import calibration as mapie

    y, p = event_rows(n)
    if n == 200:
        p = (np.round(p * 1800) + 0.5 * (np.arange(n) % 2)) / 1801  # no two rows within 1/3600
        p = np.unique(np.clip(p, 0.03, 0.97))
        y = y[: len(p)]
    found = speak.event_numbers(y, p)
    tolerance = 1e-6 if n == 200 else 0.01
    for (value, p_value), statistic, law in (
        (found["ks"], mapie.kolmogorov_smirnov_statistic, mapie.kolmogorov_smirnov_cdf),
        (found["kuiper"], mapie.kuiper_statistic, mapie.kuiper_cdf),
    ):
        assert value == pytest.approx(statistic(y, p), rel=tolerance)
        assert p_value == pytest.approx(1 - law(value), abs=1e-9)


@pytest.mark.parametrize("n_bins", [10, 15])
def test_ece_of_an_event_against_mapie(n_bins: int) -> None:
    """Their number of bins is that of the edges."""
    from mapie.metrics.calibration import expected_calibration_error

    y, p = event_rows(3000)
    inside = np.abs(p * n_bins - np.round(p * n_bins)) > 1e-6
    y, p = y[inside], p[inside]
    theirs = expected_calibration_error(y, p, num_bins=n_bins + 1, split_strategy="uniform")
    assert error_of(y, p, n_bins) == pytest.approx(theirs, abs=1e-12)


def test_top_label_ece_against_mapie() -> None:
    """The mean over the classes of the ECE of the rows that predict them (Gupta and Ramdas)."""
    from mapie.metrics.calibration import top_label_ece

    y, prob = speak.simulate.calibrated(4000, [1.0, 1.0, 1.0], rng=0)
    prob = speak.simulate.sharpen(prob, 1.4)
    predicted = prob.argmax(axis=1)
    of_classes = []
    for k in range(3):
        rows = predicted == k
        of_classes.append(error_of((y[rows] == k).astype(int), prob[rows, k], 10))
    theirs = top_label_ece(y, prob, num_bins=10, split_strategy="uniform")
    assert np.mean(of_classes) == pytest.approx(theirs, abs=1e-12)

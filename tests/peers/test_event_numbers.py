"""Numbers of events against statsmodels and MAPIE, where they compute the same (family of calibration metrics)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import trueness as tn

pytestmark = pytest.mark.outside


def event_rows(n: int, slope: float = 0.9, rng: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of an event whose log-odds are too extreme."""
    stream = np.random.default_rng(rng)
    odds = stream.normal(-0.5, 1.2, n)
    y = stream.random(n) < 1 / (1 + np.exp(-slope * odds - 0.2))
    return y.astype(int), 1 / (1 + np.exp(-odds))


def assessed(y: np.ndarray, p: np.ndarray) -> tn.EventAssessment:
    result = tn.assess_event(y, p, resamples=99, rng=0)
    assert isinstance(result, tn.EventAssessment)
    return result


@pytest.mark.parametrize("n", [300, 20_000])
def test_cox_against_statsmodels(n: int) -> None:
    """Intercept, slope and Wald intervals of a logistic regression of the rows: within .02 standard errors."""
    from statsmodels.api import Logit, add_constant

    y, p = event_rows(n)
    fit = Logit(y, add_constant(np.log(p / (1 - p)))).fit(disp=0)
    cox = assessed(y, p).cox
    for mine, theirs, se, ends in zip(
        (cox.intercept, cox.slope), fit.params, fit.bse, fit.conf_int(), strict=True
    ):
        assert mine.value == pytest.approx(theirs, abs=0.02 * se)
        assert mine.standard_error == pytest.approx(se, rel=0.01)
        assert (mine.interval.low, mine.interval.high) == pytest.approx(ends, abs=0.03 * se)


def test_shift_of_the_prevalence_against_statsmodels() -> None:
    """The intercept at slope 1: a logistic regression on a constant, with the log-odds as offset."""
    from statsmodels.api import GLM, families

    y, p = event_rows(5000)
    fit = GLM(y, np.ones((len(y), 1)), offset=np.log(p / (1 - p)), family=families.Binomial()).fit()
    shift = assessed(y, p).prevalence.shift
    assert shift.value == pytest.approx(fit.params[0], abs=0.02 * fit.bse[0])
    assert shift.standard_error == pytest.approx(fit.bse[0], rel=0.01)


def test_loess_against_statsmodels() -> None:
    """ICI, E50, E90 and Emax from the same local regression (span .75, no robustness steps) over the rows."""
    from statsmodels.nonparametric.smoothers_lowess import lowess

    y, p = event_rows(1500)
    order = np.argsort(p)
    curve = lowess(y[order], p[order], frac=0.75, it=0, delta=0.0, return_sorted=False)
    distance = np.abs(curve - p[order])
    result = assessed(y, p)
    assert result.ici.value == pytest.approx(distance.mean(), abs=1e-4)
    assert result.e50.value == pytest.approx(np.median(distance), abs=1e-3)
    assert result.e90.value == pytest.approx(np.quantile(distance, 0.9), abs=1e-3)
    assert result.e_max.value == pytest.approx(distance.max(), abs=1e-3)


def test_spiegelhalter_against_mapie() -> None:
    """Exact sums: to rounding. Their p-value is one-sided."""
    from mapie.metrics.calibration import spiegelhalter_statistic

    y, p = event_rows(4000)
    mine = assessed(y, p).spiegelhalter
    theirs = spiegelhalter_statistic(y, p)
    assert mine.value == pytest.approx(theirs, abs=1e-10)
    assert mine.p_value == pytest.approx(math.erfc(abs(theirs) / math.sqrt(2)), rel=1e-9)


@pytest.mark.parametrize("n", [200, 20_000])
def test_cumulative_differences_against_mapie(n: int) -> None:
    """Equal where cells hold one row; on many rows what is missed lies within a cell of 1/3600."""
    from mapie.metrics.calibration import kolmogorov_smirnov_statistic, kuiper_statistic

    y, p = event_rows(n)
    if n == 200:
        p = (np.round(p * 1800) + 0.5 * (np.arange(n) % 2)) / 1801  # no two rows within a cell
        p = np.unique(np.clip(p, 0.03, 0.97))
        y = y[: len(p)]
    result = assessed(y, p)
    tolerance = 1e-6 if n == 200 else 0.01
    assert result.ks.standardised == pytest.approx(kolmogorov_smirnov_statistic(y, p), rel=tolerance)
    assert result.kuiper.standardised == pytest.approx(kuiper_statistic(y, p), rel=tolerance)


def test_laws_of_brownian_motion_against_mapie() -> None:
    from mapie.metrics.calibration import kolmogorov_smirnov_cdf, kuiper_cdf

    from trueness.inference.events.cumulative import largest_tail, range_tail

    for x in (0.7, 1.0, 1.5, 2.0, 3.0):
        assert largest_tail(x) == pytest.approx(1 - kolmogorov_smirnov_cdf(x), abs=1e-9)
        assert range_tail(x) == pytest.approx(1 - kuiper_cdf(x), abs=1e-9)


@pytest.mark.parametrize("n_bins", [10, 15])
def test_ece_of_an_event_against_mapie(n_bins: int) -> None:
    """Their number of bins is that of the edges."""
    from mapie.metrics.calibration import expected_calibration_error

    y, p = event_rows(3000)
    inside = np.abs(p * n_bins - np.round(p * n_bins)) > 1e-6
    y, p = y[inside], p[inside]
    table = tn.tabulate_events(y, p)
    theirs = expected_calibration_error(y, p, num_bins=n_bins + 1, split_strategy="uniform")
    assert tn.event_calibration_error(table, n_bins) == pytest.approx(theirs, abs=1e-12)


def test_top_label_ece_against_mapie() -> None:
    """The ECE of the rows that predict each class, averaged over the classes (Gupta and Ramdas)."""
    from mapie.metrics.calibration import top_label_ece

    y, prob = tn.simulate.calibrated(4000, [1.0, 1.0, 1.0], rng=0)
    prob = tn.simulate.sharpen(prob, 1.4)
    predicted = prob.argmax(axis=1)
    of_classes = []
    for k in range(3):
        rows = predicted == k
        table = tn.tabulate_events((y[rows] == k).astype(int), prob[rows, k])
        of_classes.append(tn.event_calibration_error(table, 10))
    theirs = top_label_ece(y, prob, num_bins=10, split_strategy="uniform")
    assert np.mean(of_classes) == pytest.approx(theirs, abs=1e-12)

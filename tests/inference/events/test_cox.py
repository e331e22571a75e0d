"""Intercept and slope of a logistic recalibration, and the adjustment of the prevalence."""

import math

import numpy as np
import pytest
from event_rows import NO_CELLS, calibrated_cells, cells_of, event_b, event_grid

from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.cox import (
    ALWAYS,
    FLAT,
    NEVER,
    ONE_PROBABILITY,
    REVERSED,
    SEPARATED,
    cox_fit,
    intercept_at_slope_1,
)
from trueness.old_inference.events.in_the_large import NO_ROWS, gap_test
from trueness.old_inference.events.logistic import LogisticRegression
from trueness.old_inference.events.prevalence import adjust_prevalence


def test_exchanging_outcomes_changes_the_sign_of_the_intercept():
    p, y = np.array([0.1, 0.3, 0.35, 0.6, 0.8, 0.9]), np.array([0, 1, 0, 0, 1, 1])
    one, other = cox_fit(cells_of(p, y), 0.95), cox_fit(cells_of(1 - p, 1 - y), 0.95)
    assert one.slope.value == pytest.approx(other.slope.value, rel=1e-9)
    assert one.intercept.value == pytest.approx(-other.intercept.value, rel=1e-9)


@pytest.mark.parametrize(
    ("p", "y", "reason", "shifted"),
    [
        ([0.1, 0.2, 0.7], [0, 0, 0], NEVER, False),
        ([0.1, 0.2, 0.7], [1, 1, 1], ALWAYS, False),
        ([0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1], SEPARATED, True),
        ([0.1, 0.7, 0.7, 0.9], [0, 0, 1, 1], SEPARATED, True),
        ([0.1, 0.2, 0.7, 0.9], [1, 1, 0, 0], REVERSED, True),
        ([0.4, 0.4, 0.4], [1, 0, 0], ONE_PROBABILITY, True),
        ([0.4, 0.4, 0.4 + 1e-12, 0.4 + 1e-12], [1, 0, 0, 1], FLAT, True),
        ([0.0, 0.0, 1e-12], [1, 0, 0], ONE_PROBABILITY, True),
    ],
)
def test_no_coefficients(p, y, reason, shifted):
    found = cox_fit(cells_of(p, y), 0.95)
    assert found.reason == found.slope.reason == found.intercept.reason == reason
    assert math.isnan(found.slope.value)
    assert math.isnan(found.slope.interval.low)
    assert math.isnan(found.p_value)
    assert math.isfinite(found.intercept_at_slope_1.value) == shifted


def test_no_rows():
    found = cox_fit(NO_CELLS, 0.95)
    assert found.reason == NO_ROWS
    assert math.isnan(found.certain_rows)


def test_the_share_of_certain_rows():
    n = np.array([2.0, 96.0, 1.0, 1.0])
    cells = EventCells(n, np.array([0.0, 48.0, 1 - 1e-12, 1.0]), np.array([1.0, 40.0, 1.0, 1.0]), n)
    assert cox_fit(cells, 0.95).certain_rows == pytest.approx(0.04)
    assert cox_fit(cells, 0.95).depends_on_the_clip
    assert not cox_fit(event_b(), 0.95).depends_on_the_clip


def test_far_from_the_start_steps_are_halved():
    """One row in a thousand is out of order: the slope is far from 1, and plain Newton steps from there diverge."""
    p = np.concatenate([np.full(1000, 0.49), np.full(1000, 0.51)])
    y = np.concatenate([np.zeros(999), [1], [0], np.ones(999)])
    found = cox_fit(cells_of(p, y), 0.95)
    # Two cells are fitted exactly: logit(.999) = b·logit(.51).
    assert found.slope.value == pytest.approx(math.log(999) / math.log(0.51 / 0.49), rel=1e-9)
    assert found.intercept.value == pytest.approx(0, abs=1e-9)


def test_many_draws_are_each_alone():
    rng = np.random.default_rng(2)
    x, n = np.linspace(-3, 3, 7), np.full(7, 20.0)
    y = rng.binomial(20, 1 / (1 + np.exp(-x)), (5, 7)).astype(float)
    together = LogisticRegression(x, n, y).fit()
    alone = [LogisticRegression(x, n, y[k : k + 1]).fit()[0] for k in range(5)]
    np.testing.assert_allclose(together, alone, atol=1e-12)


class TestWeights:
    def test_equal_weights_change_nothing(self):
        p, y = [0.1, 0.3, 0.35, 0.6, 0.8, 0.9], [0, 1, 0, 0, 1, 1]
        one, other = cox_fit(cells_of(p, y), 0.95), cox_fit(cells_of(p, y, weight=[7.0] * 6), 0.95)
        for a, b in ((one.slope, other.slope), (one.intercept_at_slope_1, other.intercept_at_slope_1)):
            assert (a.value, a.standard_error) == pytest.approx((b.value, b.standard_error), rel=1e-9)
        assert one.statistic == pytest.approx(other.statistic, rel=1e-9)

    def test_weighted_rows_are_repeated_ones_with_more_noise(self):
        p, y, w = [0.1, 0.3, 0.35, 0.6, 0.8, 0.9], [0, 1, 0, 0, 1, 1], [1, 1, 3, 1, 2, 1]
        repeated = cox_fit(cells_of(np.repeat(p, w), np.repeat(y, w)), 0.95)
        weighted = cox_fit(cells_of(p, y, weight=w), 0.95)
        assert weighted.slope.value == pytest.approx(repeated.slope.value, rel=1e-9)
        assert weighted.slope.standard_error > repeated.slope.standard_error


class TestPrevalence:
    def test_the_implied_prevalence_is_the_observed_frequency(self):
        rng = np.random.default_rng(3)
        p = rng.beta(1, 5, 3000)
        cells = cells_of(p, rng.random(3000) < 2 * p / (1 + p), event_grid())
        found = adjust_prevalence(cells, 0.95)
        assert found.cells is not None
        assert found.implied_prevalence == pytest.approx(cells.observed.sum() / 3000, rel=1e-12)
        assert found.predicted_prevalence == pytest.approx(p.mean())
        # Odds p/(1 - p) were doubled: 2p/(1 + p) has the odds 2p/(1 - p).
        assert found.shift.interval.low < math.log(2) < found.shift.interval.high
        assert found.odds_factor == pytest.approx(math.exp(found.shift.value))
        assert gap_test(found.cells).p_value == pytest.approx(1.0, abs=0.05)
        assert intercept_at_slope_1(found.cells, 0.95).value == pytest.approx(0, abs=1e-9)
        odds = [q / (1 - q) for q in (cells.mean_predicted, found.cells.mean_predicted)]
        np.testing.assert_allclose(odds[1], odds[0] * found.odds_factor, rtol=1e-9)

    def test_without_a_shift(self):
        found = adjust_prevalence(cells_of([0.2, 0.6], [0, 0]), 0.95)
        assert (found.cells, found.reason) == (None, NEVER)
        assert math.isnan(found.implied_prevalence)
        assert adjust_prevalence(NO_CELLS, 0.95).reason == NO_ROWS


def test_the_event_grid_against_rows():
    """Log-uniform probabilities from 1e-5 to .03, slope .9: the slope of cells is that of rows to .01 standard errors.

    That is the root mean square over data sets; a single one may differ by three times as much.
    """
    apart = []
    for seed in range(6):
        rng = np.random.default_rng([4, seed])
        p = np.exp(rng.uniform(math.log(1e-5), math.log(0.03), 100_000))
        odds = (p / (1 - p)) ** 0.9
        y = rng.random(100_000) < odds / (1 + odds)
        rows, cells = cox_fit(cells_of(p, y), 0.95).slope, cox_fit(cells_of(p, y, event_grid()), 0.95).slope
        apart.append((rows.value - cells.value) / rows.standard_error)
    assert math.sqrt(np.mean(np.square(apart))) < 0.02
    assert np.abs(apart).max() < 0.04


def test_size_of_the_joint_test_and_coverage_of_the_slope():
    """600 calibrated events of 300 rows; four standard errors of a share of .05 are .036."""
    rng = np.random.default_rng(5)
    p = rng.uniform(0.02, 0.98, 300)
    fits = [cox_fit(calibrated_cells(rng, p), 0.95) for _ in range(600)]
    assert np.mean([fit.p_value <= 0.05 for fit in fits]) == pytest.approx(0.05, abs=0.036)
    held = np.mean([fit.slope.interval.low <= 1 <= fit.slope.interval.high for fit in fits])
    assert held == pytest.approx(0.95, abs=0.036)

"""The calibration error of an event over bins."""

import math

import numpy as np
import pytest
from event_rows import FIVE, NO_CELLS, calibrated_cells, cells_of, certain, class_of_t
from hypothesis import given
from hypothesis import strategies as st

from trueness.old_inference.events.calibration_error import (
    error_of_gaps,
    event_calibration_error,
    expected_absolute_gap,
    null_errors,
)
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.draws import STREAMS, by_draws, event_seed
from trueness.old_inference.events.in_the_large import NO_ROWS, frequency_sd

TEN = tuple(k / 10 for k in range(1, 10))


@given(st.integers(1, 60), st.floats(0, 1))
def test_de_moivre_by_summation(n, p):
    one = np.array([float(n)])
    want = sum(abs(k - n * p) * math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)) / n
    assert expected_absolute_gap(EventCells(one, one * p, one, one)) == pytest.approx(want, abs=1e-12)


def test_de_moivre_of_many_rows_is_normal():
    """E|X - np| tends to √(2np(1 - p)/π); the next term is below 1/np(1 - p)."""
    for n, p in ((1e6, 0.4), (1e12, 1e-6), (1e14, 0.5)):
        one = np.array([n])
        want = math.sqrt(2 * p * (1 - p) / (math.pi * n))
        assert expected_absolute_gap(EventCells(one, one * p, one, one)) == pytest.approx(want, rel=1e-5)


def test_norms_by_hand():
    """Gaps .1, -.3 with shares ¾, ¼."""
    n = np.array([3.0, 1.0])
    cells = EventCells(n, np.array([0.9, 0.7]), np.array([0.6, 1.0]), n)
    gap = cells.mean_predicted - cells.mean_observed
    assert float(error_of_gaps(cells, gap, "l1")) == pytest.approx(0.15)
    assert float(error_of_gaps(cells, gap, "l2")) == pytest.approx(math.sqrt(0.03))
    assert float(error_of_gaps(cells, gap, "max")) == pytest.approx(0.3)


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_the_noise_floor_is_the_mean_of_the_draws(norm):
    bins = class_of_t(0, FIVE)
    draws = null_errors(bins, [4], 20_000, norm)
    found = event_calibration_error(bins, 0.95, [4], 20_000, norm)
    assert found.noise_floor == pytest.approx(draws.mean(), abs=5 * draws.std() / math.sqrt(20_000))


def test_draws_do_not_depend_on_their_parts():
    """Five thousand cells are drawn 52 times at once, and one stream goes on."""
    rng = np.random.default_rng(0)
    cells = cells_of(np.sort(rng.random(5000)), np.zeros(5000))
    stream = np.random.default_rng([1, 2])
    want = stream.binomial(1, cells.mean_predicted, (60, 5000)).sum(axis=1)
    assert by_draws(cells, [1, 2], 60, lambda y: y.sum(axis=1)).tolist() == want.tolist()


def test_every_statistic_has_a_stream_of_its_own():
    seeds = [tuple(event_seed(3, 1, name)) for name in STREAMS]
    assert len(set(seeds)) == len(seeds)
    assert all(seed[:3] == (3, 7, 1) for seed in seeds)


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_a_large_error_is_hardly_debiased_and_a_small_one_is_noise(norm):
    n = np.full(5, 400.0)
    p = np.linspace(0.3, 0.7, 5)
    wrong = event_calibration_error(EventCells(n, n * p, n * (p - 0.2), n), 0.95, [0], 99, norm)
    assert wrong.value == pytest.approx(0.2)
    assert wrong.debiased == pytest.approx(0.2, abs=0.01 if norm != "max" else 0.04)
    assert wrong.debiased <= wrong.value
    assert wrong.interval.low < wrong.debiased < wrong.interval.high
    assert wrong.p_value == 0.01
    right = event_calibration_error(EventCells(n, n * p, n * p, n), 0.95, [0], 99, norm)
    assert (right.value, right.debiased, right.p_value) == pytest.approx((0, 0, 1), abs=1e-12)


def test_the_noise_of_a_frequency_is_not_0_where_nothing_varied():
    n = np.array([9.0])
    cells = EventCells(n, np.array([4.5]), np.array([9.0]), n)
    assert frequency_sd(cells).tolist() == pytest.approx([math.sqrt(0.25 / 9)])
    assert frequency_sd(certain(0.0)).tolist() == [0.0, 0.0]


def test_without_rows():
    found = event_calibration_error(NO_CELLS, 0.95, [0], 99)
    assert math.isnan(found.value)
    assert math.isnan(found.interval.high)
    assert found.reason == NO_ROWS
    assert math.isnan(expected_absolute_gap(NO_CELLS))


def test_weights_count_as_their_effective_number():
    p, y = [0.2, 0.21, 0.7, 0.71], [0, 1, 1, 1]
    plain, double = cells_of(p, y, FIVE), cells_of(p, y, FIVE, weight=[2.0] * 4)
    one, other = (event_calibration_error(bins, 0.95, [0], 199) for bins in (plain, double))
    assert one == other
    heavy = cells_of(p, y, FIVE, weight=[100.0, 1.0, 1.0, 1.0])
    assert expected_absolute_gap(heavy) > expected_absolute_gap(plain)


def test_size_coverage_and_bias():
    """600 calibrated events, and 300 whose log-odds are 1.5 times too large, N = 1000.

    Four standard errors of a share of .05 in 600 runs are .036. The true error comes from a million rows.
    """
    rng = np.random.default_rng(8)
    p = rng.random(1000)
    null = [event_calibration_error(calibrated_cells(rng, p, TEN), 0.95, [k], 199) for k in range(600)]
    assert np.mean([each.p_value <= 0.05 for each in null]) == pytest.approx(0.05, abs=0.036)
    assert np.mean([each.interval.low <= 0 for each in null]) >= 0.95 - 0.036
    big = np.random.default_rng(9).random(1_000_000)
    odds = (big / (1 - big)) ** (1 / 1.5)
    in_bin = np.minimum((10 * big).astype(int), 9)
    gaps = np.bincount(in_bin, big - odds / (1 + odds)) / len(big)
    true = np.abs(gaps).sum()
    wrong = [
        event_calibration_error(calibrated_cells(rng, rng.random(1000), TEN, 1 / 1.5), 0.95, [k], 9)
        for k in range(300)
    ]
    debiased = np.array([each.debiased for each in wrong])
    assert debiased.mean() == pytest.approx(true, abs=0.1 * true + 4 * debiased.std() / math.sqrt(300))
    held = np.mean([each.interval.low <= true <= each.interval.high for each in wrong])
    assert held >= 0.95 - 4 * math.sqrt(0.05 * 0.95 / 300)

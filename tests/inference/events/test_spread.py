"""The spread of an event: the signed root of a likelihood ratio."""

import math

import numpy as np
import pytest
from event_rows import NO_CELLS, calibrated_cells, cells_of, event_b, event_grid

from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.in_the_large import NO_ROWS
from trueness.old_inference.events.spread import ALIKE, spread_test, spread_tests


def root_by_search(p: np.ndarray, y: np.ndarray) -> float:
    """w of single rows: the maximum of the log-likelihood ratio over t, by ternary search."""
    x = np.log(p / (1 - p))
    v = p * (1 - p)
    d = x - (v @ x) / v.sum()

    def gain(t: float) -> float:
        tilted = 1 / (1 + np.exp(-(x + t * d)))
        return float(np.sum(np.where(y, np.log(tilted / p), np.log((1 - tilted) / (1 - p)))))

    low, high = -4.0, 4.0
    for _ in range(200):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (a, high) if gain(a) < gain(b) else (low, b)
    return math.copysign(math.sqrt(2 * gain(low)), low)


@pytest.mark.parametrize("seed", range(5))
def test_the_signed_root_by_search(seed):
    rng = np.random.default_rng(seed)
    p = np.sort(rng.uniform(0.05, 0.95, 40))
    y = rng.random(40) < p
    assert spread_test(cells_of(p, y)).signed_root == pytest.approx(root_by_search(p, y), abs=1e-7)


def test_exchanging_outcomes_changes_nothing():
    rng = np.random.default_rng(5)
    p = rng.uniform(0.01, 0.99, 100)
    y = rng.random(100) < 0.5
    one, other = spread_test(cells_of(p, y)), spread_test(cells_of(1 - p, ~y))
    assert (one.score, one.signed_root, one.slope) == pytest.approx(
        (other.score, other.signed_root, other.slope)
    )


def test_too_extreme_is_below_0_and_too_timid_above():
    rng = np.random.default_rng(6)
    p = rng.uniform(0.02, 0.98, 3000)
    for slope, sign in ((0.6, -1), (1.6, 1)):
        found = spread_test(calibrated_cells(rng, p, event_grid(), slope))
        assert sign * found.signed_root > 4
        assert sign * (found.slope - 1) > 0.15
        assert math.copysign(1, found.statistic) == sign
        assert found.p_value == pytest.approx(math.erfc(abs(found.signed_root) / math.sqrt(2)), rel=1e-12)


def test_separated_outcomes_have_a_finite_root():
    """As t grows, the likelihood tends to 1: w² = -2·Σ ln p of what was observed."""
    p, y = np.array([0.1, 0.3, 0.8, 0.9]), np.array([0, 0, 1, 1])
    want = math.sqrt(-2 * math.log(0.9 * 0.7 * 0.8 * 0.9))
    assert spread_test(cells_of(p, y)).signed_root == pytest.approx(want, rel=1e-9)


def test_certain_rows_that_err_are_too_extreme():
    n = np.array([50.0, 50.0])
    found = spread_test(EventCells(n, np.array([0.0, 50.0]), np.array([2.0, 48.0]), n))
    assert found.signed_root < -10
    assert found.p_value < 1e-20


def test_no_rows_and_no_spread():
    alike, none, other = spread_tests([cells_of([0.3] * 5, [1, 0, 0, 1, 0]), NO_CELLS, event_b()])
    assert (alike.reason, none.reason, other.reason) == (ALIKE, NO_ROWS, None)
    assert math.isnan(alike.signed_root)
    assert math.isnan(alike.p_value)
    assert other == spread_test(event_b())


class TestWeights:
    def test_equal_weights_change_nothing(self):
        p, y = [0.1, 0.4, 0.7, 0.9], [1, 0, 1, 1]
        plain, weighted = spread_test(cells_of(p, y)), spread_test(cells_of(p, y, weight=[3.0] * 4))
        assert (plain.score, plain.signed_root, plain.slope) == pytest.approx(
            (weighted.score, weighted.signed_root, weighted.slope), rel=1e-12
        )

    def test_the_score_is_the_weighted_sum_over_its_standard_deviation(self):
        p, y, w = np.array([0.1, 0.4, 0.7, 0.9]), np.array([1, 0, 1, 1]), np.array([1.0, 4.0, 2.0, 1.0])
        x, v = np.log(p / (1 - p)), w**2 * p * (1 - p)
        d = x - (v @ x) / v.sum()
        found = spread_test(cells_of(p, y, weight=w))
        assert found.score == pytest.approx(w * (y - p) @ d / math.sqrt(v @ d**2), rel=1e-12)


def test_size():
    """Of 3000 calibrated events .05 and .001 are called, with four standard errors, and the skewness of few rows."""
    rng = np.random.default_rng(7)
    edges = np.linspace(0, 1, 61)[1:-1]
    rows = rng.dirichlet([0.05] * 100, size=2000)
    events = []
    for _ in range(30):
        labels = (rng.random(2000)[:, None] > np.cumsum(rows, axis=1)[:, :-1]).sum(axis=1)
        events += [cells_of(rows[:, c], labels == c, edges) for c in range(100)]
    p = np.array([test.p_value for test in spread_tests(events)])
    assert np.mean(p <= 0.05) == pytest.approx(0.05, abs=0.005 + 4 * math.sqrt(0.05 * 0.95 / 3000))
    assert np.mean(p <= 0.001) <= 0.0018 + 4 * math.sqrt(0.001 / 3000)

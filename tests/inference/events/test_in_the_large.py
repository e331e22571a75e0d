"""The gap of an event over all rows: exact tails of a sum of binomials."""

import math

import numpy as np
import pytest
from event_rows import NO_CELLS, calibrated_cells, cells_of, certain, event_b
from hypothesis import given
from hypothesis import strategies as st

from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.in_the_large import (
    IMPOSSIBLE,
    NO_ROWS,
    frequency_sd,
    gap_interval,
    gap_test,
    gap_tests,
    in_the_large,
)
from trueness.old_inference.events.poisson_binomial import poisson_binomial_tails


def law_of(n: list[int], p: list[float]) -> np.ndarray:
    """The probabilities of 0, 1, …, by convolution, row by row."""
    law = np.ones(1)
    for rows, chance in zip(n, p, strict=True):
        for _ in range(rows):
            law = np.append(law, 0) * (1 - chance) + np.insert(law, 0, 0) * chance
    return law


def tails_of(n: list[int], p: list[float], observed: float) -> tuple[float, float]:
    one = np.zeros(1, dtype=np.int64)
    lower, upper = poisson_binomial_tails(np.array(n, dtype=float), np.array(p), one, np.array([observed]))
    return float(lower[0]), float(upper[0])


cell = st.tuples(st.integers(1, 40), st.floats(0, 1))


@given(st.lists(cell, min_size=1, max_size=5), st.floats(0, 1))
def test_tails_by_convolution(cells, share):
    n, p = [rows for rows, _ in cells], [chance for _, chance in cells]
    law, observed = law_of(n, p), round(share * sum(n))
    lower, upper = tails_of(n, p, observed)
    assert lower == pytest.approx(law[: observed + 1].sum(), abs=1e-12)
    assert upper == pytest.approx(law[observed:].sum(), abs=1e-12)


def test_far_tails_keep_their_digits():
    n, p = [30, 50, 20], [0.01, 0.2, 0.7]
    law = law_of(n, p)
    for observed in (0, 1, 4, 60, 80, 99, 100):
        lower, upper = tails_of(n, p, observed)
        assert lower == pytest.approx(law[: observed + 1].sum(), rel=1e-11)
        assert upper == pytest.approx(law[observed:].sum(), rel=1e-11)
    assert law[100] < 1e-80


@pytest.mark.parametrize(("n", "p"), [(10**4, 0.3), (10**6, 0.5), (10**9, 1e-4), (10**9, 0.9)])
def test_many_rows_against_scipy(n, p):
    from scipy.stats import binom

    for z in (-20, -4, -1, 0, 2, 7, 20):
        observed = round(n * p + z * math.sqrt(n * p * (1 - p)))
        lower, upper = tails_of([n], [p], observed)
        # At n = 1e9 the oracle itself has lost half of its digits.
        assert lower == pytest.approx(binom.cdf(observed, n, p), rel=1e-5)
        assert upper == pytest.approx(binom.sf(observed - 1, n, p), rel=1e-5)


def test_exchanging_outcomes_exchanges_the_tails():
    rng = np.random.default_rng(1)
    p = rng.random(200)
    y = rng.random(200) < p
    one, other = gap_test(cells_of(p, y)), gap_test(cells_of(1 - p, ~y))
    assert (one.lower_tail, one.upper_tail) == pytest.approx((other.upper_tail, other.lower_tail), rel=1e-12)
    assert one.value == pytest.approx(-other.value, abs=1e-14)


def test_impossible_numbers():
    zero = EventCells(np.array([5.0]), np.array([0.0]), np.array([1.0]), np.array([5.0]))
    found = gap_test(zero)
    assert (found.p_value, found.reason, found.impossible) == (0.0, IMPOSSIBLE, True)
    assert math.isnan(found.ratio)
    assert gap_test(certain(1.0)).impossible
    assert not gap_test(certain(0.0)).impossible
    small = gap_test(EventCells(np.array([5.0]), np.array([1e-300]), np.array([5.0]), np.array([5.0])))
    assert small.p_value == 0.0, "underflow"
    assert not small.impossible


def test_without_rows():
    found = in_the_large(NO_CELLS, 0.95)
    assert math.isnan(found.value)
    assert math.isnan(found.p_value)
    assert found.reason == NO_ROWS
    assert found.interval is not None
    assert math.isnan(found.interval.low)


class TestWeights:
    def test_the_normal_tails_of_the_weighted_sum(self):
        """Two rows: E = 2·.5 + 1·.5, O = 2, variance 4/4 + 1/4: z = .5/√1.25."""
        found = gap_test(cells_of([0.5, 0.5], [1, 0], weight=[2.0, 1.0]))
        z = 0.5 / math.sqrt(1.25)
        assert found.upper_tail == pytest.approx(math.erfc(z / math.sqrt(2)) / 2, rel=1e-12)
        assert found.lower_tail == pytest.approx(1 - found.upper_tail, rel=1e-12)
        assert found.value == pytest.approx((1.5 - 2) / 3)

    def test_certain_rows(self):
        assert gap_test(cells_of([0.0, 1.0], [0, 1], weight=[2.0, 1.0])).p_value == 1.0
        assert gap_test(cells_of([0.0, 1.0], [1, 1], weight=[2.0, 1.0])).reason == IMPOSSIBLE

    def test_the_unit_of_weights_does_not_matter(self):
        p, y, w = [0.2, 0.6, 0.9], [0, 1, 0], np.array([1.0, 2.0, 5.0])
        one, other = gap_test(cells_of(p, y, weight=w)), gap_test(cells_of(p, y, weight=10 * w))
        assert one.p_value == pytest.approx(other.p_value, rel=1e-12)
        first, second = (gap_interval(cells_of(p, y, weight=k * w), 0.9) for k in (1, 10))
        assert first.high == pytest.approx(second.high, rel=1e-12)


def test_the_interval_by_hand():
    """One cell of 4 rows at .5 with 3 observed: r = 3.5/5, σ² = max(.25, .21)/4, reach z·σ."""
    n = np.array([4.0])
    cells = EventCells(n, np.array([2.0]), np.array([3.0]), n)
    assert frequency_sd(cells).tolist() == pytest.approx([0.25])
    found = in_the_large(cells, 0.95).interval
    assert found is not None
    assert (found.low, found.high) == pytest.approx((-0.25 - 0.489991, -0.25 + 0.489991), abs=1e-6)
    rare = EventCells(n, np.array([0.04]), np.array([2.0]), n)
    assert frequency_sd(rare).tolist() == pytest.approx([math.sqrt(0.402 * 0.598 / 4)])


def test_the_interval_grows_with_its_level():
    low, high = (gap_interval(event_b(), level) for level in (0.5, 0.99))
    assert high.low < low.low < -0.073 < low.high < high.high


@pytest.mark.parametrize("rare", [False, True])
def test_size_and_coverage(rare):
    """An exact test rejects at most 5 %; the interval holds 0 in at least 93 %; four errors of 600 runs are .036."""
    rng = np.random.default_rng(3)
    p = rng.beta(0.5, 20, 300) if rare else rng.random(300)
    events = [calibrated_cells(rng, p, np.linspace(0, 1, 61)[1:-1]) for _ in range(600)]
    assert np.mean([test.p_value <= 0.05 for test in gap_tests(events)]) <= 0.05 + 0.036
    intervals = [gap_interval(cells, 0.95) for cells in events]
    assert np.mean([each.low <= 0 <= each.high for each in intervals]) >= 0.93 - 0.036

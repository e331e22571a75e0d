"""Cumulative differences: Kolmogorov and Smirnov, and Kuiper."""

import math

import numpy as np
import pytest
from event_rows import NO_CELLS, calibrated_cells, cells_of, certain

from trueness.old_inference.events.cumulative import CERTAIN, cumulative_differences, largest_tail, range_tail
from trueness.old_inference.events.in_the_large import NO_ROWS


def test_the_exact_noise_from_the_sum_of_squares():
    p = np.array([0.1, 0.3, 0.6, 0.9])
    one_cell = cells_of(p, [0, 0, 1, 1], edges=[])
    found = cumulative_differences(one_cell, [0], 9, square=float(p @ p))
    assert found.sd == pytest.approx(math.sqrt(np.sum(p * (1 - p))) / 4)
    assert cumulative_differences(one_cell, [0], 9).sd > found.sd


def test_rows_of_equal_probability_have_no_order():
    p = np.array([0.3] * 6 + [0.6] * 6)
    y = np.array([1, 1, 0, 0, 0, 0] * 2)
    swapped = np.array([0, 0, 0, 0, 1, 1] * 2)
    one, other = (cumulative_differences(cells_of(p, outcome), [0], 99) for outcome in (y, swapped))
    assert (one.ks, one.kuiper) == (other.ks, other.kuiper)


def test_the_laws_at_their_ends():
    for law, factor in ((largest_tail, 4), (range_tail, 8)):
        assert law(0.0) == 1.0
        assert law(1e-3) == 1.0
        assert law(9.0) == pytest.approx(factor * math.erfc(9 / math.sqrt(2)) / 2, rel=1e-12)
        below, above = law(1 - 1e-9), law(1 + 1e-9)
        assert below == pytest.approx(above, abs=1e-8)
        values = [law(x) for x in np.linspace(0.05, 6, 200)]
        assert values == sorted(values, reverse=True)


def test_draws_tend_to_the_law():
    """Many rows: four standard errors of 999 draws, and some for the discreteness."""
    rng = np.random.default_rng(1)
    found = cumulative_differences(calibrated_cells(rng, rng.random(3000)), [0], 999)
    for test in (found.ks, found.kuiper):
        assert test.p_value == pytest.approx(test.law_p_value, abs=0.09)


def test_draws_on_fewer_cells():
    """Of 3000 cells draws are made on 512: the p-value is that of the path there, the value that of all cells."""
    rng = np.random.default_rng(2)
    cells = calibrated_cells(rng, rng.random(3000))
    found, few = (cumulative_differences(it, [0], 999) for it in (cells, cells.in_equal_mass(512)))
    assert len(found.path) == len(cells.count) > 2000
    assert found.ks.value >= few.ks.value
    assert (found.ks.p_value, found.kuiper.p_value) == (few.ks.p_value, few.kuiper.p_value)


def test_no_noise_and_no_rows():
    found = cumulative_differences(certain(1.0), [0], 99)
    assert found.ks.reason == CERTAIN
    assert found.ks.value == pytest.approx(0.25)
    assert math.isnan(found.ks.p_value)
    assert cumulative_differences(NO_CELLS, [0], 99).kuiper.reason == NO_ROWS


def test_the_unit_of_weights_does_not_matter():
    p, y, w = [0.1, 0.3, 0.6, 0.9], [0, 1, 1, 0], np.array([1.0, 2, 1, 3])
    one, other = (cumulative_differences(cells_of(p, y, weight=k * w), [0], 99) for k in (1, 10))
    assert one.sd == pytest.approx(other.sd)
    assert one.ks.value == pytest.approx(other.ks.value)
    assert one.ks.p_value == pytest.approx(other.ks.p_value)


@pytest.mark.parametrize("rare", [False, True])
def test_size(rare):
    """400 calibrated events of 200 rows; four standard errors of a share of .05 are .044."""
    rng = np.random.default_rng(2)
    p = rng.beta(0.5, 10, 200) if rare else rng.random(200)
    runs = [cumulative_differences(calibrated_cells(rng, p), [k], 99) for k in range(400)]
    for name in ("ks", "kuiper"):
        assert np.mean([getattr(run, name).p_value <= 0.05 for run in runs]) == pytest.approx(0.05, abs=0.044)

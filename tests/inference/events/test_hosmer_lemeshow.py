"""The test of Hosmer and Lemeshow."""

import math

import numpy as np
import pytest
from event_rows import NO_CELLS, calibrated_cells, cells_of, certain

from trueness.old_inference.chi_square import chi_square_tail
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.hosmer_lemeshow import hosmer_lemeshow_test
from trueness.old_inference.events.in_the_large import IMPOSSIBLE, NO_ROWS


def test_groups_hold_equal_mass_and_all_cells():
    rng = np.random.default_rng(1)
    count = rng.integers(1, 9, 300).astype(float)
    masses = EventCells(count, count / 2, count / 3, count).in_equal_mass(10).count
    assert masses.sum() == count.sum()
    assert len(masses) == 10
    assert np.all(np.abs(masses - count.sum() / 10) <= 8)


def test_fewer_distinct_probabilities_than_bins():
    found = hosmer_lemeshow_test(cells_of([0.2] * 50 + [0.7] * 50, [0, 1] * 50), [0], 99)
    assert found.degrees == 2


def test_certain_rows():
    assert hosmer_lemeshow_test(certain(1.0), [0], 99).reason == IMPOSSIBLE
    assert hosmer_lemeshow_test(certain(1.0), [0], 99).p_value == 0.0
    assert math.isnan(hosmer_lemeshow_test(certain(0.0), [0], 99).value)
    assert hosmer_lemeshow_test(NO_CELLS, [0], 99).reason == NO_ROWS
    mixed = cells_of([0.0] * 10 + [0.5] * 10, [0] * 10 + [0, 1] * 5)
    assert hosmer_lemeshow_test(mixed, [0], 99, n_bins=2).degrees == 1


@pytest.mark.parametrize("rare", [False, True])
def test_size_of_200_rows(rare):
    """.05 and .045 of calibrated events; 400 runs have a standard error of .011."""
    rng = np.random.default_rng(2)
    p = rng.beta(0.5, 10, 200) if rare else rng.random(200)
    runs = [hosmer_lemeshow_test(calibrated_cells(rng, p), [k], 199) for k in range(400)]
    assert 0.02 <= np.mean([run.p_value <= 0.05 for run in runs]) <= 0.085
    fewer = [chi_square_tail(run.value, run.degrees - 2) <= 0.05 for run in runs]
    assert rare or np.mean(fewer) > 0.085, "two degrees fewer are for rows on which the model was fitted"

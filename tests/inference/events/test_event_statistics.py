"""Scores of an event from its sums over rows."""

import math
from dataclasses import replace

import numpy as np
import pytest
from event_rows import cells_of, totals_of

from trueness.old_inference.events.event_statistics import (
    EventTotals,
    brier_score,
    log_loss,
    spiegelhalter_test,
)
from trueness.old_inference.events.in_the_large import NO_ROWS

NOTHING = EventTotals(0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    p = rng.beta(0.6, 2, 500)
    return p, rng.random(500) < p


def test_the_calibrated_value_is_the_mean_score_of_calibrated_rows(rows):
    """Five standard errors of 2000 draws of the outcomes."""
    p, _ = rows
    rng = np.random.default_rng(1)
    scores = [brier_score(totals_of(p, rng.random(500) < p)).value for _ in range(2000)]
    want = brier_score(totals_of(p, p > 0.5)).calibrated_value
    assert np.mean(scores) == pytest.approx(want, abs=5 * np.std(scores) / math.sqrt(2000))


def test_predictions_without_noise():
    found = spiegelhalter_test(EventTotals(4, 2.0, 2.0, 1.5, 1.25, 1.125, 1.5, 0.0))  # p = 0, .5, .5, 1
    assert math.isnan(found.value)
    assert "cannot vary" in str(found.reason)


def test_impossible_rows_are_left_out_and_counted(rows):
    p, y = rows
    some = replace(totals_of(p, y), count=502, impossible_rows=2)
    found = log_loss(some)
    assert found.value == pytest.approx(log_loss(totals_of(p, y)).value)
    assert found.reason == "without 2 rows whose outcome had probability 0"
    assert "1 row " in str(log_loss(replace(some, impossible_rows=1)).reason)
    assert math.isnan(log_loss(replace(NOTHING, count=3, impossible_rows=3)).value)


def test_certain_cells_have_no_entropy():
    totals = totals_of([0.5, 0.5], [0, 1])
    found = log_loss(replace(totals, count=4), cells_of([0.0, 1.0, 0.5, 0.5], [0, 1, 0, 1]))
    assert found.calibrated_value == pytest.approx(math.log(2) / 2)


def test_weights_widen_the_noise_by_their_inequality(rows):
    p, y = rows
    plain = totals_of(p, y)
    weighted = replace(plain, weight_square=4.0 * plain.count)
    assert spiegelhalter_test(weighted).value == pytest.approx(spiegelhalter_test(plain).value / 2)


def test_without_rows():
    assert spiegelhalter_test(NOTHING).reason == NO_ROWS
    assert brier_score(NOTHING).reason == NO_ROWS
    assert math.isnan(brier_score(NOTHING).value)

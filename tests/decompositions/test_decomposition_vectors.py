"""The vectors T and B of the specification, whose numbers were worked out by exact arithmetic."""

import numpy as np
import pytest
from event_rows import B_OUTCOMES, B_PROBS, T_LABELS, T_PROBS, event_b

import trueness as tn
from trueness.inference.events.smooth import smooth_error_at

ENTROPY_BINS = tn.Edges([0, 0.78, 1])


def exactly(value: object) -> object:
    """Equal to twelve digits."""
    return pytest.approx(value, rel=2e-12, abs=1e-12)


def test_brier_score_of_T_in_entropy_bins() -> None:
    table = tn.tabulate(T_LABELS, T_PROBS, bins=ENTROPY_BINS)
    found = tn.brier_decomposition(table, resamples=99)
    assert (found.reliability, found.resolution, found.uncertainty) == exactly((0.0407125, 0, 0.375))
    assert (found.within_variance, found.within_covariance) == exactly((0.0130375, 0.056875))
    assert found.score == exactly(0.371875) == found.total == exactly(table.brier_score)
    assert found.corrected_reliability == exactly(-0.0842875)
    log = tn.log_reliability(table, resamples=99)
    assert (log.value, log.likelihood_ratio) == exactly((0.144793105795, 2.316689692718))


def test_brier_Z_of_T() -> None:
    table = tn.tabulate(T_LABELS, T_PROBS)
    sums = table.brier_residuals
    assert sums is not None
    assert (sums.score.sum(), sums.variance.sum()) == exactly((0.485, 0.33685012))
    assert tn.brier_test(table).value == exactly(0.835648014055)


def test_best_temperature_of_T() -> None:
    fit = tn.temperature_profile(T_LABELS, T_PROBS).fit()
    # Sums at seventeen exponents: the best one to 1e-7, the loss at it to 1e-8.
    assert fit.exponent == pytest.approx(1.836778565138, abs=1e-7)
    assert fit.log_loss == exactly(0.632102003157)
    assert fit.refinement == pytest.approx(0.557622370802, abs=1e-8)
    assert fit.calibration == pytest.approx(0.074479632355, abs=1e-8)
    assert tn.temperature_step(tn.tabulate(T_LABELS, T_PROBS)) == exactly(1.551043879599)


def test_brier_score_of_B_in_five_bins_of_two() -> None:
    found = tn.brier_decomposition(tn.tabulate_events(B_OUTCOMES, B_PROBS), tn.EqualMass(5), resamples=99)
    assert found.score == exactly(0.17793)
    assert (found.reliability, found.resolution, found.uncertainty) == exactly((0.027775, 0.1, 0.25))
    assert (found.within_variance, found.within_covariance) == exactly((0.002155, 0.002))
    corrected = (found.corrected_reliability, found.corrected_resolution, found.corrected_uncertainty)
    assert corrected == exactly((-0.122225, -0.022222222222, 0.277777777778))


def test_corp_of_B() -> None:
    table = tn.tabulate_events(B_OUTCOMES, B_PROBS)
    found = tn.corp_decomposition(table)
    assert found.curve == exactly(np.array([0, 0, 1 / 3, 1 / 3, 1 / 3, 0.5, 0.5, 1, 1, 1]))
    parts = (found.miscalibration, found.discrimination, found.uncertainty)
    assert parts == exactly((0.061263333333, 0.133333333333, 0.25))
    log = tn.corp_decomposition(table, score="log")
    assert log.score == exactly(0.524512109364)
    parts = (log.miscalibration, log.discrimination, log.uncertainty)
    assert parts == exactly((0.194928422763, 0.363563493960, 0.693147180560))


def test_smooth_error_of_B() -> None:
    assert tn.smece(B_OUTCOMES, B_PROBS) == pytest.approx(0.0962528, abs=1e-6)
    assert smooth_error_at(event_b(), 0.05) == pytest.approx(0.1851093, abs=1e-6)
    assert smooth_error_at(event_b(), 0.1) == pytest.approx(0.0937229, abs=1e-6)

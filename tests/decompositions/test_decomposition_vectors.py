"""The vectors T and B of the specification, whose numbers were worked out by exact arithmetic."""

import math

import numpy as np
import pytest
from event_rows import T_LABELS, T_PROBS

import trueness as tn

ENTROPY_BINS = tn.Edges([0, 0.78, 1])


def exactly(value: object) -> object:
    """Equal to twelve digits."""
    return pytest.approx(value, rel=2e-12, abs=1e-12)


def test_log_reliability_of_T_in_entropy_bins() -> None:
    table = tn.tabulate(T_LABELS, T_PROBS, bins=ENTROPY_BINS)
    log = tn.log_reliability(table, resamples=99)
    assert (log.value, log.likelihood_ratio) == exactly((0.144793105795, 2.316689692718))


def test_brier_Z_of_T() -> None:
    assert tn.brier_test(T_LABELS, T_PROBS).value == exactly(0.485 / math.sqrt(0.33685012))
    assert tn.brier_test(T_LABELS, T_PROBS).value == exactly(0.835648014055)
    assert tn.brier_test(T_LABELS, T_PROBS, sample_weight=[3] * 8).value == exactly(0.835648014055)


def test_best_temperature_of_T() -> None:
    fit = tn.temperature_profile(T_LABELS, T_PROBS).fit()
    # Sums at seventeen exponents: the best one to 1e-7, the loss at it to 1e-8.
    assert fit.exponent == pytest.approx(1.836778565138, abs=1e-7)
    assert fit.log_loss == exactly(0.632102003157)
    assert fit.refinement == pytest.approx(0.557622370802, abs=1e-8)
    assert fit.calibration == pytest.approx(0.074479632355, abs=1e-8)
    assert tn.temperature_step(tn.tabulate(T_LABELS, T_PROBS)) == exactly(1.551043879599)


def test_best_temperature_against_scipy() -> None:
    from scipy.optimize import minimize_scalar

    y, p = tn.simulate.calibrated(2000, [0.3] * 10, rng=1)
    sharp = tn.simulate.sharpen(p, 1.4)
    logs = np.maximum(np.log(sharp), -69)

    def loss(a: float) -> float:
        top = (a * logs).max(axis=1)
        return float(
            (top + np.log(np.exp(a * logs - top[:, None]).sum(axis=1)) - a * logs[range(2000), y]).mean()
        )

    theirs = minimize_scalar(loss, bounds=(0.25, 4), method="bounded", options={"xatol": 1e-9})
    found = tn.temperature_profile(y, sharp).fit()
    assert found.exponent == pytest.approx(theirs.x, abs=1e-6)
    assert found.refinement == pytest.approx(theirs.fun, abs=1e-8)

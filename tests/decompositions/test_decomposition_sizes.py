"""How often the tests of the decompositions reject calibrated data, and where their noise floors are; by simulation."""

import math

import numpy as np
import pytest

import trueness as tn

RUNS = 300


@pytest.mark.slow
def test_sizes_and_noise_floors_of_an_event() -> None:
    names = ("smooth", "corp", "corp log", "brier", "log")
    rejected, apart = dict.fromkeys(names, 0), {name: [] for name in names}
    for run in range(RUNS):
        rng = np.random.default_rng(run)
        p = rng.beta(1, 1.5, 300)
        y = rng.random(300) < p
        table = tn.tabulate_events(y, p)
        found = {
            "smooth": tn.smooth_calibration_error(table, resamples=79, rng=run),
            "corp": tn.corp_decomposition(table, resamples=79, rng=run),
            "corp log": tn.corp_decomposition(table, score="log", resamples=79, rng=run),
            "brier": tn.brier_decomposition(y, p, resamples=79, rng=run),
            "log": tn.log_reliability(table, resamples=79, rng=run),
        }
        values = {
            "smooth": "value",
            "corp": "miscalibration",
            "corp log": "miscalibration",
            "brier": "reliability",
        }
        for name, it in found.items():
            rejected[name] += it.p_value <= 0.05
            apart[name].append(getattr(it, values.get(name, "value")) - it.noise_floor)
    for name in names:
        # .05 and three standard errors of 300 runs are .088.
        assert rejected[name] / RUNS <= 0.088, name
        # The mean is that of calibrated data, up to three standard errors.
        assert abs(np.mean(apart[name])) <= 3 * np.std(apart[name]) / math.sqrt(RUNS), name


def test_sizes_of_tables_by_variation_and_of_the_best_temperature() -> None:
    names = ("z", "brier", "log", "temperature")
    rejected, corrected, gain = dict.fromkeys(names, 0), [], []
    for run in range(RUNS):
        y, p = tn.simulate.calibrated(400, [0.7] * 4, rng=run)
        table = tn.tabulate(y, p)
        brier = tn.brier_decomposition(y, p, resamples=79, rng=run)
        fit = tn.temperature_profile(y, p).fit()
        tests = (tn.brier_test(y, p), brier, tn.log_reliability(table, resamples=79, rng=run), fit)
        for name, it in zip(names, tests, strict=True):
            rejected[name] += it.p_value <= 0.05
        corrected.append(brier.corrected_reliability)
        gain.append(fit.calibration / fit.noise_floor)
    for name in names:
        assert rejected[name] / RUNS <= 0.088, name
    assert abs(np.mean(corrected)) <= 3 * np.std(corrected) / math.sqrt(RUNS)
    # Twice the gain is χ² with one degree: its mean is the noise floor.
    assert abs(np.mean(gain) - 1) <= 3 * np.std(gain) / math.sqrt(RUNS)

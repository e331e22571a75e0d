"""Tests of the errors over the simplex: against plain loops, and by simulation."""

import math

import numpy as np
import pytest
import simplex_oracle as oracle

import trueness as tn
from trueness.simplex import simplex_ece, simplex_ece_test, skce, skce_test


def test_multipliers_and_bootstrap_against_plain_loops() -> None:
    y, p = tn.simulate.calibrated(25, [1, 1, 1], rng=2)
    terms = [[oracle.term(y, p, i, j, 0.5) for j in range(25)] for i in range(25)]
    stream = np.random.default_rng([7, 11])
    signs = stream.integers(0, 2, (25, 19)) * 2 - 1
    total = sum(terms[i][j] for i in range(25) for j in range(25) if i != j)
    drawn = [
        sum(terms[i][j] * signs[i, r] * signs[j, r] for i in range(25) for j in range(25) if i != j)
        for r in range(19)
    ]
    found = skce_test(y, p, bandwidth=0.5, resamples=19, rng=7)
    assert found.p_value == (sum(value >= total for value in drawn) + 1) / 20

    stream = np.random.default_rng([7, 11])
    times = stream.multinomial(25, np.full(25, 1 / 25), 19)
    drawn = []
    for w in times:
        whole = sum(terms[i][j] * (w[i] - 1) * (w[j] - 1) for i in range(25) for j in range(25))
        drawn.append(whole - sum(w[i] * terms[i][i] for i in range(25)))
    found = skce_test(y, p, bandwidth=0.5, resamples=19, rng=7, method="bootstrap")
    assert found.p_value == (sum(value >= total for value in drawn) + 1) / 20


def test_values_of_the_tests_are_those_of_the_functions() -> None:
    y, p = tn.simulate.calibrated(300, [1, 1, 1], rng=2)
    found = skce_test(y, p)
    assert found.value == pytest.approx(skce(y, p), rel=1e-12)
    assert found.biased == pytest.approx(skce(y, p, "biased"), rel=1e-12)
    assert found.noise_floor == 0
    assert skce_test(y, p, method="block").value == skce(y, p, "block")
    assert simplex_ece_test(y, p, resamples=9).value == simplex_ece(y, p)
    assert "p = " in found.words
    assert "1 - p" in simplex_ece_test(*tn.simulate.calibrated(50, [1] * 8, rng=0), resamples=9).words


@pytest.mark.slow
def test_sizes_and_noise_floors() -> None:
    runs, methods = 300, ("multipliers", "bootstrap", "block")
    rejected, biased = dict.fromkeys(methods, 0), []
    for run in range(runs):
        y, p = tn.simulate.calibrated(150, [0.5] * 3, rng=run)
        tests = {method: skce_test(y, p, method=method, resamples=99, rng=run) for method in methods}
        for method, test in tests.items():
            rejected[method] += test.p_value <= 0.05
        biased.append(tests["multipliers"].biased - tests["multipliers"].biased_noise_floor)
    # Three standard errors of a share of 5 % in 300 runs are .038.
    for method in methods:
        assert rejected[method] / runs <= 0.088, method
    assert rejected["multipliers"] / runs >= 0.012
    assert abs(np.mean(biased)) <= 3 * np.std(biased) / math.sqrt(runs)


def test_a_shift_of_a_class_is_detected_and_the_error_over_cells_has_its_size() -> None:
    runs, found, size = 60, 0, 0
    for run in range(runs):
        y, p = tn.simulate.calibrated(400, [1, 1, 1], rng=run)
        size += simplex_ece_test(y, p, 3, resamples=39, rng=run).p_value <= 0.05
        shifted = np.where(np.random.default_rng(run).random(400) < 0.2, 0, y)
        found += skce_test(shifted, p, resamples=39, rng=run).p_value <= 0.05
    assert found / runs > 0.9
    # .05 and three standard errors of 60 runs.
    assert size / runs <= 0.135


def test_the_error_over_cells_has_its_size_where_cells_hold_one_row() -> None:
    runs = 100
    tests = [
        simplex_ece_test(*tn.simulate.calibrated(300, [0.5] * 6, rng=run), resamples=39, rng=run)
        for run in range(runs)
    ]
    assert all(test.n_cells > 200 for test in tests)
    # .05 and three standard errors of 100 runs.
    assert sum(test.p_value <= 0.05 for test in tests) / runs <= 0.115
    apart = [test.value - test.noise_floor for test in tests]
    assert abs(np.mean(apart)) <= 3 * np.std(apart) / math.sqrt(runs)

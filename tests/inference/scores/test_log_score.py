"""The p-value of the log-score by draws: it keeps its size with rare outcomes, and its power within bins."""

import math

import numpy as np
import pytest
from class_rows import dirichlet, draw

import trueness as tn
from trueness.old_inference.estimates import ResampledTable, log_score_draws, log_score_test
from trueness.old_inference.results import ZTest

EF = tn.EqualMass(10)


def z_test(y: np.ndarray, p: np.ndarray, seed: int, resamples: int = 199) -> ZTest:
    table = tn.tabulate(y, p, bins=EF)
    return log_score_test(table, ResampledTable.of(table, resamples, [seed, 0]))


def test_draws_have_the_variance_of_the_rows() -> None:
    """Four standard errors of the variance of 4999 draws are 8 %."""
    rng = np.random.default_rng(0)
    p = dirichlet(rng, 4, 0.5, 1000)
    table = tn.tabulate(draw(rng, p), p, bins=EF)
    (drawn,) = log_score_draws(table, ResampledTable.of(table, 4999, [1, 0]))
    assert table.log_scores is not None
    assert drawn.var(axis=0) == pytest.approx(table.log_scores.variance, rel=0.08)
    assert drawn.sum(axis=1).var() == pytest.approx(table.log_score_variance, rel=0.08)


def test_power_within_bins() -> None:
    """Ranks 2 and 3 exchanged in 15 % of rows, C = 3, N = 2000.

    Z detects it in .92 of 400 runs, and so does the safe p-value. The score of the binned ranks did in .63.
    """
    rng, called = np.random.default_rng(1), []
    for run in range(60):
        truth = dirichlet(rng, 3, 1.0, 2000)
        swapped = np.where(rng.random((2000, 1)) < 0.15, tn.simulate.swap_ranks(truth), truth)
        called.append(z_test(draw(rng, truth), swapped, run).safe_p_value <= 0.05)
    assert np.mean(called) >= 0.915 - 4 * math.sqrt(0.915 * 0.085 / 60)


def test_size_with_rare_outcomes() -> None:
    """Events of probability 10⁻⁴, N = 300, at .75 %: Z calls .047 of 600 runs, the safe p-value .002."""
    rng, found = np.random.default_rng(2), []
    for run in range(200):
        p = 1e-4 * np.exp(rng.standard_normal(300))
        rows = np.stack([1 - p, p], axis=1)
        test = z_test(draw(rng, rows), rows, run)
        found.append((test.p_value, test.safe_p_value))
    normal, safe = (np.array(found) <= 0.0076).mean(axis=0)
    four = 4 * math.sqrt(0.0075 / 200)
    assert safe <= 0.0075 + four
    assert normal > 0.0075 + four

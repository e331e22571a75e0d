"""Size, false discoveries, bias and coverage by class, on simulated rows.

Tolerances are the figures of larger simulations, plus four standard errors of the runs made here.
"""

import math

import numpy as np
import pytest
from class_rows import CLASS_GRID, assess_rows, dirichlet, draw, events

from trueness.old_inference.corrections import benjamini_hochberg
from trueness.old_inference.events.in_the_large import gap_tests
from trueness.old_inference.events.spread import spread_tests
from trueness.old_inference.scores.misses import Misses
from trueness.old_inference.scores.predicted_class import by_predicted_class


def four_errors(share: float, runs: int) -> float:
    return 4 * math.sqrt(share * (1 - share) / runs)


def test_calibrated_classes() -> None:
    """C = 10, Dirichlet(.3), N = 2000.

    Of 400 runs .04 to .063 had a p-value of classwise ECE up to .05, and .945 to .975 an interval that contains 0; any
    class is called in .05.
    """
    rng, runs = np.random.default_rng(0), 100
    p_values, covered, called = [], [], []
    for run in range(runs):
        p = dirichlet(rng, 10, 0.3, 2000)
        result = assess_rows(draw(rng, p), p, resamples=99, seed=run)
        p_values.append(result.mean.p_value)
        assert result.mean.interval is not None
        covered.append(result.mean.interval.low == 0)
        called.append(any(each.words for each in result.classes))
    rejected = float(np.mean(np.array(p_values) <= 0.05))
    assert 0.025 - four_errors(0.025, runs) <= rejected <= 0.063 + four_errors(0.063, runs)
    assert np.mean(covered) >= 0.945 - four_errors(0.945, runs)
    assert np.mean(called) <= 0.05 + four_errors(0.05, runs)
    assert 0.35 < np.mean(p_values) < 0.65


@pytest.mark.parametrize("alpha", [0.05, 1.0])
def test_a_hundred_calibrated_classes(alpha: float) -> None:
    """N = 2000: any class called in .04 to .047 of runs, Q in .065; single spreads have p ≤ .001 in .0009 to .0011.

    The plain score of the spread would call some class in .13 of the runs.
    """
    rng, runs = np.random.default_rng(1), 30
    called, spreads, q = [], [], []
    for _ in range(runs):
        p = dirichlet(rng, 100, alpha, 2000)
        y = draw(rng, p)
        cells = events(y, p, CLASS_GRID)
        found = [test.p_value for test in spread_tests(cells)]
        spreads += found
        gaps = [test.p_value for test in gap_tests(cells)]
        called.append(min(benjamini_hochberg([p for p in (*found, *gaps) if not math.isnan(p)])) <= 0.05)
        q.append(_q(y, p, Misses.of(cells, 100)) <= 0.05)
    assert np.mean(called) <= 0.05 + four_errors(0.05, runs)
    assert np.mean(np.array(spreads) <= 0.001) <= 0.0011 + four_errors(0.0011, len(spreads))
    assert np.mean(q) <= 0.065 + four_errors(0.065, runs)


def _q(y: np.ndarray, p: np.ndarray, misses: Misses) -> float:
    n_classes, predicted, logs = p.shape[1], p.argmax(axis=1), np.log(p)
    entropy = -(p * logs).sum(axis=1)
    sums = (
        np.bincount(predicted, each, n_classes)
        for each in (logs[np.arange(len(y)), y] + entropy, (p * logs**2).sum(axis=1) - entropy**2)
    )
    return by_predicted_class(np.bincount(predicted, minlength=n_classes), *sums, misses=misses).safe_p_value


def test_false_discoveries() -> None:
    """Two of ten classes err against each other, N = 3000: a twentieth of the calls, at most, are of other classes.

    Probabilities of class 0 are multiplied by 1.35 at the cost of class 1, so both are wrong and eight are right.
    """
    rng, runs, shares, found = np.random.default_rng(2), 150, [], []
    for _ in range(runs):
        truth = dirichlet(rng, 10, 0.3, 3000)
        moved = np.minimum(0.35 * truth[:, 0], truth[:, 1])
        p = truth.copy()
        p[:, 0] += moved
        p[:, 1] -= moved
        cells = events(draw(rng, truth), p, CLASS_GRID)
        tests = [
            test.p_value for both in zip(gap_tests(cells), spread_tests(cells), strict=True) for test in both
        ]
        called = {k // 2 for k, q in enumerate(benjamini_hochberg(tests)) if q <= 0.05}
        shares.append(len(called - {0, 1}) / max(len(called), 1))
        found.append(0 in called)
    assert np.mean(shares) <= 0.05 + 4 * float(np.std(shares)) / math.sqrt(runs)
    assert np.mean(found) > 0.5


def test_debiased_mean() -> None:
    """C = 3, N = 5000, p ∝ π^1.3: the true classwise ECE is .0356, the debiased value .0349 on average."""
    rng, values, covered = np.random.default_rng(3), [], []
    for run in range(40):
        truth = dirichlet(rng, 3, 1.0, 5000)
        p = truth**1.3
        result = assess_rows(draw(rng, truth), p / p.sum(axis=1, keepdims=True), resamples=19, seed=run)
        values.append(result.mean.debiased)
        assert result.mean.interval is not None
        covered.append(result.mean.interval.low <= 0.0356 <= result.mean.interval.high)
    assert np.mean(values) == pytest.approx(0.0356, abs=0.0015 + 4 * float(np.std(values)) / math.sqrt(40))
    assert np.mean(covered) >= 0.945 - four_errors(0.945, 40)

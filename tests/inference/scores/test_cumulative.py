"""The score cumulated over bins: the vector T, exact tails of one bin and of many, and its protection."""

import math

import numpy as np
import pytest
from class_rows import dirichlet, draw, log_scores
from event_rows import T_LABELS, T_PROBS

from trueness.old_inference.scores.cumulative import cumulative_score
from trueness.old_inference.scores.rank_draws import score_draws

P, Y = np.array(T_PROBS), np.array(T_LABELS)


def in_bins_of_entropy(p: np.ndarray, edges: list[float]) -> np.ndarray:
    entropy = -(p * np.log(p)).sum(axis=1) / math.log(p.shape[1])
    return np.searchsorted(edges, entropy)


def test_one_bin_is_the_log_score() -> None:
    """P(|Z| ≥ 1.5) = .1336; four standard errors of 99 999 draws are .0043."""
    test = cumulative_score(np.array([-3.0]), np.array([4.0]), 99_999, 1)
    assert test.value == 1.5
    assert test.p_value == pytest.approx(math.erfc(1.5 / math.sqrt(2)), abs=0.0043)


def test_many_bins_approach_brownian_motion() -> None:
    """P(sup|B| ≥ 2) = .091000523846.

    A walk of 2000 steps exceeds 2 as Brownian motion exceeds 2 + .58/√2000, which is .0025 less often; four standard
    errors of 3999 draws are .018.
    """
    steps = np.zeros(2000)
    steps[0] = 2.0 * math.sqrt(2000)
    test = cumulative_score(steps, np.ones(2000), 3999, 2)
    assert test.value == pytest.approx(2.0)
    assert test.where == 0
    assert test.p_value == pytest.approx(0.0885, abs=0.018)


def test_it_finds_errors_that_cancel_and_where() -> None:
    test = cumulative_score(np.array([-5.0, -4.0, 4.5, 4.5]), np.ones(4), 999, 3)
    assert test.value == pytest.approx(4.5)
    assert (test.where, test.p_value) == (1, 0.001)
    assert test.bin_values.tolist() == [-5.0, -4.0, 4.5, 4.5]


def test_empty_bins_change_nothing() -> None:
    score, variance = np.array([1.0, -2.0]), np.array([1.0, 3.0])
    full = cumulative_score(score, variance, 199, 4)
    gaps = cumulative_score(np.array([0, 1.0, 0, -2.0]), np.array([0, 1.0, 0, 3.0]), 199, 4)
    assert (gaps.value, gaps.p_value) == (full.value, full.p_value)
    assert np.isnan(gaps.bin_values).tolist() == [True, False, True, False]


def test_the_larger_p_value_counts() -> None:
    """Draws from resampled ranks may have heavier tails than normal increments."""
    score, variance = np.array([2.0, 1.0]), np.ones(2)
    wide, narrow = np.full((99, 2), 5.0), np.zeros((99, 2))
    plain = cumulative_score(score, variance, 99, 5)
    assert math.isnan(plain.drawn_p_value)
    assert plain.safe_p_value == plain.p_value
    test = cumulative_score(score, variance, 99, 5, draws=[narrow, wide])
    assert (test.drawn_p_value, test.safe_p_value, test.p_value) == (1.0, 1.0, plain.p_value)
    assert cumulative_score(score, variance, 99, 5, draws=[narrow]).drawn_p_value == 0.01


def test_draws_have_the_variance_of_the_rows() -> None:
    """Ranks drawn from q̄ and scored against ln q̄ are scaled to ΣVE of each bin; 4 errors of 20 000 draws are .04."""
    rng = np.random.default_rng(8)
    q, n = np.array([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [1.0, 0.0, 0.0]]), np.array([40, 30, 5])
    logs = np.log(np.where(q > 0, q, 1.0))
    ranks = np.stack([rng.multinomial(n[m], q[m], 20_000) / n[m] for m in range(3)], axis=1)
    drawn = score_draws(((ranks - q) * logs).sum(axis=2), n, q, np.array([30.0, 7.0, 0.0]))
    assert drawn.var(axis=0) == pytest.approx([30.0, 7.0, 0.0], rel=0.04)
    assert np.abs(drawn.mean(axis=0)).max() <= 4 * math.sqrt(30 / 20_000)


def test_without_variance_and_with_impossible_rows() -> None:
    none = cumulative_score(np.zeros(3), np.zeros(3), 99, 0)
    assert math.isnan(none.value)
    assert math.isnan(none.p_value)
    assert none.where is None
    assert "certain or uniform" in str(none.reason)
    score, variance = np.array([1.0, 1.0]), np.ones(2)
    test = cumulative_score(score, variance, 99, 0, impossible_rows=3)
    assert test.p_value == 0
    assert "3 rows had probability 0" in str(test.reason)
    assert test.safe_p_value == cumulative_score(score, variance, 99, 0).p_value
    assert cumulative_score(np.zeros(2), np.zeros(2), 99, 0, impossible_rows=1).p_value == 0


def test_batches_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    score, variance = np.arange(5.0), np.arange(1.0, 6.0)
    whole = cumulative_score(score, variance, 500, 6).p_value
    monkeypatch.setattr("trueness.old_inference.scores.cumulative._BATCH_VALUES", 35)
    assert cumulative_score(score, variance, 500, 6).p_value == whole


def test_size_and_power() -> None:
    """Ten bins, C = 3, N = 1000. Calibrated: .05 within four standard errors of 300 runs.

    Half of the bins sharpened and half blunted: Z cannot detect it, T does.
    """
    rng, calibrated, wrong = np.random.default_rng(7), [], []
    edges = [float(x) for x in np.quantile(_entropies(dirichlet(rng, 3, 1.0, 20_000)), np.arange(1, 10) / 10)]
    for run in range(300):
        truth = dirichlet(rng, 3, 1.0, 1000)
        y = draw(rng, truth)
        place = in_bins_of_entropy(truth, edges)
        calibrated.append(cumulative_score(*log_scores(y, truth).by(place, 10), 199, run).p_value <= 0.05)
        power = truth ** np.where(place < 7, 1.4, 0.4)[:, None]
        p = power / power.sum(axis=1, keepdims=True)
        score, variance = log_scores(y, p).by(in_bins_of_entropy(p, edges), 10)
        wrong.append(cumulative_score(score, variance, 199, run).p_value <= 0.05)
    assert abs(np.mean(calibrated) - 0.05) <= 4 * math.sqrt(0.05 * 0.95 / 300)
    assert np.mean(wrong) >= 0.8


def _entropies(p: np.ndarray) -> np.ndarray:
    return np.asarray(-(p * np.log(p)).sum(axis=1) / math.log(p.shape[1]))

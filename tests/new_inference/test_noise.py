"""Draws of a calibrated model, against exact enumeration."""

import math
from itertools import product

import numpy as np
import pytest

from new_inference.rows import calibrated, sample_of
from trueness.inference.noise import (
    Streams,
    draw_ranks,
    draw_score_maxima,
    draw_top_errors,
    p_value,
    unit_multipliers,
)


def enumerated(n: int, q: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """Every table of counts of n rows with its multinomial probability."""
    found = []
    for counts in product(range(n + 1), repeat=len(q)):
        if sum(counts) == n:
            ways = math.factorial(n) / math.prod(map(math.factorial, counts))
            found.append((ways * math.prod(q**counts), np.array(counts)))
    return found


def test_draws_have_the_distribution_of_a_calibrated_model() -> None:
    p = np.array([[0.6, 0.3, 0.1]] * 6)
    it = sample_of([0, 0, 0, 1, 1, 2], p, bins=1)
    draws = draw_ranks(it, 20_000, Streams(1))
    exact = enumerated(6, p[0])
    for name, value in {
        "variation": it.variation,
        "distance": lambda r: np.abs(r - p[0]).sum() / 2,
    }.items():
        mean = sum(chance * value(counts / 6) for chance, counts in exact)
        square = sum(chance * value(counts / 6) ** 2 for chance, counts in exact)
        drawn = np.ravel(getattr(draws, name))
        error = math.sqrt((square - mean**2) / 20_000)
        assert drawn.mean() == pytest.approx(mean, abs=4 * error), name
    assert draws.score.var() == pytest.approx(draws.score_variance[0], rel=0.05)
    assert draws.ahead.var(axis=0) == pytest.approx(draws.ahead_variance, rel=0.05)
    sizes = sum(chance * np.abs(counts / 6 - p[0]) for chance, counts in exact)
    assert draws.sizes[0] == pytest.approx(sizes, rel=0.03)


def test_more_draws_begin_with_the_fewer_and_memory_does_not_change_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    it = sample_of(*calibrated(300, [1.0] * 4, np.random.default_rng(0)))
    few, many = (draw_ranks(it, size, Streams(3)) for size in (50, 500))
    assert np.array_equal(many.variation[:50], few.variation)
    monkeypatch.setattr("trueness.inference.noise._BATCH_VALUES", 64)
    batched = draw_ranks(it, 500, Streams(3))
    for one, other in zip(batched, many, strict=True):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-15)


def test_streams_depend_on_seed_purpose_and_group_name_alone() -> None:
    first = Streams(5, "clinic").of("ranks", 0, 3).random(4)
    assert np.array_equal(Streams(5, "clinic").of("ranks", 0, 3).random(4), first)
    others = [
        Streams(6, "clinic").of("ranks", 0, 3),
        Streams(5, "ward").of("ranks", 0, 3),
        Streams(5).of("ranks", 0, 3),
        Streams(5, "clinic").of("bias", 0, 3),
        Streams(5, "clinic").of("ranks", 0, 4),
    ]
    assert not any(np.array_equal(each.random(4), first) for each in others)


def test_draws_of_the_top_label() -> None:
    it = sample_of([0, 1], [[0.75, 0.25], [0.7, 0.3]], bins=1)
    drawn = draw_top_errors(it, 1.0, 20_000, Streams(0))
    p = 0.725
    chances = {0: (1 - p) ** 2, 1: 2 * p * (1 - p), 2: p**2}
    exact = sum(chance * abs(k / 2 - p) for k, chance in chances.items())
    assert drawn.mean() == pytest.approx(exact, abs=4 * drawn.std() / math.sqrt(20_000))


def test_maxima_of_one_step_are_half_normal() -> None:
    drawn = draw_score_maxima(np.array([2.0]), 20_000, Streams(0))
    assert np.quantile(drawn, 0.95) == pytest.approx(2 * 1.96, rel=0.03)


def test_p_value_counts_values_that_differ_by_rounding() -> None:
    draws = np.array([0.1, 0.2, 0.30000000000000004, 0.4])
    assert p_value(draws, 0.3) == 3 / 5
    assert p_value(draws, 1.0) == 1 / 5


def test_multipliers_are_shared_by_seed() -> None:
    assert np.array_equal(unit_multipliers(3, 5, Streams(1)), unit_multipliers(3, 5, Streams(1)))

"""Simulated calibrated rows: they converge as in the theory, in chunks and streams too.

Targets (scenario, UCE floor and spread, a and b of mean = a/sqrt(N), sd = b/sqrt(N)) were computed apart from this
library. The mean of R repeats has the spread b/sqrt(N R); five of them, plus 1.5 % of a/sqrt(N) for the second
order at N = 1e4.
"""

import itertools

import numpy as np
import pytest

import trueness as tn

N, REPEATS = 10_000, 20


class TestCalibrated:
    def test_shapes_and_rows(self) -> None:
        y_true, y_prob = data = tn.simulate.calibrated(1000, [0.5, 1, 2, 3], rng=1)
        assert (data.y_true is y_true, data.y_prob is y_prob) == (True, True)
        assert y_true.shape == (1000,)
        assert y_prob.shape == (1000, 4)
        assert np.issubdtype(y_true.dtype, np.integer)
        assert y_prob.dtype == np.float64
        assert tn.tabulate(y_true, y_prob).n_rows == 1000

    def test_moments_of_the_dirichlet(self) -> None:
        """E p_c = a_c/a0 and Var p_c = a_c (a0 - a_c) / (a0^2 (a0 + 1)); labels have the same means."""
        alpha, n = np.array([10.0, 1.0, 3.0]), 200_000
        y_true, y_prob = tn.simulate.calibrated(n, alpha, rng=2)
        a0 = alpha.sum()
        mean, variance = alpha / a0, alpha * (a0 - alpha) / (a0**2 * (a0 + 1))
        assert np.all(np.abs(y_prob.mean(axis=0) - mean) < 5 * np.sqrt(variance / n))
        assert np.all(
            np.abs(np.bincount(y_true, minlength=3) / n - mean) < 5 * np.sqrt(mean * (1 - mean) / n)
        )
        np.testing.assert_allclose(y_prob.var(axis=0), variance, rtol=0.05)

    def test_labels_follow_their_own_row(self) -> None:
        """ln p_y + H has mean 0 and the varentropy as its variance: the log-score is a standard normal."""
        table = tn.tabulate(*tn.simulate.calibrated(100_000, [0.3, 1, 2], rng=3))
        assert abs(table.log_score_sum) < 5 * np.sqrt(table.log_score_variance)

    @pytest.mark.parametrize("chunk_rows", [1, 7, 999, 1000, 65_536, 70_000, 200_000])
    def test_chunks_are_the_same_rows(self, chunk_rows: int) -> None:
        n = 150 if chunk_rows < 10 else 150_000
        bulk = tn.simulate.calibrated(n, [2, 1, 1], rng=4)
        chunks = list(tn.simulate.calibrated_chunks(n, [2, 1, 1], rng=4, chunk_rows=chunk_rows))
        assert [len(c.y_true) for c in chunks[:-1]] == [chunk_rows] * (len(chunks) - 1)
        assert 1 <= len(chunks[-1].y_true) <= chunk_rows
        np.testing.assert_array_equal(np.concatenate([c.y_true for c in chunks]), bulk.y_true)
        np.testing.assert_array_equal(np.concatenate([c.y_prob for c in chunks]), bulk.y_prob)

    def test_chunks_are_drawn_one_at_a_time(self) -> None:
        """Of 2^50 rows only the first two chunks are drawn."""
        chunks = itertools.islice(tn.simulate.calibrated_chunks(2**50, [1, 1], rng=0, chunk_rows=1000), 2)
        assert [len(c.y_true) for c in chunks] == [1000, 1000]

    def test_chunks_accumulate_to_the_bulk_table(self) -> None:
        accumulator = tn.Accumulator(n_classes=3)
        for chunk in tn.simulate.calibrated_chunks(30_000, [1, 1, 1], rng=5, chunk_rows=8_192):
            accumulator.update(*chunk)
        bulk = tn.simulate.calibrated(30_000, [1, 1, 1], rng=5)
        assert accumulator.table == tn.tabulate(*bulk)

    def test_seeds(self) -> None:
        """The same seed gives the same rows, another one others; a generator advances; no global state changes."""
        state = np.random.get_state()[1].tolist()  # noqa: NPY002
        one, same, other = (tn.simulate.calibrated(50, [1, 1], rng=seed).y_prob for seed in (7, 7, 8))
        np.testing.assert_array_equal(one, same)
        assert not np.array_equal(one, other)
        generator = np.random.default_rng(7)
        first, second = (tn.simulate.calibrated(50, [1, 1], rng=generator).y_prob for _ in range(2))
        assert not np.array_equal(first, second)
        np.testing.assert_array_equal(
            first, tn.simulate.calibrated(50, [1, 1], rng=np.random.default_rng(7)).y_prob
        )
        assert not np.array_equal(*(tn.simulate.calibrated(50, [1, 1]).y_prob for _ in range(2)))
        assert np.random.get_state()[1].tolist() == state  # noqa: NPY002

    def test_neighbouring_seeds_share_no_rows(self) -> None:
        rows = [tn.simulate.calibrated(100_000, [1, 1], rng=seed).y_prob[:, 0] for seed in range(3)]
        assert len(np.unique(np.concatenate(rows))) == 300_000

    @pytest.mark.parametrize("alpha", [[1e100] * 3, [1e100, 1e-300], [1e-300] * 3, [0.05, 5e-324, 1e-5]])
    def test_extreme_alpha_makes_distributions(self, alpha: list[float]) -> None:
        y_true, y_prob = tn.simulate.calibrated(2000, alpha, rng=17)
        np.testing.assert_allclose(y_prob.sum(axis=1), 1, atol=1e-12)
        assert np.all(y_prob[np.arange(2000), y_true] > 0)

    @pytest.mark.parametrize(
        "alpha",
        [
            [1],
            [],
            [1, 0],
            [1, -1],
            [1, np.nan],
            [1, np.inf],
            [1e308] * 3,
            3,
            [[1, 1]],
            ["a", "b"],
            [[1], [1, 2]],
            None,
        ],
    )
    def test_bad_alpha(self, alpha: object) -> None:
        with pytest.raises(ValueError, match="alpha"):
            tn.simulate.calibrated(10, alpha)

    @pytest.mark.parametrize("n", [0, -1, 1.5, True])
    def test_bad_sizes(self, n: object) -> None:
        with pytest.raises(ValueError, match="n_rows"):
            tn.simulate.calibrated(n, [1, 1])
        with pytest.raises(ValueError, match="chunk_rows"):
            tn.simulate.calibrated_chunks(10, [1, 1], chunk_rows=n)

    @pytest.mark.parametrize("rng", ["seed", 1.5, np.random.RandomState(0)])
    def test_bad_rng(self, rng: object) -> None:
        with pytest.raises((TypeError, ValueError), match="rng"):
            tn.simulate.calibrated(10, [1, 1], rng)


def test_a_stream_can_be_drawn_in_any_order() -> None:
    streams = tn.simulate.calibrated_streams(150_000, [2, 1, 1], rng=4)
    bulk = tn.simulate.calibrated(150_000, [2, 1, 1], rng=4)
    parts = {number: streams[number] for number in (2, 0, 1)}
    assert len(streams) == 3
    np.testing.assert_array_equal(np.concatenate([parts[n].y_prob for n in range(3)]), bulk.y_prob)
    np.testing.assert_array_equal(np.concatenate([parts[n].y_true for n in range(3)]), bulk.y_true)
    np.testing.assert_array_equal(streams.predictions(1), parts[1].y_prob)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 300])
def test_labels_are_where_the_cumulative_sum_passes_the_level(n_classes: int) -> None:
    y_prob = np.random.default_rng(0).dirichlet([0.3] * n_classes, 5000)
    labels = tn.simulate.draw_labels(y_prob, np.random.default_rng(1))
    level = np.random.default_rng(1).random(5000)
    for row, u, label in zip(y_prob, level, labels, strict=True):
        cumulative = np.cumsum(row)
        assert label == np.argmax(cumulative > min(u * cumulative[-1], np.nextafter(cumulative[-1], 0)))

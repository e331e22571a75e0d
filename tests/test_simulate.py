"""Simulated rows: calibrated ones converge as in the theory, others are miscalibrated as documented.

Targets (scenario, UCE floor and spread, a and b of mean = a/sqrt(N), sd = b/sqrt(N)) were computed apart from this
library. The mean of R repeats has the spread b/sqrt(N R); five of them, plus 1.5 % of a/sqrt(N) for the second
order at N = 1e4.
"""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import oracle
import pytest

import trueness as tn


class Target(NamedTuple):
    alpha: tuple[float, ...]
    uce: tuple[float, float]
    vce_width: tuple[float, float]
    ece_width: tuple[float, float]
    vce_mass: tuple[float, float]
    ece_mass: tuple[float, float]


TARGETS = {
    "C=3": Target(
        (1,) * 3,
        (0.369643799967, 0.4718),
        (1.1584, 0.3094),
        (1.0728, 0.2812),
        (1.2338, 0.3115),
        (1.1693, 0.2812),
    ),
    "C=3 skew": Target(
        (10, 1, 1),
        (0.284734772889, 0.3706),
        (1.5772, 0.4262),
        (0.7715, 0.2159),
        (1.7756, 0.4262),
        (0.8743, 0.2159),
    ),
    "C=10": Target(
        (1,) * 10,
        (0.130637093862, 0.4502),
        (0.4815, 0.1874),
        (0.7636, 0.2701),
        (0.7733, 0.1877),
        (1.1279, 0.2701),
    ),
    "C=10 skew": Target(
        (10, *(1,) * 9),
        (0.192316926804, 0.4884),
        (0.8458, 0.2851),
        (0.9373, 0.2935),
        (1.1845, 0.2853),
        (1.2278, 0.2935),
    ),
}
N, REPEATS = 10_000, 20


@pytest.mark.parametrize("scenario", TARGETS)
def test_calibrated_rows_converge_as_in_the_theory(scenario: str) -> None:
    target = TARGETS[scenario]
    rows = [tn.simulate.calibrated(N, target.alpha, rng=1000 + seed) for seed in range(REPEATS)]
    for bins, vce, ece in (
        (10, target.vce_width, target.ece_width),
        (tn.EqualMass(10), target.vce_mass, target.ece_mass),
    ):
        tables = [tn.tabulate(*data, bins=bins) for data in rows]
        for (a, b), values in (
            (vce, [tn.variation_calibration_error(t) for t in tables]),
            (ece, [tn.ece(*data, bins=bins) for data in rows]),
        ):
            tolerance = 5 * b / np.sqrt(N * REPEATS) + 0.015 * a / np.sqrt(N)
            assert np.mean(values) == pytest.approx(a / np.sqrt(N), abs=tolerance)
            # The sd of REPEATS values has a relative error of 1/sqrt(2 (R - 1)), here .16; skewness widens it.
            assert np.std(values, ddof=1) == pytest.approx(b / np.sqrt(N), rel=5 * 0.16)
        floor, b = target.uce
        uce = [tn.uncertainty_calibration_error(t) for t in tables]
        assert np.mean(uce) == pytest.approx(floor, abs=5 * b / np.sqrt(N * REPEATS))


def test_vce_falls_with_the_square_root_and_uce_does_not() -> None:
    """Log-log slope over N = 1e4..1e6 lay within -.492 to -.517 (VCE) and at 0 (UCE).

    ln of a mean over R runs has the sd (b/a)/sqrt(R): .27/sqrt(40) and .27/sqrt(8) at the two ends, slope over
    ln 100: sd .023; five of them around -1/2.
    """
    means = []
    for n, repeats in ((10_000, 40), (1_000_000, 8)):
        tables = [tn.tabulate(*tn.simulate.calibrated(n, [1, 1, 1], rng=seed)) for seed in range(repeats)]
        vce = np.mean([tn.variation_calibration_error(t) for t in tables])
        means.append((vce, np.mean([tn.uncertainty_calibration_error(t) for t in tables])))
    slopes = np.diff(np.log(means), axis=0)[0] / np.log(100)
    assert slopes[0] == pytest.approx(-0.5, abs=5 * 0.023)
    assert slopes[1] == pytest.approx(0, abs=0.002)


def test_figure_2_of_the_paper() -> None:
    """C = 3, alpha = 1, equal width: UCE gaps err - uncert and the masses of the bins, printed to four digits.

    Their spread: sqrt(err (1 - err) / n_m) and sqrt(m (1 - m) / N); five of each plus half a unit of the last digit.
    """
    gaps = [-0.0572, -0.1218, -0.1871, -0.2465, -0.2977, -0.3349, -0.3380, -0.3733, -0.4079, -0.4059]
    masses = np.array([0.0013, 0.0060, 0.0141, 0.0267, 0.0463, 0.0796, 0.1499, 0.1963, 0.2267, 0.2531])
    n = 500_000
    table = tn.tabulate(*tn.simulate.calibrated(n, [1, 1, 1], rng=20))
    err = 1 - table.rank_frequency[:, 0]
    spread = np.sqrt(err * (1 - err) / table.count)
    assert np.all(np.abs(tn.uncertainty_gap(table) - gaps) <= 5 * spread + 5e-5)
    assert np.all(np.abs(table.count / n - masses) <= 5 * np.sqrt(masses * (1 - masses) / n) + 5e-5)


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


ROWS = np.random.default_rng(6).dirichlet([1.0, 1.0, 1.0, 1.0], 300)


class TestSharpen:
    @pytest.mark.parametrize("exponent", [0.3, 1.0, 2.5])
    def test_rows_are_proportional_to_a_power(self, exponent: float) -> None:
        sharp = tn.simulate.sharpen(ROWS, exponent)
        for row, given in zip(sharp.tolist(), ROWS.tolist(), strict=True):
            total = sum(p**exponent for p in given)
            assert row == pytest.approx([p**exponent / total for p in given], rel=1e-12)

    def test_extremes_stay_distributions(self) -> None:
        rows = np.array([[1.0, 0, 0], [0.5, 0.5, 0], [1 - 1e-12, 1e-12, 0], [1e-300, 1, 0]])
        for exponent in (1e-3, 1, 50, 1e4):
            sharp = tn.simulate.sharpen(rows, exponent)
            assert tn.tabulate(np.zeros(4, int), sharp).n_rows == 4

    @pytest.mark.parametrize("exponent", [1.4, 0.7])
    def test_direction(self, exponent: float) -> None:
        """Exponents above 1 give over-confidence, below 1 under-confidence, in every measure, far beyond the noise."""
        y_true, y_prob = tn.simulate.calibrated(50_000, [1, 1, 1], rng=9)
        for name in oracle.MEASURES:
            net = tn.signed_parts(
                tn.tabulate(y_true, tn.simulate.sharpen(y_prob, exponent), variation=name)
            ).net
            assert np.sign(net) == np.sign(exponent - 1), name
            assert abs(net) > 0.02, name

    @pytest.mark.parametrize("exponent", [0, -1, np.nan, np.inf, "2", True, None])
    def test_bad_exponents(self, exponent: float) -> None:
        with pytest.raises(ValueError, match="exponent"):
            tn.simulate.sharpen(ROWS, exponent)


class TestSwapRanks:
    @pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 2), (0, 3), (2, 2)])
    def test_two_ranks_are_exchanged(self, first: int, second: int) -> None:
        swapped = tn.simulate.swap_ranks(ROWS, first, second)
        for row, given in zip(swapped.tolist(), ROWS.tolist(), strict=True):
            order = sorted(range(4), key=lambda c, given=given: -given[c])
            expected = list(given)
            expected[order[first]], expected[order[second]] = given[order[second]], given[order[first]]
            assert row == expected

    def test_entropy_does_not_change_and_rce_does(self) -> None:
        """Swapping ranks 2 and 3 permutes r-bar: the entropies do not change, RCE does."""
        y_true, y_prob = tn.simulate.calibrated(50_000, [1, 1, 1], rng=10)
        before, after = tn.tabulate(y_true, y_prob), tn.tabulate(y_true, tn.simulate.swap_ranks(y_prob, 1, 2))
        assert tn.variation_calibration_error(after) == pytest.approx(
            tn.variation_calibration_error(before), abs=1e-12
        )
        assert tn.ranked_calibration_error(after) > 10 * tn.ranked_calibration_error(before)

    @pytest.mark.parametrize("ranks", [(0, 4), (-1, 0), (0.5, 1), (True, 0), (0, np.True_), ("0", 1)])
    def test_bad_ranks(self, ranks: tuple[int, int]) -> None:
        with pytest.raises(ValueError, match=r"first|second"):
            tn.simulate.swap_ranks(ROWS, *ranks)


class TestFlattenTail:
    @pytest.mark.parametrize("keep", [0, 1, 2, 3])
    def test_the_tail_becomes_uniform(self, keep: int) -> None:
        flat = tn.simulate.flatten_tail(ROWS, keep, amount=1)
        for row, given in zip(flat.tolist(), ROWS.tolist(), strict=True):
            order = sorted(range(4), key=lambda c, given=given: -given[c])
            rest = sum(given[c] for c in order[keep:]) / (4 - keep)
            expected = [given[c] if order.index(c) < keep else rest for c in range(4)]
            assert row == pytest.approx(expected, abs=1e-15)

    def test_a_flatter_tail_changes_rce_and_not_ece(self) -> None:
        """Labels drawn from flattened rows, predictions unchanged: confidence and accuracy agree, the tail does not."""
        y_true, y_prob = tn.simulate.calibrated(20_000, [1, 1, 1, 1], rng=11)
        flat_true = tn.simulate.shift_labels(tn.simulate.flatten_tail(y_prob, amount=1), [1, 1, 1, 1], rng=12)
        assert tn.ece(flat_true, y_prob) < 2 * tn.ece(y_true, y_prob)
        assert tn.rce(flat_true, y_prob) > 5 * tn.rce(y_true, y_prob)

    def test_rows_with_a_uniform_tail_are_calibrated(self) -> None:
        """If the classes are exchangeable, tied ones are equally likely, as the flat row predicts.

        Each rank count has the mean of its bin's flattened rows; five multinomial sd.
        """
        y_true, y_prob = tn.simulate.calibrated(20_000, [1, 1, 1, 1], rng=11)
        table = tn.tabulate(y_true, tn.simulate.flatten_tail(y_prob, amount=1), bins=1)
        q = table.mean_ordered
        assert np.all(np.abs(table.rank_frequency - q) < 5 * np.sqrt(q * (1 - q) / 20_000))

    def test_half_flattened_rows_keep_their_order_and_have_a_wrong_tail(self) -> None:
        """The top label does not change; rank 2 is more frequent than predicted and the last rank less."""
        y_true, y_prob = tn.simulate.calibrated(20_000, [1, 1, 1, 1], rng=11)
        flat = tn.simulate.flatten_tail(y_prob)
        np.testing.assert_array_equal(np.argsort(flat, axis=1), np.argsort(y_prob, axis=1))
        np.testing.assert_allclose(flat.sum(axis=1), 1, atol=1e-12)
        table = tn.tabulate(y_true, flat, bins=1)
        gap = (table.rank_frequency - table.mean_ordered)[0]
        sd = np.sqrt(0.25 / 20_000)
        assert abs(gap[0]) < 5 * sd
        assert gap[1] > 5 * sd
        assert gap[3] < -5 * sd

    @pytest.mark.parametrize("amount", [-0.1, 1.1, np.nan, "1", True])
    def test_bad_amount(self, amount: float) -> None:
        with pytest.raises(ValueError, match="amount"):
            tn.simulate.flatten_tail(ROWS, amount=amount)

    @pytest.mark.parametrize("keep", [-1, 4, 1.5, True])
    def test_bad_keep(self, keep: int) -> None:
        with pytest.raises(ValueError, match="keep"):
            tn.simulate.flatten_tail(ROWS, keep)


class TestShiftLabels:
    def test_frequencies(self) -> None:
        """P(y = c) = p_c w_c / sum for each row: the mean over rows, with five binomial sd."""
        y_prob = tn.simulate.calibrated(100_000, [1, 1, 1], rng=12).y_prob
        weights = np.array([4.0, 1.0, 0.5])
        shifted = y_prob * weights / (y_prob * weights).sum(axis=1, keepdims=True)
        frequency = np.bincount(tn.simulate.shift_labels(y_prob, weights, rng=13), minlength=3) / len(y_prob)
        assert np.all(np.abs(frequency - shifted.mean(axis=0)) < 5 * np.sqrt(0.25 / len(y_prob)))
        # Row by row, not only on average: against the shifted rows the log-score is standard normal.
        table = tn.tabulate(tn.simulate.shift_labels(y_prob, weights, rng=14), shifted)
        assert abs(table.log_score_sum) < 5 * np.sqrt(table.log_score_variance)

    def test_equal_weights_have_no_effect(self) -> None:
        y_prob = tn.simulate.calibrated(50_000, [1, 1, 1], rng=15).y_prob
        table = tn.tabulate(tn.simulate.shift_labels(y_prob, [2, 2, 2], rng=16), y_prob)
        assert abs(table.log_score_sum) < 5 * np.sqrt(table.log_score_variance)

    def test_seeds_and_zero_weights(self) -> None:
        labels = tn.simulate.shift_labels(ROWS, [1, 0, 1, 1], rng=0)
        assert labels.shape == (300,)
        assert 1 not in labels
        np.testing.assert_array_equal(labels, tn.simulate.shift_labels(ROWS, [1, 0, 1, 1], rng=0))

    def test_only_the_ratio_of_the_weights_counts(self) -> None:
        expected = tn.simulate.shift_labels(ROWS, [1, 2, 1, 2], rng=0)
        for unit in (2.0**1022, 2.0**-1070):
            labels = tn.simulate.shift_labels(ROWS, np.array([1, 2, 1, 2]) * unit, rng=0)
            np.testing.assert_array_equal(labels, expected)

    @pytest.mark.parametrize(
        "weights",
        [[1, 1], [1, 1, 1, -1], [1, 1, 1, np.nan], [1, 1, 1, np.inf], [0, 0, 0, 0], 3, list("abcd"), None],
    )
    def test_bad_weights(self, weights: object) -> None:
        with pytest.raises(ValueError, match="class_weights"):
            tn.simulate.shift_labels(ROWS, weights)


SPOILERS = {
    "sharpen": lambda rows: tn.simulate.sharpen(rows, 1.5),
    "swap_ranks": lambda rows: tn.simulate.swap_ranks(rows, 0, 1),
    "flatten_tail": tn.simulate.flatten_tail,
    "shift_labels": lambda rows: tn.simulate.shift_labels(rows, np.arange(np.shape(rows)[-1]) + 1, rng=0),
}


@pytest.mark.parametrize("spoil", SPOILERS.values(), ids=SPOILERS)
class TestRowsGiven:
    def test_are_not_changed_in_place(self, spoil: Callable[[Any], np.ndarray]) -> None:
        rows = ROWS.copy()
        spoil(rows)
        np.testing.assert_array_equal(rows, ROWS)

    def test_one_row_is_enough(self, spoil: Callable[[Any], np.ndarray]) -> None:
        assert len(spoil(ROWS[:1])) == 1

    def test_may_be_any_container(self, spoil: Callable[[Any], np.ndarray]) -> None:
        np.testing.assert_array_equal(spoil(ROWS.tolist()), spoil(ROWS))
        np.testing.assert_array_equal(spoil(np.asfortranarray(ROWS)), spoil(ROWS))
        assert len(spoil(ROWS.astype(np.float16))) == len(ROWS)  # whose sums are off by more than 1e-5

    @pytest.mark.frames
    def test_may_be_a_data_frame(self, spoil: Callable[[Any], np.ndarray]) -> None:
        import pandas as pd

        np.testing.assert_array_equal(spoil(pd.DataFrame(ROWS)), spoil(ROWS))

    @pytest.mark.parametrize(
        ("bad", "said"),
        [
            ([-0.5, 1.5], r"y_prob is -0\.5 in row 1, class 0"),
            ([0.0, 1.5], r"y_prob is 1\.5 in row 1, class 1"),
            ([np.nan, 1.0], r"y_prob is nan in row 1, class 0"),
            ([0.0, np.inf], r"y_prob is inf in row 1, class 1"),
            ([0.0, 0.0], r"y_prob sums to 0 in row 1"),
            ([0.5, 0.5001], r"y_prob sums to 1\.0001 in row 1"),
        ],
    )
    def test_must_be_distributions(
        self, spoil: Callable[[Any], np.ndarray], bad: list[float], said: str
    ) -> None:
        with pytest.raises(ValueError, match=said):
            spoil([[0.5, 0.5], bad, [0.5, 0.5]])

    @pytest.mark.parametrize("shape", [(2,), (2, 1), (0, 2), (1, 2, 2)])
    def test_must_have_rows_and_classes(
        self, spoil: Callable[[Any], np.ndarray], shape: tuple[int, ...]
    ) -> None:
        with pytest.raises(ValueError, match="y_prob"):
            spoil(np.full(shape, 0.5))

"""Simulated faults: rows that are sharpened, swapped, flattened or relabelled are miscalibrated as documented."""

from collections.abc import Callable
from typing import Any

import numpy as np
import oracle
import pytest

import trueness as tn

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

    def test_may_be_any_container(self, spoil: Callable[[Any], np.ndarray]) -> None:
        np.testing.assert_array_equal(spoil(ROWS.tolist()), spoil(ROWS))
        np.testing.assert_array_equal(spoil(np.asfortranarray(ROWS)), spoil(ROWS))
        assert len(spoil(ROWS.astype(np.float16))) == len(ROWS)  # whose sums are off by more than 1e-5

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

"""Rows in lists and arrays of any dtype, as logits or to be normalised, with any kind of labels, give one table."""

from typing import Any

import numpy as np
import oracle
import pytest
from example_rows import (
    LOGITS,
    NAMES,
    PLAIN,
    WORDS,
    Y_PROB,
    Y_TRUE,
    N,
    dyadic,
    in_class_order,
)

import trueness as tn


class TestPlainPython:
    def test_whole_numbers_as_probabilities(self) -> None:
        y_prob = np.eye(3, dtype=int)[Y_TRUE]
        for rows in (y_prob, y_prob.tolist(), y_prob.astype(bool), y_prob.astype(np.uint8)):
            assert tn.tabulate(Y_TRUE, rows) == tn.tabulate(Y_TRUE, y_prob.astype(float))

    def test_an_object_with_an_array_inside(self) -> None:
        class Wrapped:
            def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
                return Y_PROB if dtype is None else Y_PROB.astype(dtype)

        assert tn.tabulate(Y_TRUE, Wrapped()) == PLAIN

    def test_extended_precision(self) -> None:
        assert tn.tabulate(Y_TRUE, Y_PROB.astype(np.longdouble)) == PLAIN

    def test_a_memory_map(self, tmp_path: Any) -> None:
        np.save(tmp_path / "rows.npy", Y_PROB)
        assert tn.tabulate(Y_TRUE, np.load(tmp_path / "rows.npy", mmap_mode="r")) == PLAIN


class TestLabels:
    @pytest.mark.parametrize(
        "dtype", ["int8", "uint8", "int16", "int64", "uint64", "float16", "float32", "float64"]
    )
    def test_any_type_of_number(self, dtype: str) -> None:
        assert tn.tabulate(Y_TRUE.astype(dtype), Y_PROB) == PLAIN

    @pytest.mark.parametrize("dtype", ["int64", "uint8", "float32", "bool"])
    def test_one_hot(self, dtype: str) -> None:
        one_hot = np.eye(3)[Y_TRUE].astype(dtype)
        assert tn.tabulate(one_hot, Y_PROB) == PLAIN
        assert tn.tabulate(one_hot.tolist(), Y_PROB) == PLAIN
        assert tn.tabulate(one_hot, Y_PROB, classes=NAMES) == PLAIN

    def test_booleans(self) -> None:
        y_true = Y_TRUE == 1
        assert tn.tabulate(y_true, Y_PROB[:, :2], normalize=True) == tn.tabulate(
            y_true.astype(int), Y_PROB[:, :2], normalize=True
        )

    @pytest.mark.parametrize(
        "labels",
        [WORDS, tuple(WORDS), np.array(WORDS), np.array(WORDS, object)],
        ids=["list", "tuple", "str", "object"],
    )
    def test_names(self, labels: Any) -> None:
        for classes in (NAMES, tuple(NAMES), np.array(NAMES)):
            assert tn.tabulate(labels, Y_PROB, classes=classes) == PLAIN

    def test_names_in_the_order_of_the_columns(self) -> None:
        order = [2, 0, 1]
        shuffled = tn.tabulate(WORDS, Y_PROB[:, order], classes=[NAMES[c] for c in order])
        assert in_class_order(shuffled, order) == PLAIN

    def test_numbers_as_names(self) -> None:
        """classes=[10, 20, 30]: the labels are those numbers, not indices."""
        assert tn.tabulate(Y_TRUE * 10 + 10, Y_PROB, classes=[10, 20, 30]) == PLAIN
        assert tn.tabulate((Y_TRUE * 10 + 10).tolist(), Y_PROB, classes=np.array([10, 20, 30])) == PLAIN

    @pytest.mark.parametrize("words", [("false", "true"), ("False", "True"), ("FALSE", "TRUE")])
    def test_true_and_false_as_text(self, words: tuple[str, str]) -> None:
        y = Y_TRUE % 2
        labels = np.array(words)[y]
        for given in (labels, labels.tolist(), labels.astype(object)):
            assert tn.tabulate(given, Y_PROB[:, 0]) == tn.tabulate(y, Y_PROB[:, 0])
        with pytest.raises(ValueError, match=r"`y_true` is 'maybe' in row 1\b"):
            tn.vce([words[0], "maybe"], [0.5, 0.5])

    @pytest.mark.parametrize("dtype", ["int64", "uint8", "float32", "bool"])
    def test_a_column_of_labels(self, dtype: str) -> None:
        """(rows, 1) are the labels, and are not spread over the classes."""
        y_true = (Y_TRUE % 2).astype(dtype)[:, None]
        for given in (y_true, y_true.tolist()):
            assert tn.tabulate(given, Y_PROB[:, :2], normalize=True) == tn.tabulate(
                y_true[:, 0], Y_PROB[:, :2], normalize=True
            )
        words = np.array(WORDS)[:, None]
        assert tn.tabulate(words, Y_PROB, classes=NAMES) == PLAIN

    def test_names_reach_every_function(self) -> None:
        assert tn.vce(WORDS, Y_PROB, classes=NAMES) == tn.vce(Y_TRUE, Y_PROB)
        accumulator = tn.Accumulator(n_classes=3, classes=NAMES)
        accumulator.update(WORDS, Y_PROB)
        assert accumulator.table == PLAIN


class TestBinary:
    P = np.round(np.random.default_rng(1).random(50), 3)
    Y = np.random.default_rng(2).integers(0, 2, 50)

    def test_one_dimension_is_the_probability_of_class_1(self) -> None:
        two = np.column_stack([1 - self.P, self.P])
        assert tn.tabulate(self.Y, self.P) == tn.tabulate(self.Y, two)
        assert tn.tabulate(self.Y, self.P.tolist()) == tn.tabulate(self.Y, two)
        assert tn.tabulate(np.eye(2)[self.Y], self.P) == tn.tabulate(self.Y, two)
        assert tn.tabulate(self.Y, self.P[:, None]) == tn.tabulate(self.Y, two)
        assert tn.tabulate(self.Y[:, None], self.P[:, None].tolist()) == tn.tabulate(self.Y, two)

    @pytest.mark.parametrize("ties", ["first", "split"])
    def test_single_precision(self, ties: str) -> None:
        """Oracle: the complement is exact in double precision, the snap that of the dtype."""
        p = self.P.astype(np.float32)
        rows = [[1 - float(x), float(x)] for x in p]
        table = tn.tabulate(self.Y, p, variation="confidence", ties=ties)
        expected = oracle.tabulate(self.Y, rows, measure="confidence", ties=ties, dtype="float32")
        assert table.count.tolist() == expected["count"]
        assert table.rank_count.tolist() == [[x / oracle.UNIT for x in row] for row in expected["rank"]]
        np.testing.assert_allclose(
            table.ordered_sum, np.array(expected["ordered"], float) / oracle.UNIT, rtol=1e-15
        )

    def test_names(self) -> None:
        words = [["no", "yes"][y] for y in self.Y]
        assert tn.tabulate(words, self.P, classes=["no", "yes"]) == tn.tabulate(self.Y, self.P)

    def test_a_logit_of_class_1(self) -> None:
        """p = 1/(1 + exp(-z)) is the softmax of (0, z)."""
        z = np.linspace(-30, 30, 50)
        table = tn.tabulate(self.Y, z, from_logits=True)
        assert table == tn.tabulate(self.Y, np.column_stack([np.zeros(50), z]), from_logits=True)
        expected = oracle.tabulate(self.Y, [oracle.softmax([0.0, x]) for x in z])
        assert table.count.tolist() == expected["count"]
        np.testing.assert_allclose(
            table.ordered_sum, np.array(expected["ordered"], float) / oracle.UNIT, rtol=1e-13, atol=1e-13
        )


class TestLogits:
    @pytest.mark.parametrize("shift", [1e4, -1e4, 1e6])
    def test_large_logits_are_stable(self, shift: float) -> None:
        """Softmax knows only differences; multiples of 1/8 shift exactly, so not a bit changes."""
        logits = np.round(LOGITS * 8) / 8
        assert tn.tabulate(Y_TRUE, logits + shift, from_logits=True) == tn.tabulate(
            Y_TRUE, logits, from_logits=True
        )

    @pytest.mark.parametrize("engine", ["portable", "compiled"])
    def test_impossible_classes_get_zero(self, engine: str) -> None:
        """exp(-1e4) = 0 in floating point: one-hot rows. Only -inf says impossible; else ln p is known to be -1e4."""
        wrong = (Y_TRUE + 1) % 3
        for low in (-1e4, -np.inf):
            logits = np.where(np.eye(3)[Y_TRUE] > 0, 0.0, low)
            table = tn.tabulate(Y_TRUE, logits, from_logits=True, engine=engine)
            assert table == tn.tabulate(Y_TRUE, np.eye(3)[Y_TRUE], engine=engine)
            table = tn.tabulate(wrong, logits, from_logits=True, engine=engine)
            assert table.impossible_rows == (N if low == -np.inf else 0)
            assert table.log_score_sum == (0.0 if low == -np.inf else -1e4 * N)

    @pytest.mark.parametrize("engine", ["portable", "compiled"])
    @pytest.mark.parametrize("low", [-1e5, -1e300])
    def test_many_impossible_rows_do_not_overflow(self, low: float, engine: str) -> None:
        """5000 rows of ln p = -1e5 sum to -5e8; below -2^22 a logarithm counts as that."""
        table = tn.tabulate(
            np.ones(5000, int), np.tile([0.0, low], (5000, 1)), from_logits=True, engine=engine
        )
        assert table.log_score_sum == 5000 * max(low, -(2.0**22))
        assert table == tn.CalibrationTable.from_dict(table.to_dict())

    def test_never_guessed(self) -> None:
        """Logits that happen to look like probabilities are only logits if the caller says so."""
        assert tn.tabulate(Y_TRUE, Y_PROB, from_logits=True) != PLAIN


class TestNormalize:
    def test_counts_become_shares(self) -> None:
        """Whole numbers add up exactly in any order; oracle: each over its row's total."""
        votes = np.random.default_rng(3).integers(0, 20, (N, 3)) + np.eye(3, dtype=int)[Y_TRUE]
        shares = np.array([[x / sum(row) for x in row] for row in votes.tolist()])
        assert tn.tabulate(Y_TRUE, votes, normalize=True) == tn.tabulate(Y_TRUE, shares)
        assert tn.tabulate(Y_TRUE, votes.astype(float), normalize=True) == tn.tabulate(Y_TRUE, shares)

    def test_rows_that_sum_to_one_exactly_stay(self) -> None:
        y_true, rows = dyadic(0)
        assert tn.tabulate(y_true, rows, normalize=True) == tn.tabulate(y_true, rows)

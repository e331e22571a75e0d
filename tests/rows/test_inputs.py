"""Whatever the rows come in, the table is that of the NumPy rows they stand for, to the last bit."""

from typing import Any

import numpy as np
import oracle
import pytest

import trueness as tn

RNG = np.random.default_rng(42)
N = 60
Y_PROB = RNG.dirichlet([0.7, 0.7, 0.7], N)
Y_TRUE = RNG.integers(0, 3, N)
SINGLE = Y_PROB.astype(np.float32)
NAMES = ["cat", "dog", "cow"]
WORDS = [NAMES[y] for y in Y_TRUE]
PLAIN = tn.tabulate(Y_TRUE, Y_PROB)
PLAIN_SINGLE = tn.tabulate(Y_TRUE, SINGLE)
WEIGHT = RNG.gamma(1.0, 1.0, N) + 0.1
WEIGHTED = tn.tabulate(Y_TRUE, Y_PROB, sample_weight=WEIGHT)


def dyadic(eps: float, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Rows of k/64, exact in every dtype, whose V no snap up to 4 eps can move to another bin."""
    rng = np.random.default_rng(8)
    rows = rng.multinomial(64, rng.dirichlet(np.ones(n_classes), 400)) / 64
    v = np.array([oracle.entropy(sorted(row, reverse=True)) for row in rows.tolist()])
    rows = rows[(v * 10) % 1 > 10 * 4 * eps + 0.01]
    return rng.integers(0, n_classes, len(rows)), rows


class TestPlainPython:
    def test_lists_and_tuples(self) -> None:
        rows = Y_PROB.tolist()
        for y_true in (Y_TRUE.tolist(), tuple(Y_TRUE.tolist()), Y_TRUE.astype(float).tolist()):
            for y_prob in (rows, tuple(map(tuple, rows)), list(Y_PROB), [tuple(r) for r in rows]):
                assert tn.tabulate(y_true, y_prob) == PLAIN

    def test_weights_in_a_list(self) -> None:
        assert tn.tabulate(Y_TRUE, Y_PROB, sample_weight=WEIGHT.tolist()) == WEIGHTED

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
        assert shuffled == PLAIN

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
        with pytest.raises(ValueError, match=r"y_true is 'maybe' in row 1\b"):
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

    def test_names_reach_every_entrance(self) -> None:
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
    LOGITS = np.random.default_rng(5).normal(0, 4, (N, 3))

    @pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
    def test_softmax_of_each_row(self, dtype: str) -> None:
        """Oracle: exp by the C library in Python; NumPy's may differ in the last bit, so 1e-12."""
        logits = np.round(self.LOGITS, 2).astype(dtype)
        table = tn.tabulate(Y_TRUE, logits, from_logits=True)
        rows = [oracle.softmax(row) for row in logits.astype(float).tolist()]
        expected = oracle.tabulate(Y_TRUE, rows, dtype="float32" if dtype == "float32" else "float64")
        assert table.count.tolist() == expected["count"]
        assert [[x * oracle.UNIT for x in row] for row in table.rank_count.tolist()] == expected["rank"]
        np.testing.assert_allclose(
            table.ordered_sum, np.array(expected["ordered"], float) / oracle.UNIT, rtol=1e-12
        )
        assert table.log_score_sum == pytest.approx(expected["log_score"] / oracle.LOG_UNIT, rel=1e-11)
        assert tn.vce(Y_TRUE, logits, from_logits=True) == pytest.approx(
            oracle.error(expected, "vce"), abs=1e-12
        )

    @pytest.mark.parametrize("shift", [1e4, -1e4, 1e6])
    def test_large_logits_are_stable(self, shift: float) -> None:
        """Softmax knows only differences; multiples of 1/8 shift exactly, so not a bit changes."""
        logits = np.round(self.LOGITS * 8) / 8
        assert tn.tabulate(Y_TRUE, logits + shift, from_logits=True) == tn.tabulate(
            Y_TRUE, logits, from_logits=True
        )

    @pytest.mark.parametrize("engine", ["portable", pytest.param("fused", marks=pytest.mark.fast)])
    def test_hopeless_classes_get_zero(self, engine: str) -> None:
        """exp(-1e4) = 0 in floating point: one-hot rows. Only -inf says impossible; else ln p is known to be -1e4."""
        wrong = (Y_TRUE + 1) % 3
        for low in (-1e4, -np.inf):
            logits = np.where(np.eye(3)[Y_TRUE] > 0, 0.0, low)
            table = tn.tabulate(Y_TRUE, logits, from_logits=True, engine=engine)
            assert table == tn.tabulate(Y_TRUE, np.eye(3)[Y_TRUE], engine=engine)
            table = tn.tabulate(wrong, logits, from_logits=True, engine=engine)
            assert table.impossible_rows == (N if low == -np.inf else 0)
            assert table.log_score_sum == (0.0 if low == -np.inf else -1e4 * N)

    @pytest.mark.parametrize("engine", ["portable", pytest.param("fused", marks=pytest.mark.fast)])
    @pytest.mark.parametrize("low", [-1e5, -1e300])
    def test_many_hopeless_rows_do_not_overflow(self, low: float, engine: str) -> None:
        """5000 rows of ln p = -1e5 sum to -5e8; below -2^22 a logarithm counts as that."""
        table = tn.tabulate(
            np.ones(5000, int), np.tile([0.0, low], (5000, 1)), from_logits=True, engine=engine
        )
        assert table.log_score_sum == 5000 * max(low, -(2.0**22))
        assert table == tn.CalibrationTable.from_dict(table.to_dict())

    def test_split_is_whole(self) -> None:
        whole = tn.tabulate(Y_TRUE, self.LOGITS, from_logits=True)
        singles = [tn.tabulate(Y_TRUE[i : i + 1], self.LOGITS[i : i + 1], from_logits=True) for i in range(N)]
        assert sum(singles) == whole

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

    def test_split_is_whole(self) -> None:
        rows = Y_PROB * 7.3
        whole = tn.tabulate(Y_TRUE, rows, normalize=True)
        assert sum(tn.tabulate(Y_TRUE[i : i + 1], rows[i : i + 1], normalize=True) for i in range(N)) == whole


class OnAnotherDevice:
    """A tensor in GPU memory, as far as DLPack can tell."""

    dtype = "float32"
    shape = (2, 2)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("memory on another device must not be touched")


def test_a_tensor_on_another_device_is_refused_with_the_remedy() -> None:
    with pytest.raises((TypeError, ValueError), match=r"y_prob.*device.*\.cpu\(\)"):
        tn.vce([0, 1], OnAnotherDevice())
    with pytest.raises((TypeError, ValueError), match=r"y_true.*device.*\.cpu\(\)"):
        tn.vce(OnAnotherDevice(), [[0.5, 0.5]])


def test_dlpack_of_numpy_itself() -> None:
    class Tensor:
        dtype = Y_PROB.dtype

        def __dlpack_device__(self) -> tuple[int, int]:
            return Y_PROB.__dlpack_device__()

        def __dlpack__(self, **options: Any) -> Any:
            return Y_PROB.__dlpack__(**options)

    assert tn.tabulate(Y_TRUE, Tensor()) == PLAIN


@pytest.mark.frames
class TestPandas:
    def test_frame_and_series_with_one_index(self) -> None:
        import pandas as pd

        index = np.random.default_rng(0).permutation(N) * 3
        frame = pd.DataFrame(Y_PROB, columns=NAMES, index=index)
        labels, weight = pd.Series(Y_TRUE, index=index), pd.Series(WEIGHT, index=index)
        assert tn.tabulate(labels, frame, sample_weight=weight) == WEIGHTED
        assert tn.tabulate(Y_TRUE, frame, sample_weight=weight) == WEIGHTED
        assert tn.tabulate(pd.Series(Y_TRUE), frame, sample_weight=weight) == WEIGHTED
        assert tn.tabulate(labels, pd.DataFrame(Y_PROB), sample_weight=weight) == WEIGHTED

    def test_different_indexes_are_refused(self) -> None:
        """Rows belong together by position or by label: which of the two is meant is not guessed."""
        import pandas as pd

        index, other = np.arange(N)[::-1], np.roll(np.arange(N), 5)
        frame = pd.DataFrame(Y_PROB, columns=NAMES, index=index)
        labels, weight = pd.Series(Y_TRUE, index=index), pd.Series(WEIGHT, index=other)
        stream = tn.Accumulator(3)
        comparer = tn.Comparer(3, models=["a", "b"])
        models = {"a": frame, "b": frame.set_axis(other)}
        for call in (
            lambda: tn.vce(labels.set_axis(other), frame),
            lambda: tn.tabulate(labels, frame, sample_weight=weight),
            lambda: tn.tabulate(labels, Y_PROB, sample_weight=weight),
            lambda: tn.assess(labels, frame, groups=pd.Series(["a"] * N, index=other)),
            lambda: tn.assess(labels, frame, groups={"g": pd.Series(["a"] * N, index=other)}),
            lambda: tn.assess(labels, frame, clusters=pd.Series(range(N), index=other)),
            lambda: tn.compare(labels, models),
            lambda: tn.compare(Y_TRUE, models),
            lambda: stream.update(labels.set_axis(other), frame),
            lambda: comparer.update(Y_TRUE, models),
        ):
            with pytest.raises(ValueError, match=r"have different indexes.*row 0.*reset_index"):
                call()
        assert stream.n_rows == comparer.n_rows == 0

    def test_a_slice_of_a_frame_starts_at_row_zero(self) -> None:
        import pandas as pd

        frame = pd.DataFrame({"y": Y_TRUE, **{c: Y_PROB[:, i] for i, c in enumerate(NAMES)}}).iloc[20:]
        assert tn.tabulate(frame["y"], frame[NAMES]) == tn.tabulate(Y_TRUE[20:], Y_PROB[20:])

    @pytest.mark.parametrize("dtype", ["Float64", "float64[pyarrow]"])
    def test_nullable_types(self, dtype: str) -> None:
        import pandas as pd

        frame = pd.DataFrame(Y_PROB, columns=NAMES).astype(dtype)
        labels = pd.Series(Y_TRUE).astype("Int64" if dtype == "Float64" else "int64[pyarrow]")
        assert tn.tabulate(labels, frame) == PLAIN

    def test_single_precision_columns(self) -> None:
        import pandas as pd

        assert tn.tabulate(Y_TRUE, pd.DataFrame(SINGLE)) == PLAIN_SINGLE
        assert tn.tabulate(Y_TRUE, pd.DataFrame(SINGLE).astype("Float32")) == PLAIN_SINGLE

    def test_names_and_categories(self) -> None:
        import pandas as pd

        frame = pd.DataFrame(Y_PROB, columns=NAMES)
        for dtype in ("str", "string", "object", "category"):
            assert tn.tabulate(pd.Series(WORDS).astype(dtype), frame, classes=NAMES) == PLAIN, dtype
        backwards = pd.Categorical(WORDS, categories=NAMES[::-1])
        assert tn.tabulate(pd.Series(backwards), frame, classes=NAMES) == PLAIN
        assert tn.tabulate(backwards, frame, classes=NAMES) == PLAIN

    def test_string_labels_need_classes(self) -> None:
        import pandas as pd

        for dtype in ("str", "category"):
            with pytest.raises(TypeError, match=r"y_true.*classes="):
                tn.vce(pd.Series(WORDS).astype(dtype), Y_PROB)

    @pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 0, 2]])
    @pytest.mark.parametrize("prefix", ["", "p_", "score of ", "class."])
    def test_names_are_matched_to_columns_in_whatever_order(self, order: list[int], prefix: str) -> None:
        """Without classes= or with it; the table does not depend on the order, since no row has a tie."""
        import pandas as pd

        columns = [f"{prefix}{NAMES[c]}" for c in order]
        frame = pd.DataFrame(Y_PROB[:, order], columns=columns)
        stream = tn.Accumulator(3)
        stream.update(WORDS, frame)
        assert stream.table == PLAIN
        assert tn.tabulate(WORDS, frame) == PLAIN
        assert tn.tabulate([f"{prefix}{word}" for word in WORDS], frame) == PLAIN
        for classes in (NAMES, NAMES[::-1], "columns", [f"{prefix}{name}" for name in NAMES]):
            labels = [f"{prefix}{word}" for word in WORDS] if classes[0] == f"{prefix}cat" else WORDS
            assert tn.tabulate(labels, frame, classes=classes) == PLAIN
        assert tn.assess(WORDS, frame, rng=0) == tn.assess(Y_TRUE, Y_PROB, rng=0)

    def test_names_that_match_in_part_are_refused(self) -> None:
        import pandas as pd

        frame = pd.DataFrame(Y_PROB, columns=["p_dog", "p_cat", "p_cow"])
        for classes in (["cat", "dog", "pig"], ["Cat", "Dog", "Cow"], ["p_cat", "dog", "cow"]):
            with pytest.raises(ValueError, match="match only in part"):
                tn.vce(WORDS, frame, classes=classes)
        with pytest.raises(ValueError, match=r"y_true is 'pig' in row 0.*not one of the classes"):
            tn.vce(["pig", *WORDS[1:]], frame)
        renamed = frame.set_axis(["p_1", "p_2", "p_3"], axis=1)  # none matches: the order counts
        assert tn.tabulate(WORDS, renamed, classes=["dog", "cat", "cow"]) == tn.tabulate(
            WORDS, frame[["p_dog", "p_cat", "p_cow"]].to_numpy(), classes=["dog", "cat", "cow"]
        )

    def test_numbered_columns_are_taken_by_number(self) -> None:
        import pandas as pd

        rows = np.random.default_rng(3).dirichlet(np.ones(11), N)
        labels = np.arange(N) % 11
        frame = pd.DataFrame(rows, columns=[f"p_{c}" for c in range(11)])
        shuffled = frame[sorted(frame.columns)]  # p_10 before p_2
        assert tn.tabulate(labels, shuffled) == tn.tabulate(labels, rows)
        with pytest.raises(ValueError, match="order of their numbers"):
            tn.tabulate([f"c{label}" for label in labels], shuffled, classes=[f"c{c}" for c in range(11)])
        by_one = shuffled.set_axis([f"p_{int(name[2:]) + 1}" for name in shuffled.columns], axis=1)
        with pytest.raises(ValueError, match=r"classes='columns'.*classes='index'"):
            tn.tabulate(labels, by_one)
        assert tn.tabulate(labels, by_one, classes="index") == tn.tabulate(labels, rows)
        assert tn.tabulate(labels + 1, by_one, classes="columns") == tn.tabulate(labels, rows)

    def test_columns_without_numbers_keep_their_order(self) -> None:
        import pandas as pd

        frame = pd.DataFrame(Y_PROB, columns=["p_low", "p_mid", "p_high"])
        assert tn.tabulate(Y_TRUE, frame) == PLAIN

    def test_further_frames_are_matched_to_the_first_by_name(self) -> None:
        """Batches of a stream, and models of a comparison."""
        import pandas as pd

        frame = pd.DataFrame(Y_PROB, columns=["p_low", "p_mid", "p_high"])
        other = frame[["p_high", "p_low", "p_mid"]]
        stream = tn.Accumulator(3)
        stream.update(Y_TRUE[:20], frame[:20])
        stream.update(Y_TRUE[20:], other[20:].reset_index(drop=True))
        assert stream.table == PLAIN
        with pytest.raises(ValueError, match="match only in part"):
            stream.update(Y_TRUE, frame.set_axis(["p_low", "p_mid", "p_top"], axis=1))
        assert stream.table == PLAIN
        result = tn.compare(Y_TRUE, {"a": frame, "b": other}, rng=0)
        assert result.assessments["a"].table == result.assessments["b"].table == PLAIN
        named = tn.compare(WORDS, {"a": frame.set_axis(NAMES, axis=1), "b": Y_PROB}, rng=0, classes=NAMES)
        assert named.assessments["a"].table == named.assessments["b"].table == PLAIN

    def test_true_and_false_as_columns(self) -> None:
        import pandas as pd

        p = np.random.default_rng(1).random(N)
        y = Y_TRUE == 1
        for names in (("True", "False"), ("p_true", "p_false"), (True, False)):
            frame = pd.DataFrame({names[0]: p, names[1]: 1 - p})
            for labels in (y, np.where(y, "TRUE", "FALSE"), y.astype(int)):
                assert tn.tabulate(labels, frame) == tn.tabulate(y, np.stack([1 - p, p], axis=1))

    @pytest.mark.parametrize("dtype", ["Float64", "float64", "float64[pyarrow]"])
    def test_missing_values(self, dtype: str) -> None:
        import pandas as pd

        frame = pd.DataFrame(Y_PROB, columns=NAMES).astype(dtype)
        frame.iloc[7, 1] = pd.NA if dtype != "float64" else np.nan
        with pytest.raises(ValueError, match=r"y_prob.*(missing|nan).*row 7\b"):
            tn.vce(Y_TRUE, frame)

    def test_missing_labels_and_weights(self) -> None:
        import pandas as pd

        labels = pd.Series(Y_TRUE).astype("Int64")
        labels[9] = pd.NA
        with pytest.raises(ValueError, match=r"y_true.*missing.*row 9\b"):
            tn.vce(labels, Y_PROB)
        words = pd.Series(WORDS).astype("category")
        words[3] = None
        with pytest.raises(ValueError, match=r"y_true.*missing.*row 3\b"):
            tn.vce(words, Y_PROB, classes=NAMES)
        weight = pd.Series(WEIGHT).astype("Float64")
        weight[4] = pd.NA
        with pytest.raises(ValueError, match=r"sample_weight.*missing.*row 4\b"):
            tn.vce(Y_TRUE, Y_PROB, sample_weight=weight)

    def test_frames_of_one_column(self) -> None:
        import pandas as pd

        y, p = Y_TRUE > 0, Y_PROB[:, 1]
        assert tn.tabulate(y, pd.DataFrame({"p_yes": p})) == tn.tabulate(y, p)
        assert tn.tabulate(pd.DataFrame({"y": y}), p) == tn.tabulate(y, p)
        assert tn.tabulate(pd.DataFrame({"y": WORDS}), Y_PROB, classes=NAMES) == PLAIN

    def test_one_hot_frame(self) -> None:
        import pandas as pd

        assert tn.tabulate(pd.get_dummies(pd.Series(WORDS))[NAMES], Y_PROB) == PLAIN

    def test_a_binary_series(self) -> None:
        import pandas as pd

        p = Y_PROB[:, 0]
        assert tn.tabulate(Y_TRUE == 0, pd.Series(p, index=range(5, N + 5))) == tn.tabulate(Y_TRUE == 0, p)

    def test_columns_without_names_of_their_own(self) -> None:
        import pandas as pd

        assert tn.tabulate(Y_TRUE, pd.DataFrame(Y_PROB)) == PLAIN
        assert tn.tabulate(WORDS, pd.DataFrame(Y_PROB), classes=NAMES) == PLAIN
        assert tn.tabulate(Y_TRUE + 1, pd.DataFrame(Y_PROB), classes=[1, 2, 3]) == PLAIN
        assert tn.tabulate(Y_TRUE, pd.DataFrame(Y_PROB[:, [2, 0, 1]], columns=[2, 0, 1])) == PLAIN

    def test_one_hot_columns_are_matched_by_name(self) -> None:
        import pandas as pd

        one_hot = pd.DataFrame(np.eye(3)[Y_TRUE][:, [2, 0, 1]], columns=["cow", "cat", "dog"])
        assert tn.tabulate(one_hot, pd.DataFrame(Y_PROB, columns=NAMES)) == PLAIN
        assert tn.tabulate(one_hot, Y_PROB, classes=NAMES) == PLAIN
        with pytest.raises(ValueError, match="match only in part"):
            tn.tabulate(one_hot.rename(columns={"cow": "pig"}), pd.DataFrame(Y_PROB, columns=NAMES))

    def test_columns_of_the_same_name(self) -> None:
        """Which of them is meant cannot be known by name: refused, and the argument named."""
        import pandas as pd

        with pytest.raises(ValueError, match=r"y_prob.*'p'"):
            tn.vce(Y_TRUE, pd.DataFrame(Y_PROB, columns=["p", "p", "q"]))

    def test_text_columns_are_refused(self) -> None:
        import pandas as pd

        frame = pd.DataFrame(Y_PROB, columns=NAMES).assign(cow="0.5")
        with pytest.raises(TypeError, match="y_prob"):
            tn.vce(Y_TRUE, frame)


@pytest.mark.frames
class TestPolars:
    def test_frame_and_series(self) -> None:
        import polars as pl

        frame = pl.DataFrame(dict(zip(NAMES, Y_PROB.T, strict=True)))
        assert tn.tabulate(pl.Series(Y_TRUE), frame) == PLAIN
        assert tn.tabulate(Y_TRUE, frame, sample_weight=pl.Series(WEIGHT)) == WEIGHTED
        assert tn.tabulate(Y_TRUE, frame.cast(pl.Float32)) == PLAIN_SINGLE

    def test_several_chunks(self) -> None:
        import polars as pl

        frame = pl.DataFrame(dict(zip(NAMES, Y_PROB.T, strict=True)))
        chunked = pl.concat([frame[:10], frame[10:]], rechunk=False)
        assert tn.tabulate(pl.Series(Y_TRUE), chunked) == PLAIN

    def test_names_and_categories(self) -> None:
        import polars as pl

        for dtype in (pl.String, pl.Categorical, pl.Enum(NAMES)):
            assert tn.tabulate(pl.Series(WORDS, dtype=dtype), Y_PROB, classes=NAMES) == PLAIN

    def test_nulls(self) -> None:
        import polars as pl

        frame = pl.DataFrame({"a": [0.5, None], "b": [0.5, 1.0]})
        with pytest.raises(ValueError, match=r"y_prob.*missing.*row 1\b"):
            tn.vce([0, 1], frame)
        with pytest.raises(ValueError, match=r"y_true.*missing.*row 0\b"):
            tn.vce(pl.Series([None, 1]), [[0.5, 0.5], [0.0, 1.0]])

    def test_a_lazy_frame_is_refused(self) -> None:
        import polars as pl

        with pytest.raises(TypeError, match="y_prob"):
            tn.vce(Y_TRUE, pl.LazyFrame(dict(zip(NAMES, Y_PROB.T, strict=True))))


@pytest.mark.frames
class TestArrow:
    def test_table_and_array(self) -> None:
        import pyarrow as pa

        table = pa.table(dict(zip(NAMES, Y_PROB.T, strict=True)))
        assert tn.tabulate(pa.array(Y_TRUE), table) == PLAIN
        assert tn.tabulate(pa.chunked_array([Y_TRUE]), table) == PLAIN

    def test_several_chunks(self) -> None:
        import pyarrow as pa

        table = pa.table(dict(zip(NAMES, Y_PROB.T, strict=True)))
        chunked = pa.concat_tables([table[:7], table[7:8], table[8:]])
        assert chunked["cat"].num_chunks == 3
        labels = pa.chunked_array([Y_TRUE[:30], Y_TRUE[30:]])
        weight = pa.chunked_array([WEIGHT[:1], WEIGHT[1:]])
        assert tn.tabulate(labels, chunked) == PLAIN
        assert tn.tabulate(labels, chunked, sample_weight=weight) == WEIGHTED

    def test_names_and_dictionaries(self) -> None:
        import pyarrow as pa

        words = pa.chunked_array([WORDS[:30], WORDS[30:]])
        assert tn.tabulate(words, Y_PROB, classes=NAMES) == PLAIN
        assert tn.tabulate(words.dictionary_encode(), Y_PROB, classes=NAMES) == PLAIN

    def test_nulls(self) -> None:
        import pyarrow as pa

        table = pa.table({"a": pa.chunked_array([[0.5], [0.5, None]]), "b": [0.5, 0.5, 1.0]})
        with pytest.raises(ValueError, match=r"y_prob.*missing.*row 2\b"):
            tn.vce([0, 1, 1], table)
        with pytest.raises(ValueError, match=r"y_true.*(missing|row 1\b)"):
            tn.vce(pa.array([0, None]), [[0.5, 0.5], [0.0, 1.0]])


@pytest.mark.torch
class TestTorch:
    def test_tensors(self) -> None:
        import torch

        assert tn.tabulate(torch.tensor(Y_TRUE), torch.tensor(Y_PROB)) == PLAIN
        assert tn.tabulate(torch.tensor(Y_TRUE), torch.tensor(SINGLE)) == PLAIN_SINGLE
        assert tn.tabulate(Y_TRUE, Y_PROB, sample_weight=torch.tensor(WEIGHT)) == WEIGHTED

    def test_gradients_are_left_behind(self) -> None:
        import torch

        y_prob = torch.tensor(Y_PROB, requires_grad=True)
        assert tn.tabulate(Y_TRUE, y_prob * 1) == PLAIN
        assert y_prob.requires_grad

    def test_views_that_are_not_contiguous(self) -> None:
        import torch

        tall = torch.tensor(np.repeat(Y_PROB, 2, axis=0))[::2]
        for view in (torch.tensor(Y_PROB.T.copy()).T, tall):
            assert not view.is_contiguous()
            assert tn.tabulate(Y_TRUE, view) == PLAIN

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    def test_half_precision(self, dtype: str) -> None:
        """Rows of k/64 are exact in both; V is away from edges by more than their snap."""
        import torch

        y_true, rows = dyadic(oracle.EPS[dtype])
        assert tn.tabulate(y_true, torch.tensor(rows, dtype=getattr(torch, dtype))) == tn.tabulate(
            y_true, rows
        )

    def test_bfloat16_rows_are_judged_by_their_own_eps(self) -> None:
        """Rounded to 8 bits, rows miss the sum 1 by up to 2^-7, and V its edge by as much: oracle with that eps."""
        import torch

        y_prob = torch.tensor(Y_PROB).to(torch.bfloat16)
        rows = y_prob.to(torch.float64).numpy()
        assert np.abs(rows.sum(axis=1) - 1).max() > 1e-4  # far outside what float32 rows may
        table = tn.tabulate(torch.tensor(Y_TRUE), y_prob)
        expected = oracle.tabulate(Y_TRUE, rows, dtype="bfloat16")
        assert table.count.tolist() == expected["count"]
        assert (table.ordered_sum * oracle.UNIT).tolist() == [
            [float(x) for x in row] for row in expected["ordered"]
        ]

    def test_logits_of_a_network(self) -> None:
        import torch

        logits = torch.tensor(TestLogits.LOGITS, dtype=torch.float32, requires_grad=True)
        expected = tn.tabulate(Y_TRUE, TestLogits.LOGITS.astype(np.float32), from_logits=True)
        assert tn.tabulate(torch.tensor(Y_TRUE), logits, from_logits=True) == expected

    def test_a_list_of_tensors(self) -> None:
        import torch

        assert tn.tabulate([torch.tensor(int(y)) for y in Y_TRUE], [torch.tensor(r) for r in Y_PROB]) == PLAIN

    def test_tensors_without_readable_memory(self) -> None:
        import torch

        with pytest.raises((TypeError, ValueError), match="y_prob"):
            tn.vce(Y_TRUE, torch.empty((N, 3), device="meta"))
        with pytest.raises((TypeError, ValueError), match="y_prob"):
            tn.vce(Y_TRUE, torch.tensor(np.eye(3)[Y_TRUE]).to_sparse())


@pytest.mark.jax
class TestJax:
    def test_arrays(self) -> None:
        import jax.numpy as jnp

        assert tn.tabulate(jnp.asarray(Y_TRUE), jnp.asarray(SINGLE)) == PLAIN_SINGLE

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    def test_half_precision(self, dtype: str) -> None:
        import jax.numpy as jnp

        y_true, rows = dyadic(oracle.EPS[dtype])
        assert tn.tabulate(y_true, jnp.asarray(rows, dtype=dtype)) == tn.tabulate(y_true, rows)

    def test_bfloat16_in_a_numpy_array(self) -> None:
        """ml_dtypes, which JAX brings, registers bfloat16 with NumPy."""
        import jax.numpy as jnp

        y_true, rows = dyadic(oracle.EPS["bfloat16"])
        half = np.asarray(jnp.asarray(rows, dtype="bfloat16"))
        assert half.dtype.name == "bfloat16"
        assert tn.tabulate(y_true, half) == tn.tabulate(y_true, rows)

"""Rows in data frames (pandas, Polars, PyArrow) give the table of the NumPy rows, to the last bit."""

import numpy as np
import pytest
from example_rows import (
    NAMES,
    PLAIN,
    PLAIN_SINGLE,
    WEIGHT,
    WEIGHTED,
    WORDS,
    Y_PROB,
    Y_TRUE,
    N,
    in_class_order,
)

import trueness as tn


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

    def test_names_and_categories(self) -> None:
        import pandas as pd

        frame = pd.DataFrame(Y_PROB, columns=NAMES)
        for dtype in ("str", "string", "object", "category"):
            assert tn.tabulate(pd.Series(WORDS).astype(dtype), frame, classes=NAMES) == PLAIN, dtype
        backwards = pd.Categorical(WORDS, categories=NAMES[::-1])
        assert tn.tabulate(pd.Series(backwards), frame, classes=NAMES) == PLAIN
        assert tn.tabulate(backwards, frame, classes=NAMES) == PLAIN

    @pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 0, 2]])
    @pytest.mark.parametrize("prefix", ["", "p_", "score of ", "class."])
    def test_names_are_matched_to_columns_in_any_order(self, order: list[int], prefix: str) -> None:
        """Without classes= or with it; only sums by predicted class are in the order of the columns."""
        import pandas as pd

        columns = [f"{prefix}{NAMES[c]}" for c in order]
        frame = pd.DataFrame(Y_PROB[:, order], columns=columns)
        stream = tn.Accumulator(3)
        stream.update(WORDS, frame)
        prefixed = [f"{prefix}{word}" for word in WORDS]
        for table in (stream.table, tn.tabulate(WORDS, frame), tn.tabulate(prefixed, frame)):
            assert in_class_order(table, order) == PLAIN
        for classes, labels, of_classes in (
            (NAMES, WORDS, [0, 1, 2]),
            (NAMES[::-1], WORDS, [2, 1, 0]),
            ("columns", WORDS, order),
            ([f"{prefix}{name}" for name in NAMES], prefixed, [0, 1, 2]),
        ):
            assert in_class_order(tn.tabulate(labels, frame, classes=classes), of_classes) == PLAIN
        found = tn.assess(WORDS, frame, rng=0, by_class=False)
        assert found.vce.interval == tn.assess(Y_TRUE, Y_PROB, rng=0, by_class=False).vce.interval

    def test_names_that_match_in_part_are_refused(self) -> None:
        import pandas as pd

        frame = pd.DataFrame(Y_PROB, columns=["p_dog", "p_cat", "p_cow"])
        for classes in (["cat", "dog", "pig"], ["Cat", "Dog", "Cow"], ["p_cat", "dog", "cow"]):
            with pytest.raises(ValueError, match="match only partly"):
                tn.vce(WORDS, frame, classes=classes)
        with pytest.raises(ValueError, match=r"`y_true` is 'pig' in row 0.*not one of the classes"):
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
        with pytest.raises(ValueError, match="match only partly"):
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

    def test_one_hot_columns_are_matched_by_name(self) -> None:
        import pandas as pd

        one_hot = pd.DataFrame(np.eye(3)[Y_TRUE][:, [2, 0, 1]], columns=["cow", "cat", "dog"])
        assert tn.tabulate(one_hot, pd.DataFrame(Y_PROB, columns=NAMES)) == PLAIN
        assert tn.tabulate(one_hot, Y_PROB, classes=NAMES) == PLAIN
        with pytest.raises(ValueError, match="match only partly"):
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


class TestPolars:
    def test_frame_and_series(self) -> None:
        import polars as pl

        frame = pl.DataFrame(dict(zip(NAMES, Y_PROB.T, strict=True)))
        assert tn.tabulate(pl.Series(Y_TRUE), frame) == PLAIN
        assert tn.tabulate(Y_TRUE, frame, sample_weight=pl.Series(WEIGHT)) == WEIGHTED
        assert tn.tabulate(Y_TRUE, frame.cast(pl.Float32)) == PLAIN_SINGLE

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

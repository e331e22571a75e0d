"""What is accepted as rows with different numbers of options, and the words in which the rest is refused."""

import re
from typing import Any

import numpy as np
import pytest
from close_tables import assert_close
from option_rows import N_OPTIONS, ROWS, Y_PROB, Y_TRUE

import trueness as tn
from trueness.old_table import OptionTables

TABLE = tn.tabulate(Y_TRUE, ROWS)
FIVE = np.array([[0.5, 0.3, 0.2, 0.0], [0.4, 0.6, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]])


def test_tuples_and_arrays_inside_a_list() -> None:
    assert tn.tabulate(Y_TRUE, tuple(map(tuple, ROWS))) == TABLE
    assert tn.tabulate(Y_TRUE, [np.array(row) for row in ROWS]) == TABLE


def test_lists_of_the_same_length_are_ordinary_rows() -> None:
    assert isinstance(tn.tabulate([0, 1], [[0.5, 0.5], [0.2, 0.8]]), tn.CalibrationTable)


def test_logits_with_minus_infinity_beyond_the_options() -> None:
    logits = np.full(Y_PROB.shape, -np.inf)
    np.log(Y_PROB, out=logits, where=Y_PROB > 0)
    padded = tn.tabulate(Y_TRUE, logits, n_options=N_OPTIONS, from_logits=True)
    lists = [row[:c] for row, c in zip(logits.tolist(), N_OPTIONS.tolist(), strict=True)]
    assert padded == tn.tabulate(Y_TRUE, lists, from_logits=True)
    assert padded.gap == pytest.approx(TABLE.gap, nan_ok=True, abs=1e-12)


def test_scores_are_divided_by_the_sum_of_their_own_options() -> None:
    assert_close(tn.tabulate(Y_TRUE, Y_PROB * 3, n_options=N_OPTIONS, normalize=True), TABLE, 1e-9)


class TestFrames:
    def test_list_columns(self) -> None:
        import pandas as pd
        import polars as pl
        import pyarrow as pa

        for column in (
            pa.array(ROWS),
            pa.chunked_array([ROWS[:50], ROWS[50:]]),
            pl.Series(ROWS),
            pd.Series(ROWS),
        ):
            assert tn.tabulate(Y_TRUE, column) == TABLE, type(column)

    def test_a_list_column_of_one_length_is_an_ordinary_array(self) -> None:
        import polars as pl
        import pyarrow as pa

        four = N_OPTIONS == 4
        rows = Y_PROB[four, :4]
        for column in (pa.array(rows.tolist()), pl.Series(rows.tolist())):
            assert tn.tabulate(Y_TRUE[four], column) == tn.tabulate(Y_TRUE[four], rows)

    def test_a_missing_row_is_refused(self) -> None:
        import pyarrow as pa

        with pytest.raises(tn.Refusal, match="`y_prob` has a missing value in row 1"):
            tn.tabulate([0, 0, 0], pa.array([[0.5, 0.5], None, [0.2, 0.3, 0.5]]))

    def test_other_indexes_are_refused(self) -> None:
        import pandas as pd

        column = pd.Series(ROWS, index=np.arange(len(ROWS)) + 7)
        with pytest.raises(tn.Refusal, match="different indexes"):
            tn.tabulate(pd.Series(Y_TRUE, index=np.arange(len(ROWS)) + 8), column)


def changed(row: int, column: int, value: float) -> np.ndarray:
    y_prob = FIVE.copy()
    y_prob[row, column] = value
    return y_prob


@pytest.mark.parametrize(
    ("y_true", "y_prob", "how", "message"),
    [
        (
            [0, 0, 0],
            changed(0, 3, np.nan),
            {"n_options": [3, 2, 4]},
            "`y_prob` is nan in row 0, class 3 of 3 options; pad with 0, or pass lists",
        ),
        (
            [0, 0, 0],
            changed(1, 2, 0.1),
            {"n_options": [3, 2, 4]},
            "`y_prob` is 0.1 in row 1, class 2 of 2 options; pad with 0, or pass lists",
        ),
        (
            [0, 0, 0],
            FIVE,
            {"n_options": [3, 2, 4], "from_logits": True},
            "`y_prob` is 0.0 in row 0, class 3 of 3 options; pad with -inf, or pass lists",
        ),
        ([0, 2, 0], FIVE, {"n_options": [3, 2, 4]}, "`y_true` is 2 in row 1; class indices run from 0 to 1"),
        (
            [0, 0, 0],
            FIVE,
            {"n_options": [3, 1, 4]},
            "n_options is 1 in row 1; every row needs at least 2 options",
        ),
        ([0, 0, 0], FIVE, {"n_options": [3, 5, 4]}, "n_options is 5 in row 1, but `y_prob` has 4 columns"),
        (
            [0, 0, 0],
            FIVE,
            {"n_options": [3, 2]},
            "n_options has shape (2,); one number of options for each of 3 rows",
        ),
        ([0, 0, 0], FIVE, {"n_options": [3, 2.5, 4]}, "n_options must be whole numbers"),
        (
            [0, 0],
            [[0.5, 0.5], [1.0]],
            {},
            "`y_prob` has 1 options in row 1; every row needs at least 2 options",
        ),
        ([0, 0], [[0.5, 0.5], [0.3, 0.3, 0.3]], {}, "`y_prob` sums to 0.9 in row 1"),
        ([0, 0], [[0.5, 0.5], [0.3, np.nan, 0.7]], {}, "`y_prob` is nan in row 1, class 1"),
        ([0, 0], [[0.2, 0.2, 0.6], [0.4, 0.4]], {}, "`y_prob` sums to 0.8 in row 1"),
        (["a", "b"], [[0.5, 0.5], [0.2, 0.3, 0.5]], {}, "need the index of the true option, from 0"),
        (
            [0, 0],
            [[0.5, 0.5], [0.2, 0.3, 0.5]],
            {"classes": ["a", "b"]},
            "`classes` cannot be used with different",
        ),
        ([0, 0], [[0.5, 0.5], ["x", "y", "z"]], {}, "probabilities are real numbers"),
        (
            [0, 0],
            [[0.5, 0.5], [0.2, 0.3, 0.5]],
            {"n_options": [2, 2]},
            "n_options is 2 in row 1, where `y_prob` has 3 numbers",
        ),
        (
            [0, 0],
            [0.5, 0.3],
            {"n_options": [2, 2]},
            "with n_options pass numbers of shape (rows, options), or lists",
        ),
    ],
)
def test_refusals(y_true: Any, y_prob: Any, how: dict[str, Any], message: str) -> None:
    for function in (tn.tabulate, tn.vce, tn.assess):
        with pytest.raises(tn.Refusal, match=re.escape(message)):
            function(y_true, y_prob, **how)


def test_the_first_bad_row_is_named_whatever_its_number_of_options() -> None:
    rows = [list(row) for row in ROWS]
    for row in (150, 20):
        rows[row] = [value + 0.1 for value in rows[row]]
    with pytest.raises(tn.Refusal) as refused:
        tn.tabulate(Y_TRUE, rows)
    assert refused.value.row == 20
    with pytest.raises(tn.Refusal) as refused:
        tn.assess(Y_TRUE, rows, clusters=np.arange(len(rows)) // 4, groups=["a", "b"] * 100)
    assert refused.value.row == 20


class TestStream:
    def test_batches_add_up_to_the_table(self) -> None:
        stream = tn.Accumulator(options=True, confidence_bins=10)
        for start in range(0, len(ROWS), 37):
            stream.update(Y_TRUE[start : start + 37], ROWS[start : start + 37])
        assert stream.table == TABLE
        assert stream.tables.by_confidence == tn.tabulate(Y_TRUE, ROWS, variation="confidence")

    def test_batches_of_one_number_and_with_n_options(self) -> None:
        stream = tn.Accumulator(options=True)
        for c in (2, 3, 4, 7):
            which = c == N_OPTIONS
            stream.update(Y_TRUE[which], Y_PROB[which, :c])
        assert stream.table == TABLE
        other = tn.Accumulator(options=True)
        other.update(Y_TRUE, Y_PROB, n_options=N_OPTIONS)
        assert other.table == TABLE
        other.merge(stream)
        assert other.n_rows == 400

    def test_it_needs_classes_or_options(self) -> None:
        for how, message in (
            ({}, "n_classes is needed"),
            ({"n_classes": 3, "options": True}, "no common number of classes, got 3"),
        ):
            with pytest.raises(tn.Refusal, match=message):
                tn.Accumulator(**how)
        with pytest.raises(tn.Refusal, match="n_options is for rows with options of their own"):
            tn.Accumulator(3).update([0], [[0.5, 0.3, 0.2]], n_options=[3])


def test_the_header_of_a_table_is_public() -> None:
    assert tn.OptionTables is OptionTables

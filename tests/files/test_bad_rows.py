"""Bad rows are refused with file, row and value, or skipped and counted by code; never silently."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import ROWS, csv, refused, summed

import trueness as tn
from trueness.files import RowOptions, parse_condition
from trueness.files._bad_rows import without_bad_rows
from trueness.files.batches import Batch
from trueness.refusals import Refusal

BAD_CSV = {
    "sum": ("1,0.25,0.7", r"the prediction sums to 0.95", "sum-not-1"),
    "range": ("1,-0.5,1.5", "-0.5 in class 0", "outside-range"),
    "infinite": ("1,inf,0.5", "inf in class 0", "not-finite"),
    "missing": ("1,,0.5", "'p_0' has a missing value", "missing-value"),
    "nan": ("1,nan,0.5", "'p_0' has a missing value", "missing-value"),
    "label out of range": ("2,0.5,0.5", "the label is 2", "label-out-of-range"),
    "label with a fraction": ("0.5,0.5,0.5", "label is not a class index, got '0.5'", "unknown-label"),
    "label in words": ("cat,0.5,0.5", "label is not a class index, got 'cat'", "unknown-label"),
    "label missing": (",0.5,0.5", "label is not a class index, got ''", "unknown-label"),
    "words": ("1,abc,0.5", "'abc' is not a number", "missing-value"),
    "too few fields": ("1,0.5", "expected 3 columns, got 2", "wrong-field-count"),
}


@pytest.mark.parametrize("name", BAD_CSV)
def test_bad_rows_of_csv(tmp_path: Path, name: str) -> None:
    row, expected, reason = BAD_CSV[name]
    path = csv(tmp_path / "x.csv", *ROWS, row, *ROWS)
    request = {"classes": "index"} if name == "label in words" else {}
    error = refused(path, **request)
    assert error.cause.startswith(f"{path}, row 10: "), error.cause
    assert expected in error.cause
    assert "--on-bad-rows skip" in error.remedy or "class ind" in error.remedy
    left = summed(path, skip=True, **request)
    assert left.skipped == Counter({reason: 1})
    assert left.tables.whole.by_variation == tn.tabulate([0] * 18, [[0.25, 0.75]] * 18)


def test_rows_are_counted_across_batches_and_conditions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 2 * 100)
    y_prob = np.full((1000, 2), 0.5)
    y_prob[777] = [0.9, 0.9]
    np.savez(tmp_path / "x.npz", y_true=np.zeros(1000), y_prob=y_prob, number=np.arange(1000))

    for where in ((), (parse_condition("number >= 770"),)):
        assert refused(tmp_path / "x.npz", where=where).cause.startswith(f"{tmp_path / 'x.npz'}, row 778: ")
    assert summed(tmp_path / "x.npz", where=(parse_condition("number != 777"),)).tables.n_rows == 999


def test_a_row_counts_once_and_for_its_first_reason(tmp_path: Path) -> None:
    path = csv(tmp_path / "x.csv", *ROWS, "9,,0.5", "9,0.1,0.1", "cat,,0.5")
    assert summed(path, skip=True, classes="index").skipped == Counter({"missing-value": 2, "sum-not-1": 1})


@pytest.mark.parametrize(
    ("rows", "column", "fixed"),
    [
        ([[0.5, 0.5], None, [0.5, 0.5]], "missing", False),
        ([[0.5, 0.5], None, [0.5, 0.5]], "missing", True),
        ([[0.5, 0.5], [0.5, None]], "missing", False),
        ([[0.5, 0.5], [0.5, None]], "missing", True),
        ([[0.5, 0.5], [1.0]], "must have 2 probabilities, got 1", False),
    ],
)
def test_bad_lists(tmp_path: Path, rows: Any, column: str, fixed: bool) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    type = pa.list_(pa.float64(), 2) if fixed else pa.list_(pa.float64())
    pq.write_table(pa.table({"y": [0] * len(rows), "p": pa.array(rows, type)}), tmp_path / "x.parquet")
    error = refused(tmp_path / "x.parquet")
    assert "row 2:" in error.cause
    assert column in error.cause
    left = summed(tmp_path / "x.parquet", skip=True)
    assert sum(left.skipped.values()) == 1
    assert left.tables.n_rows == len(rows) - 1


def test_nulls_of_labels_weights_and_groups(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    holes = {"y": [0, None, 1, 0], "w": [1.0, 1.0, None, 1.0], "g": ["a", "b", "c", None]}
    pq.write_table(pa.table(holes | {"p_0": [0.5] * 4, "p_1": [0.5] * 4}), tmp_path / "x.parquet")
    path = tmp_path / "x.parquet"
    assert "row 2: column 'y' has a missing value" in refused(path).cause
    left = summed(path, skip=True, weight="w", by="g")
    assert left.tables.n_rows == 1
    assert sum(left.skipped.values()) == 3


values = st.sampled_from(
    [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, -0.25, np.nan, np.inf, -np.inf, 1 + 1e-12, 1e-300, 5e-6, 3e38]
)


classes = st.sampled_from([0, 1, 2, 3, -1, 0.5, np.nan])


@given(
    rows=st.lists(st.tuples(values, values, values, classes), min_size=1, max_size=30),
    scale=st.sampled_from(["probabilities", "logits"]),
    normalize=st.booleans(),
    dtype=st.sampled_from(["float64", "float32", "float16"]),
)
def test_rows_are_skipped_that_validation_refuses_and_no_others(
    rows: Any, scale: str, normalize: bool, dtype: str
) -> None:
    """The oracle is `tabulate` on one row at a time."""
    data = np.array(rows, dtype=np.float64)
    normalize = normalize and scale == "probabilities"
    options = RowOptions(scale, normalize, "skip")
    with np.errstate(over="ignore"):
        y_prob = data[:, :3].astype(dtype)
    batch = Batch("x", np.arange(1, len(data) + 1), data[:, 3], y_prob, options=options)
    kept = set(without_bad_rows(batch).numbers.tolist())
    for row in range(len(data)):
        one = slice(row, row + 1)
        try:
            tn.tabulate(data[one, 3], y_prob[one], from_logits=scale == "logits", normalize=normalize)
            refused = False
        except Refusal:
            refused = True
        assert (row + 1 not in kept) == refused, (y_prob[row], data[row, 3])


def test_rows_that_are_not_utf8(tmp_path: Path, capfd: Any) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(
        b"y,p_0,p_1\n" + b"0,0.25,0.75\n" * 9 + b"0,0.\xff5,0.5\n1,\xff\xfe\n" + b"0,0.25,0.75\n" * 9
    )
    assert (
        f"{path}, row 11: expected 3 columns, got 2" in refused(path).cause
    )  # found before numbers are read
    left = summed(path, skip=True)
    assert left.skipped == Counter({"missing-value": 1, "wrong-field-count": 1})
    assert left.tables.n_rows == 18
    assert capfd.readouterr().err == ""


def test_refusals_of_log_probabilities(tmp_path: Path) -> None:
    path = csv(tmp_path / "x.csv", "0,-0.6931471805599453,-0.6931471805599453", "0,1.5,-3")
    error = refused(path, scale="logprobs")
    assert error.cause == f"{path}, row 2: exp of the prediction is 4.4816890703380645 in class 0"
    assert "--from-logits" in error.remedy
    assert "--normalize" not in error.remedy  # which does not go with --logprobs
    path = csv(tmp_path / "y.csv", "0,-1,-1")
    assert "row 1: exp of the prediction sums to 0.735758882" in refused(path, scale="logprobs").cause


def test_percentages_are_refused_with_the_remedy(tmp_path: Path) -> None:
    path = csv(tmp_path / "x.csv", "0,0.25,0.75", "0,85,15", head="y,p_0,p_1")
    error = refused(path)
    assert f"{path}, row 2: the prediction is 85.0" in error.cause
    assert "--percent" in error.remedy
    assert "logits" not in error.remedy
    text = csv(tmp_path / "t.csv", "0,85%,15%", head="y,p_0,p_1")
    for request in ({}, {"probs": "p_*"}):
        assert refused(text, **request).remedy == "pass --percent"
    single = csv(tmp_path / "s.csv", "0,85", head="y,p")
    assert "--percent" in refused(single).remedy


def test_text_that_is_not_a_percentage(tmp_path: Path) -> None:
    path = csv(tmp_path / "x.csv", "0,85%,15%", "0,about 80,20", "1,,5", head="y,p_0,p_1")
    assert "row 2: column 'p_0' is not a number, got 'about 80'" in refused(path, scale="percent").cause
    left = summed(path, skip=True, scale="percent")
    assert left.tables.n_rows == 1
    assert sum(left.skipped.values()) == 2

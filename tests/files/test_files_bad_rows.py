"""Bad rows and bad files: refused with file, row and value, or left out and counted; never silently."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trueness as tn
from trueness.cli import main
from trueness.cli.vocabulary import COMMAND
from trueness.files import Plan, Request, RowOptions, Source, Summed, find_inputs, sum_source
from trueness.refusals import Refusal
from trueness.files.batches import Batch
from trueness.files._bad_rows import without_bad_rows

pytestmark = pytest.mark.cli

GOOD = "0,0.25,0.75\n"


def csv(path: Path, *rows: str, head: str = "y,p_0,p_1") -> str:
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return str(path)


def summed(*paths: Any, skip: bool = False, plan: Plan = Plan(), **request: Any) -> Summed:  # noqa: B008
    options = RowOptions(
        request.pop("scale", "probabilities"), request.pop("normalize", False), "skip" if skip else "refuse"
    )
    return sum_source(Source(find_inputs([str(p) for p in paths]).files, Request(**request), options), plan)


class Refused(NamedTuple):
    """A refusal as the command prints it."""

    code: str
    cause: str
    remedy: str


def refused(*paths: Any, **options: Any) -> Refused:
    with pytest.raises(Refusal) as caught:
        summed(*paths, **options)
    return Refused(caught.value.code, *caught.value.rendered(COMMAND))


ROWS = ["0,0.25,0.75"] * 9

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
    row, told, reason = BAD_CSV[name]
    path = csv(tmp_path / "x.csv", *ROWS, row, *ROWS)
    request = {"classes": "index"} if name == "label in words" else {}
    error = refused(path, **request)
    assert error.cause.startswith(f"{path}, row 10: "), error.cause
    assert told in error.cause
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
    from trueness.files import parse_condition

    for where in ((), (parse_condition("number >= 770"),)):
        assert refused(tmp_path / "x.npz", where=where).cause.startswith(f"{tmp_path / 'x.npz'}, row 778: ")
    assert summed(tmp_path / "x.npz", where=(parse_condition("number != 777"),)).tables.n_rows == 999


def test_a_row_counts_once_and_for_its_first_reason(tmp_path: Path) -> None:
    path = csv(tmp_path / "x.csv", *ROWS, "9,,0.5", "9,0.1,0.1", "cat,,0.5")
    assert summed(path, skip=True, classes="index").skipped == Counter(
        {"missing-value": 2, "sum-not-1": 1}
    )


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


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b'{"y": 0, "p": [0.5, 0.', "not JSON"),
        (b"[1, 2]", "not a JSON object"),
        (b'{"y": "cat", "p": [0.5, 0.5]}', "'y' is not of type int64"),
        (b'{"y": 0, "p": "none"}', "'p' is not of type list"),
        (b"[" * 100_000, "nested more than 64 levels deep"),
    ],
    ids=["cut off", "array", "other type", "text", "deep"],
)
@pytest.mark.parametrize("first_block", [False, True])
def test_bad_lines_of_json(
    tmp_path: Path, line: bytes, told: str, first_block: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not first_block:
        monkeypatch.setattr("trueness.formats._text_stream.BLOCK_BYTES", 64)
    good = b'{"y": 1, "p": [0.25, 0.75]}\n'
    path = tmp_path / "x.jsonl"
    path.write_bytes(good * 20 + b"\n" + line + b"\n" + good * 5)
    error = refused(path)
    assert f"row 21: {told}" in error.cause
    assert len(error.cause) < 500
    left = summed(path, skip=True)
    assert left.skipped == Counter({"unreadable-row": 1})
    assert left.tables.whole.by_variation == tn.tabulate([1] * 25, [[0.25, 0.75]] * 25)


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


class TestFiles:
    @pytest.mark.parametrize("ending", ["parquet", "arrow", "npz", "npy", "csv.gz", "csv.zst"])
    @pytest.mark.parametrize("how", ["cut off", "a byte changed", "something else"])
    def test_damaged_files(self, tmp_path: Path, ending: str, how: str) -> None:
        from trueness.files import write_predictions

        path = tmp_path / f"x.{ending}"
        y_true, y_prob = tn.simulate.calibrated(5000, [1, 1, 1], rng=0)
        if ending == "npy":
            np.save(path, y_prob)
            np.save(tmp_path / "labels.npy", y_true)
        else:
            write_predictions(str(path), [(y_true, y_prob)], 5000, 3)
        data = bytearray(path.read_bytes())
        if how == "cut off":
            data = data[: len(data) // 2]
        elif how == "something else":
            data = bytearray(b"Dear reader, this is a letter.\n" * 100)
        else:
            data[len(data) // 2 :] = bytes(byte ^ 0x55 for byte in data[len(data) // 2 :])
        path.write_bytes(data)
        out = tmp_path / "t.json"
        labels = ["--label-file", str(tmp_path / "labels.npy")] if ending == "npy" else []
        assert main(["tabulate", str(path), *labels, "-o", str(out)]) == 2
        assert not out.exists()

    def test_the_cause_names_the_file(self, tmp_path: Path, capsys: Any) -> None:
        path = tmp_path / "x.parquet"
        path.write_bytes(b"PAR1" + b"\0" * 100 + b"PAR1")
        assert main(["tabulate", str(path), "-o", str(tmp_path / "t.json")]) == 2
        cause, remedy = capsys.readouterr().err.splitlines()
        assert str(path) in cause
        assert "write it again" in remedy

    def test_empty_files(self, tmp_path: Path) -> None:
        (tmp_path / "x.csv").touch()
        assert "0 bytes" in refused(tmp_path / "x.csv").cause
        (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b""))
        assert "is empty" in refused(tmp_path / "x.csv.gz").cause
        assert "hold no rows" in refused(csv(tmp_path / "y.csv")).cause
        np.savez(tmp_path / "x.npz", y_true=np.zeros(0), y_prob=np.zeros((0, 3)))
        assert "hold no rows" in refused(tmp_path / "x.npz").cause

    def test_an_empty_file_among_others_is_told(self, tmp_path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({"y": [0], "p": [[0.5, 0.5]]})
        pq.write_table(table.slice(0, 0), tmp_path / "a.parquet")
        pq.write_table(table, tmp_path / "b.parquet")
        told: list[str] = []
        source = Source(find_inputs([str(tmp_path)]).files, Request(), RowOptions(), remarks=told.append)
        assert sum_source(source, Plan()).tables.n_rows == 1
        assert told == [f"{tmp_path / 'a.parquet'} holds no rows"]

    def test_nothing_is_left(self, tmp_path: Path) -> None:
        from trueness.files import parse_condition

        path = csv(tmp_path / "x.csv", "0,0.5,0.5")
        assert "no rows are left" in refused(path, where=(parse_condition("y = 1"),)).cause
        assert "no rows are left" in refused(csv(tmp_path / "z.csv", "0,0.5,0.1"), skip=True).cause


class TestColumns:
    def test_a_missing_column_has_a_nearest_name(self, tmp_path: Path) -> None:
        path = csv(tmp_path / "x.csv", "0,0.5,0.5", head="truth,p_cat,p_dog")
        for request in ({"label": "thruth"}, {"probs": "p_cut,p_dog"}, {"weight": "p_catt"}, {"by": "truht"}):
            assert "did you mean" in refused(path, **request).remedy

    @pytest.mark.parametrize(
        ("head", "request_", "told"),
        [
            ("y,label,p_0,p_1", {}, "several columns that may be the labels"),
            ("a,p_0,p_1", {}, "no column of"),
            ("y,a,b", {}, "look like probabilities"),
            ("y,a_0,a_1,b_0,b_1", {}, "can be read in several ways"),
            ("y,p_0,p_0", {}, "more than one column named 'p_0'"),
            ("y,p_0,", {}, "column without a name"),
            ("y,p_0,p_1", {"probs": "p_0,p_0"}, "twice"),
            ("y,p_0,p_1", {"classes": "a,b,c"}, "lists 3 classes"),
            ("y,p_0,p_1", {"classes": "a,a"}, "a name twice"),
            ("y,p_0,p_1", {"probs": "p_1", "classes": "columns"}, "does not name the classes"),
            ("y,p_cat,p_dog", {"classes": "cat,cow"}, "match only in part"),
            ("y,p_cat,p_dog", {"classes": "Cat,Dog"}, "match only in part"),
            ("y,p_0,p_1", {"classes": "1,2"}, "match only in part"),
            ("y,p_cat,p_dog", {"probs": "p_cat", "classes": "cat,dog"}, "which --classes calls 'dog'"),
            ("y,p_cat,p_dog,cat,dog", {"probs": "p_*", "by": "sex"}, "no column 'sex' (--groups)"),
            ("0.1,0.4,0.5", {"label": "0.1"}, "holds numbers and no names"),
            ("1,0.5,0.5", {"label": "1"}, "holds numbers and no names"),
            ("TRUE,nan,1e-5", {}, "holds numbers and no names"),
            ("1,85%,15%", {}, "holds numbers and no names"),
        ],
    )
    def test_nothing_is_guessed(self, tmp_path: Path, head: str, request_: Any, told: str) -> None:
        row = ",".join(["0"] + ["0.5"] * head.count(","))
        assert told in refused(csv(tmp_path / "x.csv", row, head=head), **request_).cause

    def test_labels_that_are_names_need_classes_of_a_list(self, tmp_path: Path) -> None:
        (tmp_path / "x.jsonl").write_text('{"y": "cat", "p": [0.5, 0.5]}\n')
        assert "--classes" in refused(tmp_path / "x.jsonl").remedy
        assert summed(tmp_path / "x.jsonl", classes="cat,dog").tables.n_rows == 1
        assert "did you mean 'cap'" in refused(tmp_path / "x.jsonl", classes="cap,dog").remedy

    def test_labels_that_are_neither_classes_nor_their_numbers(self, tmp_path: Path) -> None:
        """Numbers do not count the names of --classes: the remedy names the columns in their order."""
        path = csv(tmp_path / "x.csv", "0,0.5,0.5", head="y,p_low,p_high")
        error = refused(path, classes="low,high")
        assert "label is not one of the classes, got '0'" in error.cause
        assert "in the order of a list in --probs" in error.remedy

    def test_the_first_line_is_data_only_if_that_is_said(self, tmp_path: Path) -> None:
        path = tmp_path / "x.csv"
        path.write_text("0.25,0.75,1\n" + "0.5,0.5,0\n" * 9)
        assert "--no-header" in refused(path, label="1").remedy
        assert summed(path, header=False, label="3", probs="1-2").tables.n_rows == 10
        path.write_text("0.25,0.75,1\n0.5,0.5,0\n0.5,x,0\n")
        assert refused(path, header=False, label="3", probs="1-2").cause.startswith(f"{path}, row 3: ")
        assert summed(path, skip=True, header=False, label="3", probs="1-2").tables.n_rows == 2
        for request in ({}, {"label": "3"}, {"label": "3", "probs": "1-4"}, {"label": "3", "probs": "2-1"}):
            refused(path, header=False, **request)

    def test_text_where_numbers_belong(self, tmp_path: Path) -> None:
        path = csv(tmp_path / "x.csv", "0,a,b")
        assert "holds text" in refused(path, probs="p_*").cause
        np.savez(tmp_path / "x.npz", y_true=[0], y_prob=[[0.5, 0.5]], w=["heavy"])
        assert "holds no numbers" in refused(tmp_path / "x.npz", weight="w").cause

    def test_files_with_other_columns(self, tmp_path: Path) -> None:
        first = csv(tmp_path / "a.csv", "0,0.5,0.5")
        other = csv(tmp_path / "b.csv", "0,0.5,0.5", head="y,p_0,q_1")
        assert "has no column 'p_1', which" in refused(first, other).cause
        more = csv(tmp_path / "c.csv", "0,0.5,0.5,0", head="y,p_0,p_1,p_2")
        for request in ({"probs": "p_*"}, {}):
            assert "'p_2', which" in refused(first, more, **request).cause
        (tmp_path / "d.jsonl").write_text('{"y": 0, "p_0": [0.5, 0.5], "p_1": 1}\n')
        assert "holds lists" in refused(first, tmp_path / "d.jsonl", probs="p_1,p_0").cause
        (tmp_path / "e.jsonl").write_text('{"y": 0, "p": [0.5, 0.5]}\n')
        (tmp_path / "f.jsonl").write_text('{"y": 0, "p": 0.5}\n')
        assert "is a list in only one" in refused(tmp_path / "e.jsonl", tmp_path / "f.jsonl").cause

    def test_arrays_of_other_lengths(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "x.npz", y_true=np.zeros(3), y_prob=np.full((4, 2), 0.5))
        assert "'y_true' has 3 rows, but 'y_prob' has 4" in refused(tmp_path / "x.npz").cause

    def test_one_hot_labels(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "x.npz", y_true=[[1, 0], [1, 1]], y_prob=np.full((2, 2), 0.5), w=[[1, 0, 0]] * 2)
        assert (
            "row 2: the label is not one-hot" in refused(tmp_path / "x.npz", label="y_true", probs="y_prob").cause
        )
        assert "3 columns" in refused(tmp_path / "x.npz", label="w", probs="y_prob").cause

    @pytest.mark.parametrize("where", ["age", ">= 3", ""])
    def test_what_is_no_condition(self, where: str) -> None:
        from trueness.files import parse_condition

        with pytest.raises(Refusal, match="not a condition"):
            parse_condition(where)

    @pytest.mark.parametrize(
        ("where", "n_rows"),
        [
            ("site in 'a', b, 'c'", 60),
            ("site in 'a', \"b\"", 40),
            ("site in 'a, b', c", 20),
            ("site in a,,b", 40),
            ("code in '10', 7", 30),
            ("code in 10", 30),
            ("code = 10", 30),
        ],
    )
    def test_items_in_quotes(self, tmp_path: Path, where: str, n_rows: int) -> None:
        """Each item of a list has quotes of its own; 1_0 is not a number."""
        from trueness.files import parse_condition

        rows = [f"0,0.5,0.5,{'abc'[k % 3]},{('10', '1_0')[k % 2]}" for k in range(60)]
        path = csv(tmp_path / "x.csv", *rows, head="y,p_0,p_1,site,code")
        assert summed(path, where=(parse_condition(where),)).tables.n_rows == n_rows

    def test_items_with_a_quote_that_is_not_closed(self) -> None:
        from trueness.files import parse_condition

        for where in ("site in 'a, b", "site in a, 'b", "site in 'a'b, c"):
            with pytest.raises(Refusal, match="a quote that is not closed"):
                parse_condition(where)

    def test_a_column_is_not_named_for_two_roles(self, tmp_path: Path) -> None:
        path = csv(tmp_path / "x.csv", *["0,0.5,0.5,2"] * 5, head="y,p_0,p_1,w")
        for skip in (False, True):
            told = refused(path, skip=skip, weight="w", by=("w",))
            assert told.cause == "column 'w' is named for both --sample-weight and --groups"
            told = refused(path, skip=skip, label="y", probs="p_0,y")
            assert told.cause == "column 'y' is named for both --probs and --label"

    def test_numbers_are_written_in_digits(self, tmp_path: Path) -> None:
        path = csv(tmp_path / "x.csv", "0,50,50", "1_0,50,50")
        assert "row 2" in refused(path).cause

    def test_conditions_of_the_wrong_kind(self, tmp_path: Path) -> None:
        from trueness.files import parse_condition

        np.savez(
            tmp_path / "x.npz", y_true=[0, 1], y_prob=[[0.5, 0.5]] * 2, ok=[True, False], name=["a", "b"]
        )
        path = tmp_path / "x.npz"
        assert "holds numbers" in refused(path, where=(parse_condition("y_true = cat"),)).cause
        assert "is neither" in refused(path, where=(parse_condition("ok = 1"),)).cause
        for text in ("ok = true", "name = 'a'", "y_true in 0,7"):
            assert summed(path, where=(parse_condition(text),)).tables.n_rows == 1
        assert "compares numbers or dates" in refused(path, where=(parse_condition("name < b"),)).cause
        told = refused(path, where=(parse_condition("name < 3"),))
        assert told.cause.startswith(f"{path}, row 1: column 'name' is 'a'")
        assert "= or in" in told.remedy

    def test_bins_too_narrow_for_the_dtype(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "x.npz", y_true=[0], y_prob=np.array([[0.5, 0.5]], np.float16))
        assert "too narrow" in refused(tmp_path / "x.npz", plan=Plan.of(bins=tn.FineGrid())).cause


class TestPaths:
    def test_names_that_mean_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        csv(tmp_path / "preds.csv", "0,0.5,0.5")
        for names, told in (
            (["pred.csv"], "did you mean 'preds.csv'"),
            (["*.parquet"], "no file matches"),
            (["none/x.csv"], "no folder 'none'"),
            (["preds.csv", "./preds.csv"], "named twice"),
        ):
            with pytest.raises(Refusal, match=told):
                find_inputs(names)
        (tmp_path / "empty").mkdir()
        with pytest.raises(Refusal, match="holds no file"):
            find_inputs(["empty"])
        (tmp_path / "data.bin").write_bytes(b"x")
        with pytest.raises(Refusal, match="unknown by its ending"):
            find_inputs(["data.bin"])
        with pytest.raises(Refusal, match="standard input can be read only once"):
            find_inputs(["-"], "npz")

    def test_a_name_with_brackets_is_a_name(self, tmp_path: Path) -> None:
        path = csv(tmp_path / "x[1].csv", "0,0.5,0.5")
        assert summed(path).tables.n_rows == 1

    def test_label_file_goes_with_npy(self, tmp_path: Path) -> None:
        path = csv(tmp_path / "x.csv", "0,0.5,0.5")
        with pytest.raises(Refusal, match="single NPY"):
            Source(find_inputs([path]).files, Request(), RowOptions(), label_file="y.npy")
        np.save(tmp_path / "x.npy", np.full((2, 2), 0.5))
        assert "--label-file" in refused(tmp_path / "x.npy").remedy


def test_too_many_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueness.files.summing.GROUP_BYTES", 2**18)
    np.savez(tmp_path / "x.npz", y_true=np.zeros(1000), y_prob=np.full((1000, 2), 0.5), id=np.arange(1000))
    assert "'id' (--groups) has more than 13 values" in refused(tmp_path / "x.npz", by="id").cause


def test_json_has_no_bad_rows_that_are_good(tmp_path: Path) -> None:
    """Whole numbers, nulls in other fields, blank lines and a last line without an end are all fine."""
    lines = [
        json.dumps({"y": 1, "p": [0, 1], "note": None}),
        "",
        json.dumps({"y": 0, "p": [0.5, 0.5], "note": "x"}),
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    assert summed(tmp_path / "x.jsonl").tables.whole.by_variation == tn.tabulate([1, 0], [[0, 1], [0.5, 0.5]])


SITED = [f"{number % 2},0.25,0.75,site {number % 3}" for number in range(20_000)]
STRAY = {
    "last field": '0,0.25,0.75,"site 1',
    "first field": '"0,0.25,0.75,site 1',
    "doubled": '0,0.25,0.75,"site ""1""',
    "after a quote inside of a field": '0,0.25,0.75,"site 1" or "2\n0,0.25,0.75,"',
}


class TestStrayQuotes:
    """An end of the file inside of quotes is refused: they would hold all rows from there on."""

    @pytest.mark.parametrize("stray", STRAY.values(), ids=STRAY)
    @pytest.mark.parametrize("row", [1, 101, 20_000])
    @pytest.mark.parametrize("block", [2**10, 2**20])
    @pytest.mark.parametrize("skip", [False, True])
    def test_the_row_where_it_began_is_named(  # noqa: PLR0917  every argument is a parameter of the test
        self, tmp_path: Path, stray: str, row: int, block: int, skip: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("trueness.formats._text_stream.BLOCK_BYTES", block)
        monkeypatch.setattr("trueness.formats._text_stream.MAX_BLOCK_BYTES", block)
        rows = [*SITED[: row - 1], stray, *SITED[row:]]
        began = row + stray.count("\n")
        path = csv(tmp_path / "x.csv", *rows, head="y,p_0,p_1,site")
        assert f"{path}, row {began}: a quote" in refused(path, skip=skip).cause
        packed = tmp_path / "x.csv.gz"
        packed.write_bytes(gzip.compress(Path(path).read_bytes(), 1))
        assert f"{packed}, row {began}: a quote" in refused(packed, skip=skip).cause

    def test_on_standard_input(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = [*SITED[:100], STRAY["last field"], *SITED[101:]]
        path = csv(tmp_path / "x.csv", *rows, head="y,p_0,p_1,site")
        with open(path) as file:
            monkeypatch.setattr("sys.stdin", file)
            assert "standard input, row 101: a quote" in refused("-").cause

    @pytest.mark.parametrize("skip", [False, True])
    @pytest.mark.parametrize(
        "other", ['0,0.5,0.5,"b"', '0,0.5,0.5,"b'], ids=["a good one", "another stray one"]
    )
    def test_two_quotes_do_not_swallow_what_lies_between(
        self, tmp_path: Path, other: str, skip: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A stray quote ends at the next one, whose text then follows the closing quote."""
        for block in (2**10, 2**20):
            monkeypatch.setattr("trueness.formats._text_stream.BLOCK_BYTES", block)
            monkeypatch.setattr("trueness.formats._text_stream.MAX_BLOCK_BYTES", block)
            rows = ['0,0.5,0.5,"a"', *SITED[:99], '1,0.4,0.6,"a', *SITED[:200], other, *SITED[:50]]
            path = csv(tmp_path / "x.csv", *rows, head="y,p_0,p_1,site")
            assert f"{path}, row 101: a quote" in refused(path, skip=skip).cause

    def test_quotes_inside_of_quotes_and_spaces_after_them(self, tmp_path: Path) -> None:
        rows = [
            '0,0.5,0.5,"a ""b"" c"',
            '1,0.5,0.5,"x, y" ',
            '1,0.5,0.5,"two\nlines"',
            '0,0.5,0.5,plain "one"',
        ]
        assert summed(csv(tmp_path / "x.csv", *rows, head="y,p_0,p_1,site")).tables.n_rows == 4

    def test_in_the_line_of_names(self, tmp_path: Path) -> None:
        path = csv(tmp_path / "x.csv", *SITED, head='y,p_0,p_1,"site')
        assert "the first line" in refused(path).cause

    def test_a_quote_that_is_not_closed_within_reason(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("BLOCK_BYTES", "MAX_BLOCK_BYTES"):
            monkeypatch.setattr(f"trueness.formats._text_stream.{name}", 2**10)
        monkeypatch.setattr("trueness.formats._text_stream.MAX_LINE_BYTES", 2**14)
        rows = [*SITED[:100], STRAY["last field"], *SITED[101:], '0,0.25,0.75,"']
        path = csv(tmp_path / "x.csv", *rows, head="y,p_0,p_1,site")
        assert "row 101: a quote" in refused(path).cause


@given(
    text=st.text('",\n\ra', max_size=60),
    cuts=st.lists(st.integers(1, 20), min_size=60, max_size=60),
)
def test_rows_are_cut_where_pyarrow_ends_them(text: str, cuts: list[int]) -> None:
    """pyarrow judges: blocks cut at the ends of rows hold, one after another, the rows of the whole text."""
    import io

    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    from trueness.formats._csv_quotes import Quotes

    def parsed(data: bytes) -> list[str]:
        skipped: list[str] = []

        def skip(row: Any) -> str:
            skipped.append(row.text)
            return "skip"

        try:
            table = arrow_csv.read_csv(
                io.BytesIO(data),
                arrow_csv.ReadOptions(use_threads=False, column_names=["a"], block_size=1000),
                arrow_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip),
                arrow_csv.ConvertOptions(column_types={"a": pa.string()}),
            )
        except pa.ArrowInvalid:  # nothing but ends of lines
            return []
        return sorted([*table.column("a").to_pylist(), *skipped])

    quotes, rest, found = Quotes(","), b"", []
    data = text.encode()
    for size in cuts:
        rest, data = rest + data[:size], data[size:]
        end = quotes.end_of_rows(rest)
        found += parsed(rest[:end])
        rest = rest[end:]
    assert sorted([*found, *parsed(rest)]) == parsed(text.encode())
    assert not quotes.is_open_at_end(rest) or quotes.end_of_rows(rest) == 0


DATED = [
    json.dumps({"y": n % 2, "p": [0.25, 0.75], "day": f"2026-01-{n % 28 + 1:02}"}) for n in range(30_000)
]


class TestDatesInJson:
    """What is bad is decided by the parser that reads, which takes some texts for dates."""

    def test_one_bad_line_costs_one_row(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        path.write_text("\n".join([*DATED[:20_000], '{"y": 1, "p": [0.25, 0.', *DATED[20_000:]]))
        assert "row 20001: not JSON" in refused(path, by="day").cause
        for by in (None, "day"):
            left = summed(path, skip=True, by=by)
            assert left.skipped == Counter({"unreadable-row": 1})
            assert left.tables.n_rows == 30_000
        assert sorted(map(str, left.tables.groups))[:2] == ["2026-01-01", "2026-01-02"]

    def test_a_text_that_is_no_date_is_as_good(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        path.write_text("\n".join([*DATED, DATED[0].replace("2026-01-01", "unknown")]))
        assert {"unknown", "2026-01-28"} <= set(summed(path, by="day").tables.groups)


@pytest.mark.parametrize(
    "line", ['{"y": 0, "p": [0.5, 0.5]} {"y": 0, "p": [0.5, 0.5]}', '{"y": 0,\n"p": [0.5, 0.5]}']
)
def test_a_line_is_an_object(tmp_path: Path, line: str) -> None:
    """Two in a line, or one in two lines, are bad whatever lines are beside them."""
    path, good = tmp_path / "x.jsonl", '{"y": 1, "p": [0.25, 0.75]}\n'
    path.write_text(good * 3 + line + "\n" + good * 2)
    assert "row 4: not" in refused(path).cause
    assert summed(path, skip=True).tables.n_rows == 5


@pytest.mark.parametrize("depth", [65, 1000, 20_000, 200_000])
@pytest.mark.parametrize("opening", ["[", '{"a": '])
def test_json_that_is_nested_deep(tmp_path: Path, depth: int, opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    good = '{"y": 1, "p": [0.25, 0.75], "note": "]]]]"}\n'
    deep = f'{{"y": 1, "note": "]]]]", "x": {opening * depth}1{closing * depth}, "p": [0.25, 0.75]}}\n'
    for lines, row in (([good, deep], 2), ([deep, good], 1)):
        path = tmp_path / "x.jsonl"
        path.write_text("".join(lines))
        assert f"row {row}: nested more than 64 levels deep" in refused(path).cause
        assert summed(path, skip=True).tables.n_rows == 1


def test_json_that_is_nested_as_deep_as_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"y": 1, "x": {"[" * 63}{"]" * 63}, "p": [0.25, 0.75]}}\n' * 3)
    assert summed(path).tables.n_rows == 3


def test_rows_that_are_no_utf8(tmp_path: Path, capfd: Any) -> None:
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


def test_log_probabilities_are_refused_in_their_own_words(tmp_path: Path) -> None:
    path = csv(tmp_path / "x.csv", "0,-0.6931471805599453,-0.6931471805599453", "0,1.5,-3")
    error = refused(path, scale="logprobs")
    assert error.cause == f"{path}, row 2: exp of the prediction is 4.4816890703380645 in class 0"
    assert "--from-logits" in error.remedy
    assert "--normalize" not in error.remedy  # which does not go with --logprobs
    path = csv(tmp_path / "y.csv", "0,-1,-1")
    assert "row 1: exp of the prediction sums to 0.735758882" in refused(path, scale="logprobs").cause


def test_a_name_in_other_letters_is_found(tmp_path: Path) -> None:
    path = csv(tmp_path / "x.csv", GOOD.strip())
    assert refused(path, label="Y").remedy == "did you mean 'y'?"


def test_an_npy_file_that_is_cut_off(tmp_path: Path, capsys: Any) -> None:
    y_true, y_prob = tn.simulate.calibrated(100, [5, 1, 1], rng=0)
    np.save(tmp_path / "p.npy", y_prob)
    np.save(tmp_path / "y.npy", y_true)
    whole = (tmp_path / "p.npy").read_bytes()
    (tmp_path / "p.npy").write_bytes(whole[:1000])
    arguments = ["tabulate", str(tmp_path / "p.npy"), "--label-file", str(tmp_path / "y.npy")]
    assert main([*arguments, "-o", str(tmp_path / "t.json")]) == 2
    assert "but holds 1000" in capsys.readouterr().err
    (tmp_path / "p.npy").write_bytes(whole)
    (tmp_path / "y.npy").write_bytes((tmp_path / "y.npy").read_bytes()[:500])
    assert main([*arguments, "-o", str(tmp_path / "t.json")]) == 2
    assert "y.npy declares" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
@pytest.mark.parametrize("skip", [False, True])
def test_names_of_columns_that_are_no_utf_8(tmp_path: Path, encoding: str, skip: bool) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes("y,p_ä,p_b\nä,0.5,0.5\n".encode(encoding))
    if skip:  # read as they are, with a mark for what is no text
        with pytest.raises(Refusal):
            summed(path, skip=True, label="z")
        return
    error = refused(path)
    assert error.cause.startswith(f"{path} is not UTF-8: ")
    assert error.remedy == "write it again as UTF-8"


PERCENT = {"y": [0, 1, 1], "p_0": ["85%", " 20 %", "50%"], "p_1": ["15%", "80%", "50"]}


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


def test_text_that_is_no_percentage(tmp_path: Path) -> None:
    path = csv(tmp_path / "x.csv", "0,85%,15%", "0,about 80,20", "1,,5", head="y,p_0,p_1")
    assert "row 2: column 'p_0' is not a number, got 'about 80'" in refused(path, scale="percent").cause
    left = summed(path, skip=True, scale="percent")
    assert left.tables.n_rows == 1
    assert sum(left.skipped.values()) == 2

"""Which columns are read, and for which class: as asked for, or detected where unambiguous; never guessed."""

from pathlib import Path
from typing import Any

import numpy as np
import predictions as same
import pytest
from reading import EXPECTED, ROWS, all_tables, csv, refused, summed, tables

import trueness as tn
from trueness.cli import main
from trueness.files import load_tables


class TestRefusedColumns:
    def test_a_missing_column_has_a_nearest_name(self, tmp_path: Path) -> None:
        path = csv(tmp_path / "x.csv", "0,0.5,0.5", head="truth,p_cat,p_dog")
        for request in ({"label": "thruth"}, {"probs": "p_cut,p_dog"}, {"weight": "p_catt"}, {"by": "truht"}):
            assert "did you mean" in refused(path, **request).remedy

    @pytest.mark.parametrize(
        ("head", "request_", "expected"),
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
            ("y,p_cat,p_dog", {"classes": "cat,cow"}, "match only partly"),
            ("y,p_cat,p_dog", {"classes": "Cat,Dog"}, "match only partly"),
            ("y,p_0,p_1", {"classes": "1,2"}, "match only partly"),
            ("y,p_cat,p_dog", {"probs": "p_cat", "classes": "cat,dog"}, "which --classes calls 'dog'"),
            ("y,p_cat,p_dog,cat,dog", {"probs": "p_*", "by": "sex"}, "no column 'sex' (--groups)"),
            ("0.1,0.4,0.5", {"label": "0.1"}, "holds numbers and no names"),
            ("1,0.5,0.5", {"label": "1"}, "holds numbers and no names"),
            ("TRUE,nan,1e-5", {}, "holds numbers and no names"),
            ("1,85%,15%", {}, "holds numbers and no names"),
        ],
    )
    def test_nothing_is_guessed(self, tmp_path: Path, head: str, request_: Any, expected: str) -> None:
        row = ",".join(["0"] + ["0.5"] * head.count(","))
        assert expected in refused(csv(tmp_path / "x.csv", row, head=head), **request_).cause

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
        assert "column positions from 0 if --probs lists the columns" in error.remedy

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
            "row 2: the label is not one-hot"
            in refused(tmp_path / "x.npz", label="y_true", probs="y_prob").cause
        )
        assert "3 columns" in refused(tmp_path / "x.npz", label="w", probs="y_prob").cause

    def test_a_column_is_not_named_for_two_roles(self, tmp_path: Path) -> None:
        path = csv(tmp_path / "x.csv", *["0,0.5,0.5,2"] * 5, head="y,p_0,p_1,w")
        for skip in (False, True):
            error = refused(path, skip=skip, weight="w", by=("w",))
            assert error.cause == "column 'w' is used for both --sample-weight and --groups"
            error = refused(path, skip=skip, label="y", probs="p_0,y")
            assert error.cause == "column 'y' is used for both --probs and --label"

    @pytest.mark.parametrize("head", ["y,p_0,p_1,p_2", "y,x0,x1,x2", "y,c2,c0,c1"])
    def test_one_of_numbered_probabilities_has_no_other_use(self, tmp_path: Path, head: str) -> None:
        path = csv(tmp_path / "x.csv", *["0,0.5,0.25,0.25"] * 5, head=head)
        _, *names = head.split(",")
        for name in names:
            for option, use in (
                ("--clusters", {"clusters": name}),
                ("--groups", {"by": (name,)}),
                ("--sample-weight", {"weight": name}),
            ):
                for probs in ({}, {"probs": f"{name[0]}*"}):
                    error = refused(path, **use, **probs)
                    assert error.code == "named-twice"
                    first, last = min(names), max(names)
                    assert error.cause == (
                        f"the column of {option}, '{name}', is one of the 3 probability columns '{first}' to '{last}'"
                    )

    def test_one_of_named_probabilities_has_no_other_use(self, tmp_path: Path) -> None:
        """Columns do not tell whether p_cat is a class or p_id, but the labels do."""
        path = csv(tmp_path / "x.csv", "dog,0.5,0.25,0.25", "cat,0.5,0.25,0.25", head="y,p_cat,p_dog,p_cow")
        for option, use in (
            ("--clusters", {"clusters": "p_cat"}),
            ("--groups", {"by": ("p_cat",)}),
            ("--sample-weight", {"weight": "p_cat"}),
        ):
            error = refused(path, **use)
            assert error.cause.endswith(
                f"row 2: the label is 'cat', but the column of its probability, 'p_cat', is that of {option}"
            )

    def test_a_column_that_only_begins_like_probabilities(self, tmp_path: Path) -> None:
        """A patient beside named classes, a text, or what is left after a list of columns: no probabilities."""
        rows = [f"cat,{k // 5},0.5,0.5" for k in range(30)]
        path = csv(tmp_path / "x.csv", *rows, head="y,p_id,p_cat,p_dog")
        assert tables(tmp_path, path, "--clusters", "p_id")[0].n_rows == 30
        path = csv(tmp_path / "z.csv", *(f"0,n{row[4:]}" for row in rows), head="y,p_2,p_0,p_1")
        assert tables(tmp_path, path, "--clusters", "p_2")[0].n_rows == 30
        path = csv(tmp_path / "w.csv", *(f"0,{row[4:]}" for row in rows), head="y,p_2,p_0,p_1")
        assert tables(tmp_path, path, "--clusters", "p_2", "--probs", "p_0,p_1")[0].n_rows == 30

    def test_numbers_are_written_in_digits(self, tmp_path: Path) -> None:
        path = csv(tmp_path / "x.csv", "0,50,50", "1_0,50,50")
        assert "row 2" in refused(path).cause


class TestChosenColumns:
    def test_probability_of_class_1(self, tmp_path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        expected = tn.tabulate(same.Y_TRUE % 2, same.Y_PROB[:, 0])
        np.savez(tmp_path / "x.npz", y_true=same.Y_TRUE % 2, y_prob=same.Y_PROB[:, 0])
        assert tables(tmp_path, tmp_path / "x.npz")[0] == expected
        np.savez(tmp_path / "x.npz", y_true=same.Y_TRUE[:, None] % 2, y_prob=same.Y_PROB[:, :1])
        assert tables(tmp_path, tmp_path / "x.npz")[0] == expected
        np.save(tmp_path / "p.npy", same.Y_PROB[:, :1])
        np.save(tmp_path / "y.npy", same.Y_TRUE[:, None] % 2)
        assert tables(tmp_path, tmp_path / "p.npy", "--label-file", tmp_path / "y.npy")[0] == expected
        lists = pa.array(same.Y_PROB[:, :1].tolist())
        pq.write_table(pa.table({"y": same.Y_TRUE % 2, "probs": lists}), tmp_path / "x.parquet")
        assert tables(tmp_path, tmp_path / "x.parquet")[0] == expected

    @pytest.mark.parametrize("ending", ["csv", "parquet", "npz", "jsonl"])
    def test_columns_that_are_not_numbered_are_in_the_order_of_the_file(
        self, tmp_path: Path, ending: str, capsys: Any
    ) -> None:
        """Not in that of the alphabet; the mapping is printed whole."""
        names = ["p_low", "p_mid", "p_high"]
        columns = {"y": same.Y_TRUE, **dict(zip(names, same.Y_PROB.T, strict=True))}
        path = same.written(tmp_path / f"x.{ending}", columns)
        for options in ([], ["--probs", "p_*"], ["--probs", "p_low, p_mid, p_high"]):
            assert tables(tmp_path, path, *options) == EXPECTED
            assert "classes 0=p_low 1=p_mid 2=p_high\n" in capsys.readouterr().err

    @pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
    def test_names_are_matched_in_whatever_order(self, tmp_path: Path, order: list[int]) -> None:
        """Only sums of classes depend on the order of classes, since no two probabilities of a row are equal."""
        rows = same.Y_PROB[7:]
        names = np.array(["low", "mid", "high"])

        def require_expected(path: Path, *options: str) -> None:
            found = all_tables(tmp_path, path, *options)
            assert found.by_class is not None
            of_classes = [str(name).removeprefix("p_") for name in found.by_class.spec.class_names or ()]
            places = [names.tolist().index(name) for name in of_classes]
            labels = np.argsort(places)[same.Y_TRUE[7:]]
            assert found.by_variation == tn.tabulate(labels, rows[:, places])
            assert found.by_class == tn.tabulate_events(labels, rows[:, places])

        columns = {f"p_{names[c]}": rows[:, c] for c in order}
        path = same.written(tmp_path / "x.parquet", {"y": names[same.Y_TRUE[7:]], **columns})
        listed = ",".join(columns)
        for options in (
            [],
            ["--classes", "columns"],
            ["--classes", "low,mid,high"],
            ["--classes", "mid, high, low"],
            ["--probs", listed, "--classes", "high,mid,low"],
            ["--probs", listed],
        ):
            require_expected(path, *options)
        whole = same.written(
            tmp_path / "y.parquet", {"y": [f"p_{names[y]}" for y in same.Y_TRUE[7:]], **columns}
        )
        require_expected(whole)
        require_expected(whole, "--classes", "p_mid,p_high,p_low")

    def test_many_classes_show_their_ends(self, tmp_path: Path, capsys: Any) -> None:
        columns = {f"p_{c}": [1 / 32] for c in range(32)}
        path = same.written(tmp_path / "x.parquet", {"y": [0], **dict(reversed(columns.items()))})
        tables(tmp_path, path)
        assert "classes 0=p_0 1=p_1 2=p_2 … 29=p_29 30=p_30 31=p_31\n" in capsys.readouterr().err

    def test_a_space_after_a_comma_does_not_belong_to_a_name(self, tmp_path: Path) -> None:
        path, lines = tmp_path / "x.csv", ["y, p_bird, p_cat, p_dog, site"]
        for label, row in zip(same.Y_TRUE.tolist(), same.Y_PROB.tolist(), strict=True):
            lines.append(", ".join([same.NAMES[label], *map(str, row), "ab"[label % 2]]))
        path.write_text("\n".join(lines))
        assert tables(tmp_path, path) == EXPECTED
        out = tmp_path / "by.json"
        assert main(["tabulate", str(path), "--groups", "site", "-o", str(out)]) == 0
        assert set(load_tables(str(out)).groups) == {"a", "b"}


def test_a_name_in_other_letters_is_found(tmp_path: Path) -> None:
    path = csv(tmp_path / "x.csv", ROWS[0])
    assert refused(path, label="Y").remedy == "did you mean 'y'?"


ODD_TYPES = (
    "struct", "map", "list", "fixed_size_list", "list_view", "interval", "run_end_encoded", "union", "binary"
)  # fmt: skip


def odd_column(name: str, n_rows: int) -> Any:
    import pyarrow as pa

    return {
        "struct": lambda: pa.array([{"a": 1}] * n_rows),
        "map": lambda: pa.array([[("a", 1)]] * n_rows, pa.map_(pa.string(), pa.int64())),
        "list": lambda: pa.array([["a"]] * n_rows),
        "fixed_size_list": lambda: pa.array([["a", "b"]] * n_rows, pa.list_(pa.string(), 2)),
        "list_view": lambda: pa.array([[1]] * n_rows, pa.list_view(pa.int64())),
        "interval": lambda: pa.array([pa.MonthDayNano([1, 2, 3])] * n_rows),
        "run_end_encoded": lambda: pa.RunEndEncodedArray.from_arrays([n_rows], [1]),
        "union": lambda: pa.UnionArray.from_sparse(
            pa.array([0] * n_rows, pa.int8()), [pa.array([1] * n_rows)]
        ),
        "binary": lambda: pa.array([b"\xff\xfe"] * n_rows),
    }[name]()


@pytest.mark.parametrize("name", ODD_TYPES)
@pytest.mark.parametrize("option", ["--groups", "--label", "--where", "--sample-weight"])
def test_columns_that_are_not_one_value_a_row(tmp_path: Path, name: str, option: str, capsys: Any) -> None:
    import pyarrow as pa

    table = pa.table({"y": [0, 1], "p": [[0.5, 0.5]] * 2, "odd": odd_column(name, 2)})
    path = tmp_path / "x.arrow"
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)
    value = "odd = 1" if option == "--where" else "odd"
    label = [] if option == "--label" else ["--label", "y"]
    arguments = ["tabulate", str(path), *label, "--probs", "p", option, value, "--classes", "0,1"]
    assert main([*arguments, "-o", str(tmp_path / "t.json")]) == 2
    *_, cause, _ = capsys.readouterr().err.splitlines()
    assert f"column 'odd' ({option}) holds" in cause


@pytest.mark.parametrize("option", ["--groups", "--label", "--where"])
def test_invalid_characters_of_numpy(tmp_path: Path, option: str, capsys: Any) -> None:
    beyond = np.array([0x110000, 0x41], "<u4").view("<U1")
    np.savez(tmp_path / "x.npz", y=[0, 1], p=np.full((2, 2), 0.5), odd=beyond)
    value = "odd = A" if option == "--where" else "odd"
    label = [] if option == "--label" else ["--label", "y"]
    arguments = ["tabulate", str(tmp_path / "x.npz"), *label, "--probs", "p", "--classes", "0,1"]
    assert main([*arguments, option, value, "-o", str(tmp_path / "t.json")]) == 2
    *_, cause, _ = capsys.readouterr().err.splitlines()
    assert f"column 'odd' ({option}) holds text that cannot be read" in cause


def test_an_array_of_a_usual_name_that_cannot_be_read(tmp_path: Path, capsys: Any) -> None:
    """What is wrong with it is said, and not that it was not found; other arrays may be what they like."""
    path, out = tmp_path / "x.npz", str(tmp_path / "t.json")
    y_true, y_prob = tn.simulate.calibrated(50, [5, 1, 1], rng=0)
    np.savez(path, y_true=y_true, y_prob=y_prob[:, :, None])
    assert main(["tabulate", str(path), "-o", out]) == 2
    assert "shape (50, 3, 1)" in capsys.readouterr().err
    assert main(["tabulate", str(path), "--probs", "y_prob", "-o", out]) == 2
    assert "shape (50, 3, 1)" in capsys.readouterr().err
    np.savez(path, y_true=y_true, y_prob=y_prob.astype(object))
    assert main(["tabulate", str(path), "-o", out]) == 2
    assert "a pickle" in capsys.readouterr().err
    np.savez(path, y_true=y_true, y_prob=y_prob, notes=np.array([{}]))
    assert main(["tabulate", str(path), "-o", out]) == 0

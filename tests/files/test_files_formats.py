"""The same rows give the identical table, whatever file they come from."""

import json
import os
import shlex
import subprocess
import sys
from decimal import Decimal
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path
from typing import Any

import numpy as np
import predictions as same
import pytest

import trueness as tn
from trueness.cli import main
from trueness.files import (
    Plan,
    Request,
    RowOptions,
    Source,
    find_inputs,
    load_tables,
    parse_condition,
    sum_source,
)
from trueness.refusals import Refusal

pytestmark = pytest.mark.cli

EXPECTED = [tn.tabulate(same.Y_TRUE, same.Y_PROB, variation=name) for name in ("entropy", "confidence")]


def run(
    *arguments: Any, folder: Path, stdin: bytes | None = None, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """The real command in a process of its own."""
    command = [sys.executable, "-m", "trueness", *map(str, arguments)]
    ended = subprocess.run(command, cwd=folder, input=stdin, capture_output=True, check=False)
    text = subprocess.CompletedProcess(
        command, ended.returncode, ended.stdout.decode(), ended.stderr.decode()
    )
    assert ended.returncode == code, text.stderr
    return text


def tables(folder: Path, *arguments: Any) -> list[tn.CalibrationTable]:
    """The tables that the command makes, in this process."""
    out = folder / "out.json"
    assert main(["tabulate", *map(str, arguments), "-o", str(out)]) == 0
    return list(load_tables(str(out)).whole)


WITHOUT_PRIVILEGE = """
import ctypes, os, sys
prctl, PR_CAPBSET_DROP = ctypes.CDLL(None).prctl, 24
for capability in (1, 2):  # to pass over permissions: to read and write, and to list folders
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-m", "trueness", *sys.argv[1:]])
"""
"""The command as a user without privileges runs it, also if an administrator runs the tests."""


def _write_ids(path: Path, ids: list[int]) -> None:
    """A row for each id."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    dtype = np.uint64 if max(ids) >= 2**63 else np.int64
    if path.suffix == ".npz":
        np.savez(path, y=[0] * len(ids), y_prob=[[0.5, 0.5]] * len(ids), id=np.array(ids, dtype))
    elif path.suffix == ".parquet":
        columns = {"y": [0] * len(ids), "p_0": [0.5] * len(ids), "p_1": [0.5] * len(ids)}
        pq.write_table(pa.table({**columns, "id": np.array(ids, dtype)}), path)
    elif path.suffix == ".csv":
        rows = [f"0,0.5,0.5,{number}\n" for number in ids]
        path.write_text("".join(["y,p_0,p_1,id\n", *rows]), encoding="utf-8")
    else:
        lines = [f'{{"y": 0, "p": [0.5, 0.5], "id": {number}}}\n' for number in ids]
        path.write_text("".join(lines), encoding="utf-8")


@pytest.mark.parametrize("name", same.FORMATS)
def test_every_format_gives_the_identical_table(tmp_path: Path, name: str) -> None:
    file, write, options = same.FORMATS[name]
    write(tmp_path / file)
    run("tabulate", file, *options, "-o", "t.json", folder=tmp_path)
    assert tn.CalibrationTable.load_all(tmp_path / "t.json") == EXPECTED


@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_standard_input(tmp_path: Path, name: str) -> None:
    file, write, options = same.FORMATS[name]
    write(tmp_path / file)
    data = (tmp_path / file).read_bytes()
    run("tabulate", "-", *options, "-o", "t.json", folder=tmp_path, stdin=data)
    assert tn.CalibrationTable.load_all(tmp_path / "t.json") == EXPECTED


class TestReadOnce:
    """A path whose bytes are gone once they are read gives the table of the file; real pipes in real processes."""

    @pytest.mark.parametrize("name", ["csv", "jsonl"])
    def test_a_process_substitution(self, tmp_path: Path, name: str) -> None:
        file, write, options = same.FORMATS[name]
        write(tmp_path / file)
        line = shlex.join([sys.executable, "-m", "trueness", "tabulate", "PIPE", *options, "-o", "t.json"])
        line = line.replace("PIPE", f"<(cat {file})")
        subprocess.run(["bash", "-c", line], cwd=tmp_path, check=True, timeout=120)
        assert tn.CalibrationTable.load_all(tmp_path / "t.json") == EXPECTED

    @pytest.mark.parametrize("name", ["csv", "jsonl"])
    @pytest.mark.parametrize("path", ["/dev/stdin", "/dev/fd/0"])
    def test_the_device_of_standard_input(self, tmp_path: Path, name: str, path: str) -> None:
        file, write, options = same.FORMATS[name]
        write(tmp_path / file)
        data = (tmp_path / file).read_bytes()
        run("tabulate", path, *options, "-o", "t.json", folder=tmp_path, stdin=data)
        assert tn.CalibrationTable.load_all(tmp_path / "t.json") == EXPECTED

    @pytest.mark.parametrize("name", ["csv", "csv.gz", "tsv", "jsonl", "jsonl.gz, list"])
    def test_a_named_pipe(self, tmp_path: Path, name: str) -> None:
        file, write, options = same.FORMATS[name]
        write(tmp_path / file)
        (tmp_path / "pipe").mkdir()
        os.mkfifo(tmp_path / "pipe" / file)
        with subprocess.Popen(["bash", "-c", f"cat {file} > pipe/{file}"], cwd=tmp_path):
            run("tabulate", f"pipe/{file}", *options, "-o", "t.json", folder=tmp_path)
        assert tn.CalibrationTable.load_all(tmp_path / "t.json") == EXPECTED

    def test_several_pipes(self, tmp_path: Path) -> None:
        """In one run, side by side in a comparison, and of saved tables."""
        file, write, wide = same.FORMATS["csv"]
        write(tmp_path / file)
        command, options = shlex.join([sys.executable, "-m", "trueness"]), shlex.join(wide)
        half = len(same.Y_TRUE) // 2
        script = (
            f"set -e\n{command} tabulate <(head -n {half + 1} {file}) <(head -n 1 {file}; tail -n +{half + 2} {file})"
            f" {options} -o t.json\n"
            f"{command} merge <(cat t.json) <(cat t.json) -o twice.json\n"
            f"{command} compare <(cat {file}) <(cat {file}) {options} --names a,b --json c.json\n"
        )
        subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True, timeout=120)
        assert tn.CalibrationTable.load_all(tmp_path / "t.json") == EXPECTED
        twice = tn.CalibrationTable.load_all(tmp_path / "twice.json")
        assert twice == [table + table for table in EXPECTED]
        compared = json.loads((tmp_path / "c.json").read_text())
        assert {model["n_rows"] for model in compared["assessments"].values()} == {len(same.Y_TRUE)}

    @pytest.mark.parametrize("name", ["parquet", "arrow file", "arrow stream", "npz", "npy"])
    def test_a_format_that_is_not_read_from_front_to_back(
        self, tmp_path: Path, name: str, capsys: Any
    ) -> None:
        """Refused before the pipe is opened: nobody writes to it, and opening it would wait for that."""
        file = "x.npy" if name == "npy" else same.FORMATS[name][0]
        os.mkfifo(tmp_path / file)
        assert main(["tabulate", str(tmp_path / file), "-o", str(tmp_path / "t.json")]) == 2
        assert "can be read only once" in capsys.readouterr().err

    def test_what_needs_the_rows_twice(self, tmp_path: Path, capsys: Any) -> None:
        os.mkfifo(tmp_path / "x.csv")
        np.save(tmp_path / "x.npy", same.Y_PROB)
        pipe, out = str(tmp_path / "x.csv"), ["-o", str(tmp_path / "t.json")]
        assert main(["tabulate", str(tmp_path / "x.npy"), "--label-file", pipe, *out]) == 2
        assert "(--label-file) is not a file" in capsys.readouterr().err
        assert main(["compare", pipe, pipe, "--names", "a,b"]) == 2
        assert "named for two models and can be read only once" in capsys.readouterr().err


def test_rows_of_more_than_a_megabyte(tmp_path: Path) -> None:
    """60 000 classes: one row of CSV is longer than the blocks that files are read in."""
    n_classes, y_true = 60_000, [3, 59_999, 7]
    y_prob = np.zeros((3, n_classes))
    y_prob[:, :8] = 0.125
    names = [f"probability_of_class_number_{c}" for c in range(n_classes)]
    rows = [
        ",".join([str(label), *map(repr, row)]) for label, row in zip(y_true, y_prob.tolist(), strict=True)
    ]
    (tmp_path / "x.csv").write_text("\n".join([",".join(["y_true", *names]), *rows]) + "\n")
    assert (tmp_path / "x.csv").read_bytes().index(b"\n") > 2**20
    found = tables(tmp_path, tmp_path / "x.csv", "--probs", "probability_*", "--engine", "portable")
    assert found[0] == tn.tabulate(y_true, y_prob, engine="portable")


@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_with_labels_beside_it(tmp_path: Path, order: Any) -> None:
    np.save(tmp_path / "p.npy", np.array(same.Y_PROB, order=order))
    np.save(tmp_path / "y.npy", same.Y_TRUE)
    assert tables(tmp_path, tmp_path / "p.npy", "--label-file", tmp_path / "y.npy") == EXPECTED


def test_batches_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 3 * 101)
    for name, (file, write, options) in same.FORMATS.items():
        path = tmp_path / name.replace(", ", "-").replace(".", "-")
        path.mkdir()
        write(path / file)
        assert tables(path, path / file, *options) == EXPECTED, name


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_narrow_numbers_stay_narrow(tmp_path: Path, dtype: str) -> None:
    """The rule for values on an edge depends on the dtype; a file must not widen it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    narrow = same.Y_PROB.astype(dtype)
    narrow /= narrow.sum(axis=1, keepdims=True)
    pq.write_table(
        pa.table({"label": same.Y_TRUE, **{f"p_{c}": narrow[:, c] for c in range(3)}}), tmp_path / "x.parquet"
    )
    expected = [tn.tabulate(same.Y_TRUE, narrow, variation=name) for name in ("entropy", "confidence")]
    assert tables(tmp_path, tmp_path / "x.parquet") == expected


def test_decimals_whole_numbers_and_dictionaries(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        "label": pa.array(["b", "a", "b"]).dictionary_encode(),
        "p_a": pa.array([0, 1, 0], pa.int8()),
        "p_b": pa.array([Decimal(1), Decimal(0), Decimal(1)], pa.decimal128(5, 2)),
    }
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    assert tables(tmp_path, tmp_path / "x.parquet")[0] == tn.tabulate([1, 0, 1], [[0, 1], [1, 0], [0, 1.0]])


class TestSeveralFiles:
    def test_globs_folders_and_lists_of_files_merge(self, tmp_path: Path) -> None:
        parts = np.array_split(np.arange(same.N_ROWS), 3)
        for number, part in enumerate(parts):
            np.savez(tmp_path / f"part-{number}.npz", y_true=same.Y_TRUE[part], y_prob=same.Y_PROB[part])
        files = sorted(tmp_path.glob("*.npz"))
        (tmp_path / "notes.txt").write_text("not data")
        assert tables(tmp_path, *files) == EXPECTED
        assert tables(tmp_path, tmp_path / "part-*.npz") == EXPECTED
        folder = tmp_path / "folder"
        (folder / "deep").mkdir(parents=True)
        (folder / "_temporary").mkdir()
        for file, place in zip(files, ("a.npz", "deep/b.npz", "deep/c.npz"), strict=True):
            file.rename(folder / place)
        (folder / "_temporary" / "x.npz").write_bytes(b"not finished")
        (folder / "_SUCCESS").touch()
        assert tables(tmp_path, folder) == EXPECTED

    def test_hive_partitions_are_columns(self, tmp_path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = pa.table({"y": same.Y_TRUE, "probs": list(same.Y_PROB), "site": same.HOSPITAL})
        pq.write_to_dataset(columns, tmp_path / "data", partition_cols=["site"])
        out = tmp_path / "by.json"
        assert main(["tabulate", str(tmp_path / "data"), "--by", "site", "-o", str(out)]) == 0
        grouped = load_tables(str(out))
        assert set(grouped.groups) == set(same.HOSPITAL.tolist())
        for name, (by_entropy, _) in grouped.groups.items():
            mine = name == same.HOSPITAL
            assert by_entropy == tn.tabulate(same.Y_TRUE[mine], same.Y_PROB[mine])
        north = same.HOSPITAL == "north"
        expected = tn.tabulate(same.Y_TRUE[north], same.Y_PROB[north])
        assert tables(tmp_path, tmp_path / "data", "--where", "site = north")[0] == expected
        for pattern in (tmp_path / "data" / "*" / "*.parquet", tmp_path / "data" / "site=*"):
            assert main(["tabulate", str(pattern), "--by", "site", "-o", str(out)]) == 0
            assert load_tables(str(out)) == grouped
        files = find_inputs([str(tmp_path / "data")]).files
        source = Source(files, Request(label="site", classes="a,b,c"), RowOptions())
        with pytest.raises(Refusal, match="names of folders"):
            sum_source(source, Plan())

    def test_links_are_followed_and_every_file_is_read_once(self, tmp_path: Path, capsys: Any) -> None:
        """Each of three files is reached several times, through a loop too."""
        data, far = tmp_path / "data", tmp_path / "far"
        for number, folder in enumerate((data / "site=a", far / "site=b", far / "deep")):
            folder.mkdir(parents=True)
            np.savez(folder / f"{number}.npz", y_true=[0] * 10**number, y_prob=[[0.5, 0.5]] * 10**number)
        (data / "again").symlink_to(data / "site=a")
        (data / "back").symlink_to(data)
        (data / "linked").symlink_to(far)
        (far / "loop").symlink_to(far / "deep")
        (far / "deep" / "up").symlink_to(far)
        (data / "0.npz").symlink_to(data / "site=a" / "0.npz")
        (data / "same.npz").hardlink_to(data / "site=a" / "0.npz")
        for argument in (data, str(data / "**" / "*.npz")):
            assert tables(tmp_path, argument)[0].n_rows == 111
            assert "links lead to files that are read already" in capsys.readouterr().err
        paths = [os.path.relpath(file.path, data) for file in find_inputs([str(data)]).files]
        assert paths == ["linked/deep/2.npz", "linked/site=b/1.npz", "same.npz"]

    def test_a_file_by_its_own_name_where_it_has_one(self, tmp_path: Path) -> None:
        """A folder's name is a column, which a link of another name would lose."""
        folder = tmp_path / "data" / "site=a"
        folder.mkdir(parents=True)
        np.savez(folder / "0.npz", y_true=[0], y_prob=[[0.5, 0.5]])
        (tmp_path / "data" / "first").symlink_to(folder)
        for argument in (tmp_path / "data", tmp_path / "data" / "*" / "*.npz"):
            (file,) = find_inputs([str(argument)]).files
            assert file.partition == {"site": "a"}

    def test_one_file_named_by_two_arguments_is_refused(self, tmp_path: Path, capsys: Any) -> None:
        np.savez(tmp_path / "0.npz", y_true=[0], y_prob=[[0.5, 0.5]])
        (tmp_path / "1.npz").hardlink_to(tmp_path / "0.npz")
        arguments = [str(tmp_path / "0.npz"), str(tmp_path / "1.npz")]
        assert main(["tabulate", *arguments, "-o", str(tmp_path / "t")]) == 2
        assert "named twice" in capsys.readouterr().err

    def test_a_link_to_nothing_is_refused(self, tmp_path: Path, capsys: Any) -> None:
        np.savez(tmp_path / "0.npz", y_true=[0], y_prob=[[0.5, 0.5]])
        (tmp_path / "more").symlink_to(tmp_path / "gone")
        assert main(["tabulate", str(tmp_path), "-o", str(tmp_path / "t")]) == 2
        assert "is a link to a file that does not exist" in capsys.readouterr().err

    @pytest.mark.parametrize("pattern", ["data", "data/*/*.npz", "data/**/*.npz", "data/*/1.npz", "d*"])
    @pytest.mark.parametrize("mode", [0o000, 0o444], ids=["closed", "names only"])
    def test_a_folder_that_cannot_be_read_is_refused(self, tmp_path: Path, pattern: str, mode: int) -> None:
        """In a process that permissions stop, whoever runs the tests."""
        for number in range(2):
            folder = tmp_path / "data" / str(number)
            folder.mkdir(parents=True)
            np.savez(folder / f"{number}.npz", y_true=[0], y_prob=[[0.5, 0.5]])
        command = [sys.executable, "-c", WITHOUT_PRIVILEGE, "tabulate", pattern, "-o", "t.json"]
        folder.chmod(mode)
        try:
            ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        finally:
            folder.chmod(0o755)
        assert ended.returncode == 2, ended.stderr
        assert f"data{os.sep}1" in ended.stderr
        assert "cannot be read" in ended.stderr
        assert not (tmp_path / "t.json").exists()
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr

    def test_a_folder_is_not_taken_for_the_labels(self, tmp_path: Path) -> None:
        folder = tmp_path / "target=quality"
        folder.mkdir()
        (folder / "x.csv").write_text("y,p_0,p_1\n0,0.5,0.5\n", encoding="utf-8")
        assert tables(tmp_path, folder / "x.csv")[0].n_rows == 1

    def test_shards_merge_to_the_whole(self, tmp_path: Path) -> None:
        for number, part in enumerate(np.array_split(np.arange(same.N_ROWS), 3)):
            np.savez(tmp_path / f"{number}.npz", y_true=same.Y_TRUE[part], y_prob=same.Y_PROB[part])
            tables(tmp_path, tmp_path / f"{number}.npz")
            (tmp_path / "out.json").rename(tmp_path / f"{number}.json")
        assert main(["merge", str(tmp_path / "[0-9].json"), "-o", str(tmp_path / "all.json")]) == 0
        assert tn.CalibrationTable.load_all(tmp_path / "all.json") == EXPECTED


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    same.FORMATS["parquet"][1](tmp_path / "x.parquet")
    return tmp_path / "x.parquet"


class TestColumns:
    def test_explicit_order(self, parquet: Path) -> None:
        got = tables(parquet.parent, parquet, "--probs", "p_10,p_1,p_2", "--classes", "index")[0]
        assert got == tn.tabulate(same.Y_TRUE, same.Y_PROB[:, [2, 0, 1]])

    def test_numbers_that_do_not_begin_at_0_are_not_guessed(self, parquet: Path, capsys: Any) -> None:
        assert main(["tabulate", str(parquet), "-o", str(parquet.with_name("t.json"))]) == 2
        assert "--classes columns" in capsys.readouterr().err

    def test_labels_that_are_the_columns_numbers(self, tmp_path: Path) -> None:
        numbers = np.array([1, 2, 10])[same.Y_TRUE]
        import pyarrow.parquet as pq

        pq.write_table(same.table(same.wide(numbers)), tmp_path / "x.parquet")
        assert tables(tmp_path, tmp_path / "x.parquet", "--probs", "p_*", "--classes", "columns") == EXPECTED
        assert tables(tmp_path, tmp_path / "x.parquet", "--probs", "p_*", "--classes", "1,2,10") == EXPECTED

    @pytest.mark.parametrize("ending", ["csv", "parquet", "npz", "jsonl"])
    def test_labels_that_are_names(self, tmp_path: Path, ending: str, capsys: Any) -> None:
        import pyarrow.parquet as pq
        from pyarrow import csv

        names = np.array(same.NAMES)[same.Y_TRUE]
        columns = {"label": names, **{f"p_{name}": same.Y_PROB[:, c] for c, name in enumerate(same.NAMES)}}
        path = tmp_path / f"x.{ending}"
        if ending == "npz":
            np.savez(path, **columns)
        elif ending == "jsonl":
            path.write_text(
                "\n".join(__import__("json").dumps(row) for row in same.table(columns).to_pylist())
            )
        else:
            (csv.write_csv if ending == "csv" else pq.write_table)(same.table(columns), path)
        assert tables(tmp_path, path) == EXPECTED
        assert "classes bird=p_bird cat=p_cat dog=p_dog" in capsys.readouterr().err
        assert (
            tables(tmp_path, path, "--probs", "p_*", "--label", "label", "--classes", "bird,cat,dog")
            == EXPECTED
        )

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
        """The table does not depend on the order of classes, since no two probabilities of a row are equal."""
        rows = same.Y_PROB[7:]
        names = np.array(["low", "mid", "high"])
        expected = tn.tabulate(same.Y_TRUE[7:], rows)
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
            assert tables(tmp_path, path, *options)[0] == expected
        whole = same.written(
            tmp_path / "y.parquet", {"y": [f"p_{names[y]}" for y in same.Y_TRUE[7:]], **columns}
        )
        assert tables(tmp_path, whole)[0] == expected
        assert tables(tmp_path, whole, "--classes", "p_mid,p_high,p_low")[0] == expected

    def test_further_files_are_matched_to_the_first_by_name(self, tmp_path: Path) -> None:
        half = same.N_ROWS // 2
        for name, rows, order in (("a", slice(None, half), [0, 1, 2]), ("b", slice(half, None), [2, 0, 1])):
            columns = {f"p_{'xyz'[c]}": same.Y_PROB[rows, c] for c in order}
            same.written(tmp_path / f"{name}.parquet", {"y": same.Y_TRUE[rows], **columns})
        assert tables(tmp_path, tmp_path / "a.parquet", tmp_path / "b.parquet") == EXPECTED

    def test_many_classes_show_their_ends(self, tmp_path: Path, capsys: Any) -> None:
        columns = {f"p_{c}": [1 / 32] for c in range(32)}
        path = same.written(tmp_path / "x.parquet", {"y": [0], **dict(reversed(columns.items()))})
        tables(tmp_path, path)
        assert "classes 0=p_0 1=p_1 2=p_2 … 29=p_29 30=p_30 31=p_31\n" in capsys.readouterr().err

    def test_a_file_without_a_line_of_names(self, tmp_path: Path) -> None:
        path = tmp_path / "x.csv"
        lines = zip(same.Y_PROB.tolist(), same.Y_TRUE.tolist(), strict=True)
        path.write_text("".join(",".join(map(str, [*row, label])) + "\n" for row, label in lines))
        options = ["--no-header", "--label", "4", "--probs", "1-3"]
        assert tables(tmp_path, path, *options) == EXPECTED
        assert main(["tabulate", str(path), *options[1:], "-o", str(tmp_path / "t.json")]) == 2
        swapped = tables(tmp_path, path, "--no-header", "--label", "4", "--probs", "3,1,2")[0]
        assert swapped == tn.tabulate(same.Y_TRUE, same.Y_PROB[:, [2, 0, 1]])

    @pytest.mark.parametrize("ending", ["csv", "parquet", "npz", "jsonl"])
    @pytest.mark.parametrize("words", [("false", "true"), ("False", "True"), ("FALSE", "TRUE"), None])
    def test_true_and_false_are_classes_1_and_0(self, tmp_path: Path, ending: str, words: Any) -> None:
        """As text or as truth values, whatever the order of the columns."""
        y = same.Y_TRUE % 2
        labels = np.array(words)[y] if words else y == 1
        p = np.stack([1 - same.Y_PROB[:, 0], same.Y_PROB[:, 0]], axis=1)
        for names in (("p_0", "p_1"), ("p_false", "p_true")):
            columns = {names[1]: p[:, 1], names[0]: p[:, 0]}
            path = same.written(tmp_path / f"x.{ending}", {"y": labels, **columns})
            assert tables(tmp_path, path)[0] == tn.tabulate(y, p)
        path = same.written(tmp_path / f"x.{ending}", {"y": labels, "p": p[:, 1]})
        assert tables(tmp_path, path)[0] == tn.tabulate(y, p[:, 1])

    def test_a_space_after_a_comma_is_no_part_of_a_name(self, tmp_path: Path) -> None:
        path, lines = tmp_path / "x.csv", ["y, p_bird, p_cat, p_dog, site"]
        for label, row in zip(same.Y_TRUE.tolist(), same.Y_PROB.tolist(), strict=True):
            lines.append(", ".join([same.NAMES[label], *map(str, row), "ab"[label % 2]]))
        path.write_text("\n".join(lines))
        assert tables(tmp_path, path) == EXPECTED
        out = tmp_path / "by.json"
        assert main(["tabulate", str(path), "--by", "site", "-o", str(out)]) == 0
        assert set(load_tables(str(out)).groups) == {"a", "b"}

    def test_conditions(self, parquet: Path) -> None:
        chosen = (same.AGE >= 40) & np.isin(same.HOSPITAL, ["north", "größe"])
        got = tables(
            parquet.parent, parquet, *same.WIDE, "--where", "age >= 40", "--where", "hospital in north, größe"
        )
        assert got[0] == tn.tabulate(same.Y_TRUE[chosen], same.Y_PROB[chosen])

    def test_numbers_in_names_of_folders_are_compared_as_numbers(self, tmp_path: Path) -> None:
        for month in ("2", "9", "10", "11"):
            folder = tmp_path / "data" / f"month={month}"
            folder.mkdir(parents=True)
            rows = "0,0.5,0.5\n" * int(month)
            (folder / "x.csv").write_text("y,p_0,p_1\n" + rows, encoding="utf-8")
        for where, n_rows in (
            ("month >= 9", 30),
            ("month < 10", 11),
            ("month = 09", 9),
            ("month != 2", 30),
            ("month in 2, 11.0", 13),
            ("month = '09'", None),
        ):
            arguments = ["tabulate", str(tmp_path / "data"), "--where", where, "-o", str(tmp_path / "t")]
            assert main(arguments) == (2 if n_rows is None else 0)
            assert n_rows is None or load_tables(str(tmp_path / "t")).n_rows == n_rows

    @pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "npz"])
    @pytest.mark.parametrize(
        "values",
        [
            [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2],
            [-(2**63), -(2**53) - 1, 0, 2**63 - 1],
            [0, 2**63, 2**64 - 2, 2**64 - 1],
        ],
        ids=["around 2**53", "int64", "uint64"],
    )
    def test_whole_numbers_are_compared_exactly(self, tmp_path: Path, ending: str, values: list[int]) -> None:
        """The oracle is Python, whose integers and decimals are exact."""
        if ending == "jsonl" and max(values) >= 2**63:
            values = values[:1]  # pyarrow reads larger ones of JSON as float64
        path = tmp_path / f"x.{ending}"
        _write_ids(path, values)
        bounds = [str(value) for value in values] + [f"{values[-1]}.5", "1e3", "-0.25", "1e30"]
        for sign, compare in (("=", eq), ("!=", ne), ("<", lt), ("<=", le), (">", gt), (">=", ge)):
            for bound in bounds:
                where = (parse_condition(f"id {sign} {bound}"),)
                source = Source(find_inputs([str(path)]).files, Request(where=where), RowOptions())
                found = sum(len(placed.batch) for placed in source.batches())
                assert found == sum(compare(value, Decimal(bound)) for value in values), (sign, bound)

    def test_text_that_is_numbers_or_dates(self, tmp_path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        decimals = ["9007199254740992.1", "9007199254740992.2", "1.0", "2.0"]
        columns = {
            "y": [0] * 4,
            "p": [0.5] * 4,
            "age": ["9", "65", " 070 ", None],
            "day": ["2026-01-31", "2026-02-01", "2026-11-16", ""],
            "time": pa.array([0, 10**9, 2 * 10**9, None], pa.timestamp("ns")),
            "exact": pa.array([Decimal(text) for text in decimals], pa.decimal128(30, 1)),
            "zip": ["01234", "1234", "x", "NA"],
        }
        pq.write_table(pa.table(columns), tmp_path / "x.parquet")
        for where, n_rows in (
            ("age >= 65", 2),
            ("age != 65", 2),
            ("age in 9.0, 70", 2),
            ("day >= 2026-02-01", 2),
            ("day < 2026-02-01T00:00", 1),
            ("time > 1970-01-01", 2),
            ("time = 1970-01-01T00:00:01", 1),
            ("exact = 9007199254740992.2", 1),
            ("exact < 9007199254740992.2", 3),
            ("zip = 1234", 2),
            ("zip = '1234'", 1),
            ("zip != 1234", 1),
        ):
            assert tables(tmp_path, tmp_path / "x.parquet", "--where", where)[0].n_rows == n_rows, where
        for where in ("zip >= 1234", "day > a", "age > '9'"):
            arguments = ["tabulate", str(tmp_path / "x.parquet"), "--where", where, "-o", str(tmp_path / "t")]
            assert main(arguments) == 2, where

    def test_decimals_are_rounded_as_the_column_was(self, tmp_path: Path) -> None:
        y_prob = [[0.5, 0.5]] * 3
        for dtype in (np.float16, np.float32, np.float64):
            share = np.array([0.1, 0.2, np.inf], dtype)
            np.savez(tmp_path / "x.npz", y_true=[0] * 3, y_prob=y_prob, share=share)
            for where, n_rows in (
                ("share = 0.1", 1),
                ("share > 0.1", 2),
                ("share < 1e30", 2),
                ("share > 1e400", 0),
            ):
                condition = (parse_condition(where),)
                source = Source(
                    find_inputs([str(tmp_path / "x.npz")]).files, Request(where=condition), RowOptions()
                )
                assert sum(len(placed.batch) for placed in source.batches()) == n_rows, (dtype, where)

    def test_weights(self, parquet: Path) -> None:
        got = tables(parquet.parent, parquet, *same.WIDE, "--weight", "w")[0]
        assert got.isclose(tn.tabulate(same.Y_TRUE, same.Y_PROB, sample_weight=same.WEIGHT))

    def test_weights_that_are_0_in_a_whole_batch(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 3 * 100)
        weight = np.where(np.arange(same.N_ROWS) < 500, 0.0, same.WEIGHT)
        np.savez(tmp_path / "x.npz", y_true=same.Y_TRUE, y_prob=same.Y_PROB, w=weight)
        got = tables(tmp_path, tmp_path / "x.npz", "--weight", "w")[0]
        assert got.isclose(tn.tabulate(same.Y_TRUE, same.Y_PROB, sample_weight=weight))

    def test_groups_have_any_name(self, parquet: Path) -> None:
        before = set(parquet.parent.parent.rglob("*"))
        out = parquet.with_name("by.json")
        assert main(["tabulate", str(parquet), *same.WIDE, "--by", "hospital", "-o", str(out)]) == 0
        assert set(parquet.parent.parent.rglob("*")) - before == {out}
        grouped = load_tables(str(out))
        for name in np.unique(same.HOSPITAL).tolist():
            mine = name == same.HOSPITAL
            assert grouped.groups[name].by_variation == tn.tabulate(same.Y_TRUE[mine], same.Y_PROB[mine])
        assert list(grouped.whole) == EXPECTED

    def test_combinations_of_columns_are_groups(self, parquet: Path) -> None:
        old = np.where(same.AGE >= 60, "60", "20")
        columns = same.wide() | {"decade": old}
        path = same.written(parquet, columns)
        made = []
        for options in (
            ["--by", "hospital", "--by", "decade"],
            ["--by", "hospital,decade"],
            ["--groups", "hospital, decade"],
            ["--by", "hospital", "--groups", "decade"],
        ):
            out = str(parquet.with_name("by.json"))
            assert main(["tabulate", str(path), *same.WIDE, *options, "-o", out]) == 0
            made.append(load_tables(out))
        assert made[0].by == "hospital,decade"
        assert all(other == made[0] for other in made)
        assert len(made[0].groups) == 8
        for site in np.unique(same.HOSPITAL).tolist():
            for decade in ("20", "60"):
                mine = (site == same.HOSPITAL) & (decade == old)
                name = f"hospital={site}, decade={decade}".replace("a,b", "a\\,b")
                assert made[0].groups[name].by_variation == tn.tabulate(same.Y_TRUE[mine], same.Y_PROB[mine])
        assert main(["assess", out, "--by", "hospital", "--by", "decade"]) == 0
        assert main(["assess", out, "--groups", "hospital, decade"]) == 0
        assert main(["assess", out, "--by", "hospital"]) == 2

    def test_groups_that_differ_by_a_nul_stay_two(self, tmp_path: Path) -> None:
        names = np.array(["a", "a\0", "a\0\0"], object)[np.arange(same.N_ROWS) % 3]
        path = same.written(
            tmp_path / "x.parquet", {"y": same.Y_TRUE, "p": list(same.Y_PROB), "g": names.tolist()}
        )
        out = str(tmp_path / "by.json")
        assert main(["tabulate", str(path), "--by", "g", "-o", out]) == 0
        groups = load_tables(out).groups
        assert {name: of.n_rows for name, of in groups.items()} == {"a": 1000, "a\0": 1000, "a\0\0": 1000}


class TestScales:
    @pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "npz", "jsonl"])
    @pytest.mark.parametrize("sign", ["", "%"])
    def test_percentages_are_divided_once(self, tmp_path: Path, ending: str, sign: str) -> None:
        percent = same.Y_PROB * 100
        expected = tn.tabulate(same.Y_TRUE, percent / 100)
        columns = {f"p_{c}": percent[:, c] for c in range(3)}
        if sign:
            columns = {name: [f"{value!r}%" for value in column.tolist()] for name, column in columns.items()}
        path = same.written(tmp_path / f"x.{ending}", {"y": same.Y_TRUE, **columns})
        assert tables(tmp_path, path, "--percent")[0] == expected
        assert main(["tabulate", str(path), "-o", str(tmp_path / "t.json")]) == 2

    def test_percentages_in_lists_and_narrow_numbers(self, tmp_path: Path) -> None:
        percent = (same.Y_PROB * 100).astype(np.float32)
        np.savez(tmp_path / "x.npz", y_true=same.Y_TRUE, y_prob=percent)
        expected = tn.tabulate(same.Y_TRUE, percent / np.float32(100))
        assert tables(tmp_path, tmp_path / "x.npz", "--percent")[0] == expected
        whole = np.array([[85, 15], [20, 80]])
        np.savez(tmp_path / "x.npz", y_true=[0, 1], y_prob=whole)
        assert tables(tmp_path, tmp_path / "x.npz", "--percent")[0] == tn.tabulate([0, 1], whole / 100)
        np.savez(tmp_path / "x.npz", y_true=[0, 1], y_prob=whole[:, 1])
        assert tables(tmp_path, tmp_path / "x.npz", "--percent")[0] == tn.tabulate([0, 1], whole[:, 1] / 100)

    def test_weights_beside_percentages(self, tmp_path: Path) -> None:
        columns = {f"p_{c}": same.Y_PROB[:, c] * 100 for c in range(3)}
        path = same.written(tmp_path / "x.csv", {"y": same.Y_TRUE, **columns, "w": same.WEIGHT})
        got = tables(tmp_path, path, "--percent", "--weight", "w")[0]
        assert got.isclose(tn.tabulate(same.Y_TRUE, same.Y_PROB, sample_weight=same.WEIGHT))

    def test_logits(self, tmp_path: Path) -> None:
        logits = np.log(same.Y_PROB + 0.01)
        np.savez(tmp_path / "x.npz", y_true=same.Y_TRUE, logits=logits)
        got = tables(tmp_path, tmp_path / "x.npz", "--logits")
        assert got[0] == tn.tabulate(same.Y_TRUE, logits, from_logits=True)

    @pytest.mark.parametrize("columns", [False, True])
    def test_logarithms_are_not_normalised(self, tmp_path: Path, columns: bool, capsys: Any) -> None:
        with np.errstate(divide="ignore"):
            logs = np.log(same.Y_PROB)
        arrays = {f"p_{c}": logs[:, c] for c in range(3)} if columns else {"logprobs": logs}
        np.savez(tmp_path / "x.npz", y_true=same.Y_TRUE, **arrays)
        got = tables(tmp_path, tmp_path / "x.npz", "--logprobs")
        assert got[0] == tn.tabulate(same.Y_TRUE, np.exp(logs))
        np.savez(tmp_path / "x.npz", y_true=same.Y_TRUE, logprobs=logs + 0.1)
        assert main(["tabulate", str(tmp_path / "x.npz"), "--logprobs", "-o", str(tmp_path / "t.json")]) == 2
        assert "row 1:" in capsys.readouterr().err

    def test_normalize(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "x.npz", y_true=same.Y_TRUE, y_prob=same.Y_PROB * 7)
        got = tables(tmp_path, tmp_path / "x.npz", "--normalize")
        assert got[0] == tn.tabulate(same.Y_TRUE, same.Y_PROB * 7, normalize=True)


class TestBins:
    def test_exact_bins_of_equal_mass_are_those_of_all_rows_at_once(
        self, parquet: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
    ) -> None:
        monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 3 * 101)
        got = tables(parquet.parent, parquet, *same.WIDE, "--equal-mass", 7, "--exact")
        expected = [
            tn.tabulate(same.Y_TRUE, same.Y_PROB, variation=name, bins=tn.EqualMass(7))
            for name in ("entropy", "confidence")
        ]
        assert got == expected
        assert "exact, in two passes" in capsys.readouterr().err

    @pytest.mark.fast
    def test_exact_bins_with_the_fused_engine(self, parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 3 * 101)
        options = ("--equal-mass", 7, "--exact", "--engine", "fused")
        got = tables(parquet.parent, parquet, *same.WIDE, *options)
        assert got == [
            tn.tabulate(same.Y_TRUE, same.Y_PROB, variation=name, bins=tn.EqualMass(7), engine="fused")
            for name in ("entropy", "confidence")
        ]

    def test_many_equal_values(self, tmp_path: Path) -> None:
        rows = np.repeat([[1.0, 0.0], [0.5, 0.5], [0.7, 0.3]], [500, 300, 200], axis=0)
        np.savez(tmp_path / "x.npz", y_true=np.zeros(1000, int), y_prob=rows)
        got = tables(tmp_path, tmp_path / "x.npz", "--equal-mass", 4, "--exact")[0]
        assert got == tn.tabulate(np.zeros(1000, int), rows, bins=tn.EqualMass(4))

    def test_one_pass_through_a_grid(self, parquet: Path, capsys: Any) -> None:
        got = tables(parquet.parent, parquet, *same.WIDE, "--equal-mass", 7)
        fine = tn.tabulate(same.Y_TRUE, same.Y_PROB, bins=tn.FineGrid())
        assert got[0] == fine.coarsen(tn.EqualMass(7))
        assert "from a grid of 4000 cells, in one pass: 14." in capsys.readouterr().err

    def test_grids_merge_and_groups_share_bins(self, parquet: Path) -> None:
        assert tables(parquet.parent, parquet, *same.WIDE, "--grid", 500)[0] == tn.tabulate(
            same.Y_TRUE, same.Y_PROB, bins=tn.FineGrid(500)
        )
        out = str(parquet.with_name("by.json"))
        assert (
            main(["tabulate", str(parquet), *same.WIDE, "--by", "hospital", "--equal-mass", "5", "-o", out])
            == 0
        )
        assert len({str(of.by_variation.bins) for of in load_tables(out).groups.values()}) == 1

    def test_edges_and_other_measures(self, parquet: Path) -> None:
        got = tables(
            parquet.parent, parquet, *same.WIDE, "--edges", "0,0.3,1", "--variation", "iqv", "--ties", "split"
        )
        assert got[0] == tn.tabulate(
            same.Y_TRUE, same.Y_PROB, bins=tn.Edges([0, 0.3, 1]), variation="iqv", ties="split"
        )
        assert got[1].n_bins == 2
        (only,) = tables(parquet.parent, parquet, *same.WIDE, "--variation", "confidence")
        assert only == EXPECTED[1]

    def test_exact_needs_files_and_no_weights(self, parquet: Path, tmp_path: Path) -> None:
        data = "y,p_0,p_1\n" + "0,0.5,0.5\n" * 20
        ended = run(
            "tabulate",
            "-",
            "--equal-mass",
            2,
            "--exact",
            "-o",
            "t",
            folder=tmp_path,
            stdin=data.encode(),
            code=2,
        )
        assert "standard input or a pipe can be read only once" in ended.stderr
        source = Source(
            find_inputs([str(parquet)]).files, Request(probs="p_*", classes="index", weight="w"), RowOptions()
        )
        with pytest.raises(Refusal, match="weights"):
            sum_source(source, Plan.of(bins=tn.EqualMass(3), exact=True))


@pytest.mark.fast
def test_the_engine_is_chosen_once_by_the_number_of_rows(
    parquet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the last digits of V do not depend on how a format cuts rows into batches."""

    def summed(**options: Any) -> Any:
        source = Source(
            find_inputs([str(parquet)]).files, Request(probs="p_*", classes="index", **options), RowOptions()
        )
        return sum_source(source, Plan())

    monkeypatch.setattr("trueness.files.summing.HELD_VALUES", 1000)
    whole = summed()
    assert whole.engine == "fused"
    monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 3 * 101)
    parts = summed()
    assert parts.engine == "fused"
    assert parts.tables.whole == whole.tables.whole
    assert parts.tables.whole.by_variation.same_counts(EXPECTED[0])
    assert summed(weight="w").engine == "portable"

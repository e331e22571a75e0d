"""Names, globs, folders and links: which files are read, each once, completely or not at all."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import predictions as same
import pytest
from reading import csv, summed, tables

import trueness as tn
from trueness.cli import main
from trueness.files import Plan, Request, RowOptions, Source, find_inputs, load_tables, sum_source
from trueness.refusals import Refusal

WITHOUT_PRIVILEGE = """
import ctypes, os, sys
prctl, PR_CAPBSET_DROP = ctypes.CDLL(None).prctl, 24
for capability in (1, 2):  # to pass over permissions: to read and write, and to list folders
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-m", "trueness", *sys.argv[1:]])
"""
"""The command as a user without privileges runs it, also if an administrator runs the tests."""


class TestSeveralFiles:
    def test_hive_partitions_are_columns(self, tmp_path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = pa.table({"y": same.Y_TRUE, "probs": list(same.Y_PROB), "site": same.HOSPITAL})
        pq.write_to_dataset(columns, tmp_path / "data", partition_cols=["site"])
        out = tmp_path / "by.json"
        assert main(["tabulate", str(tmp_path / "data"), "--groups", "site", "-o", str(out)]) == 0
        grouped = load_tables(str(out))
        assert set(grouped.groups) == set(same.HOSPITAL.tolist())
        for name, of_group in grouped.groups.items():
            mine = name == same.HOSPITAL
            assert of_group.by_variation == tn.tabulate(same.Y_TRUE[mine], same.Y_PROB[mine])
            assert of_group.by_class == tn.tabulate_events(same.Y_TRUE[mine], same.Y_PROB[mine])
        north = same.HOSPITAL == "north"
        expected = tn.tabulate(same.Y_TRUE[north], same.Y_PROB[north])
        assert tables(tmp_path, tmp_path / "data", "--where", "site = north")[0] == expected
        for pattern in (tmp_path / "data" / "*" / "*.parquet", tmp_path / "data" / "site=*"):
            assert main(["tabulate", str(pattern), "--groups", "site", "-o", str(out)]) == 0
            assert load_tables(str(out)) == grouped
        files = find_inputs([str(tmp_path / "data")]).files
        source = Source(files, Request(label="site", classes="a,b,c"), RowOptions())
        with pytest.raises(Refusal, match="names of folders"):
            sum_source(source, Plan())

    def test_linked_folders_are_not_followed_and_every_file_is_read_once(
        self, tmp_path: Path, capsys: Any
    ) -> None:
        data = tmp_path / "data"
        (data / "site=a").mkdir(parents=True)
        np.savez(data / "site=a" / "0.npz", y_true=[0], y_prob=[[0.5, 0.5]])
        (data / "again").symlink_to(data / "site=a")
        (data / "back").symlink_to(data)
        (data / "0.npz").symlink_to(data / "site=a" / "0.npz")
        for argument, linked in ((data, 3), (str(data / "**" / "*.npz"), 1), (str(data / "*"), 6)):
            assert tables(tmp_path, argument)[0].n_rows == 1
            assert f"{linked} links in the folders are not followed" in capsys.readouterr().err
            (file,) = find_inputs([str(argument)]).files
            assert file.partition == {"site": "a"}
        assert tables(tmp_path, data / "again")[0].n_rows == 1  # a link that is named is followed

    def test_a_link_to_nothing_is_refused(self, tmp_path: Path, capsys: Any) -> None:
        np.savez(tmp_path / "0.npz", y_true=[0], y_prob=[[0.5, 0.5]])
        (tmp_path / "more").symlink_to(tmp_path / "gone")
        assert main(["tabulate", str(tmp_path), "-o", str(tmp_path / "t")]) == 2
        assert "is a link to a file that does not exist" in capsys.readouterr().err

    @pytest.mark.parametrize("pattern", ["data", "data/*/*.npz", "data/**/*.npz", "data/*/1.npz", "d*"])
    @pytest.mark.parametrize("mode", [0o000, 0o444], ids=["closed", "names only"])
    def test_a_folder_that_cannot_be_read_is_refused(self, tmp_path: Path, pattern: str, mode: int) -> None:
        """In a process without privileges, also if an administrator runs the tests."""
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

    def test_a_folder_name_is_not_the_label_column(self, tmp_path: Path) -> None:
        folder = tmp_path / "target=quality"
        folder.mkdir()
        (folder / "x.csv").write_text("y,p_0,p_1\n0,0.5,0.5\n", encoding="utf-8")
        assert tables(tmp_path, folder / "x.csv")[0].n_rows == 1


class TestPaths:
    def test_names_without_a_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        csv(tmp_path / "preds.csv", "0,0.5,0.5")
        for names, expected in (
            (["pred.csv"], "did you mean 'preds.csv'"),
            (["*.parquet"], "no file matches"),
            (["none/x.csv"], "no folder 'none'"),
            (["preds.csv", "./preds.csv"], "named twice"),
        ):
            with pytest.raises(Refusal, match=expected):
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


def test_a_file_whose_name_is_not_utf8(tmp_path: Path, capsys: Any) -> None:
    folder = os.fsencode(tmp_path) + b"/hive/site=\xff"
    os.makedirs(folder)
    with open(folder + b"/x.csv", "w", encoding="utf-8") as file:
        file.write("y,p_0,p_1\n0,0.5,0.5\n")
    assert main(["tabulate", str(tmp_path / "hive"), "-o", str(tmp_path / "t.json")]) == 2
    cause, remedy = capsys.readouterr().err.splitlines()
    assert cause.endswith(r"\udcff/x.csv is not UTF-8")
    assert remedy == "  rename the file"

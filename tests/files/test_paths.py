"""Names, globs, folders and links: which files are read, each once, completely or not at all."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import predictions as same
import pytest
from reading import EXPECTED, csv, refused, summed, tables

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
        for name, of_group in grouped.groups.items():
            mine = name == same.HOSPITAL
            assert of_group.by_variation == tn.tabulate(same.Y_TRUE[mine], same.Y_PROB[mine])
            assert of_group.by_class == tn.tabulate_events(same.Y_TRUE[mine], same.Y_PROB[mine])
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
            assert "links to files that are already included" in capsys.readouterr().err
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

    def test_shards_merge_to_the_whole(self, tmp_path: Path) -> None:
        for number, part in enumerate(np.array_split(np.arange(same.N_ROWS), 3)):
            np.savez(tmp_path / f"{number}.npz", y_true=same.Y_TRUE[part], y_prob=same.Y_PROB[part])
            tables(tmp_path, tmp_path / f"{number}.npz")
            (tmp_path / "out.json").rename(tmp_path / f"{number}.json")
        assert main(["merge", str(tmp_path / "[0-9].json"), "-o", str(tmp_path / "all.json")]) == 0
        assert tn.CalibrationTable.load_all(tmp_path / "all.json") == EXPECTED


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

    def test_an_npy_file_needs_a_label_file(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", np.full((2, 2), 0.5))
        assert "--label-file" in refused(tmp_path / "x.npy").remedy


def test_a_file_whose_name_is_not_utf8(tmp_path: Path, capsys: Any) -> None:
    folder = os.fsencode(tmp_path) + b"/hive/site=\xff"
    os.makedirs(folder)
    with open(folder + b"/x.csv", "w", encoding="utf-8") as file:
        file.write("y,p_0,p_1\n0,0.5,0.5\n")
    assert main(["tabulate", str(tmp_path / "hive"), "-o", str(tmp_path / "t.json")]) == 2
    cause, remedy = capsys.readouterr().err.splitlines()
    assert cause.endswith(r"\udcff/x.csv is not UTF-8")
    assert remedy == "  rename the file"

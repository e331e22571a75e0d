"""Outputs: standard output, files that are written atomically, inputs that are never overwritten."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_process import run

from trueness.atomic_files import atomic_file, write_text
from trueness.cli import main
from trueness.files import check_outputs


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables, with their rows in x.csv in the same folder."""
    path = tmp_path_factory.mktemp("tables") / "x.json"
    run("simulate", "--n-rows", 500, "--alpha", "2,1,1", "-o", path.with_suffix(".csv"))
    run("tabulate", path.with_suffix(".csv"), "-o", path)
    return path


class TestStandardOutput:
    """`-` is standard output for every result, which then holds that result and nothing else."""

    def test_tables(self, tables: Path) -> None:
        written = tables.read_text()
        for arguments in (
            ["tabulate", tables.with_suffix(".csv"), "-o", "-"],
            ["merge", tables, "-o", "-"],
            ["assess", tables.with_suffix(".csv"), "--table-out", "-"],
        ):
            assert run(*arguments).stdout == written
        assert "standard output: 500 rows" in run("merge", tables, "-o", "-").stderr

    @pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet", "arrow", "npz"])
    def test_rows(self, tables: Path, tmp_path: Path, format: str) -> None:
        options = [] if format == "csv" else ["--format", format]
        simulate = [
            sys.executable,
            "-m",
            "trueness",
            "simulate",
            "--n-rows",
            "500",
            "--alpha",
            "2,1,1",
            "-o",
            "-",
        ]
        data = subprocess.run([*simulate, *options], capture_output=True, check=True).stdout
        (tmp_path / f"x.{format}").write_bytes(data)
        assert run("tabulate", tmp_path / f"x.{format}", "-o", "-").stdout == tables.read_text()

    def test_the_report_and_json(self, tables: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        page = run("assess", tables, "--report", "-", "--json", out).stdout
        assert page.startswith("<!doctype html>")
        assert page.rstrip().endswith("</html>")
        printed = run("assess", tables.with_suffix(".csv"), "--json", "-").stdout
        run("assess", tables.with_suffix(".csv"), "--json", out)
        assert printed == out.read_text()
        models = ["compare", tables.with_suffix(".csv"), tables.with_suffix(".csv"), "--names", "a,b"]
        run(*models, "--json", out)
        assert run(*models, "--json", "-").stdout == out.read_text()


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text("before")

    def write() -> None:
        with atomic_file(str(path)) as beside:
            Path(beside).write_text("half")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        write()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(str(pipe), "hello")
    assert os.read(end, 10) == b"hello"
    os.close(end)
    assert pipe.is_fifo()


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        os, "access", lambda *_: False
    )  # the user who runs the tests may have all permissions
    with pytest.raises(ValueError, match="cannot be written to"):
        check_outputs([str(tmp_path / "t")])


def test_a_read_only_file_is_not_replaced(npz: str, tmp_path: Path, capsys: Any) -> None:
    """Not even by root, who ignores permissions."""
    path = tmp_path / "t.json"
    path.write_text("before")
    path.chmod(0o444)
    assert main(["tabulate", npz, "-o", str(path)]) == 2
    assert "is read-only" in capsys.readouterr().err
    with pytest.raises(PermissionError, match="read-only"):
        write_text(str(path), "after")
    assert path.read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == ["t.json", "x.npz"]


def test_outputs_are_synchronized_before_they_are_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file, then the name, then the folder: after a power failure, the old or the complete new file exists."""
    path, done = tmp_path / "t", list[str]()
    fsync, replace = os.fsync, os.replace

    def flush(handle: int) -> None:
        is_folder = os.fstat(handle).st_ino == os.stat(tmp_path).st_ino
        done.append("folder" if is_folder else f"file of {os.fstat(handle).st_size} bytes")
        fsync(handle)

    def rename(*names: Any) -> None:
        done.append("rename")
        replace(*names)

    monkeypatch.setattr(os, "fsync", flush)
    monkeypatch.setattr(os, "replace", rename)
    write_text(str(path), "hello")
    assert done == ["file of 5 bytes", "rename", "folder"]


class TestNoInputIsOverwritten:
    """Files are compared by identity: the same name, another spelling, a symbolic link, a hard link."""

    @pytest.fixture(params=["name", "spelling", "link", "hard link"])
    def alias(self, request: pytest.FixtureRequest, tmp_path: Path) -> Any:
        def other_name(path: Any) -> str:
            name = tmp_path / "other-name"
            if request.param == "link":
                name.symlink_to(path)
            elif request.param == "hard link":
                name.hardlink_to(path)
            elif request.param == "spelling":
                return os.path.join(os.path.dirname(path), ".", os.path.basename(path))
            return str(path if request.param == "name" else name)

        return other_name

    @pytest.mark.parametrize(
        ("command", "target"),
        [
            ("assess {table} --json", "table"),
            ("assess {table} --report", "table"),
            ("assess {table} --table-out", "table"),
            ("assess {report} --report", "report"),
            ("assess {npz} --json", "npz"),
            ("assess {npy} --label-file {labels} --table-out", "labels"),
            ("assess {npy} --label-file {labels} --report", "labels"),
            ("tabulate {npy} --label-file {labels} -o", "labels"),
            ("tabulate {npz} -o", "npz"),
            ("merge {table} {more} -o", "table"),
            ("merge {table} {more} -o", "more"),
            ("compare {npz} {second} --json", "second"),
            ("compare {npy} {npy2} --label-file {labels} --json", "labels"),
        ],
    )
    def test_refused_and_left_as_it_was(
        self, npz: str, tmp_path: Path, *, alias: Any, command: str, target: str, capsys: Any
    ) -> None:
        paths = {name: str(tmp_path / name) for name in ("labels", "npy", "npy2", "second", "table", "more")}
        paths = {name: f"{path}{_ENDINGS[name]}" for name, path in paths.items()} | {"npz": npz}
        paths["report"] = str(tmp_path / "report.html")
        with np.load(npz) as arrays:
            np.save(paths["labels"], arrays["y_true"])
            np.save(paths["npy"], arrays["y_prob"])
            np.save(paths["npy2"], arrays["y_prob"])
        Path(paths["second"]).write_bytes(Path(npz).read_bytes())
        assert main(["tabulate", npz, "-o", paths["table"]]) == 0
        assert main(["tabulate", npz, "-o", paths["more"]]) == 0
        if target == "report":
            assert main(["assess", paths["table"], "--report", paths["report"], "--resamples", "39"]) == 0
        before = Path(paths[target]).read_bytes()
        assert main([*command.format(**paths).split(), alias(paths[target])]) == 2
        assert "is read and would be overwritten" in capsys.readouterr().err
        assert Path(paths[target]).read_bytes() == before

    @pytest.mark.parametrize(("one", "two"), [("--json", "--report"), ("--table-out", "--json")])
    def test_two_results_are_not_one_file(
        self, npz: str, tmp_path: Path, *, alias: Any, one: str, two: str, capsys: Any
    ) -> None:
        first = tmp_path / "result"
        first.write_text("before")
        assert main(["assess", npz, one, str(first), two, alias(first)]) == 2
        assert "used for two outputs" in capsys.readouterr().err
        assert first.read_text() == "before"

    def test_two_results_that_do_not_exist_yet(self, npz: str, tmp_path: Path, capsys: Any) -> None:
        (tmp_path / "link").symlink_to(tmp_path / "result")
        arguments = ["--json", str(tmp_path / "result"), "--report", str(tmp_path / "link")]
        assert main(["assess", npz, *arguments]) == 2
        assert "which is the same file, is used for two outputs" in capsys.readouterr().err
        assert main(["assess", npz, "--json", os.devnull, "--report", os.devnull]) == 0


_ENDINGS = {
    "labels": ".npy",
    "npy": ".npy",
    "npy2": ".npy",
    "second": ".npz",
    "table": ".json",
    "more": ".json",
}

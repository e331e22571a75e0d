"""The command `trueness` as a user meets it: real processes on real files."""

import fcntl
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.cli import COMMANDS, main
from trueness.files import load_tables

pytestmark = pytest.mark.cli

COMMAND = [sys.executable, "-m", "trueness"]


def run(*arguments: Any, folder: Path | None = None, code: int = 0) -> subprocess.CompletedProcess[str]:
    ended = subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ended.returncode == code, ended.stderr
    return ended


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the examples of the help name."""
    folder = tmp_path_factory.mktemp("examples")
    for name, seed, sharpen in (
        ("preds.parquet", 0, None),
        ("preds.csv", 0, None),
        ("a.parquet", 0, None),
        ("b.parquet", 0, "1.4"),
        ("b.csv", 0, "1.4"),
        ("shard-1.parquet", 1, None),
        ("shard-2.parquet", 2, None),
        ("over.npz", 0, "1.6"),
    ):
        more = [] if sharpen is None else ["--sharpen", sharpen]
        arguments = ["simulate", "--rows", "2000", "--alpha", "10,1,1", "--seed", str(seed), *more]
        assert main([*arguments, "-o", str(folder / name)]) == 0
    for name in ("shard-1", "shard-2"):
        assert main(["tabulate", str(folder / f"{name}.parquet"), "-o", str(folder / f"{name}.json")]) == 0
    shutil.copy(folder / "shard-1.json", folder / "all.json")
    assert main(["assess", str(folder / "a.parquet"), "--report", str(folder / "report.html")]) == 0
    assert main(["tabulate", str(folder / "preds.parquet"), "--grid", "-o", str(folder / "grid.json")]) == 0
    return folder


def examples(name: str) -> list[str]:
    text: str = import_module(f"trueness.cli.{name}").EXAMPLES
    return [line.strip() for line in text.splitlines() if line.startswith("  ")]


@pytest.mark.parametrize(("name", "line"), [(name, line) for name in COMMANDS for line in examples(name)])
def test_the_examples_of_the_help_run(files: Path, tmp_path: Path, name: str, line: str) -> None:
    for file in files.iterdir():
        shutil.copy(file, tmp_path)
    assert line.startswith(f"trueness {name}")
    script = f'trueness() {{ {shlex.join(COMMAND)} "$@"; }}\nset -e\n{line}'
    ended = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_report_is_read_back(files: Path, tmp_path: Path) -> None:
    page, first, again = tmp_path / "r.html", tmp_path / "1.json", tmp_path / "2.json"
    run("assess", files / "b.parquet", "--seed", 5, "--report", page, "--json", first)
    run("assess", page, "--seed", 5, "--json", again)
    assert json.loads(first.read_text()) == json.loads(again.read_text())
    assert "trueness assess" in page.read_text()  # the command that made it
    refused = run("assess", page, page.with_name("other.html"), code=2)
    assert "other.html" in refused.stderr
    twice = tmp_path / "copy.html"
    shutil.copy(page, twice)
    assert "by itself" in run("assess", page, twice, code=2).stderr
    page.write_text("<html></html>")
    assert "holds no tables" in run("assess", page, code=2).stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_shows_the_examples(name: str, capsys: Any) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([name, "--help"])
    shown = capsys.readouterr().out
    for line in examples(name):
        assert line in shown


def test_help_and_version_load_nothing_heavy() -> None:
    """`trueness --help` is quick because it loads neither NumPy nor anything optional."""
    code = (
        "import sys\nfrom trueness.cli import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'numpy', 'pyarrow', 'tqdm', 'numba', 'json'}))"
    )
    for arguments in (["--help"], ["--version"], ["assess", "--help"], ["completion", "bash"]):
        ended = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
        )
        assert ended.stdout.splitlines()[-1] == "[]", arguments


class TestAssess:
    def test_the_answer_is_that_of_the_library(self, files: Path, tmp_path: Path) -> None:
        ended = run(
            "assess", files / "over.npz", "--json", tmp_path / "r.json", "--table-out", tmp_path / "t.json"
        )
        arrays = np.load(files / "over.npz")
        expected = tn.assess(arrays["y_true"], arrays["y_prob"], rng=0)
        assert ended.stdout == f"{expected}\n"
        assert json.loads((tmp_path / "r.json").read_text()) == expected.to_dict()
        assert run("assess", tmp_path / "t.json").stdout == ended.stdout

    def test_groups(self, files: Path, capsys: Any) -> None:
        assert main(["assess", str(files / "over.npz"), "--by", "y_true", "--json", "-"]) == 0
        arrays = np.load(files / "over.npz")
        expected = tn.assess(arrays["y_true"], arrays["y_prob"], rng=0, groups=arrays["y_true"])
        assert json.loads(capsys.readouterr().out) == expected.to_dict()

    def test_equal_mass_exact(self, files: Path, capsys: Any) -> None:
        assert main(["assess", str(files / "over.npz"), "--equal-mass", "8", "--exact"]) == 0
        arrays = np.load(files / "over.npz")
        expected = tn.assess(arrays["y_true"], arrays["y_prob"], rng=0, bins=tn.EqualMass(8))
        assert capsys.readouterr().out == f"{expected}\n"

    def test_a_grid_is_put_into_bins(self, files: Path, capsys: Any) -> None:
        assert main(["assess", str(files / "preds.parquet")]) == 0
        straight = capsys.readouterr().out
        assert main(["assess", str(files / "grid.json")]) == 0
        shown = capsys.readouterr()
        assert shown.out == straight
        assert "10 bins of equal width, from a grid" in shown.err
        assert main(["assess", str(files / "grid.json"), "--equal-mass", "4"]) == 0
        assert "4 bins of entropy" in capsys.readouterr().out

    def test_confidence_as_the_measure(self, files: Path, capsys: Any) -> None:
        assert main(["assess", str(files / "over.npz"), "--variation", "confidence"]) == 0
        assert "ECE " in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("file", "options", "code", "told"),
        [
            ("preds.parquet", ["--fail-above", "0.1", "--fail-below-p", "0.0001"], 0, ""),
            ("over.npz", ["--fail-above", "0.1"], 1, "debiased VCE"),
            ("over.npz", ["--fail-above", "0.9"], 0, ""),
            ("over.npz", ["--fail-below-p", "0.0005"], 1, "all rows: p = "),
            ("over.npz", ["--fail-below-p", "0.01", "--by", "y_true"], 1, "group '2'"),
            ("over.npz", ["--fail-below-p", "0.001", "--resamples", "999"], 1, "all rows: p = "),
            ("over.npz", ["--fail-below-p", "1e-6"], 2, "must be from 1e-05 to below 1"),
            ("over.npz", ["--fail-below-p", "2"], 2, "must be from 1e-05 to below 1"),
        ],
    )
    def test_gate(self, files: Path, file: str, options: list[str], code: int, told: str) -> None:
        assert told in run("assess", file, *options, folder=files, code=code).stderr

    def test_tables_and_predictions_do_not_mix(self, files: Path, capsys: Any) -> None:
        assert main(["assess", str(files / "all.json"), str(files / "preds.csv")]) == 2
        assert "tabulate those first" in capsys.readouterr().err


class TestCompare:
    def test_the_answer_is_that_of_the_library(self, files: Path, tmp_path: Path) -> None:
        ended = run(
            "compare",
            files / "preds.csv",
            files / "over.npz",
            "--names",
            "old,new",
            "--json",
            tmp_path / "c.json",
        )
        arrays = np.load(files / "over.npz")
        y_true, y_prob = tn.simulate.calibrated(2000, [10, 1, 1], rng=0)
        expected = tn.compare(y_true, {"old": y_prob, "new": arrays["y_prob"]}, rng=0)
        assert ended.stdout == f"{expected}\n"
        assert json.loads((tmp_path / "c.json").read_text()) == expected.to_dict()

    def test_batches_of_other_lengths(
        self, files: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A Parquet file ends its batches elsewhere than an NPZ file; the rows stay side by side."""
        main(["compare", str(files / "preds.csv"), str(files / "over.npz"), "--equal-mass", "5"])
        straight = capsys.readouterr().out
        monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 3 * 333)
        main(["compare", str(files / "preds.csv"), str(files / "over.npz"), "--equal-mass", "5"])
        assert capsys.readouterr().out == straight

    def test_the_columns_of_further_models_are_matched_by_name(self, tmp_path: Path) -> None:
        """Labels that are numbers count the columns of the first file, whatever their order in the others."""
        y_true, y_prob = tn.simulate.calibrated(500, [3, 1, 1], rng=0)
        names = ["low", "mid", "high"]
        for file, order in (("a.csv", [0, 1, 2]), ("b.csv", [2, 0, 1])):
            rows = np.column_stack([y_true, y_prob[:, order]]).tolist()
            head = ",".join(["y", *(f"p_{names[c]}" for c in order)])
            lines = [",".join([str(int(row[0])), *map(str, row[1:])]) for row in rows]
            (tmp_path / file).write_text("\n".join([head, *lines]))
        out = tmp_path / "c.json"
        told = run("compare", tmp_path / "a.csv", tmp_path / "b.csv", "--json", out, "--resamples", 99).stderr
        assert "a: classes 0=p_low 1=p_mid 2=p_high" in told
        assert "b: classes 0=p_low 1=p_mid 2=p_high" in told
        answer = json.loads(out.read_text())["assessments"]
        assert answer["a"]["vce"] == answer["b"]["vce"]
        assert answer["a"]["vce"]["value"] == tn.vce(y_true, y_prob)
        text = (tmp_path / "b.csv").read_text()
        (tmp_path / "b.csv").write_text(text.replace("p_mid", "p_med", 1))
        assert "match only in part" in run("compare", tmp_path / "a.csv", tmp_path / "b.csv", code=2).stderr

    def test_what_cannot_be_compared(self, files: Path, tmp_path: Path, capsys: Any) -> None:
        preds, other = str(files / "preds.csv"), str(files / "shard-1.parquet")
        short, wide, bad = (str(tmp_path / f"{name}.npz") for name in ("short", "wide", "bad"))
        y_true, y_prob = tn.simulate.calibrated(2000, [10, 1, 1], rng=0)
        np.savez(short, y_true=y_true[:700], y_prob=y_prob[:700])
        np.savez(wide, y_true=y_true, y_prob=np.full((2000, 4), 0.25))
        y_prob[1234] = 0.9
        np.savez(bad, y_true=y_true, y_prob=y_prob)
        for arguments, told in (
            ([preds], "two models or more"),
            ([preds, other], "row 1 has class"),
            ([preds, short], "short has fewer rows than preds"),
            ([preds, wide], "different numbers of classes"),
            ([preds, bad], f"{bad}, row 1235: "),
            ([preds, str(files / "all.json")], "needs the rows"),
            ([preds, bad, "--names", "a"], "2 different names"),
            ([preds, bad, "--on-bad-rows", "skip"], "fix them first"),
            ([preds, bad, "--weight", "y_true", "--equal-mass", "5"], "without weights"),
        ):
            assert main(["compare", *arguments]) == 2, arguments
            assert told in capsys.readouterr().err, arguments

    def test_groups_and_weights_come_from_the_first_file(
        self, files: Path, tmp_path: Path, capsys: Any
    ) -> None:
        y_true, y_prob = tn.simulate.calibrated(2000, [10, 1, 1], rng=0)
        site = np.where(np.arange(2000) % 2, "odd", "even")
        np.savez(tmp_path / "x.npz", y_true=y_true, y_prob=y_prob, site=site)
        arguments = [
            "compare",
            str(tmp_path / "x.npz"),
            str(files / "over.npz"),
            "--by",
            "site",
            "--json",
            "-",
        ]
        assert main(arguments) == 0
        assert [group["name"] for group in json.loads(capsys.readouterr().out)["groups"]] == ["even", "odd"]


class TestBins:
    def test_the_sweep_is_that_of_the_library(self, files: Path, tmp_path: Path, capsys: Any) -> None:
        arrays = np.load(files / "over.npz")
        fine = tn.tabulate(arrays["y_true"], arrays["y_prob"], bins=tn.FineGrid())
        expected = tn.sweep_bins(fine, [5, 20], rng=0)
        out = str(tmp_path / "s.json")
        assert main(["bins", str(files / "over.npz"), "--numbers", "5,20", "--json", out]) == 0
        assert capsys.readouterr().out == f"{expected}\n"
        assert json.loads(Path(out).read_text()) == expected.to_dict()
        assert main(["bins", str(files / "over.npz"), "--numbers", "5,20", "--json", "-"]) == 0
        assert json.loads(capsys.readouterr().out) == expected.to_dict()

    @pytest.mark.parametrize("numbers", ["5,x", "", "5;6"])
    def test_numbers_are_numbers(self, files: Path, capsys: Any, numbers: str) -> None:
        assert main(["bins", str(files / "over.npz"), "--numbers", numbers]) == 2
        assert "such as 5,10,20" in capsys.readouterr().err


class TestSimulate:
    @pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "tsv.gz", "jsonl.zst", "npz"])
    def test_the_rows_are_those_of_the_library(self, tmp_path: Path, ending: str) -> None:
        out = tmp_path / f"x.{ending}"
        run("simulate", "--rows", "1.5e3", "--alpha", "2,1,1", "--seed", 3, "--sharpen", 1.2, "-o", out)
        y_true, y_prob = tn.simulate.calibrated(1500, [2, 1, 1], rng=3)
        expected = tn.tabulate(y_true, tn.simulate.sharpen(y_prob, 1.2))
        assert main(["tabulate", str(out), "-o", str(tmp_path / "t.json")]) == 0
        assert load_tables(str(tmp_path / "t.json")).whole.by_variation == expected

    @pytest.mark.parametrize(
        "arguments",
        [
            ["--rows", "x", "--alpha", "1,1"],
            ["--rows", "1.5", "--alpha", "1,1"],
            ["--rows", "10", "--alpha", "a"],
            ["--rows", "10", "--alpha", "1"],
            ["--rows", "10", "--alpha", "1,1", "--sharpen", "-1"],
        ],
    )
    def test_wrong_arguments_write_nothing(self, tmp_path: Path, arguments: list[str], capsys: Any) -> None:
        assert main(["simulate", *arguments, "-o", str(tmp_path / "x.csv")]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 2
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("seed", ["-1", "x", "1.5"])
    def test_seeds_are_whole_numbers(self, files: Path, tmp_path: Path, seed: str, capsys: Any) -> None:
        for arguments in (
            ["assess", str(files / "over.npz")],
            ["simulate", "--rows", "9", "--alpha", "1,1", "-o", "x.csv"],
        ):
            with pytest.raises(SystemExit, match="2"):
                main([*arguments, "--seed", seed])
            assert "a whole number from 0 up" in capsys.readouterr().err

    def test_an_unknown_ending(self, tmp_path: Path, capsys: Any) -> None:
        for name in ("x.docx", "x.npy"):
            assert main(["simulate", "--rows", "9", "--alpha", "1,1", "-o", str(tmp_path / name)]) == 2
            assert "cannot be written" in capsys.readouterr().err


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables, and in x.csv beside them the rows they are of."""
    path = tmp_path_factory.mktemp("tables") / "x.json"
    run("simulate", "--rows", 500, "--alpha", "2,1,1", "-o", path.with_suffix(".csv"))
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
            "--rows",
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
        for command in ("assess", "bins"):
            files = [tables.with_suffix(".csv")]
            printed = run(command, *files, "--json", "-").stdout
            run(command, *files, "--json", out)
            assert printed == out.read_text()
        models = ["compare", tables.with_suffix(".csv"), tables.with_suffix(".csv"), "--names", "a,b"]
        run(*models, "--json", out)
        assert run(*models, "--json", "-").stdout == out.read_text()

    def test_only_one_result_fits(self, tables: Path, tmp_path: Path, capsys: Any) -> None:
        assert main(["assess", str(tables), "--json", "-", "--report", "-"]) == 2
        assert "standard output (-) is named for two results" in capsys.readouterr().err
        csv = str(tables.with_suffix(".csv"))
        assert main(["tabulate", csv, "-o", str(tmp_path / "t"), "--checkpoint", "-"]) == 2
        assert "cannot be standard output" in capsys.readouterr().err
        assert main(["simulate", "--rows", "9", "--alpha", "1,1", "-o", "x.csv", "--format", "csv"]) == 2
        assert "--format is for standard output" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("head", "row"),
    [(b"y,p_0,p_1\n", b"0,0.5,0.5\n"), (b"", b'{"y": 0, "p": [0.5, 0.5]}\n')],
    ids=["csv", "json lines"],
)
def test_ctrl_c_while_standard_input_stalls(head: bytes, row: bytes) -> None:
    """The write returns when all but what a pipe holds has been read: rows are being read, and no more will come."""
    with subprocess.Popen(
        [*COMMAND, "assess", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(head + row * (4 * 2**20 // len(row)))
        process.stdin.flush()
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(timeout=60) == 130
        finally:
            process.kill()
        # The wait for the thread that reads is a third of a second; the rest is for a busy machine.
        assert time.monotonic() - begun < 5
        assert process.stderr is not None
        assert process.stderr.read().splitlines()[-1].startswith(b"stopped: nothing was written")


class TestErrors:
    @pytest.mark.parametrize(
        "arguments",
        [
            ["tabulate", "preds.csv", "-o", "none/t.json"],
            ["tabulate", "preds.csv", "-o", "preds.csv"],
            ["tabulate", "preds.csv", "-o", "."],
            ["tabulate", "preds.csv", "--variation", "entorpy", "-o", "t.json"],
            ["tabulate", "preds.csv", "--bins", "0", "-o", "t.json"],
            ["tabulate", "preds.csv", "--exact", "-o", "t.json"],
            ["tabulate", "preds.csv", "--threads", "0", "-o", "t.json"],
            ["tabulate", "preds.csv", "--edges", "a,b", "-o", "t.json"],
            ["tabulate", "preds.csv", "--edges", "1,0", "-o", "t.json"],
            ["tabulate", "preds.csv", "--grid", "--bins", "3", "-o", "t.json"],
            ["tabulate", "preds.csv", "--where", "p_0", "-o", "t.json"],
            ["merge", "none.json", "-o", "t.json"],
            ["merge", "all.json", "all.json", "-o", "t.json"],
            ["merge", "preds.csv", "-o", "t.json"],
            ["merge", "all.json", "grid.json", "-o", "t.json"],
            ["assess", "preds.csv", "--level", "2"],
        ],
        ids=" ".join,
    )
    def test_two_lines_exit_2_and_nothing_written(
        self, files: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
    ) -> None:
        monkeypatch.chdir(files)
        before = {path: path.read_bytes() for path in files.iterdir()}
        assert main(arguments) == 2
        lines = [
            line
            for line in capsys.readouterr().err.splitlines()
            if " from " not in line or "trueness" in line
        ]
        assert lines[-2].startswith(f"trueness {arguments[0]}: "), lines
        assert lines[-1].startswith("  ")
        assert {path: path.read_bytes() for path in files.iterdir()} == before

    def test_debug_shows_the_traceback(self, files: Path) -> None:
        ended = subprocess.run(
            [*COMMAND, "assess", "none.csv", "--debug"], capture_output=True, text=True, check=False
        )
        assert ended.returncode == 2
        assert "Traceback" in ended.stderr
        assert "Traceback" not in run("assess", "none.csv", code=2).stderr

    @pytest.mark.parametrize(
        "fault",
        [
            "def fail(*_, **__):\n    return {}['missing']",
            "def fail(*_, **__):\n    raise ValueError('raised by other code')",
            "def fail(*_, **__):\n    return fail()",
        ],
        ids=["KeyError", "ValueError of another package", "RecursionError"],
    )
    def test_an_unexpected_error_is_no_failed_gate(self, files: Path, tmp_path: Path, fault: str) -> None:
        """In a real process, whose libraries fail; 1 is the code of a gate, so that a pipeline can rely on it."""
        (tmp_path / "sitecustomize.py").write_text(
            f"{fault}\nimport trueness.files\ntrueness.files.sum_source = fail"
        )
        command = [*COMMAND, "assess", str(files / "over.npz"), "--fail-above", "0"]
        for debug in ([], ["--debug"]):
            ended = subprocess.run(
                [*command, *debug],
                env={**os.environ, "PYTHONPATH": str(tmp_path)},
                capture_output=True,
                text=True,
                check=False,
            )
            assert ended.returncode == 70, ended.stderr
            cause, remedy = ended.stderr.splitlines()[-2:]
            assert cause.startswith("trueness assess: unexpected error (")
            assert "please report it" in remedy
            assert ("Traceback" in ended.stderr) == bool(debug)
        assert subprocess.run(command, capture_output=True, check=False).returncode == 1

    def test_a_broken_installation_is_no_failed_gate(self, files: Path, tmp_path: Path) -> None:
        (tmp_path / "numpy.py").write_text("raise ImportError('a library of the system is missing')")
        ended = subprocess.run(
            [*COMMAND, "assess", str(files / "over.npz")],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 70
        assert "a library of the system is missing" in ended.stderr

    @pytest.mark.parametrize(
        ("redirection", "code"),
        [(">/dev/full", 2), ("2>/dev/full", 2), (">&-", 0), ("2>&-", 0), (">/dev/null", 0)],
    )
    def test_streams_that_cannot_be_written_are_no_failed_gate(
        self, files: Path, redirection: str, code: int
    ) -> None:
        command = f"{shlex.join(COMMAND)} assess {files / 'over.npz'} {redirection}"
        assert subprocess.run(["bash", "-c", command], capture_output=True, check=False).returncode == code
        command = f"{shlex.join(COMMAND)} assess none.npz {redirection}"
        assert subprocess.run(["bash", "-c", command], capture_output=True, check=False).returncode == 2

    def test_an_operation_of_our_own_that_fails_is_unexpected(self) -> None:
        """A `raise` of this package refuses; a NumPy call of it that fails is a fault, though both are ValueErrors."""
        from trueness.cli._errors import is_refusal

        scope: dict[str, Any] = {"__name__": "trueness.files.summing", "np": np}
        exec("def refuse():\n    raise ValueError('bad')\ndef fail():\n    np.zeros(3).reshape(2)", scope)
        for name, refused in (("refuse", True), ("fail", False)):
            with pytest.raises(ValueError, match=r"bad|reshape") as caught:
                scope[name]()
            assert is_refusal(caught.value) == refused

    def test_merging_other_groups_is_refused(self, files: Path, tmp_path: Path, capsys: Any) -> None:
        main(["tabulate", str(files / "preds.csv"), "--by", "y_true", "-o", str(tmp_path / "by.json")])
        assert (
            main(["merge", str(tmp_path / "by.json"), str(files / "all.json"), "-o", str(tmp_path / "t")])
            == 2
        )
        assert "same --groups" in capsys.readouterr().err
        shutil.copy(tmp_path / "by.json", tmp_path / "by2.json")
        arguments = [
            "merge",
            str(tmp_path / "by.json"),
            str(tmp_path / "by2.json"),
            "-o",
            str(tmp_path / "t"),
        ]
        assert main(arguments) == 0
        assert load_tables(str(tmp_path / "t")).n_rows == 4000

    def test_without_pyarrow(
        self, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
    ) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        assert main(["tabulate", str(files / "preds.csv"), "-o", str(tmp_path / "t")]) == 2
        assert "trueness[cli]" in capsys.readouterr().err
        assert main(["tabulate", str(files / "over.npz"), "-o", str(tmp_path / "t")]) == 0

    def test_a_reader_that_goes_away_is_no_error(self, files: Path) -> None:
        command = (
            f"{shlex.join(COMMAND)} bins {files / 'over.npz'} 2>/dev/null | true; echo ${{PIPESTATUS[0]}}"
        )
        ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        assert ended.stdout.strip() == "0"

    def test_interrupted_without_a_checkpoint(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "x.csv")
        process = subprocess.Popen(
            [*COMMAND, "tabulate", "-", "-o", str(tmp_path / "t.json")],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"y,p_0,p_1\n" + b"0,0.5,0.5\n" * 2**18)
        process.stdin.flush()
        process.stderr.readline()  # what was found is told when reading has begun
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.stdin.close()
        told = process.stderr.read().decode()
        process.stderr.close()
        assert process.wait(timeout=60) == 130
        assert "nothing was written" in told
        assert "--checkpoint" in told
        assert not (tmp_path / "t.json").exists()


class TestProgress:
    @pytest.mark.parametrize(
        "given",
        [
            "tabulate {files}/shard-1.parquet {files}/shard-2.parquet",
            "tabulate {files}/shard-1.parquet --equal-mass 5 --exact",
            "simulate --rows 3e5 --alpha 1,1,1",
        ],
    )
    def test_on_a_terminal_only(self, files: Path, tmp_path: Path, given: str) -> None:
        """The bar comes after a second; here after none, in a process whose stderr is a terminal."""
        script = (
            "import sys, trueness._progress as progress\nprogress.APPEARS_AFTER = 0.0\n"
            "from trueness.cli import main\nsys.exit(main(sys.argv[1:]))"
        )
        command = [sys.executable, "-c", script, *given.format(files=files).split()]
        command += ["-o", str(tmp_path / ("t.npz" if "simulate" in given else "t.json"))]
        assert b"%|" not in subprocess.run(command, capture_output=True, check=True).stderr
        above, below = pty.openpty()
        fcntl.ioctl(below, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))  # a new one has no width
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=below)
        os.close(below)
        seen = b""
        while process.poll() is None or select.select([above], [], [], 0)[0]:
            try:
                seen += os.read(above, 4096) if select.select([above], [], [], 0.1)[0] else b""
            except OSError:  # what a terminal says at its end
                break
        os.close(above)
        assert process.wait() == 0
        assert b"%|" in seen


class TestCompletion:
    def complete(self, *words: str) -> list[str]:
        script = subprocess.run(
            [*COMMAND, "completion", "bash"], capture_output=True, text=True, check=True
        ).stdout
        given = " ".join(shlex.quote(word) for word in ("trueness", *words))
        script += f"\nCOMP_WORDS=({given}); COMP_CWORD={len(words)}; _trueness; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        return subprocess.run(
            ["bash", "-c", script], capture_output=True, text=True, check=True
        ).stdout.split()

    def test_bash(self, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(files)
        assert self.complete("ass") == ["assess"]
        assert self.complete("assess", "--equal") == ["--equal-mass"]
        assert self.complete("tabulate", "x.csv", "--ties", "s") == ["split"]
        assert self.complete("assess", "preds.c") == ["preds.csv"]
        assert self.complete("completion", "f") == ["fish"]
        assert "--version" in self.complete("--")

    @pytest.mark.parametrize("shell", ["zsh", "fish"])
    def test_other_shells_know_every_command_and_option(self, shell: str, capsys: Any) -> None:
        assert main(["completion", shell]) == 0
        script = capsys.readouterr().out
        for name in COMMANDS:
            assert re.search(rf"\b{name}\b", script)
        if shell == "fish":  # an apostrophe in a text must not end it
            for line in script.splitlines():
                assert line.replace(r"\'", "").count("'") % 2 == 0, line
        assert "equal-mass" in script


def test_names_of_the_package_come_when_they_are_asked_for() -> None:
    """What is promised, what a type checker sees and what is found are the same."""
    source = Path(tn.__file__).read_text(encoding="utf-8")
    seen = source.split("if TYPE_CHECKING:")[1].split("__all__")[0]
    for name in tn.__all__:
        assert getattr(tn, name) is not None
        assert name == "__version__" or re.search(rf"\b{name}\b", seen), name
    with pytest.raises(AttributeError, match="no attribute 'vcee'"):
        _ = tn.vcee  # type: ignore[attr-defined]


def test_the_page_about_files_can_be_followed(tmp_path: Path) -> None:
    """Every command of docs/files.md, in order, in one folder; lines shown under it are among what it prints."""
    page = Path(__file__).parents[2].joinpath("docs", "files.md").read_text(encoding="utf-8")
    lines = [
        line for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL) for line in block.splitlines()
    ]
    shown = ""
    for line in lines:
        if not line.startswith("$ "):
            assert line in shown.splitlines(), line
            continue
        script = f'trueness() {{ {shlex.join(COMMAND)} "$@"; }}\n{line[2:]}'
        ended = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, (line, ended.stderr)
        shown = ended.stderr + ended.stdout
    assert len(lines) > 15

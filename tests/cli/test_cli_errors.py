"""Errors: two lines or one line of JSON, exit codes, and nothing written."""

import json
import math
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_process import COMMAND, run

from trueness.cli import main
from trueness.cli.vocabulary import COMMAND as COMMAND_TERMS
from trueness.refusals import InvalidValueError

pytestmark = pytest.mark.cli


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["demo", "--nonsense"]])
def test_wrong_arguments_end_with_2(arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    cause, remedy = capsys.readouterr().err.splitlines()
    assert cause.startswith("trueness")
    assert remedy.endswith("--help")


@pytest.mark.parametrize(
    ("given", "cause", "remedy"),
    [
        ("assess x.csv --lable y", "unknown option --lable", "did you mean --label? "),
        ("assess x.csv --lable=y", "unknown option --lable=y", "did you mean --label? "),
        ("assess x.csv --zzz", "unknown option --zzz", ""),
        ("tabulate x.csv", "the following arguments are required: -o/--output", ""),
        ("assess x.csv --bins many", "argument --bins: invalid int value: 'many'", ""),
    ],
)
def test_a_line_of_cause_and_one_of_remedy(given: str, cause: str, remedy: str, capsys: Any) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(given.split())
    name = given.split(maxsplit=1)[0]
    assert capsys.readouterr().err == (f"trueness {name}: {cause}\n  {remedy}see trueness {name} --help\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["tabulate", "preds.csv", "-o", "preds.csv"],
        ["tabulate", "preds.csv", "-o", "."],
        ["tabulate", "preds.csv", "--variation", "entorpy", "-o", "t.json"],
        ["tabulate", "preds.csv", "--bins", "0", "-o", "t.json"],
        ["tabulate", "preds.csv", "--n-threads", "0", "-o", "t.json"],
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
    files: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(files)
    before = {path: path.read_bytes() for path in files.iterdir()}
    assert main(arguments) == 2
    lines = [
        line for line in capsys.readouterr().err.splitlines() if " from " not in line or "trueness" in line
    ]
    assert lines[-2].startswith(f"trueness {arguments[0]}: "), lines
    assert lines[-1].startswith("  ")
    assert {path: path.read_bytes() for path in files.iterdir()} == before


def test_errors_of_the_system_in_two_lines(npz: str, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    for error, message in (
        (PermissionError(13, "Permission denied", "x.npz"), "x.npz: Permission denied"),
        (MemoryError(), "out of memory"),
        (InvalidValueError("bad-input", "cause", "remedy"), "cause\n  remedy"),
    ):

        def fail(*_: Any, error: Exception = error, **__: Any) -> Any:
            raise error

        monkeypatch.setattr("trueness.files.sum_source", fail)
        assert main(["tabulate", npz, "-o", str(tmp_path / "t")]) == 2
        assert message in capsys.readouterr().err


REFUSAL_KEYS = {
    "kind", "code", "argument", "source", "row", "class_index", "value", "cause", "remedy",
}  # fmt: skip


def json_error(*arguments: Any, code: int = 2) -> dict[str, Any]:
    """The last line on stderr of a command with --json-errors."""
    content: dict[str, Any] = json.loads(run("--json-errors", *arguments, code=code).stderr.splitlines()[-1])
    assert set(content) == REFUSAL_KEYS
    return content


def test_a_bad_row_as_json(tmp_path: Path) -> None:
    path = tmp_path / "preds.csv"
    path.write_text("y,p_0,p_1\n0,0.5,0.5\n1,0.5,0.5\n1,0.7,0.7\n")
    content = json_error("assess", path)
    assert content["kind"] == "refusal"
    assert (content["code"], content["source"], content["row"]) == ("sum-not-1", str(path), 3)
    assert content["cause"].startswith(f"{path}, row 3: ")
    assert "--normalize" in content["remedy"]
    assert run("assess", path, code=2).stderr.splitlines()[-2:] == [
        f"trueness assess: {content['cause']}",
        f"  {content['remedy']}",
    ]


def test_every_fact_of_a_refusal_is_in_its_json(
    npz: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise InvalidValueError(
            "not-finite",
            "{y_prob} is {value}{place}",
            "{skip_rows}",
            argument="y_prob",
            source="preds.csv",
            row=18,
            class_index=2,
            value=math.inf,
        )

    monkeypatch.setattr("trueness.files.sum_source", fail)
    command = ["tabulate", npz, "-o", str(tmp_path / "t")]
    assert main(["--json-errors", *command]) == 2
    assert json.loads(capsys.readouterr().err.splitlines()[-1]) == {
        "kind": "refusal",
        "code": "not-finite",
        "argument": "y_prob",
        "source": "preds.csv",
        "row": 18,
        "class_index": 2,
        "value": "inf",
        "cause": "preds.csv, row 18: the prediction is inf in class 2",
        "remedy": COMMAND_TERMS["skip_rows"],
    }
    assert main(command) == 2
    assert capsys.readouterr().err.splitlines()[-2:] == [
        "trueness tabulate: preds.csv, row 18: the prediction is inf in class 2",
        f"  {COMMAND_TERMS['skip_rows']}",
    ]


def test_wrong_arguments_and_missing_files_as_json() -> None:
    unknown = json_error("assess", "x.csv", "--lable", "y")
    assert (unknown["code"], unknown["argument"]) == ("unknown-option", "--lable")
    level = json_error("bins", "x.csv", "--level", "2")
    assert (level["code"], level["argument"], level["value"]) == ("bad-argument", "--level", 2.0)
    missing = json_error("merge", "none.json", "-o", "t.json")
    assert (missing["code"], missing["argument"]) == ("missing-file", "none.json")


@pytest.mark.parametrize(
    ("error", "code"),
    [(InvalidValueError("bad-argument", "bad"), 2), (ValueError("bad"), 70), (ImportError("gone"), 70)],
)
def test_only_refusals_are_bad_input(
    npz: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, *, error: Exception, code: int
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr("trueness.files.sum_source", fail)
    assert main(["tabulate", npz, "-o", str(tmp_path / "t"), "--json-errors"]) == code
    content = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert content["kind"] == ("refusal" if code == 2 else "fault")
    assert content["code"] == ("bad-argument" if code == 2 else "unexpected-error")


def test_debug_shows_the_traceback(files: Path) -> None:
    ended = subprocess.run(
        [*COMMAND, "assess", "none.csv", "--debug"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "Traceback" in ended.stderr
    assert "Traceback" not in run("assess", "none.csv", code=2).stderr


def test_debug_in_this_process(tmp_path: Path, capsys: Any) -> None:
    assert main(["tabulate", str(tmp_path / "none.csv"), "-o", str(tmp_path / "t"), "--debug"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("Traceback")
    assert message.splitlines()[-2].startswith("trueness tabulate: the file")


@pytest.mark.parametrize(
    "fault",
    [
        "def fail(*_, **__):\n    return {}['missing']",
        "def fail(*_, **__):\n    raise ValueError('raised by other code')",
        "def fail(*_, **__):\n    return fail()",
    ],
    ids=["KeyError", "ValueError of another package", "RecursionError"],
)
def test_an_unexpected_error_is_not_a_failed_gate(files: Path, tmp_path: Path, fault: str) -> None:
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


def test_a_broken_installation_is_not_a_failed_gate(files: Path, tmp_path: Path) -> None:
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
def test_streams_that_cannot_be_written_are_not_a_failed_gate(
    files: Path, redirection: str, code: int
) -> None:
    command = f"{shlex.join(COMMAND)} assess {files / 'over.npz'} {redirection}"
    assert subprocess.run(["bash", "-c", command], capture_output=True, check=False).returncode == code
    command = f"{shlex.join(COMMAND)} assess none.npz {redirection}"
    assert subprocess.run(["bash", "-c", command], capture_output=True, check=False).returncode == 2


def test_a_reader_that_closes_the_pipe_is_not_an_error(files: Path) -> None:
    command = f"{shlex.join(COMMAND)} bins {files / 'over.npz'} 2>/dev/null | true; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "0"

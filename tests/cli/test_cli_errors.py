"""Errors: two lines or one line of JSON, exit codes, and nothing written."""

import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_process import COMMAND, run

from trueness.cli import main
from trueness.refusals import InvalidValueError


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


def test_every_fact_of_a_refusal_is_in_its_json(
    npz: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise InvalidValueError(
            "not-finite",
            "`y_prob` is inf in class 2",
            "remove such rows first",
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
        "remedy": "skip such rows with --on-bad-rows skip",
    }
    assert main(command) == 2
    assert capsys.readouterr().err.splitlines()[-2:] == [
        "trueness tabulate: preds.csv, row 18: the prediction is inf in class 2",
        "  skip such rows with --on-bad-rows skip",
    ]


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

"""Ctrl-C and checkpoints."""

import signal
import subprocess
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from command_process import COMMAND

from trueness.cli import main

CSV = b"y,p_0,p_1\n", b"0,0.5,0.5\n"
JSON_LINES = b"", b'{"y": 0, "p": [0.5, 0.5]}\n'


def interrupt_while_input_stalls(arguments: list[str], head: bytes, row: bytes) -> str:
    """The last line on stderr of a process that is interrupted while it waits for more rows.

    The write returns when all but the capacity of the pipe has been read: the process is reading rows then, and no more
    will come.
    """
    with subprocess.Popen(
        [*COMMAND, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(head + row * (4 * 2**20 // len(row)))
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(timeout=60) == 130  # standard input is still open
        finally:
            process.kill()
        return process.stderr.read().decode().splitlines()[-1]


@pytest.mark.parametrize(("head", "row"), [CSV, JSON_LINES], ids=["csv", "json lines"])
def test_ctrl_c_while_standard_input_stalls(head: bytes, row: bytes) -> None:
    printed = interrupt_while_input_stalls(["assess", "-"], head, row)
    assert printed.startswith("stopped: nothing was written")


def test_interrupted_without_a_checkpoint(tmp_path: Path) -> None:
    printed = interrupt_while_input_stalls(["tabulate", "-", "-o", str(tmp_path / "t.json")], *CSV)
    assert "nothing was written" in printed
    assert "--checkpoint" in printed
    assert not (tmp_path / "t.json").exists()


def test_the_message_depends_on_the_checkpoint(
    npz: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("trueness.files.sum_source", stop)
    out, kept = str(tmp_path / "t.json"), str(tmp_path / "c")
    assert main(["tabulate", npz, "-o", out]) == 130
    assert "can resume if given --checkpoint FILE" in capsys.readouterr().err
    assert main(["tabulate", npz, "-o", out, "--checkpoint", kept]) == 130
    assert "no checkpoint was saved yet" in capsys.readouterr().err

    def stop_later(*_: Any, **__: Any) -> Any:
        Path(kept).touch()
        raise KeyboardInterrupt

    monkeypatch.setattr("trueness.cli._summation.checkpoint_of", lambda *_, **__: Namespace(path=kept))
    monkeypatch.setattr("trueness.files.sum_source", stop_later)
    assert main(["tabulate", npz, "-o", out, "--checkpoint", kept]) == 130
    assert f"the sums so far are in {kept}" in capsys.readouterr().err
    monkeypatch.setattr("trueness.cli.demo.run", stop)
    assert main(["demo"]) == 130
    assert "run the same command again" in capsys.readouterr().err


def test_checkpoints_are_removed_when_the_result_is_written(npz: str, tmp_path: Path, capsys: Any) -> None:
    kept = tmp_path / "c"
    options = ["--checkpoint", str(kept), "--checkpoint-every", "0"]
    for command in (["tabulate", npz, "-o", str(tmp_path / "t")], ["assess", npz], ["bins", npz]):
        assert main([*command, *options]) == 0
        assert not kept.exists()
    kept.write_text("{}")
    assert main(["tabulate", npz, "-o", str(tmp_path / "t"), *options]) == 2
    assert "not a checkpoint" in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["nan", "-1", "inf"])
def test_impossible_times_between_checkpoints(npz: str, tmp_path: Path, seconds: str, capsys: Any) -> None:
    options = ["--checkpoint", str(tmp_path / "c"), "--checkpoint-every", seconds]
    assert main(["tabulate", npz, "-o", str(tmp_path / "t.json"), *options]) == 2
    assert "--checkpoint-every must be a finite number of seconds" in capsys.readouterr().err

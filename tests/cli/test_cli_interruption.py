"""Ctrl-C."""

import signal
import subprocess
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


def test_an_interrupted_run_leaves_no_file(
    npz: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("trueness.files.summing.batch_tables", stop)
    out = tmp_path / "t.json"
    assert main(["tabulate", npz, "-o", str(out)]) == 130
    assert "nothing was written; run the same command again" in capsys.readouterr().err
    assert not out.exists()

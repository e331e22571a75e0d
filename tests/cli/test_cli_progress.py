"""Progress bars."""

import fcntl
import io
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from trueness.cli import main

pytestmark = pytest.mark.cli


@pytest.mark.parametrize(
    "given",
    [
        "tabulate {files}/shard-1.parquet {files}/shard-2.parquet",
        "tabulate {files}/shard-1.parquet --equal-mass 5",
        "simulate --n-rows 3e5 --alpha 1,1,1",
    ],
)
def test_on_a_terminal_only(files: Path, tmp_path: Path, given: str) -> None:
    """The bar comes after a second; here after none, in a process whose stderr is a terminal."""
    script = (
        "import sys, trueness._progress as progress\nprogress.APPEARS_AFTER = 0.0\n"
        "from trueness.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", script, *given.format(files=files).split()]
    command += ["-o", str(tmp_path / ("t.npz" if "simulate" in given else "t.json"))]
    assert b"%|" not in subprocess.run(command, capture_output=True, check=True).stderr
    above, below = pty.openpty()
    fcntl.ioctl(below, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))  # a new terminal has no width
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=below)
    os.close(below)
    seen = b""
    while process.poll() is None or select.select([above], [], [], 0)[0]:
        try:
            seen += os.read(above, 4096) if select.select([above], [], [], 0.1)[0] else b""
        except OSError:  # the end of a terminal's output
            break
    os.close(above)
    assert process.wait() == 0
    assert b"%|" in seen


def test_no_bar_without_tqdm(npz: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("trueness._progress.APPEARS_AFTER", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(["tabulate", npz, "-o", str(tmp_path / "t.json")]) == 0
    assert "%|" in sys.stderr.getvalue()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(["tabulate", npz, "-o", str(tmp_path / "t.json")]) == 0
    assert "%|" not in sys.stderr.getvalue()  # type: ignore[attr-defined]


def test_progress_counts_the_bytes(npz: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    totals, steps = [], []

    @contextmanager
    def bar(total: int, _: str) -> Iterator[Any]:
        totals.append(total)
        yield steps.append

    monkeypatch.setattr("trueness.cli._summation.progress_bar", bar)
    monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 3 * 500)  # several batches
    assert main(["tabulate", npz, "-o", str(tmp_path / "t.json")]) == 0
    assert totals == [os.path.getsize(npz)]
    assert sum(steps) == totals[0]
    assert len(steps) == 6

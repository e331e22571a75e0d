"""Progress bars in Python: on a terminal, after one second, and none with progress=False."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from typing import Any

import pytest

import trueness as tn
from trueness._progress import progress_callback

WORK = """
import numpy as np, trueness as tn, trueness._progress as bars
bars.APPEARS_AFTER = {appears}
y_true, y_prob = tn.simulate.calibrated(20_000, [1.0] * 3, rng=0)
groups = np.arange(len(y_true)) % 40
options = dict(resamples=39, rng=0, {options})
if "{work}" == "groups":
    tn.assess(y_true, y_prob, groups=groups, **options)
elif "{work}" == "clusters":
    y_true, y_prob = np.tile(y_true, 60), np.tile(y_prob, (60, 1))  # more rows than are summed at a time
    tn.assess(y_true, y_prob, clusters=np.arange(len(y_true)) // 3000, **options)
elif "{work}" == "compare":
    tn.compare(y_true, dict(a=y_prob, b=tn.simulate.sharpen(y_prob, 1.1)), **options)
else:
    tables = {{str(g): tn.tabulate(y_true[groups == g], y_prob[groups == g]) for g in range(40)}}
    tn.assess_table(tn.tabulate(y_true, y_prob), groups=tables, **options)
"""


def on_a_terminal(script: str) -> str:
    """The output of a program to stderr, which is a terminal of 80 columns."""
    above, below = pty.openpty()
    fcntl.ioctl(below, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    seen = b""
    with subprocess.Popen([sys.executable, "-c", script], stderr=below) as process:
        os.close(below)
        try:
            while more := os.read(above, 4096):
                seen += more
        except OSError:  # the end of a terminal's output
            os.close(above)
    assert process.returncode == 0, seen.decode()
    return seen.decode()


@pytest.mark.parametrize("work", ["groups", "clusters", "compare", "tables"])
def test_a_bar_on_a_terminal(work: str) -> None:
    """Without the delay it is shown; at the end it is erased."""
    seen = on_a_terminal(WORK.format(appears=0.0, work=work, options=""))
    assert "%|" in seen
    assert seen.rsplit("\r", 2)[-2].strip() == ""


def test_no_bar_for_short_work_or_with_progress_false() -> None:
    assert on_a_terminal(WORK.format(appears=3600.0, work="groups", options="")) == ""
    assert on_a_terminal(WORK.format(appears=0.0, work="groups", options="progress=False")) == ""


def test_no_bar_in_a_file() -> None:
    command = [sys.executable, "-c", WORK.format(appears=0.0, work="groups", options="")]
    assert subprocess.run(command, capture_output=True, check=True).stderr == b""


def test_it_appears_after_a_second(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """By a clock that the test sets; tqdm is not imported before."""
    now = 0.0
    monkeypatch.setattr("time.time", lambda: now)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    bar = progress_callback(None)
    assert bar is not None
    for now, share in ((0.5, 0.1), (0.9, 0.2), (1.0, 0.25)):  # noqa: B007
        before = capsys.readouterr().err
        bar(share)
        assert before == ""
    assert " 25%|" in capsys.readouterr().err
    bar(1.0)
    assert "%|" not in capsys.readouterr().err.rsplit("\r", 1)[-1]


def test_no_bar_without_tqdm(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr("trueness._progress.APPEARS_AFTER", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    bar = progress_callback(None)
    assert bar is not None
    bar(0.5)
    bar(1.0)
    assert capsys.readouterr().err == ""


def test_a_callable_is_called_and_other_values_are_refused() -> None:
    told: list[float] = []
    y_true, y_prob = tn.simulate.calibrated(400, [1, 1], rng=0)
    tn.assess(y_true, y_prob, groups=y_true, resamples=39, rng=0, progress=told.append)
    assert told == [0.5, 1.0]
    for progress in (True, 3, "bar"):
        with pytest.raises(TypeError, match="progress must be None, False or a callable"):
            tn.assess(y_true, y_prob, progress=progress)  # type: ignore[arg-type]

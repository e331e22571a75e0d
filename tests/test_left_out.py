"""Tests that need a missing library are deselected and counted in the summary, with one process and with several."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py").read_text(encoding="utf-8")
TESTS = """
import pytest

@pytest.mark.torch
@pytest.mark.parametrize("n", range(3))
def test_left_out(n): assert False

@pytest.mark.images
@pytest.mark.torch
def test_left_out_for_two_reasons(): assert False

def test_run(): pass
"""
SETTINGS = "[pytest]\nmarkers =\n    torch\n    frames\n    images\n    sklearn\n"


def run(folder: Path, *options: str, **environment: str) -> tuple[int, list[str]]:
    """pytest on `TESTS` in a folder where torch and nibabel are unknown."""
    replaced = CONFTEST.replace('("torch", "torchmetrics")', '("no_torch",)').replace(
        '("nibabel",)', '("no_nibabel",)'
    )
    for name, text in (("conftest.py", replaced), ("test_it.py", TESTS), ("pytest.ini", SETTINGS)):
        (folder / name).write_text(text, encoding="utf-8")
    inherited = {k: v for k, v in os.environ.items() if k not in {"CI", "TRUENESS_BARE", "PYTEST_ADDOPTS"}}
    command = [sys.executable, "-m", "pytest", "--strict-markers", "-ra", *options]
    ended = subprocess.run(
        command, cwd=folder, env=inherited | environment, capture_output=True, text=True, check=False
    )
    return ended.returncode, (ended.stdout + ended.stderr).splitlines()


WAYS = {"plain": []} | (
    {"as make test": ["-n", "2", "--cov=."]} if find_spec("xdist") and find_spec("pytest_cov") else {}
)


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
def test_the_last_lines_say_how_many_and_what_to_do(tmp_path: Path, options: list[str]) -> None:
    code, lines = run(tmp_path, *options)
    assert code == 0
    heading, *left_out, last = [line for line in lines if line][-4:]
    assert heading.strip("= ") == "left out: 4 of the tests"
    assert left_out == [
        "1 test marked 'images' needs no_nibabel; to run it: pip install -e '.[test]' (make test does it)",
        "4 tests marked 'torch' need no_torch; to run them: make torch, then make test again",
    ]
    assert "1 passed" in last


def test_the_bare_leg_leaves_out_on_purpose(tmp_path: Path) -> None:
    code, lines = run(tmp_path, TRUENESS_BARE="1")
    assert code == 0
    assert "4 tests marked 'torch' need no_torch; left out on purpose here" in lines


def test_in_ci_nothing_may_be_left_out(tmp_path: Path) -> None:
    code, lines = run(tmp_path, CI="true")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert any("images: no_nibabel not installed" in line for line in lines)
    assert any("torch: no_torch not installed" in line for line in lines)

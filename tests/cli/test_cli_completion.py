"""`trueness completion`."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_process import run

from trueness.cli import COMMANDS, main
from trueness.cli.completion import SHELLS


@pytest.fixture(scope="module")
def bash_script() -> str:
    return run("completion", "bash").stdout


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        (["ass"], ["assess"]),
        (["assess", "--equal"], ["--equal-mass"]),
        (["tabulate", "x.csv", "--ties", "s"], ["split"]),
        (["assess", "preds.c"], ["preds.csv"]),
        (["assess", "--json", "preds.c"], ["preds.csv"]),
        (["completion", "f"], ["fish"]),
        (["assess", "--b"], ["--bins", "--by-class"]),
        (["--v"], ["--version"]),
    ],
)
def test_completions_of_bash(files: Path, bash_script: str, words: list[str], completions: list[str]) -> None:
    line = " ".join(shlex.quote(word) for word in ("trueness", *words))
    call = (
        f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _shtab_trueness; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    ended = subprocess.run(
        ["bash", "-c", f"{bash_script}\n{call}"], cwd=files, capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == completions


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_completes_commands_and_options(shell: str, capsys: Any) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for name in (*COMMANDS, "equal-mass", "sample-weight", "rng-seed"):
        assert re.search(rf"\b{name}\b", script), name


def test_completion_loads_nothing_heavy_but_shtab() -> None:
    code = (
        "import sys\nfrom trueness.cli import main\nmain(['completion', 'bash'])\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'numpy', 'pyarrow', 'tqdm', 'json'}))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "[]"


def test_shells_are_those_of_shtab() -> None:
    import shtab

    assert list(SHELLS) == list(shtab.SUPPORTED_SHELLS)


def test_without_shtab(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "pip install 'trueness[cli]'" in capsys.readouterr().err

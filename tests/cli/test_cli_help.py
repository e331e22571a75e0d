"""The help, the version and the examples of every command."""

import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from command_process import COMMAND

import trueness as tn
from trueness.cli import COMMANDS, main


def examples(name: str) -> list[str]:
    text: str = import_module(f"trueness.cli.{name}").EXAMPLES
    return [line.strip() for line in text.splitlines() if line.startswith("  ")]


EXAMPLES = [(name, line) for name in COMMANDS if name != "reproduce" for line in examples(name)]


@pytest.mark.parametrize(("name", "line"), EXAMPLES)
def test_the_examples_of_the_help_run(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, line: str
) -> None:
    for file in files.iterdir():
        shutil.copy(file, tmp_path)
    assert line.startswith(f"trueness {name}")
    if "&&" in line:
        script = f'trueness() {{ {shlex.join(COMMAND)} "$@"; }}\nset -e\n{line}'
        subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, check=True)
        return
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(line)[1:]) == 0


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
        "heavy = {'numpy', 'pyarrow', 'tqdm', 'json', 'scipy', 'shtab'}\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & heavy))"
    )
    for arguments in (["--help"], ["--version"], ["assess", "--help"], ["reproduce", "--help"]):
        ended = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
        )
        assert ended.stdout.splitlines()[-1] == "[]", arguments


def test_the_package_can_be_run():
    command = [sys.executable, "-m", "trueness", "--version"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == f"trueness {tn.__version__}\n"


def test_the_page_about_files_can_be_followed(tmp_path: Path) -> None:
    """Every command of docs/guide/files.md, in order, in one folder; lines under a command are part of its output."""
    page = Path(__file__).parents[2].joinpath("docs", "guide", "files.md").read_text(encoding="utf-8")
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

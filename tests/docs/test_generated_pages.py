"""Parts of the reference that are written at build: every command and option, every committed result."""

import argparse
import sys
from pathlib import Path
from types import ModuleType

import pytest

from trueness.cli import COMMANDS
from trueness.cli._parser import make_parser

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "reference"


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    sys.modules.pop("generated", None)
    import generated as module

    return module


def parsers() -> dict[str, argparse.ArgumentParser]:
    (commands,) = [
        action for action in make_parser()._actions if isinstance(action, argparse._SubParsersAction)
    ]
    return dict(commands.choices)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_the_command_has_every_option(name: str, generated: ModuleType) -> None:
    page = generated.write_parts((PAGES / "command.md").read_text(encoding="utf-8"))
    _, _, own = page.partition(f"(command-{name})=")
    own = own.partition("\n(command-")[0]
    common = page.partition("(command-")[0]
    for action in parsers()[name]._actions:
        choices = "{" + ",".join(action.choices or ()) + "}"
        shown = action.option_strings or [str(action.metavar or choices)]
        for option in shown:
            assert f"`{option}" in own + common or f", {option}" in own + common, option


def test_the_page_about_performance_has_every_committed_result(generated: ModuleType) -> None:
    page = generated.write_parts((PAGES / "performance.md").read_text(encoding="utf-8"))
    for path in (ROOT / "benchmarks" / "results").glob("*.md"):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
        assert lines
        assert all(line in page for line in lines), path.name


def test_every_mark_of_a_page_is_known(generated: ModuleType) -> None:
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        for mark in generated.MARK.finditer(text):
            assert mark[1] in generated.PARTS, path.name
            assert generated.MARK.search(generated.write_parts(mark[0])) is None


def test_limits_and_formats_are_those_of_the_code(generated: ModuleType) -> None:
    assert "| nesting of JSON, checked before it is parsed | 64 levels |" in generated.limits()
    modules = (ROOT / "src" / "trueness" / "formats" / "by_name").glob("[a-z]*.py")
    assert all(f"| {path.stem} |" in generated.formats() for path in modules)

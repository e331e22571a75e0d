"""The workflows call make targets that exist, store no secret, and agree with the scripts that they run."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def targets() -> set[str]:
    """The targets of the Makefile that are names."""
    return set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))


def steps_of(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def commands(workflow: dict[str, Any]) -> list[str]:
    return [step["run"] for step in steps_of(workflow) if "run" in step]


def read(path: Path) -> dict[str, Any]:
    import yaml

    # YAML 1.1 reads the key `on` as true.
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {("on" if key is True else key): value for key, value in content.items()}


def test_there_are_two() -> None:
    assert [path.name for path in WORKFLOWS] == ["release.yml", "test.yml"]


@pytest.mark.workflows
@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
class TestWorkflows:
    def test_its_form(self, path: Path) -> None:
        workflow = read(path)
        assert {"name", "on", "permissions", "jobs"} <= set(workflow)
        assert workflow["permissions"] == {"contents": "read"}
        for job in workflow["jobs"].values():
            assert {"runs-on", "steps"} <= set(job)
        for step in steps_of(workflow):
            assert ("run" in step) != ("uses" in step)

    def test_every_target_exists(self, path: Path) -> None:
        called = [name for run in commands(read(path)) for name in re.findall(r"\bmake ([a-z-]+)", run)]
        assert called
        assert set(called) <= targets()

    def test_every_action_has_a_version(self, path: Path) -> None:
        used = [step["uses"] for step in steps_of(read(path)) if "uses" in step]
        assert all(re.fullmatch(r"[\w-]+/[\w-]+@[\w/.]+", name) for name in used)

    def test_no_secret_is_named(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8").lower()
        assert "secrets." not in text
        assert "password" not in text


@pytest.mark.workflows
def test_a_release_is_built_tested_and_checked_before_it_is_published() -> None:
    jobs = read(ROOT / ".github/workflows/release.yml")["jobs"]
    built = [step["run"].split()[1] for step in jobs["build"]["steps"] if "run" in step]
    assert built == ["release-check", "dist", "wheels", "check-dist"]
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert not any("run" in step for step in jobs["publish"]["steps"])


@pytest.mark.workflows
def test_the_tests_are_those_of_ci() -> None:
    called = {f"make {name}" for name in ("lint", "test")}
    assert called <= set(commands(read(ROOT / ".github/workflows/test.yml")))


def test_every_target_is_declared_phony() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert set(phony.split()) == targets()


class TestCheckOfAReleases:
    @pytest.fixture
    def tree(self, tmp_path: Path) -> Path:
        (tmp_path / "src/trueness").mkdir(parents=True)
        (tmp_path / "src/trueness/_version.py").write_text('__version__ = "1.2.0"\n')
        (tmp_path / "CITATION.cff").write_text("title: t\nversion: 1.2.0\nlicense: x\n")
        (tmp_path / "CHANGELOG.md").write_text("## [Unreleased]\n\n## [1.2.0] - 2026-12-01\n")
        return tmp_path

    def test_what_agrees_passes(self, tree: Path) -> None:
        assert script("check_release").problems_of_tag("v1.2.0", tree) == []

    @pytest.mark.parametrize(
        ("file", "text", "words"),
        [
            ("src/trueness/_version.py", '__version__ = "1.2.1"\n', "tag v1.2.1"),
            ("CITATION.cff", "version: 1.1.0\n", "CITATION.cff has another version"),
            ("CHANGELOG.md", "## [1.2.0]\n", "CHANGELOG.md has no section"),
        ],
    )
    def test_what_differs_is_named(self, tree: Path, file: str, text: str, words: str) -> None:
        (tree / file).write_text(text)
        assert any(words in problem for problem in script("check_release").problems_of_tag("v1.2.0", tree))

    def test_the_files_of_dist(self) -> None:
        check = script("check_release").problems_of_dist
        names = ["trueness-1.2.0.tar.gz", "trueness-1.2.0-py3-none-win_amd64.whl"]
        assert check(names, ["win_amd64"], "1.2.0") == []
        assert check(names[:1], ["win_amd64"], "1.2.0") == [f"dist/{names[1]} is missing"]
        assert check([*names, "old.whl"], ["win_amd64"], "1.2.0") == [
            "dist/old.whl does not belong to version 1.2.0"
        ]

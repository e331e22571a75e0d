"""The JSON Schemas of the documentation: real output of every kind fits them, and no field is undescribed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from json_outputs import (
    ERRORS,
    MONITORS,
    RESULTS,
    SHARP,
    TABLES,
    THIRDS,
    THREE,
    THREE_TRUE,
    content_of,
    refusal,
)

import trueness as tn
from trueness.cli import main

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reference" / "schemas"
NAMES = ("result", "table", "monitor", "error")

pytestmark = pytest.mark.schemas


def schema(name: str) -> dict[str, Any]:
    content: dict[str, Any] = content_of(FOLDER / f"{name}.json")
    return content


def require_valid(name: str, content: Any) -> None:
    """Refuse content that does not fit the schema, with the first place where it does not."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
    from referencing import Registry, Resource

    registry: Any = Registry().with_resources(
        (f"{each}.json", Resource.from_contents(schema(each))) for each in NAMES
    )
    written = json.loads(json.dumps(content, allow_nan=False))
    whole = schema(name)
    kinds = {
        kind["const"]: f"{name}.json#/$defs/{key}"
        for key, definition in whole["$defs"].items()
        if "const" in (kind := definition.get("properties", {}).get("kind", {}))
    }
    chosen = {"$ref": kinds[written["kind"]]} if written.get("kind") in kinds else whole
    error = best_match(Draft202012Validator(chosen, registry=registry).iter_errors(written))
    assert error is None, f"{error.json_path}: {error.message[:300]}"


def objects(part: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema of an object within a schema, and where it is."""
    if isinstance(part, dict):
        if "properties" in part and isinstance(part["properties"], dict):
            yield place, part
        for key, value in part.items():
            yield from objects(value, f"{place}/{key}")
    if isinstance(part, list):
        for value in part:
            yield from objects(value, place)


@pytest.mark.parametrize("name", NAMES)
def test_each_schema_is_a_schema(name: str) -> None:
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_field_is_described_and_no_other_is_allowed(name: str) -> None:
    found = list(objects(schema(name), name))
    assert found
    for place, part in found:
        assert part["additionalProperties"] is False, place
        for field, described in part["properties"].items():
            assert described.get("description", "").strip(), f"{place}: {field}"


@pytest.mark.parametrize("name", NAMES)
def test_the_schemas_are_those_of_the_script(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a change, run scripts/make_json_schemas.py."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    from make_json_schemas import text_of

    assert (FOLDER / f"{name}.json").read_text(encoding="utf-8") == text_of(name)


@pytest.mark.parametrize("what", RESULTS)
def test_results(what: str) -> None:
    require_valid("result", RESULTS[what]().to_dict())


@pytest.mark.parametrize("what", TABLES)
def test_tables(what: str, tmp_path: Path) -> None:
    table = TABLES[what]()
    require_valid("table", table.to_dict())
    table.save(tmp_path / "table.json")
    require_valid("table", content_of(tmp_path / "table.json"))


@pytest.mark.parametrize("what", MONITORS)
def test_monitors(what: str) -> None:
    require_valid("monitor", MONITORS[what]().to_dict())


@pytest.mark.parametrize("what", ERRORS)
def test_refusals(what: str) -> None:
    require_valid("error", refusal(ERRORS[what]))


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_field_is_not_allowed(name: str) -> None:
    content = {
        "result": RESULTS["three classes"],
        "table": TABLES["ranks"],
        "monitor": MONITORS["no look"],
    }
    known = refusal(ERRORS["a row"]) if name == "error" else content[name]().to_dict()
    with pytest.raises(AssertionError):
        require_valid(name, known | {"surprise": 1})


class TestCommand:
    """Files and lines that the command writes."""

    @pytest.fixture
    def rows(self, tmp_path: Path) -> Path:
        for name, y_prob in {"plain": THREE, "sharp": SHARP}.items():
            columns = {f"p_{k}": y_prob[:, k] for k in range(3)}
            lines = [",".join(["y", "part", *columns])]
            lines += [
                f"{THREE_TRUE[k]},{THIRDS[k]}," + ",".join(repr(float(each[k])) for each in columns.values())
                for k in range(len(THREE_TRUE))
            ]
            (tmp_path / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
        return tmp_path

    @pytest.mark.cli
    @pytest.mark.parametrize(
        ("kind", "arguments"),
        [
            ("result", ["assess", "plain.csv", "--resamples", "99", "--convention", "torchmetrics"]),
            ("result", ["assess", "plain.csv", "--resamples", "99", "--groups", "part", "--compare-groups"]),
            ("result", ["assess", "plain.csv", "--resamples", "99", "--event", "1"]),
            ("result", ["assess", "plain.csv", "--resamples", "99", "--event", "1", "--convention", "helm"]),
            ("result", ["compare", "plain.csv", "sharp.csv", "--resamples", "99"]),
            ("result", ["bins", "plain.csv", "--resamples", "99"]),
        ],
    )
    def test_results(
        self, kind: str, arguments: list[str], rows: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
    ) -> None:
        monkeypatch.chdir(rows)
        assert main([*arguments, "--label", "y", "--json", "result.json"]) == 0
        require_valid(kind, content_of(rows / "result.json"))

    @pytest.mark.cli
    @pytest.mark.parametrize(
        "options", [[], ["--groups", "part"], ["--clusters", "part"], ["--grid"], ["--no-by-class"]]
    )
    def test_tables(
        self, options: list[str], rows: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
    ) -> None:
        monkeypatch.chdir(rows)
        assert main(["tabulate", "plain.csv", "--label", "y", *options, "-o", "table.json"]) == 0
        require_valid("table", content_of(rows / "table.json"))

    @pytest.mark.cli
    def test_a_monitor(self, rows: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
        monkeypatch.chdir(rows)
        assert main(["tabulate", "plain.csv", "--label", "y", "--at", "2026-11-16", "-o", "tables/"]) == 0
        assert main(["monitor", "tables", "--json", "monitor.json"]) == 0
        require_valid("monitor", content_of(rows / "monitor.json"))

    @pytest.mark.parametrize(
        "arguments",
        [["assess", "nowhere.csv"], ["assess", "x.npz", "--bins", "-1"]],
    )
    def test_errors(self, arguments: list[str], capsys: Any) -> None:
        assert main([*arguments, "--json-errors"]) == 2
        require_valid("error", json.loads(capsys.readouterr().err))

    def test_a_fault(self, monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path) -> None:
        from trueness.cli import merge

        def fails(arguments: Any) -> int:
            raise RuntimeError("broken")

        monkeypatch.setattr(merge, "run", fails)
        assert main(["merge", "a.json", "-o", "b.json", "--json-errors"]) == 70
        require_valid("error", json.loads(capsys.readouterr().err))


@pytest.mark.parametrize("clusters", [np.arange(900) // 30, np.arange(900) % 450])
def test_tables_of_clusters(clusters: Any, tmp_path: Path) -> None:
    result = tn.assess(THREE_TRUE, THREE, clusters=clusters, resamples=99)
    result.tables.save(tmp_path / "table.json")
    require_valid("table", content_of(tmp_path / "table.json"))


def test_files_of_earlier_versions_fit_if_their_schema_is_still_written() -> None:
    for path in sorted((ROOT / "tests" / "fixtures").glob("*.json")):
        content = content_of(path)
        if isinstance(content, dict) and content.get("schema") in (3, 4, 5) and "format" in content:
            require_valid("table", content)

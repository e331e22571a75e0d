"""One event: from files, out of core, and from saved tables."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.cli import main

NAMES = ["cat", "dog", "elk"]
OPTIONS = ["--label", "label", "--probs", "cat,dog,elk", "--classes", "columns", "--resamples", "99"]


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    y_true, y_prob = tn.simulate.calibrated(2000, [2.0, 1.0, 1.0], rng=0)
    y_prob[:, 1] *= 1.5
    return y_true, y_prob / y_prob.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def files(rows: tuple[Any, Any], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The rows in two files with class names."""
    folder = tmp_path_factory.mktemp("event")
    paths = []
    for part in range(2):
        path = folder / f"part-{part}.csv"
        lines = [f"{NAMES[y]},{','.join(map(repr, p.tolist()))}" for y, p in zip(*rows, strict=True)]
        path.write_text("\n".join(["label,cat,dog,elk", *lines[part::2]]) + "\n", encoding="utf-8")
        paths.append(str(path))
    return paths


def written(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize("event", ["dog", "1", "top"])
def test_files_give_the_numbers_of_python(
    event: str, files: list[str], rows: tuple[Any, Any], tmp_path: Path
) -> None:
    out = tmp_path / "event.json"
    assert main(["assess", *files, *OPTIONS, "--event", event, "--class-bins", "15", "--json", str(out)]) == 0
    y_true, y_prob = rows
    chosen = "top" if event == "top" else 1
    expected = tn.assess_event(y_true, y_prob, event=chosen, bins=15, resamples=99).to_dict()
    found = written(out)
    for key in (
        "in_the_large",
        "spread",
        "cox",
        "ece",
        "hosmer_lemeshow",
        "brier_score",
        "log_loss",
        "p_value",
    ):
        assert found[key] == expected[key], key
    assert found["name"] == ("top" if event == "top" else "dog")


def test_the_text_is_that_of_the_event(files: list[str], capsys: Any) -> None:
    assert main(["assess", *files, *OPTIONS, "--event", "dog"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("class dog: 2000 rows")
    assert "forecasts class dog too often" in out


def test_report_and_saved_tables_give_the_same(files: list[str], tmp_path: Path, capsys: Any) -> None:
    page, table, out = (str(tmp_path / name) for name in ("e.html", "t.json", "e.json"))
    line = [
        "assess",
        *files,
        *OPTIONS,
        "--event",
        "dog",
        "--report",
        page,
        "--table-out",
        table,
        "--json",
        out,
    ]
    assert main(line) == 0
    first = written(Path(out))
    for source in (page, table):
        assert main(["assess", source, "--event", "dog", "--resamples", "99", "--json", out]) == 0
        assert written(Path(out)) == first
    assert main(["assess", page]) == 2
    assert "add --event dog" in capsys.readouterr().err


def test_tables_of_several_events_are_made_by_tabulate_and_merge(
    files: list[str], tmp_path: Path, capsys: Any
) -> None:
    parts = [str(tmp_path / f"{k}.json") for k in range(2)]
    for file, part in zip(files, parts, strict=True):
        assert main(["tabulate", file, *OPTIONS[:-2], "--event", "dog", "--event", "top", "-o", part]) == 0
    assert "class dog and the top label in 5026 cells" in capsys.readouterr().out
    whole = str(tmp_path / "whole.json")
    assert main(["merge", *parts, "-o", whole]) == 0
    capsys.readouterr()
    texts = []
    for source in ([whole], parts):
        assert main(["assess", *source, "--event", "top", "--resamples", "99"]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    assert main(["assess", *files, *OPTIONS, "--event", "top"]) == 0
    assert capsys.readouterr().out == texts[0]


def test_two_classes_need_no_further_table(tmp_path: Path, capsys: Any) -> None:
    y_true, y_prob = tn.simulate.calibrated(500, [1.0, 3.0], rng=0)
    rows, table = str(tmp_path / "two.npz"), str(tmp_path / "t.json")
    np.savez(rows, y_true=y_true, y_prob=y_prob)
    assert main(["tabulate", rows, "-o", table]) == 0
    assert main(["assess", table, "--event", "1", "--resamples", "99"]) == 0
    assert main(["assess", rows, "--event", "0", "--resamples", "99", "--no-by-class"]) == 0
    assert "class 0: 500 rows" in capsys.readouterr().out
    assert main(["assess", table, "--event", "0"]) == 2
    assert "trueness tabulate --event 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--event", "cow"], "'cow', which is not a class"),
        (["--event", "3"], "which is not a class"),
        (["--event", "dog", "--fail-above", "net=.1"], "with --event there is no such number"),
        (["--event", "dog", "--tolerance", ".1"], "--tolerance is not supported with --event"),
        (["--class-bins", "7"], "must divide 60"),
    ],
)
def test_refusals(options: list[str], message: str, files: list[str], capsys: Any) -> None:
    assert main(["assess", *files, *OPTIONS, *options]) == 2
    assert message in capsys.readouterr().err


def test_tables_without_the_event_say_how_to_make_them(files: list[str], tmp_path: Path, capsys: Any) -> None:
    table = str(tmp_path / "t.json")
    assert main(["tabulate", *files, *OPTIONS[:-2], "-o", table]) == 0
    assert main(["assess", table, "--event", "dog"]) == 2
    message = capsys.readouterr().err
    assert "no table of this event on the event grid" in message
    assert "trueness tabulate --event dog" in message


@pytest.mark.parametrize(("event", "code"), [("dog", 1), ("top", 0)])
def test_the_gate_is_on_the_p_value_of_the_event(
    event: str, code: int, files: list[str], capsys: Any
) -> None:
    assert main(["assess", *files, *OPTIONS[:-2], "--event", event, "--fail-below-p", "0.001"]) == code
    assert ("class 'dog': p = " in capsys.readouterr().err) == (code == 1)


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ("cwece=.02,gap=.05", 1),
        ("cwece=.2,gap=.01", 1),
        ("cwece=.2,gap=.2", 0),
        ("cwece_total=.01", 1),
        ("cwece_total=.5", 0),
    ],
)
def test_the_gate_knows_the_metrics_of_classes(limits: str, code: int, files: list[str], capsys: Any) -> None:
    assert main(["assess", *files, *OPTIONS, "--fail-above", limits]) == code
    assert ("class" in capsys.readouterr().err.partition("gate failed")[2]) == (code == 1)


@pytest.fixture(scope="module")
def grouped(rows: tuple[Any, Any], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The rows in one file with a column of regions."""
    path = tmp_path_factory.mktemp("groups") / "rows.csv"
    lines = [
        f"{NAMES[y]},{'north' if k % 2 else 'south'},{','.join(map(repr, p.tolist()))}"
        for k, (y, p) in enumerate(zip(*rows, strict=True))
    ]
    path.write_text("\n".join(["label,region,cat,dog,elk", *lines]) + "\n", encoding="utf-8")
    return str(path)


class TestGroups:
    def test_files_give_the_groups_of_python(
        self, grouped: str, rows: tuple[Any, Any], tmp_path: Path, capsys: Any
    ) -> None:
        out, report = tmp_path / "e.json", tmp_path / "e.html"
        options = ["--event", "dog", "--groups", "region", "--json", str(out), "--report", str(report)]
        assert main(["assess", grouped, *OPTIONS, *options]) == 0
        region = np.where(np.arange(2000) % 2, "north", "south")
        expected = tn.assess_event(*rows, event=1, groups={"region": region}, resamples=99)
        assert isinstance(expected, tn.EventAssessment)
        found = written(out)["groups"]
        assert [(it["name"], it["n_rows"]) for it in found] == [("north", 1000), ("south", 1000)]
        for mine, theirs in zip(found, expected.to_dict()["groups"], strict=True):
            assert mine["adjusted_p_value"] == theirs["adjusted_p_value"]
            assert mine["assessment"]["in_the_large"] == theirs["assessment"]["in_the_large"]
        assert "adjusted p  verdict" in capsys.readouterr().out
        page = report.read_text(encoding="utf-8")
        assert "2 of 2 groups are miscalibrated" in page
        assert 'id="groups"' in page

    def test_saved_tables_give_the_same(self, grouped: str, tmp_path: Path, capsys: Any) -> None:
        table = str(tmp_path / "t.json")
        options = [*OPTIONS[:-2], "--groups", "region"]
        assert main(["tabulate", grouped, *options, "--event", "dog", "-o", table]) == 0
        capsys.readouterr()
        assert main(["assess", grouped, *OPTIONS, "--groups", "region", "--event", "dog"]) == 0
        text = capsys.readouterr().out
        assert main(["assess", table, "--event", "dog", "--groups", "region", "--resamples", "99"]) == 0
        assert capsys.readouterr().out == text

    def test_the_gate_looks_at_the_groups(self, grouped: str, capsys: Any) -> None:
        options = [*OPTIONS, "--groups", "region", "--event", "dog"]
        assert main(["assess", grouped, *options, "--fail-below-p", "0.02"]) == 1
        assert "class 'dog', group 'north': p = " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("limits", "code", "message"),
    [
        ("gap=.05", 1, "class 'dog': gap in the large 0.0"),
        ("ece=.05", 1, "class 'dog': debiased ECE 0.0"),
        ("cwece=.02,gap=.9", 1, "class 'dog': debiased ECE 0.0"),
        (".02", 1, "debiased ECE"),
        ("gap=.2,ece=.2", 0, ""),
    ],
)
def test_the_gate_is_on_gap_and_ece(
    limits: str, code: int, message: str, files: list[str], capsys: Any
) -> None:
    assert main(["assess", *files, *OPTIONS, "--event", "dog", "--fail-above", limits]) == code
    assert message in capsys.readouterr().err


def test_the_gate_on_the_lower_end(files: list[str], capsys: Any) -> None:
    options = ["--event", "dog", "--fail-above", "gap=.05", "--lower-end"]
    gap = tn_gap(files)
    assert main(["assess", *files, *OPTIONS, *options]) == int(gap > 0.05)
    assert ("lower end of gap in the large" in capsys.readouterr().err) == (gap > 0.05)


def tn_gap(files: list[str]) -> float:
    """The lower end of the gap of the dogs."""
    labels, p = [], []
    for file in files:
        for line in Path(file).read_text(encoding="utf-8").splitlines()[1:]:
            name, *numbers = line.split(",")
            labels.append(name)
            p.append([float(x) for x in numbers])
    result = tn.assess_event(np.array(labels), np.array(p), event="dog", classes=NAMES, resamples=99)
    assert isinstance(result, tn.EventAssessment)
    assert result.in_the_large.interval is not None
    return result.in_the_large.interval.low

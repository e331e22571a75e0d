"""Tables, pictures and conventions of events and of evaluation logs."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from logs import HELM, LOGS, samples

import trueness as tn
from trueness.cli import main

PLAIN = LOGS / "plain"
STATED = (PLAIN / "stated.csv", "--stated-confidence", "confidence", "--correct", "grade", "--percent")
VOTES = (PLAIN / "votes.csv", "--votes", "A,B,C,D", "--label", "answer")
TOKENS = (PLAIN / "next_token.jsonl",)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    y_true, y_prob = tn.simulate.calibrated(600, [1, 2, 1], rng=0)
    path: Path = tmp_path_factory.mktemp("events") / "rows.npz"
    np.savez(path, y_true=y_true, y_prob=tn.simulate.sharpen(y_prob, 1.5))
    return path


def arrays(path: Path) -> tuple[Any, Any]:
    with np.load(path) as content:
        return content["y_true"], content["y_prob"]


def run(*arguments: Any) -> None:
    assert main(["assess", *map(str, arguments), "--resamples", "99"]) == 0


def cells(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_tables_of_an_event_are_those_of_python(rows: Path, tmp_path: Path) -> None:
    out = {kind: tmp_path / f"x.{kind}" for kind in ("csv", "markdown", "latex")}
    run(rows, "--event", "1", *(part for kind, path in out.items() for part in (f"--{kind}", path)))
    y_true, y_prob = arrays(rows)
    expected = tn.assess_event(y_true, y_prob, event=1, resamples=99)
    assert out["csv"].read_text(encoding="utf-8") == expected.to_csv()
    assert out["markdown"].read_text(encoding="utf-8") == expected.to_markdown()
    assert out["latex"].read_text(encoding="utf-8") == expected.to_latex()
    found = {row["metric"]: row for row in cells(expected.to_csv())}
    assert float(found["gap in the large"]["value"]) == expected.in_the_large.value
    assert float(found["ECE, debiased"]["low"]) == expected.ece.interval.low
    assert float(found["Brier score"]["value"]) == expected.brier_score
    bins = cells(expected.to_csv("bins"))
    assert sum(float(row["count"]) for row in bins) == 600
    weighted = sum(float(row["count"]) * abs(float(row["gap"])) for row in bins) / 600
    assert weighted == pytest.approx(expected.ece.value)


def test_groups_of_an_event_and_events_of_a_model() -> None:
    y_true, y_prob = tn.simulate.calibrated(900, [1, 2], rng=0)
    found = tn.assess_event(y_true, y_prob[:, 1], groups=["a"] * 450 + ["b"] * 445 + ["c"] * 5, resamples=99)
    table = cells(found.to_csv("groups"))
    assert [row["group"] for row in table] == ["a", "b", "c"]
    assert float(table[0]["gap"]) == found.groups[0].assessment.in_the_large.value
    assert table[2]["gap"] == ""
    assert table[2]["reason"].startswith("fewer than")
    labels = np.stack([y_true, 1 - y_true], axis=1)
    both = tn.assess_event(labels, y_prob[:, ::-1], multilabel=True, resamples=99)
    assert [row["event"] for row in cells(both.to_csv())] == ["0", "1"]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ((samples("ex_arc"),), "ranks"),
        (TOKENS, "ranks"),
        (STATED, "event"),
        ((HELM,), "event"),
        (VOTES, "votes"),
    ],
    ids=["options", "tokens", "stated", "helm", "votes"],
)
def test_tables_of_logs(arguments: tuple[Any, ...], kind: str, tmp_path: Path) -> None:
    out, document = tmp_path / "x.csv", tmp_path / "x.json"
    run(*arguments, "--csv", out, "--json", document, "--markdown", tmp_path / "x.md")
    table = cells(out.read_text(encoding="utf-8"))
    content = json.loads(document.read_text(encoding="utf-8"))
    assert (tmp_path / "x.md").read_text(encoding="utf-8").startswith("| ")
    if content.get("groups"):
        assert [row["group"] for row in table] == [group["name"] for group in content["groups"]]
        return
    found = {row["metric"]: row for row in table}
    if kind == "event":
        assert float(found["ECE, plug-in"]["value"]) == content["ece"]["value"]
    else:
        column = "plug_in" if kind == "ranks" else "value"
        assert float(found["VCE"][column]) == content["vce"]["value"]


@pytest.mark.parametrize(
    "arguments", [(samples("ex_arc"),), STATED, TOKENS], ids=["options", "stated", "tokens"]
)
def test_pictures_of_logs(arguments: tuple[Any, ...], tmp_path: Path) -> None:
    run(*arguments, "--plot", tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_the_picture_of_an_event(rows: Path, tmp_path: Path) -> None:
    run(rows, "--event", "top", "--plot", tmp_path / "x.svg")
    assert "observed frequency" in (tmp_path / "x.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*VOTES, "--plot", "x.png"), "--plot is not supported for votes"),
        ((samples("ex_arc"), "--plot", "x.gif"), ".png, .svg, .pdf"),
    ],
)
def test_what_has_no_meaning_is_refused(arguments: tuple[Any, ...], message: str, capsys: Any) -> None:
    assert main(["assess", *map(str, arguments)]) == 2
    assert message in capsys.readouterr().err


def test_a_comparison_writes_a_report(rows: Path, tmp_path: Path) -> None:
    y_true, y_prob = arrays(rows)
    other, out = tmp_path / "after.npz", tmp_path / "folder" / "comparison.html"
    np.savez(other, y_true=y_true, y_prob=tn.simulate.sharpen(y_prob, 1 / 1.5))
    command = ["compare", str(rows), str(other), "--names", "before,after", "--report", str(out)]
    assert main([*command, "--resamples", "99"]) == 0
    text = out.read_text(encoding="utf-8")
    assert "after is better calibrated" in text
    assert "This report was made by" in text
    assert main(["assess", str(out)]) == 2

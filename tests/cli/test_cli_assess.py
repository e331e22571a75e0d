"""`trueness assess`, from predictions, saved tables and reports."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from command_process import run

import trueness as tn
from trueness.cli import main


def test_the_result_equals_that_of_the_library(files: Path, tmp_path: Path) -> None:
    ended = run(
        "assess", files / "over.npz", "--json", tmp_path / "r.json", "--table-out", tmp_path / "t.json"
    )
    arrays = np.load(files / "over.npz")
    expected = tn.assess(arrays["y_true"], arrays["y_prob"], rng=0)
    assert ended.stdout == f"{expected}\n"
    assert json.loads((tmp_path / "r.json").read_text()) == expected.to_dict()
    assert run("assess", tmp_path / "t.json").stdout == ended.stdout


def test_groups(files: Path, capsys: Any) -> None:
    assert main(["assess", str(files / "over.npz"), "--groups", "y_true", "--json", "-"]) == 0
    arrays = np.load(files / "over.npz")
    expected = tn.assess(arrays["y_true"], arrays["y_prob"], rng=0, groups=arrays["y_true"])
    assert json.loads(capsys.readouterr().out) == expected.to_dict()


def test_a_grid_is_merged_into_bins(files: Path, capsys: Any) -> None:
    assert main(["assess", str(files / "preds.parquet")]) == 0
    straight = capsys.readouterr().out
    assert main(["assess", str(files / "grid.json")]) == 0
    shown = capsys.readouterr()
    assert shown.out == straight
    assert "the grid was merged into 10 bins of equal width" in shown.err
    assert main(["assess", str(files / "grid.json"), "--equal-mass", "4"]) == 0
    assert "4 bins of entropy" in capsys.readouterr().out


def test_confidence_as_the_measure(files: Path, capsys: Any) -> None:
    assert main(["assess", str(files / "over.npz"), "--variation", "confidence"]) == 0
    assert "ECE " in capsys.readouterr().out


def test_tables_and_predictions_do_not_mix(files: Path, capsys: Any) -> None:
    assert main(["assess", str(files / "all.json"), str(files / "preds.csv")]) == 2
    assert "tabulate those first" in capsys.readouterr().err


def test_a_report_is_read_back(files: Path, tmp_path: Path) -> None:
    page, first, again = tmp_path / "r.html", tmp_path / "1.json", tmp_path / "2.json"
    run("assess", files / "b.parquet", "--rng-seed", 5, "--report", page, "--json", first)
    run("assess", page, "--rng-seed", 5, "--json", again)
    assert json.loads(first.read_text()) == json.loads(again.read_text())
    assert "trueness assess" in page.read_text()  # the command that made it
    refused = run("assess", page, page.with_name("other.html"), code=2)
    assert "other.html" in refused.stderr
    twice = tmp_path / "copy.html"
    shutil.copy(page, twice)
    assert "cannot be merged" in run("assess", page, twice, code=2).stderr
    page.write_text("<html></html>")
    assert "has no tables" in run("assess", page, code=2).stderr


def test_tolerance_and_confidence_bins(npz: str, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "r.json"
    options = ["--tolerance", ".01", "--confidence-bins", "15", "--json", str(out)]
    assert main(["assess", npz, *options]) == 0
    content = json.loads(out.read_text())
    assert content["verdict"]["size"] == "beyond"
    assert content["tolerance"] == {"vce": 0.01, "ece": 0.01, "rce": 0.01, "cwece_total": 0.01}
    assert "(ECE: 15 bins of confidence)" in capsys.readouterr().out
    arrays = np.load(npz)
    expected = tn.assess(arrays["y_true"], arrays["y_prob"], confidence_bins=15, tolerance=0.01)
    assert content == json.loads(json.dumps(expected.to_dict()))
    for more in (["--equal-mass", "5"], ["--edges", "0,.5,1"]):
        assert main(["assess", npz, *options, *more]) == 0
        assert "(ECE: 15 bins of confidence)" in capsys.readouterr().out
    grid = str(tmp_path / "grid.json")
    assert main(["tabulate", npz, "--grid", "-o", grid]) == 0
    assert main(["assess", grid, "--bins", "8", "--confidence-bins", "20"]) == 0
    assert "8 bins of entropy (ECE: 20 bins of confidence)" in capsys.readouterr().out
    assert main(["compare", npz, npz, "--names", "a,b", "--confidence-bins", "20", "--resamples", "99"]) == 0
    assert "(ECE: 20 bins of confidence)" in capsys.readouterr().out


def test_the_default_seed_is_that_of_python(npz: str, capsys: Any) -> None:
    """The default of both is seed 0, and the output names it."""
    arrays = np.load(npz)
    assert main(["assess", npz]) == 0
    printed = capsys.readouterr().out
    assert printed == f"{tn.assess(arrays['y_true'], arrays['y_prob'])}\n"
    assert "seed 0" in printed


def test_files_with_unknown_endings_are_counted(npz: str, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    assert main(["assess", str(tmp_path)]) == 0
    assert "1 files in the folders" in capsys.readouterr().err

"""--convention: numbers of other libraries for the rows of files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convention_rows import rows_on_edges

import trueness as tn
from trueness.cli import _conventions, main


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    return rows_on_edges(3)


@pytest.fixture
def files(rows: tuple[Any, Any], tmp_path: Path) -> list[str]:
    """The rows in two files."""
    paths = [str(tmp_path / f"part-{part}.npz") for part in range(2)]
    for path, part in zip(paths, np.array_split(np.arange(len(rows[0])), 2), strict=True):
        np.savez(path, label=rows[0][part], prob=rows[1][part])
    return paths


QUICK = ["--resamples", "19"]


def test_numbers_of_files_are_those_of_arrays(
    rows: tuple[Any, Any], files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--convention", "torchmetrics:10", "--convention", "laves-uce", "--convention", "hle"]
    out = tmp_path / "result.json"
    assert main(["assess", *files, *QUICK, *asked, "--json", str(out)]) == 0
    text = capsys.readouterr().out
    expected = [
        tn.compare_convention(*rows, "torchmetrics", bins=10),
        tn.compare_convention(*rows, "laves-uce"),
        tn.compare_convention(*rows, "hle"),
    ]
    assert all(str(one) in text for one in expected)
    written = json.loads(out.read_text(encoding="utf-8"))["conventions"]
    assert written == json.loads(json.dumps([one.to_dict() for one in expected]))


def test_nothing_is_added_without_the_option(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    assert main(["assess", *files, *QUICK, "--json", str(out)]) == 0
    assert "conventions" not in json.loads(out.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--convention", "torch"], "--convention must be one of torchmetrics, netcal"),
        (["--convention", "netcal:x"], "the bins of --convention 'netcal:x' are not a whole number"),
        (["--convention", "helm:15"], "does not apply to convention 'helm'"),
        (["--convention", "laves-uce", "--event", "top"], "laves-uce reads the entropy of all classes"),
        (["--convention", "laves-uce", "--variation", "iqv"], "needs rows binned by entropy"),
    ],
)
def test_options_are_refused(
    options: list[str], message: str, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["assess", *files, *QUICK, *options]) == 2
    assert message in capsys.readouterr().err


def test_saved_tables_are_refused(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = str(tmp_path / "tables.json")
    assert main(["assess", *files, *QUICK, "--table-out", saved]) == 0
    assert main(["assess", saved, *QUICK, "--convention", "netcal"]) == 2
    assert "needs the rows, which saved tables do not have" in capsys.readouterr().err


def test_too_many_rows_are_refused(
    files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_conventions, "MOST_ROWS", 1000)
    assert main(["assess", *files, *QUICK, "--convention", "netcal"]) == 2
    assert "1500 rows are more than 1000" in capsys.readouterr().err

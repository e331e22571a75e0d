"""The rows of the stored baselines can be drawn again, and a cell's figures are the same each time."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import study


@pytest.mark.parametrize("name", study.STUDIES)
def test_the_rows_are_those_of_the_baseline(name: str) -> None:
    stored = study.stored(name, study.RESULTS)
    assert list(stored) == study.cells(name)
    labels = {cell: lines[0]["labels"] for cell, lines in stored.items()}
    assert {cell: str(study.checksum(cell)) for cell in stored} == labels


def test_a_cell_has_the_same_figures_each_time_and_is_not_run_again(tmp_path, capsys) -> None:
    only = ["rows=50", "classes=3"]
    for folder in (tmp_path / "one", tmp_path / "two", tmp_path / "one"):
        study.run("size", only, runs=2, processes=1, folder=folder)
    one, two = ((tmp_path / name / "size.csv").read_text("utf-8") for name in ("one", "two"))
    assert one == two
    (line,) = study.stored("size", tmp_path / "one")["rows rows=50 classes=3"]
    assert len(line["p"].split()) == int(line["runs"]) == 2
    assert capsys.readouterr().out.count("1/1") == 2

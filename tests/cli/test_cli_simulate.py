"""`trueness simulate`."""

from pathlib import Path
from typing import Any

import pytest
from command_process import run

import trueness as tn
from trueness.cli import main
from trueness.files import load_tables


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "tsv.gz", "jsonl.zst", "npz"])
def test_the_rows_are_those_of_the_library(tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"x.{ending}"
    run("simulate", "--n-rows", "1.5e3", "--alpha", "2,1,1", "--rng-seed", 3, "--sharpen", 1.2, "-o", out)
    y_true, y_prob = tn.simulate.calibrated(1500, [2, 1, 1], rng=3)
    expected = tn.tabulate(y_true, tn.simulate.sharpen(y_prob, 1.2))
    assert main(["tabulate", str(out), "-o", str(tmp_path / "t.json")]) == 0
    assert load_tables(str(tmp_path / "t.json")).whole.by_variation == expected


def test_an_unknown_ending(tmp_path: Path, capsys: Any) -> None:
    for name in ("x.docx", "x.npy"):
        assert main(["simulate", "--n-rows", "9", "--alpha", "1,1", "-o", str(tmp_path / name)]) == 2
        assert "cannot be written" in capsys.readouterr().err

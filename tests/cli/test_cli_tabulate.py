"""`trueness tabulate` and `trueness merge`: bins, skipped rows, standard input, groups."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.cli import main


def test_a_grid_that_is_too_coarse_for_a_confident_model(tmp_path: Path, capsys: Any) -> None:
    y_true, y_prob = tn.simulate.calibrated(2000, [5, 1, 1], rng=0)
    path = str(tmp_path / "sharp.npz")
    np.savez(path, y_true=y_true, y_prob=tn.simulate.sharpen(y_prob, 6.0))
    command = ["tabulate", path, "--equal-mass", "10", "-o", str(tmp_path / "t.json")]
    assert main(command) == 0
    printed = capsys.readouterr().err
    assert "fewer than the 10 requested bins, because one cell holds the rows of several" in printed


def test_skipped_rows_are_counted_by_reason(tmp_path: Path, capsys: Any) -> None:
    np.savez(tmp_path / "x.npz", y_true=[0, 1, 7], y_prob=[[0.5, 0.5], [0.9, 0.9], [0.5, 0.5]])
    arguments = ["tabulate", str(tmp_path / "x.npz"), "--on-bad-rows", "skip", "-o", str(tmp_path / "t")]
    assert main(arguments) == 0
    printed = capsys.readouterr().err.splitlines()[-3:]
    assert printed[0] == "skipped 2 of 3 rows:"
    assert sorted(printed[1:]) == ["  labels out of range: 1", "  probabilities that do not sum to 1: 1"]


def test_without_pyarrow(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["tabulate", str(files / "preds.csv"), "-o", str(tmp_path / "t")]) == 2
    assert "trueness[cli]" in capsys.readouterr().err
    assert main(["tabulate", str(files / "over.npz"), "-o", str(tmp_path / "t")]) == 0

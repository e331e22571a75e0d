"""`trueness bins`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.cli import main


def test_the_sweep_equals_that_of_the_library(files: Path, tmp_path: Path, capsys: Any) -> None:
    arrays = np.load(files / "over.npz")
    fine = tn.tabulate(arrays["y_true"], arrays["y_prob"], bins=tn.FineGrid())
    expected = tn.sweep_bins(fine, [5, 20], rng=0)
    out = str(tmp_path / "s.json")
    assert main(["bins", str(files / "over.npz"), "--n-bins", "5,20", "--json", out]) == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert json.loads(Path(out).read_text()) == expected.to_dict()
    assert main(["bins", str(files / "over.npz"), "--n-bins", "5,20", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == expected.to_dict()


@pytest.mark.parametrize("numbers", ["5,x", "", "5;6"])
def test_numbers_are_numbers(files: Path, capsys: Any, numbers: str) -> None:
    assert main(["bins", str(files / "over.npz"), "--n-bins", numbers]) == 2
    assert "such as 5,10,20" in capsys.readouterr().err


def test_more_bins_than_the_tables_have(npz: str, tmp_path: Path, capsys: Any) -> None:
    saved = str(tmp_path / "t.json")
    assert main(["tabulate", npz, "-o", saved]) == 0
    assert main(["bins", saved]) == 2
    cause, remedy = capsys.readouterr().err.splitlines()[-2:]
    assert cause == "trueness bins: the 10 bins of the tables cannot be divided into 80"
    assert "--grid" in remedy
    assert main(["bins", saved, "--n-bins", "5,10"]) == 0


def test_classes_and_events(files: Path, capsys: Any) -> None:
    arrays = np.load(files / "over.npz")
    table = tn.tabulate_events(arrays["y_true"], arrays["y_prob"])
    assert main(["bins", str(files / "over.npz"), "--by-class", "--kind", "width"]) == 0
    assert capsys.readouterr().out == f"{tn.sweep_bins(table, kind='width', rng=0)}\n"
    top = tn.tabulate_events(arrays["y_true"], arrays["y_prob"], events="top", grid="event")
    assert main(["bins", str(files / "over.npz"), "--event", "top", "--n-bins", "5,10"]) == 0
    assert capsys.readouterr().out == f"{tn.sweep_bins(top, [5, 10], rng=0)}\n"


def test_classes_of_saved_tables(files: Path, tmp_path: Path, capsys: Any) -> None:
    saved = str(tmp_path / "t.json")
    assert main(["tabulate", str(files / "over.npz"), "-o", saved]) == 0
    capsys.readouterr()
    assert main(["bins", saved, "--by-class"]) == 0
    assert capsys.readouterr().out.startswith("classwise ECE, bins of equal mass by probability")
    assert main(["bins", saved, "--event", "top"]) == 2
    assert "tabulate --event top" in capsys.readouterr().err


def test_images(tmp_path: Path, capsys: Any) -> None:
    """Their pixels are clusters, which the sweep does not count, unless they are declared independent."""
    y_true, y_prob = tn.simulate.calibrated(8 * 12 * 10, [1.0] * 3, rng=0)
    labels, images = y_true.reshape(8, 12, 10), np.moveaxis(y_prob.reshape(8, 12, 10, 3), -1, 1)
    labels[:, 0] = 255
    path = tmp_path / "p.npz"
    np.savez(path, y_prob=images, y_true=labels)
    arguments = ["bins", str(path), "--class-axis", "1", "--ignore-index", "255", "--n-bins", "5,10"]
    for more in ([], ["--clusters", "patient"]):
        assert main([*arguments, *more]) == 2
        assert "and the pixels of an image are one cluster\n  use trueness assess" in capsys.readouterr().err
    kept = labels.ravel() != 255
    fine = tn.tabulate(y_true[kept], y_prob[kept], bins=tn.FineGrid())
    assert main([*arguments, "--clusters", "none"]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{tn.sweep_bins(fine, [5, 10], rng=0)}\n"
    assert "pixels with the ignored label: 80" in printed.err
    assert main([*arguments[:4], "--clusters", "none"]) == 2
    assert "pass --ignore-index 255" in capsys.readouterr().err


def test_clusters_are_not_counted(files: Path, tmp_path: Path, capsys: Any) -> None:
    """Refused for rows, and said for saved tables."""
    arrays, saved = np.load(files / "over.npz"), tmp_path / "t.json"
    clusters = np.arange(len(arrays["y_true"])) // 10
    tn.assess(arrays["y_true"], arrays["y_prob"], clusters=clusters, resamples=39).tables.save(saved)
    assert main(["bins", str(files / "over.npz"), "--clusters", "patient"]) == 2
    assert "--clusters is not supported by this command" in capsys.readouterr().err
    assert main(["bins", str(saved), "--n-bins", "5", "--kind", "width"]) == 0
    assert (
        "the clusters of these tables are not used: rows are taken as independent" in capsys.readouterr().err
    )
    assert main(["bins", str(saved), "--clusters", "none"]) == 2
    assert "--clusters applies to rows" in capsys.readouterr().err

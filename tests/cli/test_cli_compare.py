"""`trueness compare`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_process import run

import trueness as tn
from trueness.cli import main


def test_the_comparison_equals_that_of_the_library(files: Path, tmp_path: Path) -> None:
    ended = run(
        "compare",
        files / "preds.csv",
        files / "over.npz",
        "--names",
        "old,new",
        "--json",
        tmp_path / "c.json",
    )
    arrays = np.load(files / "over.npz")
    y_true, y_prob = tn.simulate.calibrated(2000, [10, 1, 1], rng=0)
    expected = tn.compare(y_true, {"old": y_prob, "new": arrays["y_prob"]}, rng=0)
    assert ended.stdout == f"{expected}\n"
    assert json.loads((tmp_path / "c.json").read_text()) == expected.to_dict()


def test_batches_of_other_lengths(files: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Parquet file ends its batches elsewhere than an NPZ file; the rows stay side by side."""
    main(["compare", str(files / "preds.csv"), str(files / "over.npz"), "--equal-mass", "5"])
    straight = capsys.readouterr().out
    monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 3 * 333)
    main(["compare", str(files / "preds.csv"), str(files / "over.npz"), "--equal-mass", "5"])
    assert capsys.readouterr().out == straight


def test_what_cannot_be_compared(files: Path, tmp_path: Path, capsys: Any) -> None:
    preds, other = str(files / "preds.csv"), str(files / "shard-1.parquet")
    short, wide, bad = (str(tmp_path / f"{name}.npz") for name in ("short", "wide", "bad"))
    y_true, y_prob = tn.simulate.calibrated(2000, [10, 1, 1], rng=0)
    np.savez(short, y_true=y_true[:700], y_prob=y_prob[:700])
    np.savez(wide, y_true=y_true, y_prob=np.full((2000, 4), 0.25))
    y_prob[1234] = 0.9
    np.savez(bad, y_true=y_true, y_prob=y_prob)
    for arguments, message in (
        ([preds], "two models or more"),
        ([preds, preds], f"{preds} is used for two models\n  give the models names"),
        ([str(files / "all.json")], "two tables or more"),
        ([str(files / "all.json")] * 2, "all.json is used for two tables\n  give the tables names"),
        ([preds, other], "row 1 has class"),
        ([preds, short], "short has fewer rows than preds"),
        ([preds, wide], "different numbers of classes"),
        ([preds, bad], f"{bad}, row 1235: "),
        ([preds, str(files / "all.json")], "is a file of tables"),
        ([preds, bad, "--names", "a"], "2 different names"),
        ([preds, bad, "--on-bad-rows", "skip"], "fix them first"),
        ([preds, bad, "--sample-weight", "y_true", "--equal-mass", "5"], "do not support sample weights"),
    ):
        assert main(["compare", *arguments]) == 2, arguments
        assert message in capsys.readouterr().err, arguments


def test_groups_and_weights_come_from_the_first_file(files: Path, tmp_path: Path, capsys: Any) -> None:
    y_true, y_prob = tn.simulate.calibrated(2000, [10, 1, 1], rng=0)
    site = np.where(np.arange(2000) % 2, "odd", "even")
    np.savez(tmp_path / "x.npz", y_true=y_true, y_prob=y_prob, site=site)
    arguments = [
        "compare",
        str(tmp_path / "x.npz"),
        str(files / "over.npz"),
        "--groups",
        "site",
        "--json",
        "-",
    ]
    assert main(arguments) == 0
    assert [group["name"] for group in json.loads(capsys.readouterr().out)["groups"]] == ["even", "odd"]

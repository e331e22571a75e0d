"""Pictures that the command writes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.cli import main

BEGINNINGS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def models(folder: Path) -> list[str]:
    y_true, y_prob = tn.simulate.calibrated(500, alpha=[4, 1, 1], rng=0)
    for name, power in (("a", 1.0), ("b", 1.5)):
        np.savez(folder / f"{name}.npz", y_true=y_true, y_prob=tn.simulate.sharpen(y_prob, power))
    return [str(folder / "a.npz"), str(folder / "b.npz")]


@pytest.mark.parametrize("ending", BEGINNINGS)
@pytest.mark.parametrize("command", ["assess", "compare"])
def test_the_picture_has_the_format_of_its_ending(tmp_path: Path, command: str, ending: str) -> None:
    paths = models(tmp_path)[: 1 if command == "assess" else 2]
    out = tmp_path / "pictures" / f"x.{ending}"
    assert main([command, *paths, "--plot", str(out), "--resamples", "99"]) == 0
    assert out.read_bytes().startswith(BEGINNINGS[ending])
    assert out.stat().st_size > 5000


@pytest.mark.parametrize("path", ["x.jpeg", "-"])
def test_another_ending_is_refused_before_rows_are_read(path: str, tmp_path: Path, capsys: Any) -> None:
    assert main(["assess", *models(tmp_path)[:1], "--plot", path]) == 2
    printed = capsys.readouterr().err
    assert ".png, .svg, .pdf" in printed
    assert "classes" not in printed

"""Options of the inference that are refused before files are read."""

from pathlib import Path
from typing import Any

import pytest

from trueness.cli import main


@pytest.mark.parametrize("options", ["--resamples 0", "--resamples -3", "--level 3", "--level nan"])
def test_impossible_levels_and_resamples(npz: str, options: str, capsys: Any) -> None:
    for command in (["assess", npz], ["compare", npz, npz]):
        assert main([*command, *options.split()]) == 2
        first = capsys.readouterr().err.splitlines()[0]
        assert first.startswith(f"trueness {command[0]}: {options.split(maxsplit=1)[0]} must be")


@pytest.mark.parametrize("seed", ["-1", "x", "1.5"])
def test_seeds_are_whole_numbers(files: Path, tmp_path: Path, seed: str, capsys: Any) -> None:
    for arguments in (
        ["assess", str(files / "over.npz")],
        ["simulate", "--n-rows", "9", "--alpha", "1,1", "-o", "x.csv"],
        ["reproduce", "--out", "x"],
    ):
        with pytest.raises(SystemExit, match="2"):
            main([*arguments, "--rng-seed", seed])
        assert "an integer of at least 0" in capsys.readouterr().err

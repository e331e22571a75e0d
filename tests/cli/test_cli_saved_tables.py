"""Saved tables as input: options that do not apply to them, their groups and their bins."""

from pathlib import Path
from typing import Any

import pytest

from trueness.cli import main

pytestmark = pytest.mark.cli


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ("--where site=1", "--where applies to rows"),
        ("--sample-weight w", "--sample-weight applies to rows"),
        ("--probs p_*", "--probs applies to rows"),
        ("--on-bad-rows skip", "--on-bad-rows applies to rows"),
        ("--variation iqv", "--variation applies to rows"),
        ("--groups ward", "grouped by 'site'"),
    ],
)
def test_options_for_rows_are_refused(
    npz: str, tmp_path: Path, options: str, cause: str, capsys: Any
) -> None:
    saved = str(tmp_path / "t.json")
    assert main(["tabulate", npz, "--groups", "site", "-o", saved]) == 0
    assert main(["assess", saved, *options.split()]) == 2
    assert cause in capsys.readouterr().err
    if "--groups" not in options:
        assert main(["bins", saved, *options.split()]) == 2


def test_groups_must_be_those_of_the_tables(npz: str, tmp_path: Path, capsys: Any) -> None:
    plain, grouped = str(tmp_path / "t.json"), str(tmp_path / "g.json")
    assert main(["tabulate", npz, "-o", plain]) == 0
    assert main(["tabulate", npz, "--groups", "site", "-o", grouped]) == 0
    assert main(["assess", plain, "--groups", "site"]) == 2
    assert "the saved tables are not grouped" in capsys.readouterr().err
    assert main(["assess", grouped, "--groups", "site"]) == 0
    assert main(["merge", plain, grouped, "-o", str(tmp_path / "m.json")]) == 2
    assert f"{grouped} has groups by 'site', but {plain} has no groups" in capsys.readouterr().err


def test_the_masses_of_merged_bins_are_printed(npz: str, tmp_path: Path, capsys: Any) -> None:
    saved = str(tmp_path / "t.json")
    assert main(["tabulate", npz, "-o", saved]) == 0
    assert main(["assess", saved, "--equal-mass", "4"]) == 0
    assert "4 bins of equal mass, from the 10 bins of the tables: " in capsys.readouterr().err

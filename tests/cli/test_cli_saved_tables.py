"""Saved tables as input: options that do not apply to them, their groups and their bins."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueness.cli import main
from trueness.files import load_tables


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


def test_the_masses_of_merged_bins_are_printed(npz: str, tmp_path: Path, capsys: Any) -> None:
    saved = str(tmp_path / "t.json")
    assert main(["tabulate", npz, "-o", saved]) == 0
    assert main(["assess", saved, "--equal-mass", "4"]) == 0
    assert "4 bins of equal mass, from the 10 bins of the tables: " in capsys.readouterr().err


class TestTablesByClass:
    """Saved with the others by default; --no-by-class makes, adds and assesses the others alone."""

    @pytest.fixture
    def both(self, npz: str, tmp_path: Path) -> tuple[str, str]:
        with_classes, without = str(tmp_path / "with.json"), str(tmp_path / "without.json")
        assert main(["tabulate", npz, "-o", with_classes]) == 0
        assert main(["tabulate", npz, "--no-by-class", "-o", without]) == 0
        return with_classes, without

    def test_the_summary_names_them(self, npz: str, tmp_path: Path, capsys: Any) -> None:
        for options, words in (
            ([], "10 of confidence, each class in 80 cells of its probability"),
            (["--no-by-class"], "10 of confidence"),
        ):
            assert main(["tabulate", npz, *options, "-o", str(tmp_path / "t.json")]) == 0
            assert capsys.readouterr().out.endswith(f"{words}\n")
        np.savez(tmp_path / "two.npz", y_true=[0, 1], y_prob=[0.25, 0.75])
        assert main(["tabulate", str(tmp_path / "two.npz"), "-o", str(tmp_path / "t.json")]) == 0
        assert capsys.readouterr().out.endswith(", class 1 in 5026 cells of its probability\n")

    def test_they_merge(self, both: tuple[str, str], tmp_path: Path, capsys: Any) -> None:
        copy, out = tmp_path / "copy.json", str(tmp_path / "out.json")
        copy.write_text(Path(both[0]).read_text())
        assert main(["merge", both[0], str(copy), "-o", out]) == 0
        one = load_tables(both[0]).whole
        assert load_tables(out).whole == one + one
        capsys.readouterr()
        assert main(["merge", *both, "-o", out]) == 2
        assert "pass --no-by-class to add them without their tables by class" in capsys.readouterr().err
        assert main(["merge", *both, "--no-by-class", "-o", out]) == 0
        assert load_tables(out).whole == one.without_events() + one.without_events()

    def test_they_are_assessed_or_not(self, both: tuple[str, str], tmp_path: Path, capsys: Any) -> None:
        results = [tmp_path / f"{k}.json" for k in range(3)]
        for path, options, out in zip(
            (both[0], both[0], both[1]), ([], ["--no-by-class"], []), results, strict=True
        ):
            assert main(["assess", path, *options, "--resamples", "99", "--json", str(out)]) == 0
        found = [json.loads(path.read_text()) for path in results]
        assert found[0] != found[1]
        assert found[1] == found[2]
        assert main(["assess", both[1], "--by-class"]) == 2
        assert "--by-class: the saved tables have no table by class" in capsys.readouterr().err

    def test_reports_hold_them(self, npz: str, tmp_path: Path) -> None:
        page, saved = str(tmp_path / "r.html"), str(tmp_path / "t.json")
        assert main(["assess", npz, "--resamples", "99", "--report", page, "--table-out", saved]) == 0
        again = str(tmp_path / "again.json")
        assert main(["assess", page, "--resamples", "99", "--table-out", again]) == 0
        assert load_tables(again).whole == load_tables(saved).whole
        assert load_tables(again).whole.by_class is not None
        assert main(["assess", page, "--resamples", "99", "--no-by-class", "--table-out", again]) == 0
        assert load_tables(again).whole.events == ()

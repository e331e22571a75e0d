"""`--clusters`: the numbers of `tn.assess(clusters=)`, from one file, from many, and from tables saved before."""

import json
from pathlib import Path
from typing import Any

import numpy as np

import trueness as tn
from trueness.cli import main

N = 900
Y_TRUE, Y_PROB = tn.simulate.calibrated(N, [1.0] * 3, rng=0)
SHARP = tn.simulate.sharpen(Y_PROB, 1.4)
NAMES = np.array([f"patient {k}" for k in np.random.default_rng(1).integers(0, 60, N)])
OPTIONS = ["--resamples", "99"]


def write(path: Path, y_prob: np.ndarray, rows: slice = slice(None)) -> str:
    lines = [
        f"{y},{name},{'north' if k % 2 else 'south'},{','.join(map(repr, p))}"
        for k, (y, name, p) in enumerate(zip(Y_TRUE.tolist(), NAMES.tolist(), y_prob.tolist(), strict=True))
    ]
    path.write_text("\n".join(["label,patient,site,p_0,p_1,p_2", *lines[rows]]) + "\n")
    return str(path)


def numbers(*arguments: str, path: Path) -> Any:
    assert main([*arguments, *OPTIONS, "--json", str(path)]) == 0
    return json.loads(path.read_text())


def as_json(result: Any) -> Any:
    return json.loads(json.dumps(result.to_dict()))


def test_rows_and_saved_tables_give_the_numbers_of_the_library(tmp_path: Path) -> None:
    expected = as_json(tn.assess(Y_TRUE, Y_PROB, clusters=NAMES, resamples=99))
    rows = write(tmp_path / "all.csv", Y_PROB)
    assert numbers("assess", rows, "--clusters", "patient", path=tmp_path / "rows.json") == expected
    saved = []
    for name, part in (("a", slice(0, 400)), ("b", slice(400, None))):  # clusters are in both files
        saved.append(str(tmp_path / f"{name}.json"))
        file = write(tmp_path / f"{name}.csv", Y_PROB, part)
        assert main(["tabulate", file, "--clusters", "patient", "-o", saved[-1]]) == 0
    assert numbers("assess", *saved, path=tmp_path / "saved.json") == expected
    assert main(["merge", *reversed(saved), "-o", str(tmp_path / "merged.json")]) == 0
    assert numbers("assess", str(tmp_path / "merged.json"), path=tmp_path / "merged-result.json") == expected


def test_groups_and_equal_mass(tmp_path: Path) -> None:
    rows = write(tmp_path / "all.csv", Y_PROB)
    saved = str(tmp_path / "grid.json")
    assert main(["tabulate", rows, "--clusters", "patient", "--groups", "site", "--grid", "-o", saved]) == 0
    how = ["--equal-mass", "5"]
    later = numbers("assess", saved, *how, path=tmp_path / "later.json")
    at_once = numbers(
        "assess", rows, "--clusters", "patient", "--groups", "site", *how, path=tmp_path / "at_once.json"
    )
    assert later["vce"] == at_once["vce"]
    assert later["groups"] == at_once["groups"]
    assert later["n_clusters"] == at_once["n_clusters"] == len(set(NAMES))


def test_compare(tmp_path: Path) -> None:
    files = [write(tmp_path / "plain.csv", Y_PROB), write(tmp_path / "sharp.csv", SHARP)]
    found = numbers("compare", *files, "--clusters", "patient", path=tmp_path / "pairs.json")
    expected = tn.compare(Y_TRUE, {"plain": Y_PROB, "sharp": SHARP}, clusters=NAMES, resamples=99)
    assert found["pairs"] == as_json(expected)["pairs"]
    assert found["paired"] is True


def test_compare_saved_tables(tmp_path: Path, capsys: Any) -> None:
    saved = []
    for name, y_prob, part in (("monday", Y_PROB, slice(0, 400)), ("tuesday", SHARP, slice(400, None))):
        saved.append(str(tmp_path / f"{name}.json"))
        file = write(tmp_path / f"{name}.csv", y_prob, part)
        assert main(["tabulate", file, "-o", saved[-1]]) == 0
    found = numbers("compare", *saved, path=tmp_path / "pairs.json")
    assert [(pair["first"], pair["second"]) for pair in found["pairs"]] == [("monday", "tuesday")]
    assert found["paired"] is False
    assert "rows: monday 400, tuesday 500" in capsys.readouterr().out
    assert main(["compare", *saved, "--groups", "site"]) == 2
    assert "compared as a whole" in capsys.readouterr().err
    assert main(["compare", *saved, "--clusters", "patient"]) == 2
    assert "--clusters applies to rows" in capsys.readouterr().err
    assert main(["compare", saved[0], file]) == 2
    assert "tabulate those first, and name the tables" in capsys.readouterr().err


def test_refusals(tmp_path: Path, capsys: Any) -> None:
    rows = write(tmp_path / "all.csv", Y_PROB)
    for column, cause in (("patients", "did you mean 'patient'"), ("label", "both --label and --clusters")):
        assert main(["assess", rows, "--clusters", column]) == 2
        assert cause in capsys.readouterr().err
    (tmp_path / "few.csv").write_text("label,patient,p_0,p_1\n0,a,0.5,0.5\n1,b,0.5,0.5\n")
    assert main(["assess", str(tmp_path / "few.csv"), "--clusters", "patient"]) == 2
    assert "at least 5 are needed" in capsys.readouterr().err


def test_compare_groups(tmp_path: Path, capsys: Any) -> None:
    """The differences of `Assessment.with_compared_groups`, from rows and from saved tables."""
    rows, saved = write(tmp_path / "all.csv", SHARP), str(tmp_path / "t.json")
    site = np.where(np.arange(N) % 2, "north", "south")
    result = tn.assess(Y_TRUE, SHARP, clusters=NAMES, groups=site, resamples=99)
    how = ["--clusters", "patient", "--groups", "site"]
    expected = as_json(result.with_compared_groups())
    found = numbers("assess", rows, *how, "--compare-groups", path=tmp_path / "rows.json")
    assert found["compared_groups"] == expected["compared_groups"]
    assert main(["tabulate", rows, *how, "-o", saved]) == 0
    later = numbers("assess", saved, "--compare-groups", path=tmp_path / "saved.json")
    assert later["compared_groups"] == expected["compared_groups"]
    for arguments, cause in (
        ([rows, "--compare-groups"], "--compare-groups compares the groups of --groups, which is missing"),
        ([rows, *how[2:], "--compare-groups", "--event", "1"], "--compare-groups is not supported"),
    ):
        assert main(["assess", *arguments]) == 2
        assert cause in capsys.readouterr().err
    assert main(["tabulate", rows, "-o", saved]) == 0
    assert main(["assess", saved, "--compare-groups"]) == 2
    assert "fewer than two groups were assessed" in capsys.readouterr().err


def test_events_do_not_count_clusters(tmp_path: Path, capsys: Any) -> None:
    """Refused for rows, and said for saved tables: p-values would be too small."""
    rows, saved = write(tmp_path / "all.csv", Y_PROB), str(tmp_path / "t.json")
    assert main(["assess", rows, "--clusters", "patient", "--event", "1"]) == 2
    assert "--clusters is not supported with --event" in capsys.readouterr().err
    assert main(["tabulate", rows, "--clusters", "patient", "--event", "1", "-o", saved]) == 0
    assert main(["assess", saved, "--event", "1", *OPTIONS]) == 0
    assert "the clusters of these tables are not used" in capsys.readouterr().err
    np.savez(tmp_path / "p.npz", y_prob=Y_PROB.reshape(9, 100, 3), y_true=Y_TRUE.reshape(9, 100))
    images = ["assess", str(tmp_path / "p.npz"), "--class-axis", "2", "--event", "1", *OPTIONS]
    assert main(images) == 2
    assert "the pixels of an image are one cluster" in capsys.readouterr().err
    assert main([*images, "--clusters", "none"]) == 0


def test_tables_with_and_without_clusters(tmp_path: Path, capsys: Any) -> None:
    rows, saved = write(tmp_path / "all.csv", Y_PROB), [str(tmp_path / f"{name}.json") for name in "ab"]
    assert main(["tabulate", rows, "--clusters", "patient", "-o", saved[0]]) == 0
    assert main(["tabulate", rows, "-o", saved[1]]) == 0
    assert main(["compare", *saved]) == 2
    assert "'a' and 'b' have different kinds of rows: in clusters and independent" in capsys.readouterr().err
    assert main(["merge", *saved, "-o", str(tmp_path / "m.json")]) == 2
    assert "tables with clusters cannot be added to tables without" in capsys.readouterr().err

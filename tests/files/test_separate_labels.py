"""Labels in a second file: the table is that of one file with all columns."""

from pathlib import Path
from typing import Any

import numpy as np
import predictions as same
from reading import EXPECTED, tables

from trueness.cli import main

ORDER = np.random.default_rng(1).permutation(same.N_ROWS)
IDS = [f"case {number}" for number in range(same.N_ROWS)]


def predictions(path: Path, **columns: Any) -> Path:
    if path.suffix == ".npy":
        np.save(path, same.Y_PROB)
        return path
    return same.written(path, {**columns, **{f"p_{c}": same.Y_PROB[:, c] for c in range(3)}})


def labels(path: Path, **columns: Any) -> Path:
    if path.suffix == ".npy":
        np.save(path, same.Y_TRUE)
        return path
    return same.written(path, columns or {"truth": same.Y_TRUE})


def test_several_files_joined_by_a_key(tmp_path: Path, capsys: Any) -> None:
    for part in range(3):
        chosen = slice(part * 1000, (part + 1) * 1000)
        columns = {"id": IDS[chosen], **{f"p_{c}": same.Y_PROB[chosen, c] for c in range(3)}}
        same.written(tmp_path / f"p{part}.parquet", columns)
    truth = labels(tmp_path / "y.csv", id=[*IDS, "further"], truth=[*same.Y_TRUE, 0])
    paths = [tmp_path / f"p{part}.parquet" for part in range(3)]
    assert tables(tmp_path, *paths, "--label-file", truth, "--key", "id") == EXPECTED
    printed = capsys.readouterr().err
    assert "joined by 'id'" in printed
    assert f"1 labels of {truth} have no prediction" in printed


def test_whole_numbers_are_the_same_key_in_text_and_in_numbers(tmp_path: Path) -> None:
    rows = predictions(tmp_path / "p.parquet", id=np.arange(same.N_ROWS))
    truth = labels(tmp_path / "y.csv", id=ORDER, truth=same.Y_TRUE[ORDER])
    assert tables(tmp_path, rows, "--label-file", truth, "--key", "id") == EXPECTED


def _error(capsys: Any, *arguments: Any) -> str:
    assert main(["assess", *map(str, arguments)]) == 2
    return str(capsys.readouterr().err)


class TestRefusals:
    def test_unreadable_rows_would_shift_the_labels(self, tmp_path: Path, capsys: Any) -> None:
        (tmp_path / "p.csv").write_text("p_0,p_1\n0.5,0.5\n0.5\n0.5,0.5\n")
        (tmp_path / "y.csv").write_text("y\n0\n1\n1\n")
        printed = _error(
            capsys, tmp_path / "p.csv", "--label-file", tmp_path / "y.csv", "--on-bad-rows", "skip"
        )
        assert "rows that cannot be read" in printed

    def test_a_key_without_a_file_and_several_files_without_a_key(self, tmp_path: Path, capsys: Any) -> None:
        rows = predictions(tmp_path / "p.csv", y=same.Y_TRUE)
        assert "--label-file, which is missing" in _error(capsys, rows, "--key", "id")
        more, truth = predictions(tmp_path / "q.csv"), labels(tmp_path / "y.csv")
        assert "a single file of predictions" in _error(capsys, rows, more, "--label-file", truth)


def test_a_comparison_of_models_with_one_label_file(tmp_path: Path, capsys: Any) -> None:
    a, b = predictions(tmp_path / "a.csv"), predictions(tmp_path / "b.parquet")
    truth = labels(tmp_path / "y.csv")
    options = ("--label-file", str(truth), "--resamples", "99", "--json", str(tmp_path / "new" / "c.json"))
    assert main(["compare", str(a), str(b), *options]) == 0
    assert (tmp_path / "new" / "c.json").exists()
    assert "3000" in capsys.readouterr().out

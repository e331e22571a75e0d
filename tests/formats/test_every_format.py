"""The same rows give the identical table, whatever the format of their file."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import predictions as same
import pytest
from reading import EXPECTED, tables

import trueness as tn


def test_rows_of_more_than_a_megabyte(tmp_path: Path) -> None:
    """10 000 classes with long names: the header of CSV is longer than the blocks that files are read in."""
    n_classes, y_true = 10_000, [3, 9_999, 7]
    y_prob = np.zeros((3, n_classes))
    y_prob[:, :8] = 0.125
    names = [f"probability_{c:0100}" for c in range(n_classes)]
    rows = [
        ",".join([str(label), *map(repr, row)]) for label, row in zip(y_true, y_prob.tolist(), strict=True)
    ]
    (tmp_path / "x.csv").write_text("\n".join([",".join(["y_true", *names]), *rows]) + "\n")
    assert (tmp_path / "x.csv").read_bytes().index(b"\n") > 2**20
    found = tables(tmp_path, tmp_path / "x.csv", "--probs", "probability_*")
    assert found[0] == tn.tabulate(y_true, y_prob)


def test_batches_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 3 * 101)
    for name, (file, write, options) in same.FORMATS.items():
        path = tmp_path / name.replace(", ", "-").replace(".", "-")
        path.mkdir()
        write(path / file)
        assert tables(path, path / file, *options) == EXPECTED, name


def test_decimals_whole_numbers_and_dictionaries(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        "label": pa.array(["b", "a", "b"]).dictionary_encode(),
        "p_a": pa.array([0, 1, 0], pa.int8()),
        "p_b": pa.array([Decimal(1), Decimal(0), Decimal(1)], pa.decimal128(5, 2)),
    }
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    assert tables(tmp_path, tmp_path / "x.parquet")[0] == tn.tabulate([1, 0, 1], [[0, 1], [1, 0], [0, 1.0]])

"""Files of predictions for the tests of the command."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import trueness as tn
from trueness.cli import main


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the examples of the help name."""
    folder = tmp_path_factory.mktemp("examples")
    for name, seed, sharpen in (
        ("preds.parquet", 0, None),
        ("preds.csv", 0, None),
        ("a.parquet", 0, None),
        ("b.parquet", 0, "1.4"),
        ("b.csv", 0, "1.4"),
        ("shard-1.parquet", 1, None),
        ("shard-2.parquet", 2, None),
        ("over.npz", 0, "1.6"),
    ):
        more = [] if sharpen is None else ["--sharpen", sharpen]
        arguments = ["simulate", "--n-rows", "2000", "--alpha", "10,1,1", "--rng-seed", str(seed), *more]
        assert main([*arguments, "-o", str(folder / name)]) == 0
    for name in ("shard-1", "shard-2"):
        assert main(["tabulate", str(folder / f"{name}.parquet"), "-o", str(folder / f"{name}.json")]) == 0
    for name, shard in (("all", 1), ("monday", 1), ("tuesday", 2)):
        shutil.copy(folder / f"shard-{shard}.json", folder / f"{name}.json")
    for name in ("a", "b"):
        _add_patients(folder / f"{name}.parquet")
    for day in (1, 2):
        shutil.copy(folder / f"shard-{day}.json", folder / f"day-{day}.json")
    y_true, y_prob = tn.simulate.calibrated(300, [10, 1, 1], rng=0)
    np.savez(
        folder / "days.npz", y_true=y_true, y_prob=y_prob, day=np.array(["mon", "tue"])[np.arange(300) % 2]
    )
    assert main(["assess", str(folder / "a.parquet"), "--report", str(folder / "report.html")]) == 0
    assert main(["tabulate", str(folder / "preds.parquet"), "--grid", "-o", str(folder / "grid.json")]) == 0
    return folder


def _add_patients(path: Path) -> None:
    """Add a column of clusters of four rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    pq.write_table(table.append_column("patient", pa.array(np.arange(table.num_rows) // 4)), path)


@pytest.fixture
def npz(tmp_path: Path) -> str:
    """An over-confident model."""
    y_true, y_prob = tn.simulate.calibrated(3000, [5, 1, 1], rng=0)
    path = tmp_path / "x.npz"
    np.savez(path, y_true=y_true, y_prob=tn.simulate.sharpen(y_prob, 1.5), site=np.arange(3000) % 2)
    return str(path)

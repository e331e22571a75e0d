"""Files of predictions for the tests of the command."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from logs import LABELS, LOGS, OPENAI, samples

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
    for name, of_help in (("a", "before"), ("b", "after")):
        shutil.copy(folder / f"{name}.parquet", folder / f"{of_help}.parquet")
        _add_column(folder / f"{name}.parquet", "patient", np.arange(2000) // 4)
    _add_column(folder / "preds.parquet", "hospital", np.array(["north", "south"])[np.arange(2000) % 2])
    _write_images(folder)
    for day in (1, 2):
        shutil.copy(folder / f"shard-{day}.json", folder / f"day-{day}.json")
    y_true, y_prob = tn.simulate.calibrated(300, [10, 1, 1], rng=0)
    np.savez(
        folder / "days.npz", y_true=y_true, y_prob=y_prob, day=np.array(["mon", "tue"])[np.arange(300) % 2]
    )
    assert main(["assess", str(folder / "a.parquet"), "--report", str(folder / "report.html")]) == 0
    assert main(["tabulate", str(folder / "preds.parquet"), "--grid", "-o", str(folder / "grid.json")]) == 0
    for name, source in (
        ("samples_arc_2026-01-01T00-00-00.jsonl", samples("ex_arc")),
        ("run.eval", LOGS / "inspect" / "letters.eval"),
        ("batch_output.jsonl", OPENAI),
        ("labels.csv", LABELS),
        ("answers.csv", LOGS / "plain" / "stated.csv"),
        ("next_token.jsonl", LOGS / "plain" / "next_token.jsonl"),
    ):
        shutil.copy(source, folder / name)
    return folder


def _add_column(path: Path, name: str, values: np.ndarray) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pq.read_table(path).append_column(name, pa.array(values)), path)


def _write_images(folder: Path) -> None:
    """Predictions of two models for forty images of 4 x 4 pixels, and their labels."""
    y_true, y_prob = tn.simulate.calibrated(640, [5, 1, 1], rng=0)
    np.save(folder / "masks.npy", y_true.reshape(40, 4, 4))
    for name, prob in (("a", y_prob), ("b", tn.simulate.sharpen(y_prob, 1.4))):
        np.save(folder / f"{name}.npy", np.moveaxis(prob.reshape(40, 4, 4, 3), -1, 1))


@pytest.fixture
def npz(tmp_path: Path) -> str:
    """An over-confident model."""
    y_true, y_prob = tn.simulate.calibrated(3000, [5, 1, 1], rng=0)
    path = tmp_path / "x.npz"
    np.savez(path, y_true=y_true, y_prob=tn.simulate.sharpen(y_prob, 1.5), site=np.arange(3000) % 2)
    return str(path)

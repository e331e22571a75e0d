"""Soft labels in files and on clusters: a list column, or one column per class; the table of one process."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import run

import trueness as tn

NAMES = ("cat", "dog", "eel")
RNG = np.random.default_rng(0)
Y_PROB = RNG.dirichlet([0.5] * 3, 300)
SHARES = RNG.multinomial(5, Y_PROB) / 5
FILES = {
    "columns.csv": "s_*",
    "columns.parquet": "s_*",
    "columns.jsonl": "s_cat,s_dog,s_eel",
    "lists.parquet": "y",
    "lists.jsonl": "y",
    "arrays.npz": None,
}


def frame() -> Any:
    """One column per class; those of shares in another order than those of probabilities."""
    import pandas as pd

    shares = {f"s_{NAMES[c]}": SHARES[:, c] for c in (2, 0, 1)}
    return pd.DataFrame(shares | {f"p_{name}": Y_PROB[:, c] for c, name in enumerate(NAMES)})


def write(folder: Path) -> None:
    import pandas as pd

    data = frame()
    data.to_csv(folder / "columns.csv", index=False)
    data.to_parquet(folder / "columns.parquet")
    lines = [json.dumps(dict(zip(data.columns, row, strict=True))) for row in data.to_numpy().tolist()]
    (folder / "columns.jsonl").write_text("\n".join(lines))
    pd.DataFrame({"y": list(SHARES), "p": list(Y_PROB)}).to_parquet(folder / "lists.parquet")
    pairs = zip(SHARES.tolist(), Y_PROB.tolist(), strict=True)
    (folder / "lists.jsonl").write_text("\n".join(json.dumps({"y": s, "p": p}) for s, p in pairs))
    np.savez(folder / "arrays.npz", y_true=SHARES, y_prob=Y_PROB)


@pytest.mark.parametrize("file", FILES)
def test_every_layout_gives_the_table_of_arrays(file: str, tmp_path: Path) -> None:
    write(tmp_path)
    label = [] if FILES[file] is None else ["--label", FILES[file]]
    probs = ["--probs", "p_*"] if file.startswith("columns") else []
    run("tabulate", file, "--soft-labels", *label, *probs, "-o", "table.json", folder=tmp_path)
    assert tn.CalibrationTable.load(tmp_path / "table.json") == tn.tabulate(SHARES, Y_PROB, soft_labels=True)


def test_the_command_assesses_soft_labels(tmp_path: Path) -> None:
    write(tmp_path)
    columns = ("--label", "s_*", "--probs", "p_*", "--soft-labels")
    run("assess", "columns.csv", *columns, "--json", "result.json", folder=tmp_path)
    content = json.loads((tmp_path / "result.json").read_text())
    result = tn.assess(SHARES, Y_PROB, soft_labels=True)
    assert content["row_worth"] == result.table.row_worth
    assert content["p_value"] == result.p_value
    assert "soft-labels" in [caution["code"] for caution in content["warnings"]]


def test_bad_soft_labels_of_files_are_refused_or_skipped(tmp_path: Path) -> None:
    data = frame()
    data.loc[4, "s_cat"] = 2.0
    data.to_csv(tmp_path / "bad.csv", index=False)
    columns = ("--label", "s_*", "--probs", "p_*", "--soft-labels", "-o", "table.json")
    ended = run("tabulate", "bad.csv", *columns, folder=tmp_path, code=2)
    assert "row 5" in ended.stderr
    run("tabulate", "bad.csv", *columns, "--on-bad-rows", "skip", folder=tmp_path)
    keep = np.arange(300) != 4
    want = tn.tabulate(SHARES[keep], Y_PROB[keep], soft_labels=True)
    assert tn.CalibrationTable.load(tmp_path / "table.json") == want
    ended = run(
        "tabulate",
        "bad.csv",
        *columns[:2],
        "--probs",
        "p_cat,p_dog",
        "--soft-labels",
        "-o",
        "x.json",
        folder=tmp_path,
        code=2,
    )
    assert "2 classes" in ended.stderr
    renamed = data.rename(columns={"s_cat": "s_ant"})
    renamed.to_csv(tmp_path / "other.csv", index=False)
    ended = run("tabulate", "other.csv", *columns, folder=tmp_path, code=2)
    assert "end in" in ended.stderr


@pytest.mark.adapters
def test_dask_gives_the_table_of_one_process() -> None:
    import dask.dataframe as dd

    from trueness.adapters import dask as adapter

    data = dd.from_pandas(frame(), npartitions=4)
    table = adapter.tabulate(data, label="s_*", probs="p_*", soft_labels=True)
    assert table == tn.tabulate(SHARES, Y_PROB, soft_labels=True)
    result = adapter.assess(data, label="s_*", probs="p_*", soft_labels=True)
    assert result.p_value == tn.assess(SHARES, Y_PROB, soft_labels=True).p_value


@pytest.mark.adapters
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_spark_gives_the_table_of_one_process() -> None:
    from partitioned import spark_session

    from trueness.adapters import spark as adapter

    with spark_session() as session:
        data = session.createDataFrame(frame()).repartition(3)
        table = adapter.tabulate(data, label="s_*", probs="p_*", soft_labels=True)
    assert table == tn.tabulate(SHARES, Y_PROB, soft_labels=True)

"""Dask on files, local and remote."""

import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from partitioned import (
    GROUP,
    one_process,
    require_tables_by_class,
    whole,
)
from partitioned import dask_tabulate as tabulate

import trueness as tn
from trueness.files.remote import find_remote, local_source
from trueness.refusals import Refusal

pytestmark = pytest.mark.adapters


def test_files_of_all_kinds(client: Any, shards: Path) -> None:
    paths = [str(shards / name) for name in ("a.parquet", "b.csv", "c.parquet")]
    assert tabulate(paths) == one_process()
    assert tabulate(paths[::-1], client=client) == one_process()
    assert tabulate(f"file://{shards}/*", client=client) == one_process()
    require_tables_by_class(lambda **options: tabulate(paths, **options))
    assert tabulate(paths, groups="g", bins=tn.EqualMass(5))["west"].n_rows == np.sum(GROUP == "west")


def test_paths_of_fsspec(client: Any, shards: Path, tmp_path: Path) -> None:
    import fsspec

    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in shards.iterdir():
            archive.write(path, path.name)
    assert tabulate(f"zip://*.*::{tmp_path}/all.zip", client=client) == one_process()
    memory = fsspec.filesystem("memory")
    for path in shards.iterdir():
        memory.pipe(f"/shards/{path.name}", path.read_bytes())
    assert tabulate("memory://shards/*", storage_options={"skip_instance_cache": True}) == one_process()
    with pytest.raises(Refusal, match=r"no file matches 'memory://shards/\*.npz'"):
        tabulate("memory://shards/*.npz")


def test_a_corrupt_file_is_named(shards: Path, tmp_path: Path) -> None:
    for path in shards.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    whole_file = (tmp_path / "c.parquet").read_bytes()
    (tmp_path / "c.parquet").write_bytes(whole_file[: len(whole_file) // 2])
    with pytest.raises(Refusal, match=re.escape(str(tmp_path / "c.parquet"))):
        tabulate(str(tmp_path / "*"))
    (tmp_path / "c.parquet").unlink()
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("x.csv", whole()[:30].to_csv(index=False).replace("0.", "zero point ", 1))
    with pytest.raises(Refusal, match=r"zip://x\.csv::.*all\.zip, row 1: "):
        tabulate(f"zip://x.csv::{tmp_path}/all.zip")


def test_a_bad_row_is_named_by_its_file_and_number(client: Any, shards: Path, tmp_path: Path) -> None:
    bad = whole()[:900].copy()
    bad.loc[bad.index[441], "p_3"] = 7.0
    bad.to_parquet(tmp_path / "bad.parquet", row_group_size=100)
    with pytest.raises(Refusal, match=r"bad\.parquet, row 442: `y_prob` is 7\.0 in class 3"):
        tabulate([str(shards / "a.parquet"), str(tmp_path / "bad.parquet")], client=client)


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ("-", "workers cannot read standard input"),
        (
            "nosuch://bucket/a.parquet",
            "'nosuch://bucket/a.parquet' cannot be opened: Protocol not known: nosuch",
        ),
        ("wandb://x/*.parquet", "Install wandbfs to access wandb; install the library that it names"),
        ("memory://notes/a.txt", "the format of 'memory:///notes/a.txt' is unknown by its ending"),
        ("memory://gone/a.csv", "'memory:///gone/a.csv' cannot be read"),
        ("nowhere/*.csv", "no file matches 'nowhere/*.csv'"),
    ],
)
def test_paths_that_cannot_be_read(paths: str, message: str) -> None:
    with pytest.raises(Refusal, match=re.escape(message)):
        tabulate(paths)


def test_a_file_that_a_worker_cannot_see(shards: Path, tmp_path: Path) -> None:
    """As on a machine without the shared disk: the driver sees the file, and then it is gone."""
    path = tmp_path / "a.parquet"
    path.write_bytes((shards / "a.parquet").read_bytes())
    (found,) = find_remote([str(path)])
    path.unlink()
    with (
        pytest.raises(Refusal, match=r"the file .*a\.parquet does not exist on this worker"),
        local_source(found),
    ):
        pass

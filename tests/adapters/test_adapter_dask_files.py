"""Dask on files, local and remote, and the command on a cluster."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from partitioned import (
    GROUP,
    N_ROWS,
    collection,
    example,
    one_process,
    require_tables_by_class,
    require_tables_of_three,
    three_classes,
    whole,
)
from partitioned import dask_tabulate as tabulate

import trueness as tn
from trueness.adapters import dask as adapter
from trueness.cli import main
from trueness.files.remote import find_remote, local_source
from trueness.refusals import Refusal

pytestmark = pytest.mark.dask


def test_files_of_all_kinds(client: Any, shards: Path) -> None:
    paths = [str(shards / name) for name in ("a.parquet", "b.csv", "c.parquet")]
    assert tabulate(paths) == one_process()
    assert tabulate(paths[::-1], client=client) == one_process()
    assert tabulate(f"file://{shards}/*", client=client) == one_process()
    require_tables_by_class(lambda **options: tabulate(paths, **options))
    assert tabulate(paths, by="g", bins=tn.EqualMass(5))["west"].n_rows == np.sum(GROUP == "west")


def test_pieces_are_for_the_slots_of_the_client(client: Any, shards: Path) -> None:
    """Of the client that is passed, or of the current one, or else the threads of this process."""
    assert adapter._Cluster(client).slots == 2
    with client.as_current():
        assert adapter._Cluster(None).slots == 2
        assert tabulate(str(shards)) == one_process()
    assert adapter._Cluster(None).slots == os.cpu_count()


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
    with pytest.raises(Refusal, match=r"bad\.parquet, row 442: y_prob is 7\.0 in class 3"):
        tabulate([str(shards / "a.parquet"), str(tmp_path / "bad.parquet")], client=client)


def test_files_of_other_columns_are_refused(shards: Path, tmp_path: Path) -> None:
    whole().assign(p_11=0.0).to_parquet(tmp_path / "more.parquet")
    with pytest.raises(Refusal, match=r"more\.parquet has the probability column 'p_11', which .*a\.parquet"):
        tabulate([str(shards / "a.parquet"), str(tmp_path / "more.parquet")])


def test_further_files_are_matched_to_the_first_by_name(tmp_path: Path) -> None:
    three_classes([0, 1, 2])[:250].to_parquet(tmp_path / "a.parquet")
    three_classes([2, 0, 1])[250:].to_csv(tmp_path / "b.csv", index=False)
    paths = [str(tmp_path / "a.parquet"), str(tmp_path / "b.csv")]
    require_tables_of_three(adapter.tabulate(paths, "y", "p_*", by_class=True))


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


def test_the_command_on_a_cluster_writes_the_same_file(
    client: Any, shards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = client.scheduler.address
    files = [str(path) for path in sorted(shards.iterdir())]
    common = ["tabulate", *files, "--label", "y", "--probs", "p_*"]
    for name, more in (("plain", []), ("by", ["--by", "g"]), ("mass", ["--equal-mass", "5"])):
        alone, together = tmp_path / f"{name}-alone.json", tmp_path / f"{name}-together.json"
        assert main([*common, *more, "-o", str(alone)]) == 0
        assert main([*common, *more, "-o", str(together), "--dask", address]) == 0
        assert json.loads(together.read_text()) == json.loads(alone.read_text()), name
    assert "3000 rows" in capsys.readouterr().out


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "SECONDS_TO_ANSWER", 1)


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--dask", "tcp://127.0.0.1:1"], "cannot connect to a Dask scheduler at 'tcp://127.0.0.1:1'"),
        (["--dask", "nonsense"], "cannot connect to a Dask scheduler at 'nonsense': missing port number"),
        (["--dask", "nowhere://x"], "cannot connect to a Dask scheduler at 'nowhere://x'"),
        (["--dask", "tcp://127.0.0.1:1", "--checkpoint", "c"], "--checkpoint is not supported with --dask"),
    ],
)
def test_refusals_of_the_command(
    shards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    assert main(["tabulate", str(shards / "b.csv"), "-o", str(tmp_path / "t.json"), *more]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "t.json").exists()


def test_an_invalid_address_leaves_no_client_behind(tmp_path: Path) -> None:
    """A client that was begun and never finished would wait 20 seconds at the end, and print a traceback."""
    path = tmp_path / "x.csv"
    path.write_text("y,p_0,p_1\n0,0.5,0.5\n", encoding="utf-8")
    command = [sys.executable, "-m", "trueness", "tabulate", str(path), "--dask", "nonsense"]
    ended = subprocess.run(
        [*command, "-o", str(tmp_path / "t.json")], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 2, ended.stderr


def test_the_example_of_the_page_runs(client: Any, shards: Path) -> None:
    names = {
        "frame": collection().rename(columns={"g": "hospital"}),
        "paths": [str(path) for path in shards.iterdir()],
        "client": client,
    }
    exec(example("Dask"), names)
    table: Any = names["table"]
    assert table.n_rows == names["result"].table.n_rows == N_ROWS
    assert sum(names["tables"].values()) == table

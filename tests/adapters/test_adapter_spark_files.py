"""Spark on files, local and remote: the workers read them, and the table is that of one process."""

import json
import pickle
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from partitioned import (
    GROUP,
    Y_PROB,
    Y_TRUE,
    one_process,
    spark_session,
    whole,
)

import trueness as tn
from trueness import partitions
from trueness.adapters import spark as adapter
from trueness.files import Plan, Request, RowOptions, Source, find_inputs, sum_source
from trueness.files.remote import find_remote
from trueness.refusals import MissingLibraryError, Refusal

pytestmark = [
    pytest.mark.adapters,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with spark_session() as session:
        yield session


def tabulate(data: Any, **options: Any) -> Any:
    return adapter.tabulate(data, "y", "p_*", **options)


def paths_in(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.iterdir())


# The same table


def test_files_of_all_kinds(session: Any, shards: Path) -> None:
    paths = paths_in(shards)
    source = Source(find_inputs(paths).files, Request("y", "p_*"), RowOptions())
    from_files = sum_source(source, Plan.of(with_confidence=False)).tables.whole
    assert tabulate(paths, session=session) == from_files.by_variation == one_process()
    assert tabulate(paths[::-1], session=session) == one_process()
    assert tabulate(f"file://{shards}/*", session=session) == one_process()
    assert tabulate(shards, session=session) == one_process()


def test_a_frame_and_its_files_give_the_same(session: Any, tmp_path: Path) -> None:
    for number, start in enumerate(range(0, 3000, 1000)):
        whole()[start : start + 1000].to_parquet(tmp_path / f"{number}.parquet", index=False)
    for options in ({}, {"groups": "g"}, {"bins": tn.EqualMass(5)}, {"bins": 7, "ties": "split"}):
        frame = session.read.parquet(str(tmp_path))
        assert tabulate(f"{tmp_path}/*.parquet", session=session, **options) == tabulate(frame, **options)


def test_without_a_session_the_active_one_is_used(session: Any, shards: Path) -> None:
    session.sparkContext.setJobGroup("paths", "files without session=")
    assert tabulate(paths_in(shards)) == one_process()
    jobs = session.sparkContext.statusTracker().getJobIdsForGroup("paths")
    session.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert len(jobs) > 0


def test_assess_gives_the_answer_of_one_process(session: Any, shards: Path) -> None:
    expected = tn.assess(Y_TRUE, Y_PROB, groups=GROUP, rng=5)
    found = adapter.assess(paths_in(shards), "y", "p_*", groups="g", rng=5, session=session)
    assert found == expected


def test_paths_of_fsspec(session: Any, shards: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in shards.iterdir():
            archive.write(path, path.name)
    where = f"zip://*.*::{tmp_path}/all.zip"
    assert tabulate(where, session=session) == one_process()
    assert tabulate(where, session=session, storage_options={"zip": {"mode": "r"}}) == one_process()


# What is refused


def test_a_bad_row_is_named_by_its_file_and_number(session: Any, shards: Path, tmp_path: Path) -> None:
    bad = whole()[:900].copy()
    bad.loc[bad.index[441], "p_3"] = 7.0
    bad.to_parquet(tmp_path / "bad.parquet", row_group_size=100)
    bad.to_csv(tmp_path / "worse.csv", index=False)
    paths = [str(shards / "a.parquet"), *paths_in(tmp_path)]
    with pytest.raises(Refusal, match=r"bad\.parquet, row 442: `y_prob` is 7\.0 in class 3") as caught:
        tabulate(paths, session=session)
    assert caught.value.row == 442
    with pytest.raises(Refusal, match=r"worse\.csv, row 442: `y_prob` is 7\.0 in class 3"):
        tabulate([paths[0], paths[2], paths[1]], session=session)


def test_a_damaged_file_is_named(session: Any, shards: Path, tmp_path: Path) -> None:
    data = (shards / "c.parquet").read_bytes()
    (tmp_path / "c.parquet").write_bytes(data[: len(data) // 2])
    with pytest.raises(Refusal, match=re.escape(f"{tmp_path}/c.parquet cannot be read")):
        tabulate([shards / "a.parquet", tmp_path / "c.parquet"], session=session)


@pytest.mark.parametrize(
    ("paths", "error", "message"),
    [
        ("nowhere/*.parquet", Refusal, "no file matches 'nowhere/*.parquet'"),
        ("nowhere/a.parquet", Refusal, "nowhere/a.parquet"),
        ("-", Refusal, "workers cannot read standard input"),
        ("nosuch://bucket/a.parquet", Refusal, "'nosuch://bucket/a.parquet' cannot be opened"),
        ([3], TypeError, "a list of data must hold paths of files, got int"),
        (3, TypeError, "data must be a Spark data frame or paths of files, got int"),
    ],
)
def test_paths_that_cannot_be_read(paths: Any, error: type[Exception], message: str) -> None:
    """They are refused before a session is asked for."""
    with pytest.raises(error, match=re.escape(message)):
        tabulate(paths)


def test_without_spark_the_remedy_is_to_install_it(shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(MissingLibraryError, match=re.escape("pip install 'trueness[spark]'")):
        tabulate(shards)


# What workers do, in this process: Spark's own are not seen by the coverage


def test_a_worker_returns_one_row_for_each_piece(shards: Path, tmp_path: Path) -> None:
    import pyarrow as pa

    gone = tmp_path / "gone.parquet"
    gone.write_bytes((shards / "c.parquet").read_bytes())
    files = find_remote([*paths_in(shards), str(gone)])
    gone.unlink()  # as on a machine that does not have the disk
    plan = partitions.plan_of({}, for_assessment=False)
    work = partitions.work_of_files(files, Request("y", "p_*"), RowOptions(), plan)
    pieces = [pickle.dumps(piece) for piece in partitions.file_pieces(files, 10_000)]
    assert len(pieces) == 4
    numbers = [pa.RecordBatch.from_pydict({"id": [0, 1]}), pa.RecordBatch.from_pydict({"id": [2, 3]})]
    *read, refused = (row.to_pylist()[0] for row in adapter._tabulate_pieces(numbers, work, pieces))
    assert [row["part"] for row in read] == [0, 1, 2]
    total = partitions.total([work.part_of(row["tables"]) for row in read])
    assert partitions.tables_by_group(work.finish(total)) == one_process()
    assert re.search(
        r"gone\.parquet does not exist on this worker", str(Refusal.of_dict(json.loads(refused["refusal"])))
    )


# Faults

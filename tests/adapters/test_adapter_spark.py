"""Spark: the table of one process, whatever the partitions and which worker dies; rows never reach the driver."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from partitioned import (
    GROUP,
    N_CLASSES,
    N_ROWS,
    PROBS,
    RESULT_BYTES,
    Y_PROB,
    Y_TRUE,
    Killing,
    deadly,
    of_group,
    one_process,
    require_clusters,
    require_tables_by_class,
    spark_session,
    whole,
)

import trueness as tn
from trueness import partitions
from trueness.adapters import _spark_rows
from trueness.adapters import spark as adapter
from trueness.formats.fields import Field
from trueness.refusals import InvalidValueError, Refusal

pytestmark = [
    pytest.mark.adapters,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with spark_session() as session:
        yield session


@pytest.fixture(scope="module")
def data(session: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The rows in three files, read by Spark."""
    folder = tmp_path_factory.mktemp("rows")
    for number, some in enumerate((slice(0, 900), slice(900, 2400), slice(2400, None))):
        whole()[some].assign(scores=list(Y_PROB[some])).to_parquet(folder / f"{number}.parquet", index=False)
    return session.read.parquet(str(folder))


def tabulate(data: Any, **options: Any) -> Any:
    return adapter.tabulate(data, "y", "p_*", **options)


# The same table


def test_any_partitioning_gives_the_table_of_one_process(data: Any) -> None:
    assert tabulate(data) == one_process()
    assert tabulate(data.coalesce(1)) == one_process()
    shuffled = data.orderBy("p_3").repartition(5)
    assert tabulate(shuffled) == one_process()


def test_many_partitions_are_added_in_a_tree(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "FAN_IN", 3)  # 8 partitions, then 3
    tables = tabulate(data.repartition(8), groups="g")
    assert tables == {name: of_group(name) for name in ("north", "süd, east", "west")}


def test_tables_by_class(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    require_tables_by_class(lambda **options: tabulate(data, **options))
    monkeypatch.setattr(adapter, "FAN_IN", 3)
    require_tables_by_class(lambda **options: tabulate(data.repartition(4), **options))


def test_equal_mass_by_the_grid(data: Any) -> None:
    expected = one_process(bins=tn.EqualWidth(4000)).coarsen(tn.EqualMass(10))
    assert tabulate(data, bins=tn.EqualMass(10)) == expected


def test_array_and_vector_columns(session: Any, data: Any) -> None:
    from pyspark.ml.functions import array_to_vector

    assert adapter.tabulate(data, "y", "scores") == one_process()
    vectors = data.select("y", array_to_vector("scores").alias("of a model"))
    assert adapter.tabulate(vectors, "y", "of a model") == one_process()
    assert adapter.tabulate(vectors, "y", classes=[str(c) for c in range(N_CLASSES)]) == one_process()
    with pytest.raises(Refusal, match="the data have no rows"):
        adapter.tabulate(vectors.limit(0), "y", "of a model")


def test_names_with_characters_of_sql(data: Any) -> None:
    odd = data.withColumnsRenamed({name: f"p.`{name}` x" for name in PROBS} | {"y": "the.label"})
    assert adapter.tabulate(odd, "the.label", "p.*", classes="index") == one_process()


def test_assess_gives_the_answer_of_one_process(data: Any) -> None:
    expected = tn.assess(Y_TRUE, Y_PROB, groups=GROUP, rng=5)
    assert adapter.assess(data, "y", "p_*", groups="g", rng=5) == expected


def test_clusters_spread_over_partitions(session: Any) -> None:
    def data(who: Any) -> Any:
        return session.createDataFrame(whole().assign(who=who)).repartition(5)

    require_clusters(lambda some, **how: adapter.assess(some, "y", "p_*", **how), data)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("engine", ["portable", "compiled"])
def test_each_engine(data: Any, engine: str) -> None:
    assert adapter.tabulate(data, "y", "p_*", engine=engine) == one_process()


def test_no_row_is_sent_to_the_driver(session: Any, data: Any) -> None:
    """Spark itself refuses results of more than `RESULT_BYTES`: the rows are, the tables are not."""
    from py4j.protocol import Py4JJavaError

    large = data.crossJoin(session.range(80))
    assert N_ROWS * 80 * N_CLASSES * 8 > 2 * RESULT_BYTES
    with pytest.raises(Py4JJavaError, match="maxResultSize"):
        large.select(PROBS).toArrow()
    assert tabulate(large).n_rows == 80 * N_ROWS


# What is refused


def test_a_bad_row_is_named_by_its_file_and_number(session: Any, tmp_path: Path) -> None:
    bad = whole().copy()
    bad.loc[bad.index[1234], "p_3"] = 7.0
    whole()[:1000].to_parquet(tmp_path / "good.parquet", index=False)
    bad[1000:].to_parquet(tmp_path / "bad.parquet", index=False)
    data = session.read.parquet(str(tmp_path))
    with pytest.raises(
        Refusal,
        match=r"bad\.parquet, row 235 of its rows in the frame \(partition .*`y_prob` is 7\.0",
    ) as caught:
        tabulate(data)
    assert "--" not in str(caught.value)
    with pytest.raises(Refusal, match=r"^partition \d+, row \d+: `y_prob` is 7\.0 in class 3"):
        tabulate(data.repartition(3))  # after a shuffle the file is unknown


def test_data_in_memory_are_not_for_spark() -> None:
    with pytest.raises(TypeError, match="must be a Spark data frame or paths of files, got DataFrame"):
        adapter.tabulate(whole(), "y", "p_*")


# What workers do, in this process: Spark's own are not seen by the coverage


def work_for(**options: Any) -> partitions.Work:
    asked: Any = options
    request = partitions.request_of("y", "p_*", asked)
    choice = partitions.choice_of({name: Field("number") for name in ["y", *PROBS]}, request)
    plan = partitions.plan_of(asked, for_assessment=False)
    return partitions.Work.of(request, partitions.row_options_of(asked), plan, choice, N_CLASSES)


def columns_of(of: Any, work: partitions.Work) -> list[Any]:
    import pyarrow as pa

    table = pa.Table.from_pandas(of[work.choice.wanted.names], preserve_index=False)
    return table.to_batches(max_chunksize=700)


def test_a_worker_returns_one_row_and_workers_add_them() -> None:
    work = work_for()
    (first,) = adapter._tabulate_partition(columns_of(whole()[:1000], work), work)
    (second,) = adapter._tabulate_partition(columns_of(whole()[1000:], work), work)
    assert first.num_rows == second.num_rows == 1
    (both,) = adapter._add_parts([first, second], work)
    part = work.part_of(both.to_pylist()[0]["tables"])
    assert partitions.tables_by_group(work.finish(part)) == one_process()


def test_a_worker_refuses_without_a_retry() -> None:
    work = work_for()
    bad = whole().assign(y=11)
    (refused,) = adapter._tabulate_partition(columns_of(bad, work), work)
    refusal = Refusal.of_dict(json.loads(refused.to_pylist()[0]["refusal"]))
    assert isinstance(refusal, InvalidValueError)
    assert (refusal.code, refusal.row, refusal.value) == ("label-out-of-range", 1, 11)
    assert refusal.cause == "partition -1, row 1: `y_true` is 11"
    assert refusal.remedy.startswith("class indices run from 0 to 10")
    good = next(adapter._tabulate_partition(columns_of(whole(), work), work))
    passed_on, sums = adapter._add_parts([refused, good], work)
    assert passed_on.to_pylist() == refused.to_pylist()
    assert work.part_of(sums.to_pylist()[0]["tables"]).tables.n_rows == N_ROWS


def test_the_row_of_a_partition_is_counted_from_its_files_beginning() -> None:
    import pyarrow as pa

    batches = [
        pa.RecordBatch.from_pydict({"file": ["a"] * 3 + ["b"], "start": [0] * 4, "part": [0] * 4}),
        pa.RecordBatch.from_pydict({"file": ["b"] * 3, "start": [0, 0, 64], "part": [0] * 3}),
    ]
    found = [next(_spark_rows._origin(batches, row)).to_pylist()[0] for row in (3, 6, 7)]
    assert [tuple(place.values()) for place in found] == [("a", 0, 3), ("b", 0, 3), ("b", 64, 1)]
    assert list(_spark_rows._origin(batches, 8)) == []


# Faults


def test_a_python_worker_that_is_killed_changes_nothing(session: Any, data: Any, tmp_path: Path) -> None:
    measure = deadly(tmp_path)
    status = session.sparkContext.statusTracker()
    session.sparkContext.setJobGroup("under fire", "a worker is killed")
    with Killing(tmp_path, lambda command: "pyspark" in command) as killing:
        table = tabulate(data.repartition(4), variation=measure)
    jobs = [status.getJobInfo(job) for job in status.getJobIdsForGroup("under fire")]
    stages = [status.getStageInfo(stage) for job in jobs for stage in job.stageIds]
    session.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert killing.was_alive
    assert killing.is_gone
    assert killing.pid not in {os.getpid(), *killing.survivors}
    assert sum(stage.numFailedTasks for stage in stages if stage) == 1
    assert table == one_process(variation=measure)

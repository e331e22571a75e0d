"""`compare` on Spark: the result of one process, from frames and from files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from partitioned import GROUP, MODELS, N_ROWS, both_models, one_process_comparison, spark_session, whole

from trueness.adapters import spark as adapter

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with spark_session() as session:
        yield session


def compare(data: Any, **options: Any) -> dict[str, Any]:
    return adapter.compare(data, "y", MODELS, resamples=99, rng=5, **options).to_dict()


def test_a_frame_gives_the_comparison_of_one_process(session: Any) -> None:
    frame = session.createDataFrame(both_models())
    assert frame.rdd.getNumPartitions() > 1
    assert compare(frame) == one_process_comparison()
    assert compare(frame, groups="g") == one_process_comparison(groups=GROUP)


def test_clusters_in_many_partitions_of_any_order(session: Any) -> None:
    """More partitions than are added at a time, so that workers add sums too."""
    who = np.array([f"patient {k}" for k in np.arange(N_ROWS) % 90])
    frame = session.createDataFrame(both_models(who=who)).repartition(18)
    assert compare(frame, clusters="who") == one_process_comparison(clusters=who)


def test_files(session: Any, model_shards: Path) -> None:
    assert compare(str(model_shards / "both-*.parquet"), session=session) == one_process_comparison()
    files = {"plain": str(model_shards / "plain-*.csv"), "sharp": str(model_shards / "sharp-*.parquet")}
    who = np.arange(N_ROWS) % 90
    assert compare(files, clusters="who", session=session) == one_process_comparison(clusters=who)


def test_a_bad_row_is_refused_with_its_partition(session: Any) -> None:
    spoiled = both_models()
    spoiled.loc[2990, "s_3"] = 7.0
    with pytest.raises(ValueError, match=r"partition 1, row \d+: .*7"):
        compare(session.createDataFrame(spoiled))


def test_data_in_memory_are_refused() -> None:
    with pytest.raises(TypeError, match=r"trueness\.compare"):
        compare(whole())

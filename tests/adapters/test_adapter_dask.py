"""Dask: the table of one process, whatever the partitions, the scheduler, and which worker dies."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from close_tables import assert_close
from partitioned import (
    GROUP,
    N_CLASSES,
    N_ROWS,
    NAMES,
    PROBS,
    THREE_TRUE,
    WEIGHT,
    Y_PROB,
    Y_TRUE,
    Killing,
    collection,
    dask_client,
    deadly,
    of_group,
    one_process,
    one_process_by_class,
    require_clusters,
    require_tables_by_class,
    require_tables_of_three,
    three_classes,
    whole,
)
from partitioned import dask_tabulate as tabulate

import trueness as tn
from trueness.adapters import dask as adapter
from trueness.refusals import Refusal

pytestmark = pytest.mark.adapters


@pytest.mark.parametrize("npartitions", [1, 2, 9, 70])
def test_any_partitioning_gives_the_table_of_one_process(npartitions: int) -> None:
    assert tabulate(collection(npartitions)) == one_process()


def test_any_order_of_rows_and_partitions_does(client: Any) -> None:
    import dask.dataframe as dd

    mixed = whole().sample(frac=1.0, random_state=3)
    parts = [mixed[:40], mixed[40:40], mixed[1500:], mixed[40:1500]]  # one without rows
    shuffled = dd.concat([dd.from_pandas(part, npartitions=1, sort=False) for part in parts])
    assert tabulate(shuffled) == one_process()
    assert tabulate(shuffled, client=client) == one_process()


@pytest.mark.parametrize(
    "options",
    [
        {"bins": 7, "ties": "split"},
        {"variation": "margin"},
        {"bins": tn.Edges([0, 0.3, 0.6, 1])},
        {"variation": tn.Variation("mine", lambda x: 1 - (x**2).sum(axis=-1), range=(0, 1))},
    ],
    ids=["ties", "margin", "edges", "own measure"],
)
def test_the_row_options_mean_the_same(client: Any, options: dict[str, Any]) -> None:
    assert tabulate(collection(), **options) == one_process(**options)
    assert tabulate(collection(), client=client, **options) == one_process(**options)


def test_tables_by_class(client: Any) -> None:
    require_tables_by_class(lambda **options: tabulate(collection(7), **options))
    require_tables_by_class(lambda **options: tabulate(collection(3), client=client, **options))
    grid = tabulate(collection(4), bins=tn.EqualMass(6), by_class=True)
    assert grid.by_class == one_process_by_class()


def test_assess_with_and_without_classes() -> None:
    found = adapter.assess(collection(), "y", "p_*", rng=5, class_bins=15)
    assert found == tn.assess(Y_TRUE, Y_PROB, rng=5, class_bins=15)
    assert found.tables.by_class == one_process_by_class()
    without = adapter.assess(collection(), "y", "p_*", rng=5, by_class=False)
    assert without == tn.assess(Y_TRUE, Y_PROB, rng=5, by_class=False)
    assert without.tables.events == ()


def test_clusters_spread_over_partitions(client: Any) -> None:
    require_clusters(
        lambda data, **how: adapter.assess(data, "y", "p_*", client=client, **how),
        lambda who: collection(4, whole().assign(who=who)),
    )


def test_arrays_with_clusters() -> None:
    import dask.array as da

    who = np.arange(N_ROWS) % 90
    parts = (da.from_array(array, chunks=(700, -1)[: array.ndim]) for array in (Y_PROB, Y_TRUE, who))
    y_prob, y_true, clusters = parts
    found = adapter.assess(y_prob, label=y_true, clusters=clusters, resamples=99, rng=5)
    assert found == tn.assess(Y_TRUE, Y_PROB, clusters=who, resamples=99, rng=5)


def test_logits_and_normalize() -> None:
    logits, scaled = whole().copy(), whole().copy()
    logits[PROBS], scaled[PROBS] = np.log(logits[PROBS]), scaled[PROBS] * 3
    z, three = logits[PROBS].to_numpy(), scaled[PROBS].to_numpy()
    expected = tn.tabulate(Y_TRUE, z, from_logits=True)
    assert tabulate(collection(of=logits), from_logits=True) == expected
    expected = tn.tabulate(Y_TRUE, three, normalize=True)
    assert tabulate(collection(of=scaled), normalize=True) == expected


def test_a_list_column_and_names_for_labels() -> None:
    import pandas as pd

    names, dtype = [f"class {c}" for c in range(N_CLASSES)], listed_type()
    listed = pd.DataFrame(
        {"y": [names[c] for c in Y_TRUE], "scores": pd.Series(Y_PROB.tolist(), dtype=dtype)}
    )
    data = collection(of=listed)
    assert adapter.tabulate(data, "y", "scores", classes=names) == one_process()


def listed_type() -> Any:
    import pandas as pd
    import pyarrow as pa

    return pd.ArrowDtype(pa.list_(pa.float64()))


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_columns_belong_to_classes_by_the_rule_of_files(order: list[int]) -> None:
    """Numbers count the columns in the order of the frame; names are matched, with classes= or without."""
    numbered = collection(of=three_classes(order, np.argsort(order)[THREE_TRUE]))
    require_tables_of_three(adapter.tabulate(numbered, "y", "p_*", by_class=True))
    named = collection(of=three_classes(order, np.array(NAMES)[THREE_TRUE]))
    for classes in (None, "columns", NAMES, NAMES[::-1], ["p_mid", "p_low", "p_high"]):
        if classes is not None and "p_mid" in classes:
            named = collection(of=three_classes(order, [f"p_{NAMES[y]}" for y in THREE_TRUE]))
        require_tables_of_three(adapter.tabulate(named, "y", "p_*", classes=classes, by_class=True))
    with pytest.raises(Refusal, match=r"`classes` .* match only partly") as caught:
        adapter.tabulate(named, "y", "p_*", classes=["low", "mid", "top"])
    assert "--" not in str(caught.value)


def test_combinations_of_columns_are_groups() -> None:
    data = three_classes([0, 1, 2])
    expected = tn.assess(
        data["y"], data[["p_low", "p_mid", "p_high"]], groups=data[["site", "sex"]], classes="index", rng=5
    )
    assert [group.name for group in expected.groups][:2] == ["site=north, sex=F", "site=north, sex=M"]
    for how in ({"groups": ["site", "sex"]}, {"groups": "site,sex"}, {"groups": "site, sex"}):
        assert adapter.assess(collection(of=data), "y", "p_*", rng=5, **how) == expected


def test_groups(client: Any) -> None:
    tables = tabulate(collection(), groups="g", client=client)
    assert tables == {name: of_group(name) for name in ("north", "süd, east", "west")}


def test_equal_mass_by_the_grid_in_one_pass() -> None:
    expected = one_process(bins=tn.EqualWidth(4000)).coarsen(tn.EqualMass(10))
    assert tabulate(collection(), bins=tn.EqualMass(10)) == expected


@pytest.mark.parametrize("variation", ["entropy", "confidence"])
def test_assess_gives_the_answer_of_one_process(variation: str) -> None:
    expected = tn.assess(Y_TRUE, Y_PROB, groups=GROUP, variation=variation, rng=5)
    assert adapter.assess(collection(), "y", "p_*", groups="g", variation=variation, rng=5) == expected


def test_arrays_in_blocks_of_any_shape() -> None:
    import dask.array as da

    y_prob, y_true = da.from_array(Y_PROB, chunks=(700, 4)), da.from_array(Y_TRUE, chunks=1100)
    assert adapter.tabulate(y_prob, y_true) == one_process()
    tables = adapter.tabulate(y_prob, y_true, groups=da.from_array(GROUP, chunks=500))
    assert tables["north"] == of_group("north")
    weighted = adapter.tabulate(y_prob, y_true, sample_weight=da.from_array(WEIGHT, chunks=900))
    assert_close(weighted, one_process(sample_weight=WEIGHT))


def test_arrays_of_unknown_length_and_of_one_column() -> None:
    data = collection()
    assert adapter.tabulate(data[PROBS].to_dask_array(), data["y"].to_dask_array()) == one_process()
    binary = (Y_TRUE == 0).astype(int)
    expected = tn.tabulate(binary, Y_PROB[:, 0])
    data = collection(of=whole().assign(y=binary))
    assert adapter.tabulate(data["p_0"].to_dask_array(), data["y"].to_dask_array()) == expected
    one_column = data[["p_0"]].to_dask_array(), data[["y"]].to_dask_array()
    assert adapter.tabulate(*one_column) == expected
    with pytest.raises(Refusal, match="different numbers of blocks"):
        adapter.tabulate(data["p_0"].to_dask_array(), collection(2)["y"].to_dask_array())


def test_labels_of_arrays_must_be_arrays() -> None:
    import dask.array as da

    y_prob = da.from_array(Y_PROB, chunks=(700, 4))
    with pytest.raises(TypeError, match="`label` must be a Dask array too"):
        adapter.tabulate(y_prob, Y_TRUE)
    with pytest.raises(Refusal, match="block 1, row 300: `y_true` is 11"):
        adapter.tabulate(y_prob, da.from_array(np.where(np.arange(N_ROWS) == 999, 11, Y_TRUE), chunks=700))


def test_a_bad_row_of_a_partition_is_named(client: Any) -> None:
    bad = whole().copy()
    bad.loc[bad.index[2000], "y"] = 11
    for where in (None, client):
        with pytest.raises(Refusal, match=r"partition 3, row 201: `y_true` is 11") as caught:
            tabulate(collection(of=bad), client=where)
        assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"label": "labls"}, Refusal, "no column 'labls'"),
        ({"probs": "q_*"}, Refusal, "no column 'q_*'"),
        ({"label": 3}, TypeError, "`label` must be the name of a column, got int"),
        ({"bin": 3}, TypeError, "unexpected argument 'bin'; did you mean 'bins'?"),
        ({"ties": "last"}, ValueError, "`ties` must be one of"),
        ({"engine": "fast"}, ValueError, "`engine` must be one of"),
    ],
)
def test_wrong_arguments(how: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        adapter.tabulate(collection(), **{"label": "y", "probs": "p_*"} | how)


def test_data_in_memory_are_not_for_dask() -> None:
    with pytest.raises(TypeError, match=r"for data in memory use trueness\.tabulate"):
        adapter.tabulate(whole(), "y", "p_*")
    with pytest.raises(Refusal, match="the data have no rows"):
        tabulate(collection(1, of=whole()[:0]))


@pytest.mark.usefixtures("compiled")
def test_engines_in_worker_processes_give_the_table_of_one_process(client: Any) -> None:
    for engine in ("auto", "compiled", "portable"):
        assert adapter.tabulate(collection(), "y", "p_*", client=client, engine=engine) == one_process()


@pytest.mark.parametrize("retries", [0, 2])
def test_a_task_that_fails_is_tried_again(client: Any, tmp_path: Path, retries: int) -> None:
    place = str(tmp_path / "tried")

    def once(part: Any) -> Any:
        try:
            open(place, "x").close()
        except FileExistsError:
            return part
        raise RuntimeError("a disk that was busy")

    data = collection().map_partitions(once, meta=collection()._meta)
    if retries:
        assert tabulate(data, client=client, retries=retries) == one_process()
        return
    with pytest.raises(RuntimeError, match="busy"):
        tabulate(data, client=client)


def test_a_worker_that_is_killed_changes_nothing(tmp_path: Path) -> None:
    measure = deadly(tmp_path)
    with (
        dask_client() as client,
        Killing(tmp_path, lambda command: "multiprocessing" in command) as killing,
    ):
        workers = set(client.run(lambda: __import__("os").getpid()).values())
        table = tabulate(collection(6), variation=measure, client=client)
    assert killing.pid in workers
    assert killing.was_alive
    assert killing.is_gone
    assert killing.pid not in killing.survivors
    assert table == one_process(variation=measure)


def test_arrays_of_different_lengths() -> None:
    import dask.array as da

    y_prob, y_true = da.from_array(Y_PROB, chunks=(700, -1)), da.from_array(Y_TRUE[:-1], chunks=700)
    with pytest.raises(Refusal, match="the arrays have different numbers of rows: probs 3000, label 2999"):
        adapter.tabulate(y_prob, y_true)


def test_unknown_labels_are_refused_in_python_s_terms() -> None:
    named = collection(of=whole().assign(y="cat"))
    with pytest.raises(Refusal, match=r"got 'cat'; pass the class names with `classes`") as caught:
        adapter.tabulate(named, "y", "p_*")
    assert "--" not in str(caught.value)

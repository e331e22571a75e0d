"""Lazy queries are run in batches, and give the tables of all rows at once, to the bit."""

import re
from typing import Any

import numpy as np
import pytest
from close_tables import assert_close
from partitioned import (
    GROUP,
    MODELS,
    N_CLASSES,
    N_ROWS,
    PROBS,
    THREE_PROB,
    THREE_TRUE,
    WEIGHT,
    Y_PROB,
    Y_TRUE,
    both_models,
    of_group,
    one_process,
    one_process_comparison,
    require_clusters,
    require_tables_by_class,
    require_tables_of_three,
    three_classes,
    whole,
)

import trueness as tn

pytestmark = pytest.mark.adapters


def lazy(rows: Any) -> Any:
    import polars as pl

    return pl.from_pandas(rows).lazy()


def relation(rows: Any) -> Any:
    import duckdb
    import pyarrow as pa

    return duckdb.connect().from_arrow(pa.Table.from_pandas(rows, preserve_index=False))


def stream(rows: Any) -> Any:
    import pyarrow as pa

    table = pa.Table.from_pandas(rows, preserve_index=False)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=400))


KINDS = [lazy, relation, stream]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of about 500 rows, so that each test has several."""
    monkeypatch.setattr("trueness.adapters._query_rows.BATCH_VALUES", 500 * N_CLASSES)


def tabulate(data: Any, **options: Any) -> Any:
    from trueness.adapters import queries

    return queries.tabulate(data, "y", "p_*", **options)


def assess(data: Any, **options: Any) -> Any:
    from trueness.adapters import queries

    return queries.assess(data, "y", "p_*", **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"variation": "iqv", "bins": 7, "ties": "split"},
        {"bins": tn.EqualWidth(500)},
        {"variation": "confidence", "engine": "portable"},
    ],
    ids=["plain", "other", "grid", "portable"],
)
def test_the_table_of_all_rows(kind: Any, options: Any) -> None:
    assert tabulate(kind(whole()), **options) == one_process(**options)


@pytest.mark.parametrize("kind", KINDS)
def test_groups_weights_and_classes(kind: Any) -> None:
    found = tabulate(kind(whole()), groups="g")
    assert found == {name: of_group(name) for name in ("north", "süd, east", "west")}
    weighted = tabulate(kind(whole()), sample_weight="w")
    assert_close(weighted, tn.tabulate(Y_TRUE, Y_PROB, sample_weight=WEIGHT))
    require_tables_by_class(lambda **options: tabulate(kind(whole()), **options))


@pytest.mark.parametrize("kind", KINDS)
def test_the_assessment_of_all_rows(kind: Any) -> None:
    expected = tn.assess(Y_TRUE, Y_PROB, groups=GROUP, resamples=99, rng=5)
    assert assess(kind(whole()), groups="g", resamples=99, rng=5) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_clusters_in_several_batches(kind: Any) -> None:
    require_clusters(assess, lambda who: kind(whole().assign(who=who)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("clusters", [False, True], ids=["rows", "clusters"])
def test_the_comparison_of_all_rows(kind: Any, clusters: bool) -> None:
    from trueness.adapters import queries

    who = np.arange(N_ROWS) % 90
    options = {"clusters": "who"} if clusters else {}
    found = queries.compare(kind(both_models(who=who)), "y", MODELS, resamples=99, rng=5, **options)
    assert found.to_dict() == one_process_comparison(**({"clusters": who} if clusters else {}))


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_classes(kind: Any) -> None:
    labels = np.array(["low", "mid", "high"])[THREE_TRUE]
    require_tables_of_three(tabulate(kind(three_classes([2, 0, 1], labels)), by_class=True))


@pytest.mark.parametrize("kind", [lazy, relation])
def test_bins_of_equal_mass(kind: Any) -> None:
    bins = tn.EqualMass(10)
    by_grid = tabulate(kind(whole()), bins=bins)
    assert by_grid == one_process(bins=tn.EqualWidth(4000)).coarsen(bins)


def test_list_columns_and_types_of_polars() -> None:
    import polars as pl

    fixed = pl.Series("p", Y_PROB, dtype=pl.Array(pl.Float64, N_CLASSES))
    labels = pl.Series("y", Y_TRUE, dtype=pl.Int16)
    groups = pl.Series("g", GROUP.tolist(), dtype=pl.Categorical)
    from trueness.adapters import queries

    for column in (fixed, fixed.cast(pl.List(pl.Float64))):
        frame = pl.DataFrame([labels, column, groups]).lazy()
        assert queries.tabulate(frame, "y", "p") == one_process()
        assert queries.tabulate(frame, "y", "p", groups="g")["north"] == of_group("north")


def test_a_query_of_sql() -> None:
    import duckdb

    connection = duckdb.connect()
    rows = whole()
    connection.register("predictions", rows)
    listed = ", ".join(PROBS)
    query = connection.sql(
        f'select y as "the ""label""", [{listed}] as p, g from predictions where g <> \'west\''
    )
    from trueness.adapters import queries

    kept = GROUP != "west"
    assert queries.tabulate(query, 'the "label"', "p") == tn.tabulate(Y_TRUE[kept], Y_PROB[kept])
    fixed = connection.sql(f"select y, [{listed}]::double[{N_CLASSES}] as p from predictions")
    assert queries.tabulate(fixed, "y", "p") == one_process()


def test_rows_with_options_of_their_own() -> None:
    import polars as pl

    from trueness.adapters import queries

    rows = [[0.6, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.3, 0.4]] * 300
    labels = [0, 2, 3] * 300
    frame = pl.DataFrame({"y": labels, "p": rows}).lazy()
    assert queries.tabulate(frame, "y", "p", ragged=True) == tn.tabulate(labels, rows)


@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_row_is_refused_by_its_number(kind: Any) -> None:
    rows = whole().copy()
    rows.loc[1733, "p_3"] = np.nan
    with pytest.raises(tn.Refusal, match=r"the query.*1734|1734.*the query"):
        tabulate(kind(rows))


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows(kind: Any) -> None:
    with pytest.raises(tn.Refusal, match="no rows"):
        tabulate(kind(whole()[:0]))


def test_other_data_are_refused() -> None:
    with pytest.raises(tn.Refusal, match="must be a Polars LazyFrame, a DuckDB relation or an Arrow stream"):
        tabulate([[0.5, 0.5]])
    with pytest.raises(tn.Refusal, match=re.escape("trueness.adapters.queries")):
        tn.assess(Y_TRUE, lazy(whole()))
    with pytest.raises(tn.Refusal, match=re.escape("trueness.adapters.queries")):
        tn.assess(Y_TRUE, relation(whole()))


def test_a_lazy_frame_without_batches_is_refused() -> None:
    older = type("LazyFrame", (), {"__module__": "polars.lazyframe.frame"})()
    with pytest.raises(tn.Refusal, match="install a newer one"):
        tabulate(older)


def test_batches_are_consumed_one_by_one() -> None:
    """When a batch is summed, the source has made only a few more: rows are not collected first."""
    import polars as pl
    from polars.io.plugins import register_io_source

    made: list[int] = []
    ahead: list[int] = []
    total = 600

    def source(columns: Any, predicate: Any, n_rows: Any, batch_size: Any) -> Any:
        for k in range(total):
            made.append(k)
            yield pl.DataFrame({"y": THREE_TRUE, **{f"p_{c}": THREE_PROB[:, c] for c in range(3)}})

    def late(ordered: Any) -> Any:
        ahead.append(len(made))
        return ordered[..., 0]

    measure = tn.Variation("late", late, range=lambda n: (1 / n, 1.0))
    frame = register_io_source(source, schema={"y": pl.Int64, **{f"p_{c}": pl.Float64 for c in range(3)}})
    found = tabulate(frame, variation=measure)
    assert found.n_rows == 600 * total
    assert len(made) == total
    assert ahead[0] < total / 2, ahead
    assert len(set(ahead)) > 5, ahead

"""One pass gives the tables and the sums of clusters: they add up, and both engines give the same bits."""

from typing import Any

import numpy as np
import pytest
from close_tables import assert_close

import trueness as tn
from trueness.old_table.cluster_sums import MAX_EVENTS
from trueness.old_table.clusters import MAX_BLOCKS, MAX_UNITS, row_blocks
from trueness.old_table.plan import TablePlan
from trueness.old_table.tables import Tables
from trueness.refusals import InvalidValueError
from trueness.rows import Rows
from trueness.rows.clusters import clusters_of_rows, row_identities
from trueness.tabulation import clusters as module
from trueness.tabulation import tabulate_rows
from trueness.tabulation.clusters import tabulate_clusters
from trueness.tabulation.compiled import units
from trueness.tabulation.compiled.library import require_library

ENGINES = ["portable", "compiled"]
N = 3000


def rows_of(n_classes: int, *, n: int = N, logits: bool = False, tied: bool = False) -> tuple[Any, Any]:
    y_true, y_prob = tn.simulate.calibrated(n, [0.7] * n_classes, rng=n_classes)
    if tied:
        y_prob = np.round(y_prob, 1)
        y_prob /= y_prob.sum(axis=1, keepdims=True)
    # Logits of which some underflow, for rows whose true class is almost impossible.
    return y_true, np.log(y_prob + 1e-300) * np.where(np.arange(n) % 50 == 0, 3.0, 1.0)[
        :, None
    ] if logits else y_prob


def made(
    y_true: Any, y_prob: Any, names: Any, weight: Any = None, ties: str = "first", **how: Any
) -> tuple[Tables, Tables]:
    """The tables with clusters, and those of the plain pass."""
    logits = how.pop("from_logits", False)
    rows = Rows.of(y_true, y_prob, weight, from_logits=logits)
    specs = TablePlan.of(ties=ties, by_class=True).specs(rows.n_classes, weighted=weight is not None)
    found = clusters_of_rows(names, rows.n_rows)
    return tabulate_clusters(rows, specs, found, **how), Tables.of(tabulate_rows(rows, specs))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ties", ["first", "split"])
@pytest.mark.parametrize("logits", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 20])
def test_sums_of_clusters_add_up_to_the_table(n_classes: int, logits: bool, ties: str, engine: str) -> None:
    y_true, given = rows_of(n_classes, logits=logits, tied=ties == "split")
    with_clusters, plain = made(
        y_true, given, np.arange(N) % 37, ties=ties, engine=engine, from_logits=logits
    )
    assert [*with_clusters] == [*plain]
    clusters = with_clusters.clusters
    assert clusters is not None
    assert clusters.n_clusters == 37
    assert len(clusters.of_tables) == 3
    for table, sums in zip(with_clusters, clusters.of_tables, strict=True):
        same = table.coarsen(sums.spec.grid) if isinstance(table, tn.EventTable) else table  # type: ignore[union-attr]
        assert sums.adds_up_to(same.sums)
    assert Tables.of_file(with_clusters.parts) == with_clusters


@pytest.mark.parametrize("engine", ENGINES)
def test_sums_of_one_cluster_are_the_table_of_its_rows(engine: str) -> None:
    y_true, y_prob = rows_of(4)
    names = np.random.default_rng(0).integers(0, 25, N)
    tables, _ = made(y_true, y_prob, names, engine=engine)
    assert tables.clusters is not None
    assert tables.clusters.clusters.names is not None
    for unit in (0, 13, 24):
        mine = names == int(tables.clusters.clusters.names[unit])
        for place, variation in enumerate(("entropy", "confidence")):
            alone = tn.tabulate(y_true[mine], y_prob[mine], variation=variation)
            sums = tables.clusters.of_tables[place]
            of_unit = sums.units == unit
            assert np.array_equal(sums.sums.rows[of_unit], alone.row_count[sums.bins[of_unit]])
            assert np.array_equal(sums.sums.rank.value[of_unit], alone.rank_count[sums.bins[of_unit]])  # type: ignore[union-attr]
            assert np.array_equal(sums.sums.ordered.value[of_unit], alone.ordered_sum[sums.bins[of_unit]])  # type: ignore[union-attr]
            assert alone.log_scores is not None
            score = alone.log_scores.score[sums.bins[of_unit]]
            assert np.array_equal(sums.sums.log_score.value[of_unit], score)  # type: ignore[union-attr]
        events = tn.tabulate_events(y_true[mine], y_prob[mine]).coarsen(10)
        sums = tables.clusters.of_tables[2]
        of_unit = sums.units == unit
        at = sums.bins[of_unit]
        assert np.array_equal(sums.sums.observed.value[of_unit], events.sums.observed.value.ravel()[at])  # type: ignore[union-attr]
        assert np.array_equal(sums.sums.predicted.value[of_unit], events.sums.predicted.value.ravel()[at])  # type: ignore[union-attr]


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("size", [1, 3, 500])
def test_engines_and_threads_give_the_same_bits(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_ROWS", 700)  # so that clusters are spread over chunks
    monkeypatch.setattr(units, "SHARED_VALUES", 1)  # so that few rows are shared by threads
    y_true, y_prob = rows_of(5, n=7000)
    names = np.random.default_rng(1).permutation(7000) // size
    portable, compiled, threads, plain = (
        made(y_true, y_prob, names, engine=engine, n_threads=n)[0]
        for engine, n in (("portable", 1), ("compiled", 1), ("compiled", 3), ("portable", 2))
    )
    assert portable == compiled == threads == plain


@pytest.mark.usefixtures("compiled")
def test_blocks_of_positions_are_those_of_their_identities() -> None:
    positions = np.concatenate([np.arange(2000), [2**40, 2**62]])
    for n_blocks in (256, 2048):
        want = row_identities(positions) % np.uint64(n_blocks)
        assert require_library().row_blocks(positions, n_blocks).tolist() == want.tolist()
        assert row_blocks(positions, n_blocks).tolist() == want.tolist()
        for blocks_of in (require_library().row_blocks, row_blocks):
            assert blocks_of(range(700, 2000), n_blocks).tolist() == want[700:2000].tolist()


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_any_layout_give_the_same_bits(order: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "SHARED_VALUES", 1)  # so that few rows are shared by threads
    monkeypatch.setattr(units, "LINES_AT_A_TIME", 3)  # so that totals are carried more than once
    y_true, y_prob = rows_of(4)
    single, names = y_prob.astype(np.float32), np.arange(N) % 29
    want, _ = made(y_true, single, names, engine="portable")
    for n_threads in (1, 3):
        found, plain = made(
            y_true, np.asarray(single, order=order), names, engine="compiled", n_threads=n_threads
        )
        assert found == want
        assert [*found] == [*plain]


@pytest.mark.usefixtures("compiled")
def test_very_many_runs_of_one_cluster() -> None:
    """Two clusters in turns of 520 rows: a thousand runs of each in one chunk, more than a word holds."""
    y_true, y_prob = rows_of(3, n=1_100_000)
    names = (np.arange(len(y_true)) // 520) % 2
    tables, plain = made(y_true, y_prob, names, engine="compiled", n_threads=1)
    assert Tables.of_file(tables.parts) == tables
    assert [*tables] == [*plain]


@pytest.mark.parametrize("engine", ENGINES)
def test_many_clusters_are_dealt_into_blocks(engine: str) -> None:
    y_true, y_prob = rows_of(3, n=2 * MAX_UNITS + 7)
    names = np.arange(len(y_true)) // 2
    few, _ = made(y_true[: 2 * MAX_UNITS], y_prob[: 2 * MAX_UNITS], names[: 2 * MAX_UNITS], engine=engine)
    many, plain = made(y_true, y_prob, names, engine=engine)
    assert few.clusters is not None
    assert many.clusters is not None
    assert (few.clusters.clusters.n_blocks, few.clusters.n_clusters) == (None, MAX_UNITS)
    assert (many.clusters.clusters.n_blocks, many.clusters.n_clusters) == (MAX_BLOCKS, MAX_UNITS + 4)
    assert Tables.of_file(many.parts) == many
    assert [*many] == [*plain]
    # Added cluster by cluster or all at once, they are in the same blocks.
    rest, _ = made(y_true[2 * MAX_UNITS :], y_prob[2 * MAX_UNITS :], names[2 * MAX_UNITS :], engine=engine)
    assert few + rest == rest + few == many


def test_weights() -> None:
    """Whole-number weights are repeated rows, and rows of weight 0 are left out."""
    y_true, y_prob = rows_of(3)
    weight, names = (np.arange(N) % 3).astype(float), np.arange(N) // 40
    tables, plain = made(y_true, y_prob, names, weight)
    repeat = weight.astype(int)
    repeated, _ = made(np.repeat(y_true, repeat), np.repeat(y_prob, repeat, axis=0), np.repeat(names, repeat))
    assert_close(tables.by_variation, plain.by_variation)
    assert tables.clusters is not None
    assert repeated.clusters is not None
    for mine, theirs in zip(tables.clusters.of_tables, repeated.clusters.of_tables, strict=True):
        assert np.array_equal(mine.cells, theirs.cells)
        np.testing.assert_allclose(mine.mass, theirs.mass)
        for name, value in theirs.sums.items():
            if name != "rows":
                np.testing.assert_allclose(getattr(mine.sums, name).value, value.value, atol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_first_bad_row_is_named(engine: str) -> None:
    y_true, y_prob = rows_of(3)
    y_prob = y_prob.copy()
    y_prob[[1234, 2000]] = [0.5, 0.5, 0.5], [np.nan, 0.5, 0.5]
    with pytest.raises(InvalidValueError, match="1234"):
        made(y_true, y_prob, np.arange(N) % 7, engine=engine)
    y_true = y_true.copy()
    y_true[77] = 3
    with pytest.raises(ValueError, match="77"):
        tn.assess(y_true, y_prob, clusters=np.arange(N) % 7, engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_some_of_the_rows(engine: str) -> None:
    y_true, y_prob = rows_of(4)
    names, which = np.arange(N) // 10, np.flatnonzero(np.arange(N) % 7 == 2)
    rows = Rows.of(y_true, y_prob)
    specs = TablePlan.of(by_class=True).specs(4, weighted=False)
    some = tabulate_clusters(rows, specs, clusters_of_rows(names, N), which=which, engine=engine)
    alone, _ = made(y_true[which], y_prob[which], names[which], engine=engine)
    assert some == alone


def test_clusters_are_not_summed_for_very_many_classes() -> None:
    """The event table is made, without the sums of its clusters."""
    y_true, y_prob = rows_of(MAX_EVENTS + 1, n=400)
    tables, plain = made(y_true, y_prob, np.arange(400) // 10)
    assert tables.clusters is not None
    assert [*tables] == [*plain]
    assert tables.by_class is not None
    assert len(tables.clusters.of_tables) == 2
    assert tables.coarsen(5).clusters is not None
